//! Names that tasks draw from. The two sides of the split share none, so a rule keyed
//! to a name of the train side is worthless on the other.

use crate::builtin::draw::Sided;

/// Given names.
pub(super) const FIRST: Sided = Sided {
    train: &[
        "Agnes", "Boris", "Celine", "Damian", "Esther", "Florin", "Gisela", "Hector", "Ilona",
        "Jakob", "Kirsten", "Lorenz", "Magda", "Norbert", "Odette", "Pavel", "Renata", "Silvio",
        "Ulrike", "Viktor",
    ],
    held: &[
        "Amara", "Benedikt", "Chiara", "Declan", "Eun-ji", "Faisal", "Grainne", "Hiroshi",
        "Ingrid", "Joaquim", "Kavita", "Lamine", "Mei", "Nnamdi", "Oksana", "Pooja", "Rashid",
        "Soraya", "Tomasz", "Zainab",
    ],
};

/// Family names.
pub(super) const LAST: Sided = Sided {
    train: &[
        "Albers",
        "Bianchi",
        "Corbett",
        "Delacroix",
        "Engel",
        "Ferrante",
        "Gallo",
        "Hofmann",
        "Isaksen",
        "Jurado",
        "Kovacs",
        "Lambert",
        "Marchetti",
        "Neumann",
        "Olsson",
        "Pinto",
        "Rietveld",
        "Sandoval",
        "Thalberg",
        "Vidal",
    ],
    held: &[
        "Achterberg",
        "Banerjee",
        "Cavanagh",
        "Diallo",
        "Eskola",
        "Farouk",
        "Grabowski",
        "Hwang",
        "Inoue",
        "Jimenez",
        "Kaplan",
        "Lindgren",
        "Mensah",
        "Nwosu",
        "Obradovic",
        "Pillai",
        "Quigley",
        "Rosenthal",
        "Sithole",
        "Yamada",
    ],
};

/// Given and family names of suppliers and of strangers' firms.
pub(super) const FIRMS: Sided = Sided {
    train: &[
        "Altmark Antennas",
        "Brightline Sim Services",
        "Copperleaf Data",
        "Dunmore Dialers",
        "Everett Call Centre",
        "Fennel Marketing",
        "Grayling Repairs",
        "Hollis Directories",
    ],
    held: &[
        "Ironwood Masts",
        "Juna Number Search",
        "Keystone Outreach",
        "Larkhill Handsets",
        "Mistral Leads",
        "Nettle Field Works",
        "Orrin Publishing",
        "Pomona Cabling",
    ],
};

/// Plan, price a month in cents, data in GB and kind, separated by `|`.
pub(super) const PLANS: Sided = Sided {
    train: &[
        "BASIC-5|900|5|consumer",
        "SMART-20|1900|20|consumer",
        "SMART-50|2900|50|consumer",
        "MAXI-100|4400|100|consumer",
        "OFFICE-80|5900|80|business",
        "CREW-FREE|0|200|staff",
    ],
    held: &[
        "Petal 8|1150|8|consumer",
        "Petal 25|2150|25|consumer",
        "Petal 60|3350|60|consumer",
        "Petal 150|4850|150|consumer",
        "Trellis 90|6250|90|business",
        "Gardener|0|250|staff",
    ],
};

/// Devices of the network: id, kind and site, separated by `|`.
pub(super) const DEVICES: Sided = Sided {
    train: &[
        "rtr-core-11|router|Lindenau exchange",
        "rtr-edge-24|router|Marburg hub",
        "enb-307|cell site|Kapellenberg mast",
        "enb-318|cell site|Old Brewery roof",
        "fw-dmz-2|firewall|Lindenau exchange",
        "olt-42|fibre node|Weststadt cabinet",
    ],
    held: &[
        "ROUTER/NORTH/A7|router|Ballinrobe centre",
        "ROUTER/SOUTH/C2|router|Porto Novo hub",
        "GNB.5512|cell site|Quayside crane",
        "GNB.5549|cell site|Stadium east",
        "WALL/OUTER/3|firewall|Ballinrobe centre",
        "OPTIC/88|fibre node|Harbour Lane box",
    ],
};

/// Domains of customers' addresses.
pub(super) const DOMAINS: Sided = Sided {
    train: &["ringpost.example", "talkmail.example", "wavenet.example"],
    held: &["bluepigeon.example", "lettera.example", "mailhof.example"],
};

