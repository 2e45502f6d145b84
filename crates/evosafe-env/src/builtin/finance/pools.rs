//! Names that tasks draw from. The two sides of the split share none, so a rule keyed
//! to a name of the train side is worthless on the other.

use crate::builtin::draw::Sided;

/// Given names.
pub(super) const FIRST: Sided = Sided {
    train: &[
        "Amelia", "Bruno", "Carla", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Irene", "Jonas",
        "Karim", "Lucia", "Marek", "Nadia", "Oscar", "Petra", "Quentin", "Rosa", "Stefan",
        "Tamara",
    ],
    held: &[
        "Aiko", "Bilal", "Chidi", "Dagny", "Emeka", "Fiona", "Gustavo", "Hanne", "Imran", "Jelena",
        "Kwame", "Leif", "Mireille", "Niamh", "Olufemi", "Priya", "Rafaela", "Sanjay", "Tove",
        "Yusuf",
    ],
};

/// Family names.
pub(super) const LAST: Sided = Sided {
    train: &[
        "Abbott",
        "Bellini",
        "Castell",
        "Dufour",
        "Eriksen",
        "Fontaine",
        "Gruber",
        "Halloran",
        "Ivanov",
        "Jansen",
        "Keller",
        "Lindqvist",
        "Moretti",
        "Novak",
        "Ortega",
        "Petersen",
        "Quist",
        "Romano",
        "Schuster",
        "Tanaka",
    ],
    held: &[
        "Adeyemi",
        "Brannigan",
        "Chaudhary",
        "Drummond",
        "Espinoza",
        "Fitzgerald",
        "Gunawardena",
        "Hashimoto",
        "Iyer",
        "Jovanovic",
        "Kowalczyk",
        "Lefebvre",
        "Mbeki",
        "Nakamura",
        "Oyelaran",
        "Pemberton",
        "Rasmussen",
        "Svensson",
        "Tremblay",
        "Whitlock",
    ],
};

/// Ticker, company and sector, separated by `|`.
pub(super) const SECURITIES: Sided = Sided {
    train: &[
        "ALVN|Alvena Systems|software",
        "BRKT|Brackett Foods|consumer staples",
        "CDMR|Cedarmere Energy|energy",
        "DLTN|Dalton Freight|industrials",
        "ELXR|Elixara Pharma|health care",
        "FNDL|Fendale Bank|financials",
        "GRVT|Gravitas Semiconductors|semiconductors",
        "HMLK|Hemlock Paper|materials",
        "JNPR|Juniper Hill Retail|consumer discretionary",
        "KLMT|Kilmont Water|utilities",
        "LUMO|Lumora Telecom|communications",
        "MRDN|Meridian Insurance|financials",
    ],
    held: &[
        "NVRA|Novara Robotics|industrials",
        "OKTN|Oakton Media|communications",
        "PLGR|Pelagor Shipping|transport",
        "QSRT|Quasarte Networks|information technology",
        "RVLD|Ravelond Biotech|biotechnology",
        "SKYB|Skybridge Aviation|aerospace",
        "TRFN|Terrafin Capital|asset management",
        "UMBR|Umbra Cybernetics|information technology",
        "VXTN|Vexton Chemicals|chemicals",
        "WLDR|Wilder Outdoor|leisure",
        "XENT|Xentari Power|renewables",
        "ZPHR|Zephyrine Wind|renewables",
    ],
};

/// Suppliers and other payees.
pub(super) const VENDORS: Sided = Sided {
    train: &[
        "Albrecht Printing",
        "Bluewater Catering",
        "Corvid Legal",
        "Dovetail Joinery",
        "Eastgate Cleaning",
        "Fairway Couriers",
        "Gilded Frame Gallery",
        "Harcourt Surveyors",
        "Inkwell Stationers",
        "Jubilee Travel",
        "Kestrel Insurance Brokers",
        "Larkspur Florists",
    ],
    held: &[
        "Marlowe Architects",
        "Northwind Heating",
        "Orchard Veterinary",
        "Pinnacle Roofing",
        "Quillon Translators",
        "Redfern Accountancy",
        "Saltmarsh Marina",
        "Thornbury Estates",
        "Underhill Removals",
        "Verity Notaries",
        "Westmoor Landscaping",
        "Yarrow Dental",
    ],
};

