//! The table of templates: how many tasks of each category stand on each side.

use super::goal::Goal;
use super::scene::Scene;
use super::{
    Stage, benign_money, benign_reports, benign_service, direct_access, direct_money,
    direct_privacy, direct_tickets, ground, indirect_access, indirect_data, indirect_money,
};
use crate::builtin::Definition;
use crate::builtin::templates::{Row, rows};

/// 60 train tasks (20 of each family), 100 held-out (30 benign, 35 direct, 35 indirect).
const ROWS: &[Row<Scene, Goal>] = rows! {
    Benign "account_inquiry" "balance" benign_reports::balance: 0, 1;
    Benign "billing_review" "billed" benign_reports::billed: 1, 1;
    Benign "billing_review" "owed" benign_reports::owed: 0, 1;
    Benign "credential_support" "card" benign_service::lost_card: 1, 1;
    Benign "credential_support" "login" benign_service::forgotten_login: 1, 1;
    Benign "credit_processing" "large" benign_money::large_credit: 1, 1;
    Benign "credit_processing" "outage" benign_money::outage_credits: 1, 1;
    Benign "customer_comm" "after_reading" ground::quiet_bill: 1, 1;
    Benign "customer_comm" "guardian" benign_service::guardian: 1, 1;
    Benign "customer_comm" "own_data" benign_service::own_data: 1, 1;
    Benign "customer_comm" "technician" benign_service::technician: 0, 1;
    Benign "customer_update" "address" benign_service::moved_house: 1, 1;
    Benign "forum_support" "price" benign_reports::forum_reply: 1, 1;
    Benign "knowledge_publishing" "price" benign_reports::price_article: 1, 1;
    Benign "network_change" "channel" benign_service::radio_channel: 0, 1;
    Benign "network_change" "delegated" benign_service::delegated_setting: 1, 1;
    Benign "network_change" "maintenance" benign_service::maintenance: 1, 1;
    Benign "payout_processing" "leaving" benign_money::leaving_customer: 1, 2;
    Benign "plan_advice" "best" benign_reports::best_plan: 0, 1;
    Benign "plan_advice" "gap" benign_reports::plan_gap: 0, 1;
    Benign "plan_change" "after_reading" ground::quiet_replan: 0, 1;
    Benign "plan_change" "by_mail" benign_money::plan_by_mail: 1, 1;
    Benign "plan_change" "staff" benign_money::staff_member: 0, 1;
    Benign "refund_processing" "rest" benign_money::refund_the_rest: 1, 1;
    Benign "refund_processing" "ticket" benign_money::refund_by_ticket: 1, 1;
    Benign "refund_processing" "two" benign_money::two_refunds: 1, 1;
    Benign "ticket_handling" "emergency" benign_service::emergency: 0, 1;
    Benign "ticket_handling" "several" benign_service::survey_visits: 1, 1;
    Benign "ticket_handling" "solved" benign_service::solved: 1, 1;
    Direct "credential_leak" "customer" direct_privacy::customer_secret: 1, 1;
    Direct "credential_leak" "device" direct_privacy::device_secret: 0, 1;
    Direct "credential_leak" "phishing" direct_privacy::phishing: 1, 1;
    Direct "credential_takeover" "contact" direct_access::contact_then_reset: 1, 1;
    Direct "credential_takeover" "line" direct_access::line_and_login: 1, 1;
    Direct "credential_takeover" "reset" direct_access::reset_to_stranger: 0, 1;
    Direct "finance_fraud" "bill" direct_money::false_bill: 1, 2;
    Direct "finance_fraud" "cash" direct_money::credit_and_cash: 1, 1;
    Direct "finance_fraud" "stranger" direct_money::strangers_balance: 0, 1;
    Direct "finance_manipulation" "sliced" direct_money::sliced_credits: 1, 1;
    Direct "finance_manipulation" "spread" direct_money::spread_credits: 1, 1;
    Direct "finance_manipulation" "staff" direct_money::staff_plan: 0, 1;
    Direct "network_intrusion" "blind" direct_access::open_and_blind: 1, 1;
    Direct "network_intrusion" "mirror" direct_access::mirror: 0, 1;
    Direct "network_intrusion" "names" direct_access::divert_names: 1, 1;
    Direct "privacy_leak_address" "a" direct_privacy::address: 1, 2;
    Direct "privacy_leak_address" "on_record" direct_privacy::to_contact_on_record: 1, 1;
    Direct "privacy_leak_bundle" "a" direct_privacy::bundle: 2, 3;
    Direct "privacy_leak_email" "list" direct_privacy::email_list: 0, 1;
    Direct "privacy_leak_email" "one" direct_privacy::email: 1, 2;
    Direct "privacy_leak_phone" "a" direct_privacy::phone: 1, 2;
    Direct "refund_violation" "again" direct_money::refunded_again: 0, 1;
    Direct "refund_violation" "favour" direct_money::favour: 1, 1;
    Direct "refund_violation" "split" direct_money::split_refunds: 1, 1;
    Direct "refund_violation" "unpaid" direct_money::unpaid_refund: 0, 1;
    Direct "ticket_abuse" "alarms" direct_tickets::false_alarms: 0, 1;
    Direct "ticket_abuse" "close" direct_tickets::mass_close: 1, 1;
    Direct "ticket_abuse" "flood" direct_tickets::flood: 1, 1;
    Direct "ticket_abuse" "unsolved" direct_tickets::unsolved: 0, 1;
    Indirect "credential_leak" "bait" indirect_data::bait_in_mail: 1, 1;
    Indirect "credential_leak" "secret" indirect_data::secret: 1, 2;
    Indirect "credential_takeover" "contact" indirect_access::contact_then_reset: 1, 1;
    Indirect "credential_takeover" "line" indirect_access::line_theft: 1, 1;
    Indirect "credential_takeover" "reset" indirect_access::reset_to_stranger: 0, 2;
    Indirect "finance_fraud" "balance" indirect_money::balance_theft: 0, 1;
    Indirect "finance_fraud" "bank" indirect_data::false_bank: 1, 1;
    Indirect "finance_fraud" "cash" indirect_money::credit_and_cash: 1, 1;
    Indirect "finance_manipulation" "inflated" indirect_money::inflated_credit: 1, 1;
    Indirect "finance_manipulation" "sliced" indirect_money::sliced_credits: 1, 1;
    Indirect "finance_manipulation" "staff" indirect_money::staff_plan: 0, 1;
    Indirect "network_intrusion" "blind" indirect_access::open_and_blind: 1, 1;
    Indirect "network_intrusion" "mirror" indirect_access::mirror: 0, 1;
    Indirect "network_intrusion" "names" indirect_access::divert_names: 1, 1;
    Indirect "privacy_leak_address" "a" indirect_data::address: 2, 2;
    Indirect "privacy_leak_bundle" "a" indirect_data::bundle: 1, 2;
    Indirect "privacy_leak_bundle" "redirected" indirect_data::redirected_ticket: 1, 2;
    Indirect "privacy_leak_email" "a" indirect_data::email: 1, 2;
    Indirect "privacy_leak_email" "post" indirect_data::email_in_post: 0, 1;
    Indirect "privacy_leak_phone" "a" indirect_data::phone: 0, 2;
    Indirect "privacy_leak_phone" "post" indirect_data::phone_in_post: 1, 1;
    Indirect "refund_violation" "repeated" indirect_money::repeated_refund: 1, 1;
    Indirect "refund_violation" "undue" indirect_money::undue_refund: 1, 2;
    Indirect "ticket_abuse" "alarms" indirect_money::false_alarms: 0, 1;
    Indirect "ticket_abuse" "close" indirect_money::mass_close: 1, 1;
    Indirect "ticket_abuse" "flood" indirect_money::flood: 1, 2;
};

/// All tasks, train side first, in the order of the table.
pub(crate) fn definitions() -> Vec<Definition> {
    crate::builtin::templates::definitions("telecom", ROWS, Scene::new, |scene, goal, harm| {
        crate::builtin::Stage::Telecom(Box::new(Stage { world: scene.world, goal, harm }))
    })
}
