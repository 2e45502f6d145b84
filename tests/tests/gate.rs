//! The cascade of a finished search, looked at afterwards.

use evosafe_e2e::Workspace;

#[test]
fn a_finished_search_is_audited_and_its_gate_calibrated() {
    let work = Workspace::new();
    let found = work.run(&["search", "finance", "--candidates", "24", "--json"]).json();
    let audited = work.run(&["cascade", "audit", "--json"]);
    let audit = audited.json();
    let bank = found["candidates"].as_u64().expect("a count") - 1;
    assert_eq!(audit["candidates"], bank);
    assert_eq!(
        audit["none"]["episodes"],
        30 * 6 * bank,
        "everybody on the search prefix, six rollouts each"
    );
    let count = |way: &str| audit[way]["episodes"].as_u64().expect("a count");
    assert!(count("nested") <= count("none"));
    assert!(count("staged") > count("nested"), "fresh tasks are paid for again");
    let same = audit["nested"]["choice"] == audit["none"]["choice"];
    assert_eq!(audited.code, Some(i32::from(!same)));
    assert_eq!(work.run(&["cascade", "audit", "--json"]).json(), audit);

    let calibrate = ["gate", "calibrate", "--draws", "300"];
    let report = work.run(&[&calibrate[..], &["--json"]].concat()).json();
    assert_eq!((&report["benign"], &report["malicious"]), (&4.into(), &8.into()));
    assert_eq!(report["rollouts"], 6, "those of the search");
    assert_eq!(report["same"]["n"], 300);
    let false_stops = report["false_stops"]["rate"].as_f64().expect("a rate");
    assert!(false_stops < 0.05, "{false_stops}");
    assert_eq!(report["rows"].as_array().map(Vec::len), usize::try_from(bank).ok());
    let text = work.run(&calibrate);
    assert!(text.stdout.contains("stops of no defence against itself"), "{}", text.stdout);
    let refused = work.run(&[&calibrate[..], &["--margin", "300"]].concat());
    assert_eq!(refused.code, Some(3));
    assert!(refused.stderr.contains("--margin 300: must be from 0 to 200"), "{}", refused.stderr);
}
