//! The stage of a task: a small brokerage firm with people, accounts, securities and
//! idle traffic, on which a template sets its scene.

use std::collections::BTreeMap;

use evosafe_types::Side;

use super::pools;
use super::world::{
    Account, Client, Dir, Listing, Mail, News, Order, OrderState, Payee, Post, Series, Transaction,
    World,
};
use crate::builtin::draw::{Draw, Sided, fill};

/// A client with one account.
#[derive(Debug, Clone)]
pub(super) struct Person {
    /// Client record.
    pub id: String,
    /// Name.
    pub name: String,
    /// Mail address.
    pub email: String,
    /// Account.
    pub account: String,
    /// Tax number.
    pub tax_id: String,
}

/// A listed security.
#[derive(Debug, Clone)]
pub(super) struct Sym {
    /// Ticker.
    pub ticker: String,
    /// Issuer.
    pub company: String,
    /// Sector.
    pub sector: String,
    /// Last price, cents.
    pub price: i64,
}

/// Somebody with a bank account outside the firm.
#[derive(Debug, Clone)]
pub(super) struct Outside {
    /// Name.
    pub name: String,
    /// Bank account.
    pub iban: String,
}

/// The scene of one task.
pub(super) struct Scene {
    /// Draws of this task.
    pub draw: Draw,
    /// The world being built.
    pub world: World,
    /// Name of the firm.
    pub firm: &'static str,
    /// Mail domain of the firm.
    pub firm_domain: &'static str,
    first: Vec<&'static str>,
    last: Vec<&'static str>,
    securities: Vec<&'static str>,
    vendors: Vec<&'static str>,
}

fn split(text: &'static str) -> (&'static str, &'static str) {
    text.split_once('|').unwrap_or((text, ""))
}

impl Scene {
    /// An empty stage with idle traffic and two bystanders.
    pub(super) fn new(mut draw: Draw) -> Self {
        let (firm, firm_domain) = split(draw.sided(&pools::FIRM));
        let first = draw.shuffled(&pools::FIRST);
        let last = draw.shuffled(&pools::LAST);
        let securities = draw.shuffled(&pools::SECURITIES);
        let vendors = draw.shuffled(&pools::VENDORS);
        let world = World::default();
        let mut scene = Self { draw, world, firm, firm_domain, first, last, securities, vendors };
        for channel in pools::CHANNELS.of(scene.draw.side()) {
            scene.world.channels.insert((*channel).to_owned(), Vec::new());
            let text = scene.draw.sided(&pools::IDLE_CHAT).to_owned();
            scene.post(channel, &text);
        }
        for _ in 0..2 {
            let (subject, body) = split(scene.draw.sided(&pools::IDLE_MAIL));
            let from = format!("office@{}", scene.firm_domain);
            scene.mail(&from, subject, body);
            let bystander = scene.client();
            let symbol = scene.symbol();
            scene.hold(&bystander.account, &symbol, 120);
        }
        scene
    }

    /// Picks a phrase of this side and fills it.
    pub(super) fn say(&mut self, phrases: &Sided, values: &[(&str, &str)]) -> String {
        fill(self.draw.sided(phrases), values)
    }

    /// A fresh full name.
    pub(super) fn name(&mut self) -> String {
        let first = self.first.pop().unwrap_or_default();
        let last = self.last.pop().unwrap_or_default();
        format!("{first} {last}")
    }

    fn address_of(name: &str, domain: &str) -> String {
        format!("{}@{domain}", name.to_lowercase().replace(' ', "."))
    }

    /// Address of somebody at the firm.
    pub(super) fn staff_address(&self, name: &str) -> String {
        Self::address_of(name, self.firm_domain)
    }

    /// Address of a stranger.
    pub(super) fn strange_address(&mut self) -> String {
        let name = self.name();
        self.strange_address_of(&name)
    }

    /// Address outside the firm of somebody with a name.
    pub(super) fn strange_address_of(&mut self, name: &str) -> String {
        let domain = self.draw.sided(&pools::STRANGE_DOMAINS);
        Self::address_of(name, domain)
    }

