//! Shortest edit between two token lists (Myers, "An O(ND) difference algorithm", 1986),
//! reported as the stretches that were replaced.

use std::ops::Range;

/// Tokens inserted and deleted before two texts count as different altogether. Bounds time
/// and memory: both grow with the square of it.
const MOST_EDITS: usize = 600;

/// A stretch of the old list and what stands in its place in the new one. Either side may
/// be empty; the tokens around it are common to both lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// The replaced stretches in order; `None` if the lists are too different to say.
pub fn hunks<T: PartialEq>(old: &[T], new: &[T]) -> Option<Vec<Hunk>> {
    let head = old.iter().zip(new).take_while(|(x, y)| x == y).count();
    let (a, b) = (&old[head..], &new[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    let trace = trace(a, b)?;
    Some(stretches(&common(&trace, a.len(), b.len()), a.len(), b.len(), head))
}

/// Furthest `x` on each diagonal, one row for every number of edits. Row `d` holds the
/// diagonals `-d..=d`.
fn trace<T: PartialEq>(a: &[T], b: &[T]) -> Option<Vec<Vec<usize>>> {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for d in 0..=(a.len() + b.len()).min(MOST_EDITS) {
        let mut row = vec![0; 2 * d + 1];
        for index in (0..=2 * d).step_by(2) {
            let mut x = start(rows.last().map(Vec::as_slice), d, index);
            // The diagonal is k = index - d = x - y.
            let Some(mut y) = (x + d).checked_sub(index) else { continue };
            while x < a.len() && y < b.len() && a[x] == b[y] {
                x += 1;
                y += 1;
            }
            row[index] = x;
            if x >= a.len() && y >= b.len() {
                rows.push(row);
                return Some(rows);
            }
        }
        rows.push(row);
    }
    None
}

/// Whether row `d` reaches diagonal `index` by an insertion (from the diagonal above).
fn inserts(previous: &[usize], d: usize, index: usize) -> bool {
    index == 0 || (index < 2 * d && index >= 2 && previous[index - 2] < previous[index])
}

fn start(previous: Option<&[usize]>, d: usize, index: usize) -> usize {
    match previous {
        None => 0,
        // Row d - 1 holds diagonal k at k + d - 1 = index - 1; k + 1 at index, k - 1 at index - 2.
        Some(row) if inserts(row, d, index) => row[index],
        Some(row) => row[index - 2] + 1,
    }
}

/// Positions of the common tokens, in order.
fn common(rows: &[Vec<usize>], width: usize, height: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut x, mut y) = (width, height);
    for d in (0..rows.len()).rev() {
        let index = x + d - y;
        let previous = d.checked_sub(1).map(|p| rows[p].as_slice());
        let from = start(previous, d, index);
        while x > from {
            x -= 1;
            y -= 1;
            pairs.push((x, y));
        }
        match previous {
            Some(row) if inserts(row, d, index) => y -= 1,
            Some(_) => x -= 1,
            None => {}
        }
    }
    pairs.reverse();
    pairs
}

fn stretches(common: &[(usize, usize)], width: usize, height: usize, shift: usize) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let (mut x, mut y) = (0, 0);
    for &(to_x, to_y) in common.iter().chain(std::iter::once(&(width, height))) {
        if to_x > x || to_y > y {
            hunks.push(Hunk { old: x + shift..to_x + shift, new: y + shift..to_y + shift });
        }
        (x, y) = (to_x + 1, to_y + 1);
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &[(&str, &str)]) {
        let (a, b): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        let found: Vec<(String, String)> = hunks(&a, &b)
            .expect("short texts are compared")
            .into_iter()
            .map(|h| (a[h.old].iter().collect(), b[h.new].iter().collect()))
            .collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(x, y)| (&**x, &**y)).collect();
        assert_eq!(found, expected, "{old} / {new}");
    }

    #[test]
    fn replaced_stretches() {
        check("", "", &[]);
        check("abc", "abc", &[]);
        check("abc", "", &[("abc", "")]);
        check("", "abc", &[("", "abc")]);
        check("abc", "axc", &[("b", "x")]);
        check("abcdefg", "axcdyyg", &[("b", "x"), ("ef", "yy")]);
        check("abcd", "acd", &[("b", "")]);
        check("acd", "abcd", &[("", "b")]);
        check("abc", "xyz", &[("abc", "xyz")]);
        check("1ab2ab", "ab9ab", &[("1", ""), ("2", "9")]);
    }

    #[test]
    fn hunks_rebuild_the_new_list() {
        // Every pair of words of up to five letters over a small alphabet.
        let words: Vec<Vec<u8>> = (0..3usize.pow(5))
            .map(|mut n| {
                let mut word = Vec::new();
                while n > 0 {
                    word.push(u8::try_from(n % 3).expect("below 3"));
                    n /= 3;
                }
                word
            })
            .collect();
        for a in &words {
            for b in &words {
                let mut rebuilt: Vec<u8> = Vec::new();
                let mut at = 0;
                for hunk in hunks(a, b).expect("short") {
                    rebuilt.extend(&a[at..hunk.old.start]);
                    rebuilt.extend(&b[hunk.new.clone()]);
                    at = hunk.old.end;
                }
                rebuilt.extend(&a[at..]);
                assert_eq!(&rebuilt, b, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn texts_that_differ_altogether_are_not_compared() {
        let (a, b): (Vec<usize>, Vec<usize>) = ((0..2000).collect(), (5000..7000).collect());
        assert_eq!(hunks(&a, &b), None);
    }
}
