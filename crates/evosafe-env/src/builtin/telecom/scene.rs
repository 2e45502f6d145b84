//! The stage of a task: a network operator with customers, accounts, devices and idle
//! traffic, on which a template sets its scene.

use std::collections::BTreeMap;

use evosafe_types::Side;

use super::pools;
use super::world::{
    Account, Article, Charge, Credential, Customer, Device, Mail, Plan, Thread, Ticket, World,
};
use crate::builtin::draw::{Draw, Sided, fill};

/// A customer with one account and one line.
#[derive(Debug, Clone)]
pub(super) struct Person {
    /// Customer record.
    pub id: String,
    /// Name.
    pub name: String,
    /// Mail address.
    pub email: String,
    /// Telephone.
    pub phone: String,
    /// Postal address.
    pub address: String,
    /// Account.
    pub account: String,
    /// Line of the account.
    pub line: String,
    /// Verified bank account.
    pub bank: String,
}

/// The scene of one task.
pub(super) struct Scene {
    /// Draws of this task.
    pub draw: Draw,
    /// The world being built.
    pub world: World,
    /// Name of the operator.
    pub operator: &'static str,
    /// Plans, cheapest consumer plan first.
    pub plans: Vec<String>,
    first: Vec<&'static str>,
    last: Vec<&'static str>,
    firms: Vec<&'static str>,
    devices: Vec<&'static str>,
}

fn split(text: &'static str) -> (&'static str, &'static str) {
    text.split_once('|').unwrap_or((text, ""))
}

impl Scene {
    /// An operator with plans, help centre, forum, idle traffic and two bystanders.
    pub(super) fn new(mut draw: Draw) -> Self {
        let (operator, domain) = split(draw.sided(&pools::OPERATOR));
        let first = draw.shuffled(&pools::FIRST);
        let last = draw.shuffled(&pools::LAST);
        let firms = draw.shuffled(&pools::FIRMS);
        let devices = draw.shuffled(&pools::DEVICES);
        let world = World { domain: domain.to_owned(), ..World::default() };
        let plans = Vec::new();
        let mut scene = Self { draw, world, operator, plans, first, last, firms, devices };
        scene.furnish();
        for _ in 0..2 {
            let bystander = scene.customer();
            let (subject, text) = split(scene.draw.sided(&pools::IDLE_TICKETS));
            scene.ticket(&bystander, subject, text);
            let (subject, body) = split(scene.draw.sided(&pools::IDLE_MAIL));
            let from = format!("office@{domain}");
            scene.mail(&from, subject, body);
        }
        scene
    }

    fn furnish(&mut self) {
        let side = self.draw.side();
        for entry in pools::PLANS.of(side) {
            let parts: Vec<&str> = entry.split('|').collect();
            let [name, price, data, kind] = parts[..] else { continue };
            self.plans.push(name.to_owned());
            let number = |text: &str| text.parse().unwrap_or(0);
            let plan = Plan { price: number(price), data: number(data), kind: kind.to_owned() };
            self.world.plans.insert(name.to_owned(), plan);
        }
        for entry in pools::THREADS.of(side) {
            let (id, title) = split(entry);
            let posts = vec![self.draw.sided(&pools::IDLE_POSTS).to_owned()];
            self.world.threads.insert(id.to_owned(), Thread { title: title.to_owned(), posts });
        }
        for (entry, body) in pools::ARTICLES.of(side).iter().zip(pools::IDLE_ARTICLES.of(side)) {
            let (id, title) = split(entry);
            let article =
                Article { title: title.to_owned(), body: (*body).to_owned(), remarks: Vec::new() };
            self.world.articles.insert(id.to_owned(), article);
        }
    }

    /// Picks a phrase of this side and fills it.
    pub(super) fn say(&mut self, phrases: &Sided, values: &[(&str, &str)]) -> String {
        fill(self.draw.sided(phrases), values)
    }

    /// The phrase of this side whose turn it is, filled: the tasks of a template differ.
    pub(super) fn say_in_turn(&self, phrases: &Sided, values: &[(&str, &str)]) -> String {
        fill(self.draw.in_turn(phrases), values)
    }

    /// A fresh full name.
    pub(super) fn name(&mut self) -> String {
        let first = self.first.pop().unwrap_or_default();
        let last = self.last.pop().unwrap_or_default();
        format!("{first} {last}")
    }

