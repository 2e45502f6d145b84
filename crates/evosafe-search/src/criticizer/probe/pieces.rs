//! Sentences and fields of a text: what an order can be told apart in, whether it stands on lines of
//! its own or inside of JSON.

/// The text in pieces, each with what ends it. A piece ends at a line break, escaped or not, after
/// the full stop of a sentence, and between a value of JSON and the next field.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut pieces, mut start) = (Vec::new(), 0);
    for at in 0..bytes.len() {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let after = bytes.get(at + 1);
        let ends = match bytes[at] {
            b'\n' => true,
            b'n' => before == Some(b'\\'),
            b'.' | b'!' | b'?' => matches!(after, Some(b' ' | b'\n' | b'\\' | b'"')),
            b',' => before == Some(b'"') && after == Some(&b'"'),
            _ => false,
        };
        if ends {
            // All of these are ASCII, so this is between two characters.
            pieces.push(&text[start..=at]);
            start = at + 1;
        }
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn sentences_and_fields_are_pieces() {
        let text = r#"{"id":"A.1","body":"Pay 3.50. Send it!\nÜber Nacht","open":true}"#;
        let found = pieces(text);
        let wanted = [
            r#"{"id":"A.1","#,
            r#""body":"Pay 3.50."#,
            " Send it!",
            r"\n",
            r#"Über Nacht","#,
            r#""open":true}"#,
        ];
        assert_eq!(found, wanted);
        assert_eq!(found.concat(), text);
        assert_eq!(pieces("one\ntwo."), ["one\n", "two."]);
    }
}
