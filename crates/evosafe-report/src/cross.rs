//! Does specialisation pay? Every winner of a grid in every cell.

use evosafe_types::{CrossCell, GridCell, GridReport};

use crate::document::{Table, Value, column, optional};
use crate::table::{mean, points};

/// The matrix of scores, and the same with all rates, one row each.
pub(crate) fn tables(grid: &GridReport) -> (Table, Table) {
    (matrix(grid), long(grid))
}

fn name(cell: &GridCell) -> String {
    format!("{}/{}", cell.domain, cell.victim)
}

/// The winner of `trained` in `deployed`.
fn at<'a>(grid: &'a GridReport, trained: &GridCell, deployed: &GridCell) -> Option<&'a CrossCell> {
    grid.cross.iter().find(|x| {
        (x.trained_domain == trained.domain && x.trained_victim == trained.victim)
            && (x.domain == deployed.domain && x.victim == deployed.victim)
    })
}

fn matrix(grid: &GridReport) -> Table {
    let mut columns = vec![column("cell", ""), column("trained", "searched in")];
    for (i, cell) in grid.cells.iter().enumerate() {
        let key = name(cell).replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        columns.push(column(key, (i + 1).to_string()));
    }
    let title = "Held-out score of each winner (row) in each cell (column, numbered as the rows)";
    let mut table = Table::new("cross", title, columns);
    for (i, trained) in grid.cells.iter().enumerate() {
        let mut cells = vec![Value::Count(i as u64 + 1), Value::text(name(trained))];
        cells.extend(grid.cells.iter().map(|deployed| {
            let found = at(grid, trained, deployed).filter(|x| !x.indecisive);
            Value::points(found.and_then(|x| x.arm.score))
        }));
        table.push(cells);
    }
    let mut none = vec![Value::Empty, Value::text("no defence")];
    none.extend(grid.cells.iter().map(|deployed| {
        Value::points(at(grid, deployed, deployed).and_then(|x| x.reference_score))
    }));
    table.push(none);
    table
}

fn long(grid: &GridReport) -> Table {
    let columns = vec![
        column("trained_domain", "searched in"),
        column("trained_victim", "with"),
        column("domain", "used in"),
        column("victim", "with"),
        column("utility", "utility %"),
        column("asr", "ASR %"),
        column("score", "score"),
        column("no_defence", "no defence"),
        optional("unassessed", "unassessed"),
        optional("verdict", "verdict"),
    ];
    let title = "Each winner in each cell, all rates";
    let mut table = Table::new("cross_cells", title, columns).detail();
    for x in &grid.cross {
        table.push(vec![
            Value::text(&x.trained_domain),
            Value::text(&x.trained_victim),
            Value::text(&x.domain),
            Value::text(&x.victim),
            Value::share(x.arm.utility.rate),
            Value::share(x.arm.asr.all.rate),
            Value::points(x.arm.score),
            Value::points(x.reference_score),
            Value::some(x.unassessed),
            Value::verdict(x.indecisive),
        ]);
    }
    table
}

/// Means on and off the diagonal, and what an off-diagonal number means.
pub(crate) fn notes(grid: &GridReport) -> Vec<String> {
    let gain = |same_domain: bool, same_victim: bool| {
        mean(grid.cross.iter().filter(|x| !x.indecisive).filter_map(|x| {
            let domain = (x.trained_domain == x.domain) == same_domain;
            let victim = (x.trained_victim == x.victim) == same_victim;
            if domain && victim { Some(x.arm.score? - x.reference_score?) } else { None }
        }))
    };
    let own = grid.cells.iter().filter(|deployed| {
        let score = |trained: &GridCell| at(grid, trained, deployed).and_then(|x| x.arm.score);
        let ours = score(deployed);
        ours.is_some() && grid.cells.iter().all(|t| score(t) <= ours)
    });
    vec![
        format!(
            "score against no defence, mean: in its own cell {}, same domain with another victim {}, \
             same victim in another domain {}, both other {}",
            points(gain(true, true)),
            points(gain(true, false)),
            points(gain(false, true)),
            points(gain(false, false))
        ),
        format!(
            "the cell's own winner has the best score of all winners, or shares it, in {} of {} cells",
            own.count(),
            grid.cells.len()
        ),
        "out of its domain a harness meets tools, servers and people it never saw: a rule about what \
         calls do goes on working there, one about what they are called is silent. Such a number \
         says how far the idea carries, not how good a harness for that domain is"
            .to_owned(),
    ]
}
