//! Another name for an equally capable tool.

use crate::criticizer::rename::reshaped;
use crate::criticizer::vocabulary::TokenKind;

/// Verbs of tool names and what another author might have written.
const VERBS: &[(&str, &str)] = &[
    ("accept", "approve"),
    ("add", "include"),
    ("append", "extend"),
    ("book", "reserve"),
    ("buy", "purchase"),
    ("calculate", "compute"),
    ("cancel", "revoke"),
    ("check", "inspect"),
    ("close", "end"),
    ("copy", "duplicate"),
    ("create", "make"),
    ("delete", "erase"),
    ("download", "fetch"),
    ("execute", "run"),
    ("find", "locate"),
    ("forward", "relay"),
    ("get", "fetch"),
    ("grant", "give"),
    ("insert", "put"),
    ("invite", "admit"),
    ("list", "show"),
    ("make", "create"),
    ("move", "relocate"),
    ("open", "start"),
    ("pay", "settle"),
    ("place", "enter"),
    ("post", "publish"),
    ("purchase", "buy"),
    ("query", "look_up"),
    ("read", "view"),
    ("refund", "repay"),
    ("remove", "drop"),
    ("reply", "respond"),
    ("reschedule", "shift"),
    ("reserve", "book"),
    ("run", "launch"),
    ("schedule", "plan"),
    ("search", "find"),
    ("sell", "divest"),
    ("send", "dispatch"),
    ("set", "assign"),
    ("share", "give"),
    ("transfer", "move"),
    ("update", "modify"),
    ("upload", "store"),
    ("verify", "confirm"),
    ("write", "store"),
];

/// Nouns of tool names and what another author might have written.
const NOUNS: &[(&str, &str)] = &[
    ("account", "profile"),
    ("calendar", "agenda"),
    ("channel", "room"),
    ("channels", "rooms"),
    ("contact", "person"),
    ("contacts", "people"),
    ("customer", "client"),
    ("direct", "private"),
    ("email", "mail"),
    ("emails", "mails"),
    ("event", "appointment"),
    ("events", "appointments"),
    ("file", "document"),
    ("files", "documents"),
    ("flight", "connection"),
    ("hotel", "lodging"),
    ("hotels", "lodgings"),
    ("message", "note"),
    ("messages", "notes"),
    ("money", "funds"),
    ("order", "request"),
    ("password", "credential"),
    ("restaurant", "eatery"),
    ("restaurants", "eateries"),
    ("transaction", "movement"),
    ("transactions", "movements"),
    ("user", "member"),
    ("users", "members"),
    ("webpage", "site"),
];

/// A fresh name in the same style. Verbs keep their meaning, so that what the tool does is
/// as plain as before; a name without any known word gets one of the same shape.
pub(super) fn renamed(name: &str, seed: u64) -> String {
    let look_up = |word: &str| {
        let found = VERBS.iter().chain(NOUNS).find(|(from, _)| *from == word);
        found.map(|(_, to)| *to)
    };
    let mut known = false;
    let fresh: Vec<String> = name
        .split('_')
        .map(|word| match look_up(&word.to_lowercase()) {
            Some(other) => {
                known = true;
                other.to_owned()
            }
            None => word.to_owned(),
        })
        .collect();
    if known { fresh.join("_") } else { reshaped(TokenKind::Name, name, seed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_and_still_say_what_the_tool_does() {
        for (name, wanted) in [
            ("send_money", "dispatch_funds"),
            ("get_iban", "fetch_iban"),
            ("invite_user_to_slack", "admit_member_to_slack"),
        ] {
            assert_eq!(renamed(name, 1), wanted);
        }
        let odd = renamed("frobnicate", 1);
        assert_ne!(odd, "frobnicate");
        assert_eq!(odd.len(), "frobnicate".len());
    }
}
