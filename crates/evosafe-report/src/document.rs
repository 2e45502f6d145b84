//! The one model of what is printed as tables. Commands build a [`Document`]; the renderers
//! in [`crate::render`] know nothing of what the numbers mean.

/// Tables with all that must be said beside them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// What it is, in one line.
    pub title: String,
    /// Names and values that hold for all tables, such as the victim.
    pub facts: Vec<(&'static str, String)>,
    /// The tables.
    pub tables: Vec<Table>,
    /// Results and explanations in words.
    pub notes: Vec<String>,
    /// What must stand beside every number; in every format.
    pub caveats: Vec<String>,
}

impl Document {
    /// The same with the tables of one name only; all of them for `all`. `None` if there is no
    /// such table.
    #[must_use]
    pub fn only(mut self, name: &str) -> Option<Self> {
        if name != "all" {
            self.tables.retain(|table| table.name == name);
        }
        for table in &mut self.tables {
            table.detail = false;
        }
        (!self.tables.is_empty()).then_some(self)
    }

    /// Names of the tables, in order.
    #[must_use]
    pub fn table_names(&self) -> Vec<&'static str> {
        self.tables.iter().map(|table| table.name).collect()
    }
}

/// One table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Short name, for programs and `--table`.
    pub name: &'static str,
    /// What it shows, in one line.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; each has as many cells as there are columns.
    pub rows: Vec<Row>,
    /// Left out of text for people unless asked for.
    pub detail: bool,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(name: &'static str, title: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { name, title: title.into(), columns, rows: Vec::new(), detail: false }
    }

    /// The same, left out of text for people unless asked for.
    #[must_use]
    pub fn detail(mut self) -> Self {
        self.detail = true;
        self
    }

    /// Adds a row.
    pub fn push(&mut self, cells: Vec<Value>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "table {}", self.name);
        self.rows.push(Row { cells, strong: false });
    }

    /// Adds a row that stands out.
    pub fn push_strong(&mut self, cells: Vec<Value>, strong: bool) {
        self.push(cells);
        if let Some(row) = self.rows.last_mut() {
            row.strong = strong;
        }
    }
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name for programs: lowercase, digits and `_`.
    pub key: String,
    /// Heading for people.
    pub head: String,
    /// How many fields it has where a field holds one number.
    pub parts: Parts,
    /// Whether text for people goes without it while it is empty.
    pub optional: bool,
}

/// The fields of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// One.
    One,
    /// `KEY_low` and `KEY_high`.
    Ends,
    /// `KEY_hits` and `KEY_n`.
    Share,
}

/// A column of one field.
pub(crate) fn column(key: impl Into<String>, head: impl Into<String>) -> Column {
    Column { key: key.into(), head: head.into(), parts: Parts::One, optional: false }
}

/// A column of one field that text for people goes without while it is empty.
pub(crate) fn optional(key: &str, head: &str) -> Column {
    Column { optional: true, ..column(key, head) }
}

/// A column of intervals.
pub(crate) fn ends(key: &str, head: &str) -> Column {
    Column { parts: Parts::Ends, ..column(key, head) }
}

/// A column of counts among others.
pub(crate) fn share(key: &str, head: &str) -> Column {
    Column { parts: Parts::Share, ..column(key, head) }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The cells.
    pub cells: Vec<Value>,
    /// Whether it stands out, such as the best of several.
    pub strong: bool,
}

/// A cell. Rates are in percent and scores in points, whatever the format.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing to say.
    Empty,
    /// A number that is not there, because nothing was assessed.
    Unknown,
    /// Words.
    Text(String),
    /// A count.
    Count(u64),
    /// A number in percent.
    Percent(f64),
    /// Points, or a difference of percentages: shown with its sign.
    Points(f64),
    /// Any other number, shown with one decimal.
    Number(f64),
    /// Ends of an interval, in percent.
    Range(f64, f64),
    /// Ends of an interval, in points.
    PointRange(f64, f64),
    /// Hits among tasks.
    Of(u64, u64),
    /// A p-value.
    P(f64),
    /// A mark, such as that of the best.
    Mark(bool),
}

impl Value {
    /// Words.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A share in [0, 1].
    pub(crate) fn share(share: Option<f64>) -> Self {
        share.map_or(Self::Unknown, |x| Self::Percent(100.0 * x))
    }

    /// An interval of shares.
    pub(crate) fn range(ends: Option<[f64; 2]>) -> Self {
        ends.map_or(Self::Empty, |[low, high]| Self::Range(100.0 * low, 100.0 * high))
    }

    /// Points.
    pub(crate) fn points(points: Option<f64>) -> Self {
        points.map_or(Self::Unknown, Self::Points)
    }

    /// An interval of points.
    pub(crate) fn point_range(ends: Option<[f64; 2]>) -> Self {
        ends.map_or(Self::Empty, |[low, high]| Self::PointRange(low, high))
    }

    /// A count, blank if it is 0.
    pub(crate) fn some(count: u64) -> Self {
        if count == 0 { Self::Empty } else { Self::Count(count) }
    }

    /// Whether too much was lost for a verdict.
    pub(crate) fn verdict(indecisive: bool) -> Self {
        if indecisive { Self::text("indecisive") } else { Self::Empty }
    }
}
