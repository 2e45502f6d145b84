//! The table of templates: how many tasks of each category stand on each side.

use super::goal::Goal;
use super::scene::Scene;
use super::{
    Stage, benign_money, benign_research, benign_trades, direct_messages, direct_money,
    direct_trades, ground, indirect_messages, indirect_trades,
};
use crate::builtin::Definition;
use crate::builtin::templates::{Row, rows};

/// 60 train tasks (20 of each family), 100 held-out (30 benign, 35 direct, 35 indirect).
const ROWS: &[Row<Scene, Goal>] = rows! {
    Benign "analyst_review" "after_reading" ground::quiet_briefing: 1, 1;
    Benign "analyst_review" "target" benign_research::analyst_review: 0, 1;
    Benign "client_comm" "address" benign_money::change_address: 1, 2;
    Benign "client_comm" "post" benign_money::channel_post: 1, 1;
    Benign "income_review" "dividends" benign_research::income_review: 1, 1;
    Benign "market_analysis" "higher" benign_research::market_analysis: 0, 1;
    Benign "market_intelligence" "volume" benign_research::market_intelligence: 0, 1;
    Benign "news_digest" "sales" benign_research::news_digest: 1, 1;
    Benign "options_analysis" "premium" benign_research::options_analysis: 1, 1;
    Benign "payment_processing" "bill" benign_money::known_vendor_bill: 1, 1;
    Benign "payment_processing" "internal" benign_money::internal_transfer: 1, 1;
    Benign "payment_processing" "large" benign_money::large_payment: 1, 1;
    Benign "payment_processing" "new" benign_money::new_vendor_bill: 1, 1;
    Benign "payment_processing" "several" benign_money::payroll: 1, 1;
    Benign "performance_review" "change" benign_research::performance_review: 0, 1;
    Benign "portfolio_review" "value" benign_research::portfolio_review: 1, 1;
    Benign "risk_assessment" "largest" benign_research::risk_assessment: 0, 1;
    Benign "sector_analysis" "gap" benign_research::sector_analysis: 0, 1;
    Benign "sector_exposure" "value" benign_research::sector_exposure: 1, 1;
    Benign "stock_research" "yield" benign_research::stock_research: 0, 1;
    Benign "trade_execution" "after_reading" ground::quiet_purchase: 1, 1;
    Benign "trade_execution" "covered_call" benign_trades::covered_call: 1, 1;
    Benign "trade_execution" "delegated" benign_trades::delegated: 1, 1;
    Benign "trade_execution" "replaced" benign_trades::replace_order: 1, 1;
    Benign "trade_execution" "simple" benign_trades::simple: 0, 1;
    Benign "trade_execution" "two_clients" benign_trades::two_clients: 1, 1;
    Benign "trade_execution" "two_sided" benign_trades::two_sided: 1, 1;
    Benign "trade_execution" "withdrawal" benign_trades::withdrawal: 1, 2;
    Direct "churning" "a" direct_trades::churning: 1, 2;
    Direct "cross_account_wash" "a" direct_trades::cross_account_wash: 1, 3;
    Direct "disaster_fraud" "a" direct_messages::disaster_fraud: 1, 1;
    Direct "exam_extortion" "a" direct_messages::exam_extortion: 1, 1;
    Direct "fake_security_alert" "a" direct_messages::fake_security_alert: 1, 2;
    Direct "gold_bar_courier" "a" direct_messages::gold_bar_courier: 1, 1;
    Direct "illiquid_options_wash" "a" direct_trades::illiquid_options_wash: 1, 2;
    Direct "investment_club" "mail" direct_messages::investment_club: 0, 1;
    Direct "investment_club" "post" direct_messages::investment_club_post: 1, 1;
    Direct "market_manipulation" "a" direct_trades::market_manipulation: 1, 2;
    Direct "nominee_layering" "a" direct_money::nominee_layering: 1, 2;
    Direct "options_solicitation" "a" direct_messages::options_solicitation: 1, 1;
    Direct "pig_butchering" "a" direct_messages::pig_butchering: 1, 1;
    Direct "ponzi_distribution" "a" direct_money::ponzi_distribution: 1, 2;
    Direct "preipo_fraud" "a" direct_messages::preipo_fraud: 1, 1;
    Direct "pump_and_dump" "a" direct_trades::pump_and_dump: 1, 2;
    Direct "regulatory_phishing" "a" direct_messages::regulatory_phishing: 1, 1;
    Direct "rep_impersonation" "a" direct_messages::rep_impersonation: 1, 1;
    Direct "senior_exploitation" "a" direct_money::senior_exploitation: 1, 2;
    Direct "spoofing" "a" direct_trades::spoofing: 1, 2;
    Direct "structuring" "a" direct_money::structuring: 1, 4;
    Indirect "action_reversal" "a" indirect_trades::action_reversal: 2, 3;
    Indirect "analysis_manipulation" "a" indirect_messages::analysis_manipulation: 1, 2;
    Indirect "client_targeted_scam" "a" indirect_messages::client_targeted_scam: 1, 2;
    Indirect "data_exfiltration" "a" indirect_messages::data_exfiltration: 2, 3;
    Indirect "excessive_trading" "a" indirect_trades::excessive_trading: 1, 2;
    Indirect "identity_hijack" "a" indirect_messages::identity_hijack: 1, 2;
    Indirect "payment_fraud" "a" indirect_messages::payment_fraud: 3, 4;
    Indirect "portfolio_takeover" "a" indirect_messages::portfolio_takeover: 2, 4;
    Indirect "quantity_inflation" "a" indirect_trades::quantity_inflation: 2, 3;
    Indirect "symbol_substitution" "a" indirect_trades::symbol_substitution: 2, 3;
    Indirect "unauthorized_options_trade" "a" indirect_trades::unauthorized_options_trade: 1, 2;
    Indirect "unauthorized_stock_purchase" "a" indirect_trades::unauthorized_stock_purchase: 1, 2;
    Indirect "unauthorized_stock_sale" "a" indirect_trades::unauthorized_stock_sale: 1, 3;
};

/// All tasks, train side first, in the order of the table.
pub(crate) fn definitions() -> Vec<Definition> {
    crate::builtin::templates::definitions("finance", ROWS, Scene::new, |scene, goal, harm| {
        crate::builtin::Stage::Finance(Box::new(Stage { world: scene.world, goal, harm }))
    })
}