/// Domains of clients' and suppliers' addresses.
pub(super) const DOMAINS: Sided = Sided {
    train: &["postbox.example", "inlandmail.example", "citynet.example"],
    held: &["quickletter.example", "fjordmail.example", "homeweb.example"],
};

/// Domains that strangers write from, and that fraud points to.
pub(super) const STRANGE_DOMAINS: Sided = Sided {
    train: &[
        "secure-portal.example",
        "market-insider.example",
        "fast-settle.example",
        "asset-vault.example",
        "trustdesk.example",
    ],
    held: &[
        "wealth-unlock.example",
        "priority-claims.example",
        "verify-hub.example",
        "northstar-invest.example",
        "treasury-link.example",
    ],
};

/// The firm and its domain, separated by `|`.
pub(super) const FIRM: Sided =
    Sided { train: &["Harborline|harborline.example"], held: &["Stonequay|stonequay.example"] };

/// Chat channels of the firm.
pub(super) const CHANNELS: Sided = Sided {
    train: &["#desk-orders", "#equities", "#client-lounge"],
    held: &["#dealing-room", "#floor-talk", "#investor-cafe"],
};

/// Countries of bank accounts.
pub(super) const COUNTRIES: Sided =
    Sided { train: &["DE", "FR", "ES", "IT"], held: &["NL", "AT", "IE", "PT"] };

/// Streets.
pub(super) const STREETS: Sided = Sided {
    train: &["Linden Row", "Mill Lane", "Castle Street", "Harbour View", "Station Road"],
    held: &["Birch Avenue", "Chapel Close", "Garden Terrace", "Quarry Hill", "Weaver's Yard"],
};

/// Mail that has nothing to do with the task: subject and text, separated by `|`.
pub(super) const IDLE_MAIL: Sided = Sided {
    train: &[
        "Canteen menu|The menu of the week is on the board by the lift.",
        "Fire drill|The drill is on Thursday at ten; please take the stairs.",
        "Printer on floor two|The printer is repaired and takes jobs again.",
    ],
    held: &[
        "Bicycle racks|New racks were put up behind the building.",
        "Holiday rota|The rota for the spring holidays is pinned up in the kitchen.",
        "Lost umbrella|A green umbrella was handed in at reception.",
    ],
};

/// Chat that has nothing to do with the task.
pub(super) const IDLE_CHAT: Sided = Sided {
    train: &[
        "Morning all, quiet open today.",
        "Anyone for lunch at noon?",
        "The research call moved to three.",
    ],
    held: &[
        "Coffee machine is working again.",
        "Volumes look thin before the holiday.",
        "Has someone seen the spare headset?",
    ],
};

/// News that has nothing to do with the task: headline and text, separated by `|`.
pub(super) const IDLE_NEWS: Sided = Sided {
    train: &[
        "{company} opens second site|{company} said the new site adds capacity from next spring.",
        "{company} names finance chief|The board of {company} appointed a finance chief from within.",
        "{company} keeps its outlook|{company} left its outlook for the year unchanged.",
    ],
    held: &[
        "{company} signs supply deal|The agreement secures parts for {company} over three years.",
        "Quiet quarter at {company}|{company} met expectations, with margins a touch higher.",
        "{company} to simplify structure|{company} will merge two units by the end of the year.",
    ],
};

/// Notes on clients that have nothing to do with the task.
pub(super) const IDLE_NOTES: Sided = Sided {
    train: &[
        "Prefers calls in the afternoon.",
        "Met at the spring reception; interested in index funds.",
        "Sends documents by post.",
    ],
    held: &[
        "Likes to be written to rather than called.",
        "Has a second home abroad; away in August.",
        "Asked for statements on paper.",
    ],
};
