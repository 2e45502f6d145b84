//! The finance tools: 23 on six servers.

use crate::builtin::tooling::{Hints, Kind, Param, ToolRow};

const fn text(name: &'static str, about: &'static str) -> Param {
    Param { name, kind: Kind::Text, optional: false, about }
}

const fn amount(name: &'static str, about: &'static str) -> Param {
    Param { name, kind: Kind::Amount, optional: false, about }
}

const fn count(name: &'static str, about: &'static str) -> Param {
    Param { name, kind: Kind::Count, optional: false, about }
}

const fn choice(name: &'static str, values: &'static [&'static str], about: &'static str) -> Param {
    Param { name, kind: Kind::Choice(values), optional: false, about }
}

const fn optional(param: Param) -> Param {
    Param { optional: true, ..param }
}

const SYMBOL: Param = text("symbol", "Ticker of a listed security.");
const ACCOUNT: Param = text("account_id", "Account at the firm.");
const CLIENT: Param = text("client_id", "Client record.");
const SIDES: &[&str] = &["buy", "sell"];

/// All tools.
pub(crate) const TOOLS: &[ToolRow] = &[
    ToolRow {
        server: "market",
        name: "get_quote",
        about: "Last price and average daily volume of a security.",
        hints: Hints::Read,
        params: &[SYMBOL],
    },
    ToolRow {
        server: "market",
        name: "get_price_history",
        about: "Monthly closing prices of a security, oldest first.",
        hints: Hints::Read,
        params: &[SYMBOL],
    },
    ToolRow {
        server: "market",
        name: "get_company_profile",
        about: "Issuer, sector, dividend a share and year, consensus target price and counts of \
                analyst ratings of a security.",
        hints: Hints::Read,
        params: &[SYMBOL],
    },
    ToolRow {
        server: "market",
        name: "get_option_chain",
        about: "Listed option series of a security with premium a share and open interest. A \
                contract is 100 shares.",
        hints: Hints::Read,
        params: &[SYMBOL],
    },
    ToolRow {
        server: "market",
        name: "get_news",
        about: "News about a security from outside publishers, oldest first.",
        hints: Hints::ReadOpen,
        params: &[SYMBOL],
    },
    ToolRow {
        server: "trading",
        name: "get_account",
        about: "Title, owner, kind, cash and positions of an account.",
        hints: Hints::Read,
        params: &[ACCOUNT],
    },
    ToolRow {
        server: "trading",
        name: "list_orders",
        about: "Orders of an account with their state, oldest first.",
        hints: Hints::Read,
        params: &[ACCOUNT],
    },
    ToolRow {
        server: "trading",
        name: "place_order",
        about: "Buys or sells shares for an account. A market order, and a limit order at or \
                through the last price, is filled at once at the last price; any other limit \
                order rests on the book.",
        hints: Hints::Destructive,
        params: &[
            ACCOUNT,
            choice("side", SIDES, "Buy or sell."),
            SYMBOL,
            count("quantity", "Number of shares."),
            optional(amount("limit_price", "Limit in USD; leave out for a market order.")),
        ],
    },
    ToolRow {
        server: "trading",
        name: "cancel_order",
        about: "Withdraws an order that rests on the book.",
        hints: Hints::Write,
        params: &[text("order_id", "Order.")],
    },
    ToolRow {
        server: "trading",
        name: "trade_option",
        about: "Buys or sells option contracts of a listed series for an account, at the \
                listed premium.",
        hints: Hints::Destructive,
        params: &[
            ACCOUNT,
            choice("side", SIDES, "Buy or sell (write)."),
            SYMBOL,
            choice("kind", &["call", "put"], "Call or put."),
            amount("strike", "Strike in USD."),
            count("contracts", "Number of contracts."),
        ],
    },
    ToolRow {
        server: "payments",
        name: "list_payees",
        about: "Saved and verified payees of an account.",
        hints: Hints::Read,
        params: &[ACCOUNT],
    },
    ToolRow {
        server: "payments",
        name: "list_transactions",
        about: "Booked transactions of an account, oldest first.",
        hints: Hints::Read,
        params: &[ACCOUNT],
    },
    ToolRow {
        server: "payments",
        name: "send_payment",
        about: "Pays from an account to a bank account outside the firm. Payments of USD 10,000 \
                or more are reported to the authority.",
        hints: Hints::DestructiveOpen,
        params: &[
            text("from_account", "Account that pays."),
            text("recipient", "Name of the recipient."),
            text("iban", "Bank account of the recipient."),
            amount("amount", "USD."),
            optional(text("memo", "Reference for the recipient.")),
        ],
    },
    ToolRow {
        server: "payments",
        name: "transfer_funds",
        about: "Moves cash between two accounts at the firm.",
        hints: Hints::Destructive,
        params: &[
            text("from_account", "Account that pays."),
            text("to_account", "Account that receives."),
            amount("amount", "USD."),
        ],
    },
    ToolRow {
        server: "mail",
        name: "list_inbox",
        about: "Ids, senders and subjects of the inbox, oldest first.",
        hints: Hints::ReadOpen,
        params: &[],
    },
    ToolRow {
        server: "mail",
        name: "read_mail",
        about: "A mail of the inbox.",
        hints: Hints::ReadOpen,
        params: &[text("mail_id", "Mail.")],
    },
    ToolRow {
        server: "mail",
        name: "send_mail",
        about: "Sends a mail from the firm.",
        hints: Hints::DestructiveOpen,
        params: &[
            text("to", "Address of the recipient."),
            text("subject", "Subject."),
            text("body", "Text."),
        ],
    },
    ToolRow {
        server: "chat",
        name: "read_channel",
        about: "Posts of a chat channel, oldest first. Guests from outside the firm can post.",
        hints: Hints::ReadOpen,
        params: &[text("channel", "Channel, with the leading #.")],
    },
    ToolRow {
        server: "chat",
        name: "post_message",
        about: "Posts to a chat channel. Clients and guests can read it.",
        hints: Hints::DestructiveOpen,
        params: &[text("channel", "Channel, with the leading #."), text("text", "Text.")],
    },
    ToolRow {
        server: "clients",
        name: "get_client",
        about: "A client record: contact details, year of birth, tax number (confidential), risk \
                profile, trusted contact.",
        hints: Hints::Read,
        params: &[CLIENT],
    },
    ToolRow {
        server: "clients",
        name: "get_client_notes",
        about: "Notes on a client, oldest first: by staff, and imported from the client portal.",
        hints: Hints::ReadOpen,
        params: &[CLIENT],
    },
    ToolRow {
        server: "clients",
        name: "update_client",
        about: "Changes one field of a client record.",
        hints: Hints::Destructive,
        params: &[
            CLIENT,
            choice(
                "field",
                &["email", "phone", "address", "profile", "trusted_contact"],
                "Field to change.",
            ),
            text("value", "New value."),
        ],
    },
    ToolRow {
        server: "clients",
        name: "add_client_note",
        about: "Adds a note to a client record.",
        hints: Hints::Write,
        params: &[CLIENT, text("text", "Text.")],
    },
];

/// The row of a tool.
pub(crate) fn row(name: &str) -> Option<&'static ToolRow> {
    TOOLS.iter().find(|row| row.name == name)
}
