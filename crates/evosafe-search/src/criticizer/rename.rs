//! Fresh tokens of the same shape: what an attacker could have called it instead.

use evosafe_types::ContentHash;

use super::vocabulary::TokenKind;

const VOWELS: &[u8] = b"aeiou";
const CONSONANTS: &[u8] = b"bcdfghjklmnpqrstvwxz";

/// A token of the same kind and shape, the `n`-th of its kind: vowels become vowels,
/// consonants consonants, digits digits, case and punctuation stay, and so do file
/// endings, top-level domains and the scheme. Deterministic, and (but for chance) equal
/// to no token of the corpus.
#[must_use]
pub fn reshaped(kind: TokenKind, token: &str, n: u64) -> String {
    let hash = ContentHash::of(&[token.to_lowercase().as_bytes(), &n.to_le_bytes()]);
    let mut draw = hash.as_str().bytes().cycle();
    let keep_tail = match kind {
        TokenKind::Email | TokenKind::Url | TokenKind::File => {
            let host_end = token.find('/').unwrap_or(token.len());
            let end = if kind == TokenKind::Url { host_end } else { token.len() };
            token[..end].rfind('.').map_or(end..end, |dot| dot..end)
        }
        _ => token.len()..token.len(),
    };
    let mut out = String::with_capacity(token.len());
    let mut at = 0usize;
    for c in token.chars() {
        let kept = keep_tail.contains(&at);
        at += c.len_utf8();
        if kept || !c.is_ascii_alphanumeric() {
            out.push(c);
            continue;
        }
        let two = [draw.next(), draw.next()].map(|d| usize::from(d.unwrap_or(b'0')));
        let number = two[0] * 7 + two[1] * 31 + at;
        let lower = c.to_ascii_lowercase() as u8;
        let fresh = if c.is_ascii_digit() {
            b"0123456789"[number % 10]
        } else if VOWELS.contains(&lower) {
            VOWELS[number % VOWELS.len()]
        } else {
            CONSONANTS[number % CONSONANTS.len()]
        };
        let fresh = char::from(fresh);
        out.push(if c.is_ascii_uppercase() { fresh.to_ascii_uppercase() } else { fresh });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_stays_and_the_content_changes() {
        for (kind, token) in [
            (TokenKind::Email, "emma.johnson@bluesparrow.com"),
            (TokenKind::Account, "US133000000121212121212"),
            (TokenKind::Url, "www.secure-systems-252.com/a/b"),
            (TokenKind::File, "bill-december-2023.txt"),
            (TokenKind::Name, "Emma Johnson"),
        ] {
            let fresh = reshaped(kind, token, 0);
            assert_ne!(fresh, token);
            assert_eq!(fresh.len(), token.len());
            assert_eq!(fresh, reshaped(kind, token, 0));
            assert_ne!(fresh, reshaped(kind, token, 1));
            let shape = |t: &str| {
                t.chars()
                    .map(|c| match c {
                        c if c.is_ascii_digit() => '0',
                        c if c.is_ascii_uppercase() => 'A',
                        c if c.is_ascii_lowercase() => 'a',
                        c => c,
                    })
                    .collect::<String>()
            };
            assert_eq!(shape(&fresh), shape(token));
        }
        assert!(reshaped(TokenKind::Email, "a.b@host.example.org", 3).ends_with(".org"));
        assert!(reshaped(TokenKind::File, "notes.docx", 3).ends_with(".docx"));
    }
}
