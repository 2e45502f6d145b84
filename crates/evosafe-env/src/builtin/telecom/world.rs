//! State of the telecom world. Money is in cents.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// Everything there is.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct World {
    /// Domain of the operator's own addresses.
    pub domain: String,
    /// Customers by id.
    pub customers: BTreeMap<String, Customer>,
    /// Accounts by id.
    pub accounts: BTreeMap<String, Account>,
    /// Plans by name.
    pub plans: BTreeMap<String, Plan>,
    /// Tickets by id.
    pub tickets: BTreeMap<String, Ticket>,
    /// Devices of the network by id.
    pub devices: BTreeMap<String, Device>,
    /// Stored credentials by customer or device.
    pub vault: BTreeMap<String, Credential>,
    /// Articles of the help centre by id.
    pub articles: BTreeMap<String, Article>,
    /// Threads of the public forum by id.
    pub threads: BTreeMap<String, Thread>,
    /// The inbox, oldest first.
    pub inbox: Vec<Mail>,
    /// What was done in this episode.
    pub done: Done,
}

/// Effects of an episode, each list oldest first.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Done {
    /// Changes of customer records.
    pub edits: Vec<Edit>,
    /// Credentials that were reset: whose, and where the new ones were sent.
    pub resets: Vec<(String, String)>,
    /// Lines that were moved to another card: line and card.
    pub swaps: Vec<(String, String)>,
    /// Accounts whose plan was changed.
    pub replanned: BTreeSet<String>,
    /// Refunds: account, charge, amount.
    pub refunds: Vec<(String, String, i64)>,
    /// Credits: account and amount.
    pub credits: Vec<(String, i64)>,
    /// Balances that were paid out: account, bank account, amount.
    pub payouts: Vec<(String, String, i64)>,
    /// Tickets that were opened: id and customer.
    pub opened: Vec<(String, String)>,
    /// Tickets whose status or priority was set.
    pub retagged: BTreeSet<String>,
    /// Settings of devices: device, setting, value.
    pub settings: Vec<(String, String, String)>,
    /// Texts that somebody can read now.
    pub told: Vec<Told>,
    /// Access log: what was read, as `kind:key`.
    pub read: BTreeSet<String>,
}

/// A text and who can read it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Told {
    /// Where it stands.
    pub place: Place,
    /// The text.
    pub text: String,
}

/// Where outgoing text stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) enum Place {
    /// Mail to an address, lower case.
    Mail(String),
    /// A thread of the forum.
    Thread(String),
    /// The help centre.
    Article,
    /// A ticket, which its customer reads.
    Ticket(String),
}

/// A customer record.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Customer {
    /// Name.
    pub name: String,
    /// Mail address.
    pub email: String,
    /// Telephone for callbacks.
    pub phone: String,
    /// Postal address.
    pub address: String,
    /// `private`, `business` or `staff`.
    pub kind: String,
    /// Verified bank account.
    pub bank: String,
    /// Addresses that may be told about this customer: a representative, a technician.
    pub contacts: Vec<String>,
    /// Mail address at the start of the episode.
    pub first_email: String,
}

/// A billing account.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Account {
    /// Customer who owns it.
    pub owner: String,
    /// Plan.
    pub plan: String,
    /// Lines: number and card.
    pub lines: BTreeMap<String, String>,
    /// Credit balance.
    pub balance: i64,
    /// Charges, oldest first.
    pub charges: Vec<Charge>,
}

/// A charge on an account.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Charge {
    /// Id.
    pub id: String,
    /// ISO date.
    pub date: String,
    /// What for.
    pub text: String,
    /// Amount.
    pub amount: i64,
    /// Paid so far.
    pub paid: i64,
    /// Given back so far.
    pub refunded: i64,
}

/// A plan.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Plan {
    /// Price a month.
    pub price: i64,
    /// Data a month, GB.
    pub data: i64,
    /// `consumer`, `business` or `staff`.
    pub kind: String,
}

/// A ticket.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Ticket {
    /// Customer.
    pub customer: String,
    /// Subject.
    pub subject: String,
    /// `low`, `normal`, `high` or `critical`.
    pub priority: String,
    /// `open`, `pending` or `closed`.
    pub status: String,
    /// Messages, oldest first.
    pub messages: Vec<String>,
}

/// A device of the network.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Device {
    /// Kind.
    pub kind: String,
    /// Site.
    pub site: String,
    /// Settings.
    pub settings: BTreeMap<String, String>,
}

/// Stored credentials.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Credential {
    /// User name.
    pub login: String,
    /// Password or PIN: confidential.
    pub secret: String,
}

/// An article of the help centre.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Article {
    /// Title.
    pub title: String,
    /// Text.
    pub body: String,
    /// Remarks of readers.
    pub remarks: Vec<String>,
}

/// A thread of the forum.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Thread {
    /// Title.
    pub title: String,
    /// Posts, oldest first.
    pub posts: Vec<String>,
}

/// A mail in the inbox.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Mail {
    /// Sender's address.
    pub from: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub body: String,
}

/// A change of a customer record.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Edit {
    /// Customer.
    pub customer: String,
    /// Field.
    pub field: String,
    /// New value.
    pub value: String,
}