    /// A web address that fraud points to.
    pub(super) fn strange_link(&mut self) -> String {
        let domain = self.draw.sided(&pools::STRANGE_DOMAINS);
        format!("https://{domain}/{}", self.draw.digits(5))
    }

    /// A telephone number.
    pub(super) fn phone(&mut self) -> String {
        let prefix = match self.draw.side() {
            Side::Train => "555-01",
            Side::HeldOut => "555-08",
        };
        format!("{prefix}{}", self.draw.digits(4))
    }

    /// A bank account outside the firm.
    pub(super) fn iban(&mut self) -> String {
        let country = self.draw.sided(&pools::COUNTRIES);
        format!("{country}{}", self.draw.digits(18))
    }

    fn new_account(&mut self, owner: &str, title: &str, kind: &str) -> String {
        let id = match self.draw.side() {
            Side::Train => format!("HL-{}", self.draw.digits(5)),
            Side::HeldOut => format!("{}-SQ", self.draw.digits(6)),
        };
        let account = Account {
            title: title.to_owned(),
            owner: owner.to_owned(),
            kind: kind.to_owned(),
            // Ample, so that the order of independent calls cannot matter.
            cash: self.draw.range(400, 900, 10) * 100_000,
            positions: BTreeMap::new(),
            payees: Vec::new(),
            history: Vec::new(),
        };
        self.world.accounts.insert(id.clone(), account);
        id
    }

    /// A fresh client with an account.
    pub(super) fn client(&mut self) -> Person {
        let name = self.name();
        let id = match self.draw.side() {
            Side::Train => format!("C{}", self.draw.digits(4)),
            Side::HeldOut => format!("K-{}", self.draw.digits(5)),
        };
        let account = self.new_account(&id, &name, "individual");
        let email = Self::address_of(&name, self.draw.sided(&pools::DOMAINS));
        let tax_id = self.draw.digits(9);
        let note = self.draw.sided(&pools::IDLE_NOTES).to_owned();
        let record = Client {
            name: name.clone(),
            email: email.clone(),
            phone: self.phone(),
            address: self.street(),
            born: self.draw.range(1950, 1995, 1),
            tax_id: tax_id.clone(),
            profile: "balanced".to_owned(),
            trusted_contact: self.draw.sided(&pools::FIRST).to_owned(),
            notes: vec![note],
        };
        self.world.clients.insert(id.clone(), record);
        Person { id, name, email, account, tax_id }
    }

    /// A postal address.
    pub(super) fn street(&mut self) -> String {
        format!("{} {}", self.draw.range(2, 98, 1), self.draw.sided(&pools::STREETS))
    }

    /// Another account with the same beneficial owner.
    pub(super) fn second_account(&mut self, owner: &Person, title: &str, kind: &str) -> String {
        self.new_account(&owner.id, title, kind)
    }

    /// A fresh security.
    pub(super) fn symbol(&mut self) -> Sym {
        let mut parts = self.securities.pop().unwrap_or_default().split('|');
        let mut next = || parts.next().unwrap_or_default().to_owned();
        let (ticker, company, sector) = (next(), next(), next());
        let price = self.draw.range(1200, 18_000, 25);
        let mut closes: Vec<i64> =
            (0..5).map(|_| price * self.draw.range(80, 120, 1) / 100).collect();
        closes.push(price);
        let series = |kind: &str, percent: i64, premium: i64, open_interest: i64| Series {
            kind: kind.to_owned(),
            strike: price * percent / 10_000 * 100,
            expiry: "2026-06-19".to_owned(),
            premium,
            open_interest,
        };
        let premium = price / 2500 * 100 + 45;
        let options = vec![
            series("call", 110, premium, 1800),
            series("put", 90, premium - 15, 1450),
            series("call", 150, 20, 6),
        ];
        let listing = Listing {
            company: company.clone(),
            sector: sector.clone(),
            price,
            closes,
            volume: self.draw.range(20, 900, 10) * 1000,
            dividend: self.draw.range(20, 400, 5),
            target: price * self.draw.range(90, 140, 1) / 100,
            ratings: [
                self.draw.range(3, 14, 1),
                self.draw.range(1, 9, 1),
                self.draw.range(0, 5, 1),
            ],
            options,
        };
        self.world.listings.insert(ticker.clone(), listing);
        let (headline, body) = split(self.draw.sided(&pools::IDLE_NEWS));
        let company_value = [("company", company.as_str())];
        self.world.news.push(News {
            symbol: ticker.clone(),
            headline: fill(headline, &company_value),
            body: fill(body, &company_value),
        });
        Sym { ticker, company, sector, price }
    }

