//! Numbers as text, and the layout of plain tables.

use comfy_table::{CellAlignment, Table, presets};

/// A share as a percentage with one decimal, or a dash where nothing was assessed.
#[must_use]
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |x| format!("{:.1}", 100.0 * x))
}

/// Points with one decimal and sign, or a dash.
#[must_use]
pub fn points(points: Option<f64>) -> String {
    points.map_or_else(|| "-".to_owned(), |x| tidy(format!("{x:+.1}")))
}

/// The ends of an interval of points, `[a, b]`.
pub(crate) fn point_range(low: f64, high: f64) -> String {
    format!("[{}, {}]", points(Some(low)), points(Some(high)))
}

/// Nothing has no sign: -0.0 and +0.0 are 0.0.
pub(crate) fn tidy(number: String) -> String {
    if matches!(number.as_str(), "-0.0" | "+0.0") { "0.0".to_owned() } else { number }
}

/// A p-value with three decimals, or two digits where that would be 0.000.
pub(crate) fn p_value(p: f64) -> String {
    if p >= 0.001 { format!("{p:.3}") } else { format!("{p:.1e}") }
}

/// An interval of shares as percentages, `[a, b]`.
pub(crate) fn interval(bounds: Option<[f64; 2]>) -> String {
    bounds.map_or_else(
        || "-".to_owned(),
        |[low, high]| format!("[{:.1}, {:.1}]", 100.0 * low, 100.0 * high),
    )
}

/// The mean, if there is anything.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u32), |(sum, n), x| (sum + x, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

/// A plain table: first column left, the others right, unless listed in `left`.
pub(crate) fn plain(header: &[&str], left: &[usize], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if i > 0 && !left.contains(&i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text: Vec<String> =
        table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    text.join("\n")
}