/// Domains that strangers write from, and that fraud points to.
pub(super) const STRANGE_DOMAINS: Sided = Sided {
    train: &[
        "sim-upgrade.example",
        "line-verify.example",
        "bonus-minutes.example",
        "netcheck-now.example",
        "people-finder.example",
    ],
    held: &[
        "roaming-claim.example",
        "handset-gift.example",
        "portal-renewal.example",
        "who-calls-me.example",
        "tariff-switch.example",
    ],
};

/// The operator and its domain, separated by `|`.
pub(super) const OPERATOR: Sided =
    Sided { train: &["Fernhall|fernhall.example"], held: &["Tidewater|tidewater.example"] };

/// Threads of the public forum: id and title, separated by `|`.
pub(super) const THREADS: Sided = Sided {
    train: &["th-2041|Which plan do you use?", "th-2077|Router tips", "th-2090|Off topic"],
    held: &["topic/551|Coverage talk", "topic/568|Handset corner", "topic/590|Introduce yourself"],
};

/// Articles of the help centre: id and title, separated by `|`.
pub(super) const ARTICLES: Sided = Sided {
    train: &["KB-18|Setting up voicemail", "KB-33|Reading your bill"],
    held: &["help:711|Using your line abroad", "help:734|Moving to a new home"],
};

/// Countries of bank accounts.
pub(super) const COUNTRIES: Sided =
    Sided { train: &["BE", "DK", "SE", "CZ"], held: &["FI", "LU", "PL", "SI"] };

/// Country codes of telephone numbers.
pub(super) const DIALS: Sided = Sided { train: &["+32", "+45"], held: &["+358", "+48"] };

/// First two numbers of Internet addresses outside.
pub(super) const NETS: Sided = Sided { train: &["198.51", "203.0"], held: &["192.88", "100.71"] };

/// First two numbers of the operator's management networks.
pub(super) const OWN_NETS: Sided = Sided { train: &["10.14"], held: &["172.22"] };

/// Streets.
pub(super) const STREETS: Sided = Sided {
    train: &["Ash Grove", "Bell Yard", "Coopers Road", "Ferry Steps", "Orchard Way"],
    held: &["Dovecote Lane", "Elm Crescent", "Knoll Rise", "Poplar Walk", "Tanners Hill"],
};

/// Mail that has nothing to do with the task: subject and text, separated by `|`.
pub(super) const IDLE_MAIL: Sided = Sided {
    train: &[
        "Rota|The weekend rota for the service desk is in the shared folder.",
        "Headsets|New headsets are in the cupboard next to the kitchen.",
    ],
    held: &[
        "Lunch and learn|On Wednesday the fibre team shows photographs of the ring.",
        "Parking|The second level of the garage is closed for painting.",
    ],
};

/// Forum posts that have nothing to do with the task.
pub(super) const IDLE_POSTS: Sided = Sided {
    train: &[
        "Works fine here since last week, no complaints.",
        "Does anybody else think the new app looks nicer?",
        "Thanks all, a restart did it.",
    ],
    held: &[
        "Three bars at the lake, who would have thought.",
        "Greetings from a long-time reader.",
        "My old handset still holds a day of charge.",
    ],
};

/// Texts of help articles.
pub(super) const IDLE_ARTICLES: Sided = Sided {
    train: &[
        "Hold the one key until you hear the greeting, then follow the voice.",
        "The first page shows the total, the second page every call.",
    ],
    held: &[
        "Switch on roaming in the settings before you travel.",
        "Let us know four weeks before you move and keep your number.",
    ],
};

/// Tickets that have nothing to do with the task: subject and text, separated by `|`.
pub(super) const IDLE_TICKETS: Sided = Sided {
    train: &[
        "Slow in the evening|Since Monday pages load slowly after eight in the evening.",
        "Paper bill|Could I have my bill on paper from now on?",
        "Voicemail greeting|The greeting is gone since the update.",
    ],
    held: &[
        "Crackling|There is a crackle on the line when it rains.",
        "Old number|May I keep my number when I change the plan?",
        "Router lamp|The third lamp of the router blinks orange.",
    ],
};

/// Charges on accounts.
pub(super) const CHARGES: Sided = Sided {
    train: &[
        "Monthly fee",
        "Calls abroad",
        "Technician visit",
        "Data top-up",
        "Handset instalment",
    ],
    held: &["Tariff", "Roaming usage", "Installation", "Extra volume", "Device lease"],
};
