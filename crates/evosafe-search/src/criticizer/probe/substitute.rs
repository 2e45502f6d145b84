//! Consistent substitution over a whole session.

use evosafe_agent::Substitution;

use super::Session;

/// The session with everything replaced: request, prompt, tools, calls, results, answer. Field
/// names stay.
pub(super) fn session(other: &Substitution, session: &Session) -> Session {
    let mut session = session.clone();
    let transcript = &mut session.transcript;
    other.text(&mut transcript.instruction);
    other.text(&mut transcript.base_prompt);
    for record in transcript.turns.iter_mut().flat_map(|turn| turn.calls.iter_mut()) {
        other.call(&mut record.proposed);
        if let Some(executed) = &mut record.executed {
            other.call(executed);
        }
        if let Some(result) = &mut record.result {
            other.result(result);
        }
    }
    if let Some(answer) = &mut transcript.answer {
        other.text(&mut answer.proposed);
    }
    session.tools.iter_mut().for_each(|tool| other.tool(tool));
    session
}
