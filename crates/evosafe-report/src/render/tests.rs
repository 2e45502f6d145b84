use super::{Format, render};
use crate::document::{Document, Table, Value, column, ends, optional, share};

/// Everything that some format could trip over.
const HOSTILE: &str = "a|b, \"c\" 50% & x_y {z} $1 #2 <t> ~^\\ [d]\n*e*";

fn sample() -> Document {
    let columns = vec![
        column("name", "name"),
        column("rate", "ASR %"),
        ends("ci", "95 %"),
        share("left", "residual"),
        column("score", "score"),
        column("p", "p"),
        column("best", "best"),
        optional("never", "never filled"),
    ];
    let mut table = Table::new("sample", "A sample", columns);
    table.push_strong(
        vec![
            Value::text(HOSTILE),
            Value::share(Some(0.28)),
            Value::range(Some([0.0, 0.5])),
            Value::Of(3, 7),
            Value::Points(-1.5),
            Value::P(1.5e-9),
            Value::Mark(true),
            Value::Empty,
        ],
        true,
    );
    table.push(vec![
        Value::text("#plain"),
        Value::share(None),
        Value::range(None),
        Value::Empty,
        Value::Points(-0.01),
        Value::P(0.25),
        Value::Mark(false),
        Value::Empty,
    ]);
    let mut more = Table::new("more", "More", vec![column("x", "x")]).detail();
    more.push(vec![Value::Count(1)]);
    Document {
        title: "a title".to_owned(),
        facts: vec![("victim", "sim:x".to_owned())],
        tables: vec![table, more],
        notes: vec!["a note".to_owned()],
        caveats: vec!["simulated profile, not the model".to_owned()],
    }
}

#[test]
fn text_leaves_out_what_is_empty_and_what_is_detail() {
    let text = render(&sample(), Format::Text);
    assert!(!text.contains("never filled") && !text.contains("More"), "{text}");
    assert!(text.contains("more tables: --table more (or all)"), "{text}");
    assert!(text.contains("[0.0, 50.0]") && text.contains("1.5e-9") && text.contains("3/7"));
    assert!(text.contains(" 0.0 "), "nothing has no sign: {text}");
    let plain = text.lines().find(|line| line.contains("#plain")).expect("a row");
    assert!(plain.contains(" - "), "nothing was assessed: {plain}");
    let line = text.lines().find(|line| line.contains("a|b")).expect("one line");
    assert!(line.contains("*e*"), "line breaks in words do not break rows: {text}");
}

#[test]
fn markdown_escapes_what_would_be_markup() {
    let text = render(&sample(), Format::Markdown);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 4 + 3, "{text}");
    for row in &rows[..4] {
        let pipes = row.replace("\\|", "").matches('|').count();
        assert_eq!(pipes, 8, "seven cells: {row}");
    }
    assert!(
        rows[2].contains("**a\\|b, \"c\" 50% & x\\_y {z} $1 #2 \\<t\\> ~^\\\\ \\[d\\] \\*e\\***")
    );
    assert!(rows[2].contains("**[0.0, 50.0]**") && rows[2].contains("**\\***"), "{text}");
    assert!(rows[2].contains("**28.0**") && rows[1].starts_with("|---|---:|"), "{text}");
    assert!(text.trim_end().ends_with("> simulated profile, not the model"), "{text}");
}

#[test]
fn csv_is_read_back_as_it_was() {
    let text = render(&sample().only("sample").expect("there is one"), Format::Csv);
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next(), Some(""));
    assert_eq!(lines.next(), Some("name,rate,ci_low,ci_high,left_hits,left_n,score,p,best,never"));
    let rest: Vec<&str> = lines.collect();
    let first =
        "\"a|b, \"\"c\"\" 50% & x_y {z} $1 #2 <t> ~^\\ [d]\n*e*\",28,0,50,3,7,-1.5,1.5e-9,true,";
    assert_eq!(rest[..2].join("\n"), first);
    assert_eq!(rest[2], "\"#plain\",,,,,,-0.01,0.25,false,", "a name is no comment");
    assert!(text.contains("# note: simulated profile, not the model\n"), "{text}");
    assert!(sample().only("nothing").is_none());
    assert!(render(&sample().only("all").expect("all"), Format::Text).contains("More"));
}

#[test]
fn latex_escapes_its_specials() {
    let text = render(&sample(), Format::Latex);
    let row = text.lines().find(|line| line.contains("a\\textbar{}b")).expect("a row");
    for part in [
        "''c'' 50\\% \\& x\\_y \\{z\\} \\$1 \\#2 \\textless{}t\\textgreater{}",
        "\\textasciitilde{}\\textasciicircum{}\\textbackslash{} [d] *e*",
        "\\textbf{$-1.5$}",
        "$1.5\\times 10^{-9}$",
    ] {
        assert!(row.contains(part), "{part} in {row}");
    }
    let unescaped = row.replace("\\&", "").matches('&').count();
    assert_eq!(unescaped, 6, "{row}");
    assert!(text.contains("% note: simulated profile, not the model"), "{text}");
    assert!(text.contains("\\caption{A sample (simulated profile, not the model)}"), "{text}");
    assert_eq!(text.matches("\\begin{tabular}").count(), 2);
}

#[test]
fn json_has_numbers_and_caveats() {
    let text = render(&sample(), Format::Json);
    let json: serde_json::Value = serde_json::from_str(&text).expect("one document");
    let row = &json["tables"][0]["rows"][0];
    assert_eq!(row["name"], HOSTILE);
    assert_eq!(row["rate"].as_f64(), Some(28.0), "not 28.000000000000004");
    assert_eq!(row["ci"], serde_json::json!([0.0, 50.0]));
    assert_eq!(row["left"], serde_json::json!({ "hits": 3, "n": 7 }));
    assert_eq!(row["p"].as_f64(), Some(1.5e-9));
    assert!(json["tables"][0]["rows"][1]["rate"].is_null());
    assert_eq!(json["caveats"][0], "simulated profile, not the model");
    assert_eq!(json["tables"][1]["name"], "more");
}
