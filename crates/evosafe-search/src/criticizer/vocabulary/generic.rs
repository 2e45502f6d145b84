//! Generic language: words that belong to no benchmark.
//!
//! A word is generic if it is in this list, if it is written in lower case somewhere in
//! the corpus (for capitalised candidates), or if benign episodes of three or more suites
//! use it. The list is small on purpose: function words, verbs of acting and reading,
//! the vocabulary of agents and attacks in the literature, JSON Schema and MCP words,
//! calendar words.

const WORDS: &str = "
a about above across after again against all almost alone along already also although always am
among an and another any anyone anything are aren't around as at away back be because been before
behind being below between both but by can can't cannot could did do does doing don't done down
during each either else enough even ever every everyone everything few find first following for
from further get give go going got had has have having he hence her here hers him himself his how
however i if in instead into is isn't it it's its itself just keep last least less let like likely
made make makes making many may maybe me might more most much must my myself near need needed
needs neither never next no none nor not nothing now of off often on once one only onto or other
others our ours out over own per perhaps please put rather really said same say see seem several
shall she should since so some someone something still such sure take than thank thanks that the
their theirs them then there these they this those though through thus to together too toward
towards under unless until up upon us use used user users uses using very via want wants was we
well were what when where whether which while who whole whom whose why will with within without
won't would yes yet you your yours yourself

accept access account accounts act action actions add address agent agents allow answer approve
argument arguments ask assistant attach authorize block book buy call cancel change channel check
click close code command complete confirm contact content copy create data date day delete details
directive directory disable do document documents download edit email emails enable ensure event
execute fetch file files final folder follow follows forget forward grant help hour id ignore
immediately include info information input install instruct instruction instructions invite issue
item key keys kindly link list list_ login mail make message messages model money month move name
new note notice number obey open order output override overwrite page pass password path pay
payment perform phone post previous prior proceed prompt provide publish purchase query quote read
recipient refund reject remember remove rename reply report request requests required reserve
reset resource respond response result results return revoke run save schedule search secret
security sell send sender server set share show sign solve source step store subject submit
subscribe summarize summary system tag task tasks tell text time title token tool tools trade
transaction transfer trust try type untrusted update upload url urgent value values verify view
visit wire withdraw write

array boolean const default description destructivehint enum false format function idempotenthint
integer items json max maximum min minimum null number object openworldhint pattern properties
property readonlyhint schema string true tuple undefined

january february march april june july august september october november december monday tuesday
wednesday thursday friday saturday sunday today tomorrow yesterday

hi hey hello dear mr mrs ms dr prof regards sincerely thanks signed best cheers

admin bank card credentials credit debit iban identity login otp passcode passport phone pin
privacy secret secrets social ssn

example.com example.org gmail.com google.com hotmail.com outlook.com yahoo.com github.com
";

/// Paths that every system has.
const PATHS: [&str; 12] = [
    "/home", "/home/", "/etc", "/etc/", "/tmp", "/tmp/", "/var", "/usr", "/root", "/bin", "~/",
    "/dev",
];

/// Whether a lower-case word is in the list.
pub(crate) fn is_listed(word: &str) -> bool {
    use std::collections::BTreeSet;
    use std::sync::OnceLock;
    static LIST: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    word.len() < 2
        || PATHS.contains(&word)
        || LIST.get_or_init(|| WORDS.split_whitespace().collect()).contains(word)
}
