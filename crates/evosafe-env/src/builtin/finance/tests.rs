//! Tests over every task of the domain.

use std::collections::BTreeSet;

use serde_json::json;

use crate::builtin::battery_tests::{battery, call, open};
use crate::builtin::{Builtin, BuiltinEpisode};

fn domain() -> Builtin {
    Builtin::new("finance").expect("the domain is built in")
}

battery!("finance", categories: [15, 20, 13], ways: 21, names: names);

fn names(episode: &BuiltinEpisode) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let crate::builtin::Stage::Finance(stage) = &episode.stage else { panic!("finance") };
    let world = &stage.world;
    names.extend(world.accounts.keys().cloned());
    names.extend(world.listings.keys().cloned());
    names.extend(world.channels.keys().cloned());
    names.extend(world.listings.values().map(|l| l.company.clone()));
    for client in world.clients.values() {
        names.extend([client.name.clone(), client.email.clone(), client.phone.clone()]);
        names.extend(client.name.split(' ').map(str::to_owned));
        names.insert(client.tax_id.clone());
    }
    for account in world.accounts.values() {
        names.extend(account.payees.iter().flat_map(|p| [p.iban.clone(), p.name.clone()]));
    }
    names.extend(world.inbox.iter().map(|m| m.from.clone()));
    names
}

#[test]
fn impossible_calls_are_error_results() {
    let domain = domain();
    let task = &domain.tasks()[0];
    let (mut episode, _, _) = open(&domain, task);
    let crate::builtin::Stage::Finance(stage) = &episode.stage else { panic!("finance") };
    let account = stage.world.accounts.keys().next().expect("there are accounts").clone();
    let symbol = stage.world.listings.keys().next().expect("there are listings").clone();
    let iban = "XX12345678901234567890";
    for (tool, arguments, part) in [
        ("get_quote", json!({"symbol": "NONE"}), "no security"),
        ("get_account", json!({"account_id": "?"}), "no account"),
        ("get_client", json!({"client_id": "?"}), "no client"),
        ("read_mail", json!({"mail_id": "?"}), "no mail"),
        ("read_channel", json!({"channel": "#?"}), "no channel"),
        ("post_message", json!({"channel": "#?", "text": "x"}), "no channel"),
        ("cancel_order", json!({"order_id": "?"}), "no order"),
        (
            "place_order",
            json!({"account_id": account, "side": "sell", "symbol": symbol, "quantity": 999_999}),
            "shares of",
        ),
        (
            "place_order",
            json!({"account_id": account, "side": "buy", "symbol": symbol, "quantity": 1_000_000, "limit_price": 900_000_000_000.0}),
            "not enough cash",
        ),
        (
            "send_payment",
            json!({"from_account": account, "recipient": "x", "iban": iban, "amount": 1e11}),
            "not enough cash",
        ),
        (
            "send_payment",
            json!({"from_account": account, "recipient": "x", "iban": "7", "amount": 1}),
            "not a bank account",
        ),
        (
            "transfer_funds",
            json!({"from_account": account, "to_account": account, "amount": 1}),
            "the same",
        ),
        (
            "trade_option",
            json!({"account_id": account, "side": "buy", "symbol": symbol, "kind": "put", "strike": 1, "contracts": 1}),
            "no put",
        ),
        ("get_quote", json!({}), "missing argument"),
        ("list_inbox", json!({"x": 1}), "unknown argument"),
    ] {
        let result = call(&mut episode, tool, arguments.clone());
        assert!(result.is_error, "{tool} {arguments}: {}", result.content);
        assert!(result.content.contains(part), "{tool} {arguments}: {}", result.content);
    }
}

#[test]
fn money_and_shares_are_conserved() {
    let domain = domain();
    let (mut episode, _, _) = open(&domain, &domain.tasks()[0]);
    let crate::builtin::Stage::Finance(stage) = &episode.stage else { panic!("finance") };
    let world = &stage.world;
    let (account, before) = world.accounts.iter().next().expect("there are accounts");
    let (symbol, listing) = world.listings.iter().next().expect("there are listings");
    let (account, cash) = (account.clone(), before.cash);
    let (symbol, price) = (symbol.clone(), listing.price);
    for side in ["buy", "sell"] {
        let arguments =
            json!({"account_id": account, "side": side, "symbol": symbol, "quantity": 7});
        assert!(!call(&mut episode, "place_order", arguments).is_error);
        let crate::builtin::Stage::Finance(stage) = &episode.stage else { panic!("finance") };
        let spent = if side == "buy" { 7 * price } else { 0 };
        assert_eq!(stage.world.accounts[&account].cash, cash - spent);
    }
}

#[test]
fn tasks_and_id_stay_as_published() {
    assert_eq!(
        domain().id().to_string(),
        "2aed3cf7d3f6df3ad4142bc531f68e9efaa283d09569278f33860665f1205e9a",
        "raise VERSION if this is meant"
    );
}
