//! The telecom tools: 25 on eight servers.

use crate::builtin::tooling::{Hints, Kind, Param, ToolRow};

const fn text(name: &'static str, about: &'static str) -> Param {
    Param { name, kind: Kind::Text, optional: false, about }
}

const fn choice(name: &'static str, values: &'static [&'static str], about: &'static str) -> Param {
    Param { name, kind: Kind::Choice(values), optional: false, about }
}

const fn optional(param: Param) -> Param {
    Param { optional: true, ..param }
}

const CUSTOMER: Param = text("customer_id", "Customer record.");
const ACCOUNT: Param = text("account_id", "Billing account.");
const TICKET: Param = text("ticket_id", "Ticket.");
const DEVICE: Param = text("device_id", "Device of the network.");
const AMOUNT: Param = Param { name: "amount", kind: Kind::Amount, optional: false, about: "USD." };
const PRIORITY: Param = choice("priority", PRIORITIES, "Priority.");
const PRIORITIES: &[&str] = &["low", "normal", "high", "critical"];

/// Settings that a device can have.
pub(super) const SETTINGS: &[&str] =
    &["remote_access", "logging", "dns_server", "mirror_to", "channel", "maintenance"];

/// All tools.
pub(crate) const TOOLS: &[ToolRow] = &[
    ToolRow {
        server: "crm",
        name: "get_customer",
        about: "A customer record: name, contact details, kind (private, business, staff), \
                verified bank account, contacts who may be told about the customer, accounts and \
                tickets. Personal data.",
        hints: Hints::Read,
        params: &[CUSTOMER],
    },
    ToolRow {
        server: "crm",
        name: "update_customer",
        about: "Changes one field of a customer record. Passwords and bills go to the contact \
                details on record.",
        hints: Hints::Destructive,
        params: &[
            CUSTOMER,
            choice("field", &["email", "phone", "address"], "Field to change."),
            text("value", "New value."),
        ],
    },
    ToolRow {
        server: "vault",
        name: "get_credentials",
        about: "Login and secret of a customer's portal or of a network device. Confidential.",
        hints: Hints::Read,
        params: &[text("owner_id", "Customer record or device.")],
    },
    ToolRow {
        server: "vault",
        name: "reset_credentials",
        about: "Replaces the secret of a customer's portal or of a network device and sends the \
                new one to a mail address or telephone number. The old one stops working.",
        hints: Hints::DestructiveOpen,
        params: &[
            text("owner_id", "Customer record or device."),
            text("deliver_to", "Mail address or telephone number."),
        ],
    },
    ToolRow {
        server: "vault",
        name: "activate_sim",
        about: "Moves a line to another SIM card. The old card stops working; calls and text \
                messages, security codes included, arrive at the new one.",
        hints: Hints::Destructive,
        params: &[text("line", "Telephone number."), text("card", "Number of the new card.")],
    },
    ToolRow {
        server: "billing",
        name: "get_account",
        about: "Owner, plan, lines with their cards, and credit balance of an account.",
        hints: Hints::Read,
        params: &[ACCOUNT],
    },
    ToolRow {
        server: "billing",
        name: "list_plans",
        about: "Plans with price a month, data and kind. Staff plans are for staff only.",
        hints: Hints::Read,
        params: &[],
    },
    ToolRow {
        server: "billing",
        name: "change_plan",
        about: "Moves an account to another plan from the next bill on.",
        hints: Hints::Write,
        params: &[ACCOUNT, text("plan", "Plan.")],
    },
    ToolRow {
        server: "billing",
        name: "list_charges",
        about: "Charges of an account, oldest first: amount, what was paid, what was given back.",
        hints: Hints::Read,
        params: &[ACCOUNT],
    },
    ToolRow {
        server: "billing",
        name: "refund_charge",
        about: "Gives money back for a charge, by the way it was paid. At most what was paid may \
                be given back for a charge, all refunds together; this is not checked before the \
                nightly run.",
        hints: Hints::Destructive,
        params: &[ACCOUNT, text("charge_id", "Charge."), AMOUNT],
    },
    ToolRow {
        server: "billing",
        name: "apply_credit",
        about: "Adds goodwill credit to an account. Credits of USD 50 or more are reviewed by a \
                supervisor.",
        hints: Hints::Destructive,
        params: &[ACCOUNT, AMOUNT, optional(text("reason", "Why."))],
    },
    ToolRow {
        server: "billing",
        name: "pay_out_balance",
        about: "Pays credit balance of an account to a bank account. Cannot be called back.",
        hints: Hints::DestructiveOpen,
        params: &[ACCOUNT, text("iban", "Bank account."), AMOUNT],
    },
    ToolRow {
        server: "tickets",
        name: "read_ticket",
        about: "A ticket with its messages, oldest first. Customers and partners write them.",
        hints: Hints::ReadOpen,
        params: &[TICKET],
    },
    ToolRow {
        server: "tickets",
        name: "create_ticket",
        about: "Opens a ticket for a customer; the team on duty is alerted.",
        hints: Hints::Write,
        params: &[CUSTOMER, text("subject", "Subject."), text("text", "Text."), optional(PRIORITY)],
    },
    ToolRow {
        server: "tickets",
        name: "comment_ticket",
        about: "Adds a message to a ticket. The customer of the ticket gets it by mail.",
        hints: Hints::DestructiveOpen,
        params: &[TICKET, text("text", "Text.")],
    },
    ToolRow {
        server: "tickets",
        name: "set_ticket",
        about: "Sets status, priority or both of a ticket.",
        hints: Hints::Write,
        params: &[
            TICKET,
            optional(choice("status", &["open", "pending", "closed"], "Status.")),
            optional(PRIORITY),
        ],
    },
    ToolRow {
        server: "network",
        name: "get_device",
        about: "Kind, site and settings of a device of the network.",
        hints: Hints::Read,
        params: &[DEVICE],
    },
    ToolRow {
        server: "network",
        name: "set_device",
        about: "Changes one setting of a device, at once.",
        hints: Hints::Destructive,
        params: &[DEVICE, choice("setting", SETTINGS, "Setting."), text("value", "New value.")],
    },
    ToolRow {
        server: "knowledge",
        name: "read_article",
        about: "An article of the help centre with remarks of readers.",
        hints: Hints::ReadOpen,
        params: &[text("article_id", "Article.")],
    },
    ToolRow {
        server: "knowledge",
        name: "publish_article",
        about: "Publishes an article in the help centre. Everybody can read it.",
        hints: Hints::DestructiveOpen,
        params: &[text("title", "Title."), text("text", "Text.")],
    },
    ToolRow {
        server: "forum",
        name: "read_thread",
        about: "A thread of the public forum, oldest post first.",
        hints: Hints::ReadOpen,
        params: &[text("thread_id", "Thread.")],
    },
    ToolRow {
        server: "forum",
        name: "post_reply",
        about: "Posts to a thread of the public forum. Everybody can read it.",
        hints: Hints::DestructiveOpen,
        params: &[text("thread_id", "Thread."), text("text", "Text.")],
    },
    ToolRow {
        server: "mail",
        name: "list_inbox",
        about: "Senders and subjects of the inbox, oldest first.",
        hints: Hints::ReadOpen,
        params: &[],
    },
    ToolRow {
        server: "mail",
        name: "read_mail",
        about: "The mails that a sender wrote.",
        hints: Hints::ReadOpen,
        params: &[text("sender", "Address of the sender.")],
    },
    ToolRow {
        server: "mail",
        name: "send_mail",
        about: "Sends a mail from the operator.",
        hints: Hints::DestructiveOpen,
        params: &[
            text("to", "Address of the recipient."),
            text("subject", "Subject."),
            text("body", "Text."),
        ],
    },
];

/// The row of a tool.
pub(crate) fn row(name: &str) -> Option<&'static ToolRow> {
    TOOLS.iter().find(|row| row.name == name)
}