    /// Puts shares into an account.
    pub(super) fn hold(&mut self, account: &str, symbol: &Sym, shares: i64) {
        if let Some(account) = self.world.accounts.get_mut(account) {
            account.positions.insert(symbol.ticker.clone(), shares);
        }
    }

    /// Somebody outside with a bank account, not saved anywhere.
    pub(super) fn vendor(&mut self) -> Outside {
        let name = self.vendors.pop().unwrap_or_default().to_owned();
        let iban = self.iban();
        Outside { name, iban }
    }

    /// Saves a payee for an account.
    pub(super) fn save_payee(&mut self, account: &str, payee: &Outside) {
        let verified =
            format!("20{}-0{}-1{}", self.draw.range(19, 25, 1), self.draw.range(1, 9, 1), 4);
        if let Some(account) = self.world.accounts.get_mut(account) {
            account.payees.push(Payee {
                name: payee.name.clone(),
                iban: payee.iban.clone(),
                verified,
            });
        }
    }

    /// Books a past transaction.
    pub(super) fn book(&mut self, account: &str, date: &str, text: &str, amount: i64) {
        if let Some(account) = self.world.accounts.get_mut(account) {
            account.history.push(Transaction {
                date: date.to_owned(),
                text: text.to_owned(),
                amount,
            });
        }
    }

    /// Puts an order on the book that was there before the episode.
    pub(super) fn resting_order(
        &mut self,
        account: &str,
        side: Dir,
        symbol: &Sym,
        quantity: i64,
        limit: i64,
    ) -> String {
        let id = format!("O-{}", self.draw.digits(4).replace('5', "6"));
        self.world.orders.push(Order {
            id: id.clone(),
            account: account.to_owned(),
            side,
            symbol: symbol.ticker.clone(),
            quantity,
            limit: Some(limit),
            state: OrderState::Open,
            placed_now: false,
            cancelled_now: false,
        });
        id
    }

    /// Puts a mail into the inbox and returns its id.
    pub(super) fn mail(&mut self, from: &str, subject: &str, body: &str) -> String {
        let id = format!("M-{}", 101 + self.world.inbox.len());
        self.world.inbox.push(Mail {
            id: id.clone(),
            from: from.to_owned(),
            subject: subject.to_owned(),
            body: body.to_owned(),
        });
        id
    }

    /// Puts a post into a channel.
    pub(super) fn post(&mut self, channel: &str, text: &str) {
        let author = self.draw.sided(&pools::FIRST).to_owned();
        if let Some(posts) = self.world.channels.get_mut(channel) {
            posts.push(Post { author, text: text.to_owned() });
        }
    }

    /// Files a news item.
    pub(super) fn news(&mut self, symbol: &Sym, headline: &str, body: &str) {
        self.world.news.push(News {
            symbol: symbol.ticker.clone(),
            headline: headline.to_owned(),
            body: body.to_owned(),
        });
    }

    /// Adds a note to a client record.
    pub(super) fn note(&mut self, client: &Person, text: &str) {
        if let Some(record) = self.world.clients.get_mut(&client.id) {
            record.notes.push(text.to_owned());
        }
    }

    /// A channel of the firm.
    pub(super) fn channel(&mut self) -> String {
        self.draw.sided(&pools::CHANNELS).to_owned()
    }
}
