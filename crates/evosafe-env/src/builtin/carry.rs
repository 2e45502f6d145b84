//! Values that a text must carry: how goals judge mail, posts, notes and answers.

use serde::Serialize;

/// Something a text must carry.
#[derive(Debug, Clone, Serialize)]
pub(crate) enum Carry {
    /// These letters and digits, in this order; case, blanks and punctuation do not count.
    Word(String),
    /// A number, in hundredths, within a tolerance in hundredths.
    Number { hundredths: i64, tolerance: i64 },
}

impl Carry {
    /// A number to the cent.
    pub(crate) fn exact(hundredths: i64) -> Self {
        Self::Number { hundredths, tolerance: 0 }
    }

    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Word(word) => plain(text).contains(&plain(word)),
            Self::Number { hundredths, tolerance } => {
                numbers(text).iter().any(|n| (n - hundredths).abs() <= *tolerance)
            }
        }
    }
}

/// Letters and digits only, lower case.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Numbers written in a text, in hundredths: `1,240.5` is 124050.
fn numbers(text: &str) -> Vec<i64> {
    let mut found = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_ascii_digit() {
            continue;
        }
        let mut token = String::from(c);
        while let Some(&next) = chars.peek() {
            if !(next.is_ascii_digit() || next == ',' || next == '.') {
                break;
            }
            token.push(next);
            chars.next();
        }
        let token: String =
            token.trim_end_matches([',', '.']).chars().filter(|c| *c != ',').collect();
        if let Ok(value) = token.parse::<f64>()
            && value < 1e13
        {
            #[expect(clippy::cast_possible_truncation, reason = "below 10^15 hundredths")]
            found.push((value * 100.0).round() as i64);
        }
    }
    found
}

/// Whether a text carries all of them.
pub(crate) fn carried(carries: &[Carry], text: &str) -> bool {
    carries.iter().all(|carry| carry.is_in(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(numbers("USD 1,240.50, then 7. And 3.5%"), vec![124_050, 700, 350]);
        assert_eq!(numbers("none"), Vec::<i64>::new());
        assert_eq!(numbers("1.2.3"), Vec::<i64>::new());
    }

    #[test]
    fn words_ignore_case_and_punctuation() {
        assert!(Carry::Word("DE12 3456".to_owned()).is_in("to de123456."));
        assert!(!Carry::Word("DE12 3457".to_owned()).is_in("to de123456."));
        assert!(Carry::Number { hundredths: 1234, tolerance: 10 }.is_in("about 12.3 %"));
        assert!(!Carry::exact(1234).is_in("about 12.3 %"));
    }
}