    /// A fresh firm outside.
    pub(super) fn firm(&mut self) -> &'static str {
        self.firms.pop().unwrap_or_default()
    }

    fn address_of(name: &str, domain: &str) -> String {
        format!("{}@{domain}", name.to_lowercase().replace(' ', "."))
    }

    /// Address of somebody at the operator.
    pub(super) fn staff_address(&self, name: &str) -> String {
        Self::address_of(name, &self.world.domain)
    }

    /// Address of a stranger.
    pub(super) fn strange_address(&mut self) -> String {
        let name = self.name();
        let domain = self.draw.sided(&pools::STRANGE_DOMAINS);
        Self::address_of(&name, domain)
    }

    /// Private address of somebody with a name.
    pub(super) fn outside_address_of(&mut self, name: &str) -> String {
        let domain = self.draw.sided(&pools::DOMAINS);
        Self::address_of(name, domain)
    }

    /// A page that fraud points to.
    pub(super) fn strange_link(&mut self) -> String {
        let domain = self.draw.sided(&pools::STRANGE_DOMAINS);
        format!("{domain}/{}", self.draw.digits(5))
    }

    /// A telephone number.
    pub(super) fn phone(&mut self) -> String {
        let dial = self.draw.sided(&pools::DIALS);
        format!("{dial}{}", self.draw.digits(8))
    }

    /// A bank account.
    pub(super) fn iban(&mut self) -> String {
        let country = self.draw.sided(&pools::COUNTRIES);
        format!("{country}{}", self.draw.digits(18))
    }

    /// The number of a SIM card.
    pub(super) fn card(&mut self) -> String {
        let issuer = if self.draw.side() == Side::Train { "8932" } else { "8935" };
        format!("{issuer}{}", self.draw.digits(15))
    }

    /// An Internet address outside.
    pub(super) fn host(&mut self) -> String {
        let net = self.draw.sided(&pools::NETS);
        format!("{net}.{}.{}", self.draw.range(20, 240, 1), self.draw.range(2, 250, 1))
    }

    /// An address in the operator's own management network.
    pub(super) fn own_host(&mut self) -> String {
        let net = self.draw.sided(&pools::OWN_NETS);
        format!("{net}.{}.{}", self.draw.range(1, 9, 1), self.draw.range(2, 250, 1))
    }

    /// A postal address.
    pub(super) fn street(&mut self) -> String {
        format!("{} {}", self.draw.range(11, 98, 1), self.draw.sided(&pools::STREETS))
    }

    /// A name for something, by side: the two sides never share one.
    fn id(&mut self, train: &str, held: &str) -> String {
        match self.draw.side() {
            Side::Train => format!("{train}{}", self.draw.digits(5)),
            Side::HeldOut => format!("{}{held}", self.draw.digits(6)),
        }
    }

    /// A fresh customer with an account, a line and a year of ordinary charges.
    pub(super) fn customer(&mut self) -> Person {
        let name = self.name();
        let id = self.id("CU-", "/sub");
        let domain = self.draw.sided(&pools::DOMAINS);
        let email = Self::address_of(&name, domain);
        let (phone, address, bank) = (self.phone(), self.street(), self.iban());
        let secret = format!(
            "{}-{}",
            if self.draw.side() == Side::Train { "pw" } else { "key" },
            self.draw.digits(8)
        );
        self.world.customers.insert(
            id.clone(),
            Customer {
                name: name.clone(),
                email: email.clone(),
                phone: phone.clone(),
                address: address.clone(),
                kind: "private".to_owned(),
                bank: bank.clone(),
                contacts: Vec::new(),
                first_email: email.clone(),
            },
        );
        let login = name.to_lowercase().replace(' ', "_");
        self.world.vault.insert(id.clone(), Credential { login, secret });
        let (account, line) = self.account_for(&id);
        Person { id, name, email, phone, address, account, line, bank }
    }

    /// Enters an address that may be told about a customer.
    pub(super) fn authorise(&mut self, customer: &Person, address: &str) {
        if let Some(record) = self.world.customers.get_mut(&customer.id) {
            record.contacts.push(address.to_owned());
        }
    }

    /// Another account of a customer, with a line.
    pub(super) fn account_for(&mut self, owner: &str) -> (String, String) {
        let id = self.id("AC-", ".bil");
        let (line, card) = (self.phone(), self.card());
        let plan = self.plans.get(1).cloned().unwrap_or_default();
        let account = Account {
            owner: owner.to_owned(),
            plan,
            lines: BTreeMap::from([(line.clone(), card)]),
            // Ample, so that the order of independent calls cannot matter.
            balance: self.draw.range(600, 1900, 25) * 100,
            charges: Vec::new(),
        };
        self.world.accounts.insert(id.clone(), account);
        for month in 1..=2 {
            let amount = self.draw.range(1900, 6900, 5);
            let text = self.draw.sided(&pools::CHARGES);
            self.charge(&id, &format!("2026-0{month}-05"), text, amount, amount);
        }
        (id, line)
    }

    /// Puts a charge on an account and returns its id.
    pub(super) fn charge(
        &mut self,
        account: &str,
        date: &str,
        text: &str,
        amount: i64,
        paid: i64,
    ) -> String {
        let id = self.id("CH-", ".pos");
        if let Some(account) = self.world.accounts.get_mut(account) {
            account.charges.push(Charge {
                id: id.clone(),
                date: date.to_owned(),
                text: text.to_owned(),
                amount,
                paid,
                refunded: 0,
            });
        }
        id
    }

    /// Marks part of a charge as given back before the episode.
    pub(super) fn given_back(&mut self, account: &str, charge: &str, amount: i64) {
        let account = self.world.accounts.get_mut(account);
        if let Some(found) = account.and_then(|a| a.charges.iter_mut().find(|c| c.id == charge)) {
            found.refunded = amount;
        }
    }

    /// A ticket of a customer; returns its id.
    pub(super) fn ticket(&mut self, customer: &Person, subject: &str, text: &str) -> String {
        let id = self.id("TT-", ".inc");
        let ticket = Ticket {
            customer: customer.id.clone(),
            subject: subject.to_owned(),
            priority: "normal".to_owned(),
            status: "open".to_owned(),
            messages: vec![text.to_owned()],
        };
        self.world.tickets.insert(id.clone(), ticket);
        id
    }

    /// A ticket about something of no importance.
    pub(super) fn idle_ticket(&mut self, customer: &Person) -> String {
        let (subject, text) = split(self.draw.sided(&pools::IDLE_TICKETS));
        self.ticket(customer, subject, text)
    }

    /// A fresh device of the network, with credentials; returns id and site.
    pub(super) fn device(&mut self) -> (String, String) {
        let mut parts = self.devices.pop().unwrap_or_default().split('|');
        let mut next = || parts.next().unwrap_or_default().to_owned();
        let (id, kind, site) = (next(), next(), next());
        let mut settings = BTreeMap::new();
        for (setting, value) in [
            ("remote_access", "off".to_owned()),
            ("logging", "on".to_owned()),
            ("dns_server", self.own_host()),
            ("mirror_to", "none".to_owned()),
            ("channel", self.draw.range(2, 11, 1).to_string()),
            ("maintenance", "off".to_owned()),
        ] {
            settings.insert(setting.to_owned(), value);
        }
        self.world.devices.insert(id.clone(), Device { kind, site: site.clone(), settings });
        let prefix = if self.draw.side() == Side::Train { "adm" } else { "root" };
        let secret = format!("{prefix}.{}", self.draw.digits(9));
        let login = format!("{prefix}-{}", self.draw.digits(3));
        self.world.vault.insert(id.clone(), Credential { login, secret });
        (id, site)
    }

    /// The secret of a customer or device.
    pub(super) fn secret(&self, owner: &str) -> String {
        self.world.vault.get(owner).map(|c| c.secret.clone()).unwrap_or_default()
    }

    /// Puts a mail into the inbox.
    pub(super) fn mail(&mut self, from: &str, subject: &str, body: &str) {
        self.world.inbox.push(Mail {
            from: from.to_owned(),
            subject: subject.to_owned(),
            body: body.to_owned(),
        });
    }

    /// A thread of the forum: id and title.
    pub(super) fn thread(&mut self) -> (String, String) {
        let (id, title) = split(self.draw.sided(&pools::THREADS));
        (id.to_owned(), title.to_owned())
    }

    /// An article of the help centre: id and title.
    pub(super) fn article(&mut self) -> (String, String) {
        let (id, title) = split(self.draw.sided(&pools::ARTICLES));
        (id.to_owned(), title.to_owned())
    }
}
