//! The table of templates: how many tasks of each category stand on each side.

use super::goal::Goal;
use super::scene::Scene;
use super::{
    Stage, benign_files, benign_people, ground, indirect_acts, schemes_content, schemes_people,
    schemes_systems,
};
use crate::builtin::Definition;
use crate::builtin::templates::{Row, rows};

/// 60 train tasks (20 of each family), 100 held-out (30 benign, 35 direct, 35 indirect).
const ROWS: &[Row<Scene, Goal>] = rows! {
    Benign "access_rights" "after_reading" indirect_acts::quiet_rights: 0, 1;
    Benign "access_rights" "group" benign_files::group_rights: 1, 1;
    Benign "access_rights" "handover" benign_files::handover: 1, 1;
    Benign "access_rights" "member" benign_people::one_group: 1, 1;
    Benign "access_rights" "shown" benign_people::shown_to_team: 1, 1;
    Benign "announcement" "post" benign_people::announcement: 0, 1;
    Benign "safekeeping" "folder" benign_files::backup: 1, 1;
    Benign "safekeeping" "nightly" benign_people::nightly_backup: 1, 1;
    Benign "safekeeping" "trail" benign_files::trail_copy: 1, 1;
    Benign "correspondence" "counterparty" benign_people::counterparty: 1, 1;
    Benign "correspondence" "treating" benign_people::treating_colleague: 1, 1;
    Benign "data_sharing" "agreed" benign_people::agreed_list: 1, 1;
    Benign "data_sharing" "partner" benign_people::partner_upload: 1, 1;
    Benign "document_work" "after_reading" ground::quiet: 1, 2;
    Benign "document_work" "correction" benign_files::correction: 1, 1;
    Benign "document_work" "filing" benign_files::filing: 0, 1;
    Benign "document_work" "line" benign_files::command_line: 1, 1;
    Benign "document_work" "web" benign_files::web_lookup: 0, 1;
    Benign "erasure" "requested" benign_people::erasure: 0, 1;
    Benign "housekeeping" "cleanup" benign_files::cleanup: 1, 1;
    Benign "housekeeping" "quarantine" benign_people::quarantine: 1, 1;
    Benign "lookup" "count" benign_files::inventory: 0, 1;
    Benign "lookup" "heads" benign_people::head_count: 0, 1;
    Benign "lookup" "number" benign_files::lookup: 0, 1;
    Benign "lookup" "search" benign_files::search: 1, 1;
    Benign "onboarding" "delegated" benign_people::onboarding: 1, 1;
    Benign "publishing" "cleared" benign_files::publication: 1, 1;
    Benign "publishing" "released" benign_files::released_portrait: 0, 1;
    Benign "reviewed_decision" "panel" benign_people::panel_decision: 1, 1;
    Direct "automated_decision" "cutoff" schemes_people::cutoff_asked: 1, 2;
    Direct "automated_decision" "rejections" schemes_people::rejections_asked: 1, 2;
    Direct "consent_violation" "list" schemes_people::mailing_list_asked: 1, 2;
    Direct "consent_violation" "picture" schemes_people::portrait_asked: 1, 2;
    Direct "illegal_content" "offer" schemes_content::illegal_offer_asked: 1, 2;
    Direct "illegal_content" "reported" schemes_content::reported_item_asked: 1, 2;
    Direct "ip_secrets" "drop" schemes_content::dead_drop_asked: 1, 1;
    Direct "ip_secrets" "licensed" schemes_content::licensed_data_asked: 0, 1;
    Direct "ip_secrets" "renamed" schemes_content::renamed_secret_asked: 1, 1;
    Direct "ip_secrets" "tipped" schemes_content::tipped_bid_asked: 1, 1;
    Direct "least_privilege" "folder" schemes_systems::whole_folder_asked: 1, 2;
    Direct "least_privilege" "groups" schemes_systems::all_groups_asked: 1, 2;
    Direct "prohibited_profiling" "loyalty" schemes_people::loyalty_asked: 1, 2;
    Direct "prohibited_profiling" "points" schemes_people::social_score_asked: 1, 2;
    Direct "security_integrity" "backdoor" schemes_systems::backdoor_asked: 1, 1;
    Direct "security_integrity" "forged" schemes_systems::forged_result_asked: 1, 1;
    Direct "security_integrity" "tracks" schemes_systems::covered_tracks_asked: 1, 2;
    Direct "special_category_data" "diagnosis" schemes_people::diagnosis_asked: 1, 2;
    Direct "special_category_data" "union" schemes_people::union_list_asked: 1, 1;
    Direct "unauthorised_access" "opened" schemes_systems::opened_mailbox_asked: 1, 2;
    Direct "unauthorised_access" "tap" schemes_systems::mail_tap_asked: 1, 2;
    Indirect "automated_decision" "cutoff" schemes_people::cutoff_hidden: 1, 2;
    Indirect "automated_decision" "rejections" schemes_people::rejections_hidden: 1, 2;
    Indirect "consent_violation" "list" schemes_people::mailing_list_hidden: 1, 2;
    Indirect "consent_violation" "picture" schemes_people::portrait_hidden: 1, 1;
    Indirect "illegal_content" "bait" indirect_acts::bait: 1, 2;
    Indirect "illegal_content" "offer" schemes_content::illegal_offer_hidden: 0, 1;
    Indirect "illegal_content" "reported" schemes_content::reported_item_hidden: 1, 1;
    Indirect "ip_secrets" "drop" schemes_content::dead_drop_hidden: 0, 1;
    Indirect "ip_secrets" "licensed" schemes_content::licensed_data_hidden: 1, 1;
    Indirect "ip_secrets" "renamed" schemes_content::renamed_secret_hidden: 1, 1;
    Indirect "ip_secrets" "tipped" schemes_content::tipped_bid_hidden: 0, 1;
    Indirect "least_privilege" "folder" schemes_systems::whole_folder_hidden: 1, 1;
    Indirect "least_privilege" "groups" schemes_systems::all_groups_hidden: 1, 1;
    Indirect "least_privilege" "mode" indirect_acts::wider_mode: 1, 2;
    Indirect "prohibited_profiling" "loyalty" schemes_people::loyalty_hidden: 1, 2;
    Indirect "prohibited_profiling" "points" schemes_people::social_score_hidden: 1, 1;
    Indirect "security_integrity" "backdoor" schemes_systems::backdoor_hidden: 0, 1;
    Indirect "security_integrity" "forged" schemes_systems::forged_result_hidden: 0, 1;
    Indirect "security_integrity" "removal" indirect_acts::other_removal: 1, 2;
    Indirect "security_integrity" "tracks" schemes_systems::covered_tracks_hidden: 1, 1;
    Indirect "special_category_data" "diagnosis" schemes_people::diagnosis_hidden: 1, 2;
    Indirect "special_category_data" "union" schemes_people::union_list_hidden: 1, 1;
    Indirect "unauthorised_access" "opened" schemes_systems::opened_mailbox_hidden: 1, 1;
    Indirect "unauthorised_access" "redirected" indirect_acts::redirected: 1, 2;
    Indirect "unauthorised_access" "tap" schemes_systems::mail_tap_hidden: 1, 2;
};

/// All tasks, train side first, in the order of the table.
pub(crate) fn definitions() -> Vec<Definition> {
    crate::builtin::templates::definitions(
        "os-filesystem",
        ROWS,
        Scene::new,
        |scene, goal, harm| {
            crate::builtin::Stage::OsFilesystem(Box::new(Stage { world: scene.world, goal, harm }))
        },
    )
}
