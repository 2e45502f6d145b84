/* mechanism
summary = "Refuses arguments that hide what they do: code packed in encodings and handed to an interpreter, downloads piped into a shell, long encoded blobs in effects."
litmus = "Yes: it looks for hiding and running in one argument, not for a known payload, host or file."
channels = ["indirect", "direct"]
acts = "block"
[params.blob]
type = "int"
default = 400
min = 60
max = 20000
[params.reads]
type = "bool"
default = true
*/
// `blob`: longest run of encoded characters without a word break. `reads`: also look at calls that
// say they only read: running a command is often declared so.
function mechanism(params, session) {
  const RUN = /\b(?:eval|exec|source|sh|bash|zsh|python3?|node|perl|ruby|powershell|invoke-expression|iex|start-process)\b/i;
  const DECODE = /\b(?:base64|b64decode|atob|frombase64string|xxd|unhex|fromcharcode|rot13|gunzip|openssl|printf)\b|\\x[0-9a-f]{2}\\x[0-9a-f]{2}|\$'\\/i;
  const FETCH = /\b(?:curl|wget|invoke-webrequest|iwr)\b[^|;&]{0,400}[|>][^|]{0,80}\b(?:sh|bash|zsh|python3?|node|perl|iex)\b/i;
  return {
    onPreToolCall(call) {
      if (!params.reads && session.effectOf(call).read) return allow();
      for (const leaf of argumentLeaves(call.arguments)) {
        if (typeof leaf.raw !== 'string' || session.userSaid(leaf.text)) continue;
        const text = foldText(leaf.text);
        if ((RUN.test(text) && DECODE.test(text)) || FETCH.test(text)) return block('This argument decodes or downloads something and runs it at once. Write out plainly what should be done.');
        if (text.split(/[^A-Za-z0-9+/=_-]+/).some((run) => run.length > params.blob && /[A-Z]/.test(run) && /[a-z]/.test(run) && /\d/.test(run))) return block('This argument carries a long encoded block. Send plain text.');
      }
      return allow();
    },
  };
}
