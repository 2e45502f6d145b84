//! State of the finance world. Money is in cents, quantities in shares or contracts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// Everything there is.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct World {
    /// Listed securities by ticker.
    pub listings: BTreeMap<String, Listing>,
    /// Accounts by id.
    pub accounts: BTreeMap<String, Account>,
    /// Client records by id.
    pub clients: BTreeMap<String, Client>,
    /// News items, oldest first.
    pub news: Vec<News>,
    /// The inbox, oldest first.
    pub inbox: Vec<Mail>,
    /// Chat channels with their posts, oldest first.
    pub channels: BTreeMap<String, Vec<Post>>,
    /// Orders on the book or done, oldest first.
    pub orders: Vec<Order>,
    /// Option trades of this episode.
    pub option_trades: Vec<OptionTrade>,
    /// Payments of this episode.
    pub payments: Vec<Payment>,
    /// Transfers between the firm's accounts in this episode.
    pub transfers: Vec<Transfer>,
    /// Mail sent in this episode.
    pub sent: Vec<Sent>,
    /// Posts made in this episode: channel and text.
    pub posted: Vec<(String, String)>,
    /// Changes of client records in this episode.
    pub edits: Vec<Edit>,
    /// Notes added in this episode: client and text.
    pub noted: Vec<(String, String)>,
    /// Access log: what was read, as `kind:key`.
    pub read: BTreeSet<String>,
}

/// A listed security.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Listing {
    /// Issuer.
    pub company: String,
    /// Sector.
    pub sector: String,
    /// Last price.
    pub price: i64,
    /// Closing prices, oldest first; the last one is the current price.
    pub closes: Vec<i64>,
    /// Average daily volume, shares.
    pub volume: i64,
    /// Dividend a share and year.
    pub dividend: i64,
    /// Consensus target price.
    pub target: i64,
    /// Counts of buy, hold and sell ratings.
    pub ratings: [i64; 3],
    /// Listed option series.
    pub options: Vec<Series>,
}

/// An option series on a listing.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Series {
    /// `call` or `put`.
    pub kind: String,
    /// Strike.
    pub strike: i64,
    /// Expiry, ISO date.
    pub expiry: String,
    /// Premium a share; a contract is 100 shares.
    pub premium: i64,
    /// Open interest, contracts.
    pub open_interest: i64,
}

/// An account at the firm.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Account {
    /// Name on the account.
    pub title: String,
    /// Client who owns it in the end.
    pub owner: String,
    /// `individual`, `trust`, `company`, `firm` or `adviser`.
    pub kind: String,
    /// Cash.
    pub cash: i64,
    /// Shares by ticker.
    pub positions: BTreeMap<String, i64>,
    /// Saved payees.
    pub payees: Vec<Payee>,
    /// Booked transactions, oldest first.
    pub history: Vec<Transaction>,
}

/// A saved payee.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Payee {
    /// Name.
    pub name: String,
    /// Bank account.
    pub iban: String,
    /// When it was verified, ISO date.
    pub verified: String,
}

/// A booked transaction.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Transaction {
    /// ISO date.
    pub date: String,
    /// What for.
    pub text: String,
    /// Signed amount.
    pub amount: i64,
}

/// A client record.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Client {
    /// Name.
    pub name: String,
    /// Mail address.
    pub email: String,
    /// Telephone.
    pub phone: String,
    /// Postal address.
    pub address: String,
    /// Year of birth.
    pub born: i64,
    /// Tax number: confidential.
    pub tax_id: String,
    /// `conservative`, `balanced` or `growth`.
    pub profile: String,
    /// Person to call if something looks wrong.
    pub trusted_contact: String,
    /// Notes: written by staff, and imported from the client portal.
    pub notes: Vec<String>,
}

/// A news item.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct News {
    /// Ticker it is filed under.
    pub symbol: String,
    /// Headline.
    pub headline: String,
    /// Text.
    pub body: String,
}

/// A mail in the inbox.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Mail {
    /// Id.
    pub id: String,
    /// Sender's address.
    pub from: String,
    /// Subject.
    pub subject: String,
    /// Text.
    pub body: String,
}

/// A post in a channel.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Post {
    /// Author.
    pub author: String,
    /// Text.
    pub text: String,
}

/// State of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OrderState {
    /// Rests on the book.
    Open,
    /// Done.
    Filled,
    /// Withdrawn.
    Cancelled,
}

/// Side of a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dir {
    /// Buy.
    Buy,
    /// Sell.
    Sell,
}

impl Dir {
    /// Lowercase name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Buy => "buy",
            Self::Sell => "sell",
        }
    }

    /// +1 for a buy, -1 for a sale.
    pub(crate) fn sign(self) -> i64 {
        match self {
            Self::Buy => 1,
            Self::Sell => -1,
        }
    }
}

/// An order for shares.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Order {
    /// Id.
    pub id: String,
    /// Account.
    pub account: String,
    /// Side.
    pub side: Dir,
    /// Ticker.
    pub symbol: String,
    /// Shares.
    pub quantity: i64,
    /// Limit price; market order if absent.
    pub limit: Option<i64>,
    /// State.
    pub state: OrderState,
    /// Placed in this episode, not there before.
    pub placed_now: bool,
    /// Withdrawn in this episode.
    pub cancelled_now: bool,
}

/// An option trade.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct OptionTrade {
    /// Account.
    pub account: String,
    /// Side.
    pub side: Dir,
    /// Ticker of the underlying.
    pub symbol: String,
    /// `call` or `put`.
    pub kind: String,
    /// Strike.
    pub strike: i64,
    /// Contracts.
    pub contracts: i64,
}

/// A payment out of the firm.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Payment {
    /// Account that pays.
    pub from: String,
    /// Name of the recipient as given.
    pub name: String,
    /// Bank account of the recipient.
    pub iban: String,
    /// Amount.
    pub amount: i64,
}

/// A transfer between accounts of the firm.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Transfer {
    /// Account that pays.
    pub from: String,
    /// Account that receives.
    pub to: String,
    /// Amount.
    pub amount: i64,
}

/// A mail that was sent.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sent {
    /// Recipient's address.
    pub to: String,
    /// Subject and text.
    pub text: String,
}

/// A change of a client record.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Edit {
    /// Client.
    pub client: String,
    /// Field.
    pub field: String,
    /// New value.
    pub value: String,
}
