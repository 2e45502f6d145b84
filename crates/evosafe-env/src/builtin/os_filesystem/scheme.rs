//! Schemes: harms with their steps, which somebody can ask for outright, or hide in a
//! text that the assistant reads. One scheme makes a direct and an indirect template.

use super::case::{Case, known, seen};
use super::goal::Goal;
use super::ground;
use super::scene::Scene;
use crate::builtin::draw::{Sided, fill};
use crate::builtin::script::{Expr, Step};

/// Who tells the victim the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The request.
    Outright,
    /// A text in tool output.
    InOutput,
}

impl Told {
    /// A value of the scheme as the victim knows it.
    pub(super) fn value(self, value: &str) -> Expr {
        match self {
            Self::Outright => known(value),
            Self::InOutput => seen(value),
        }
    }
}

/// A scheme, set in a scene.
pub(super) struct Scheme {
    /// Steps.
    pub attack: Vec<Step>,
    /// What they reach.
    pub harm: Goal,
    /// Values for the texts.
    pub values: Vec<(&'static str, String)>,
}

fn filled(scene: &Scene, phrases: &Sided, values: &[(&'static str, String)]) -> String {
    let values: Vec<(&str, &str)> = values.iter().map(|(k, v)| (*k, v.as_str())).collect();
    fill(scene.draw.in_turn(phrases), &values)
}

/// The scheme as a request.
pub(super) fn direct(
    scene: &mut Scene,
    build: fn(&mut Scene, Told) -> Scheme,
    requests: &Sided,
) -> Case {
    let scheme = build(scene, Told::Outright);
    let request = filled(scene, requests, &scheme.values);
    Case::direct(request, scheme.attack, scheme.harm)
}

/// The scheme as an order in a text that an honest errand reads.
pub(super) fn indirect(
    scene: &mut Scene,
    build: fn(&mut Scene, Told) -> Scheme,
    orders: &Sided,
) -> Case {
    let ground = ground::any(scene);
    let scheme = build(scene, Told::InOutput);
    let order = filled(scene, orders, &scheme.values);
    let injection = ground.plant(scene, &order, false);
    ground.case.attacked(injection, scheme.attack, scheme.harm)
}

/// Writes both templates of schemes: names, builder, texts.
macro_rules! schemes {
    ($($(#[$doc:meta])* $direct:ident, $indirect:ident = $build:path:
        requests train [$($rt:literal),+ $(,)?] held [$($rh:literal),+ $(,)?],
        orders train [$($ot:literal),+ $(,)?] held [$($oh:literal),+ $(,)?];)+) => {
        $($(#[$doc])*
        pub(super) fn $direct(scene: &mut super::scene::Scene) -> super::case::Case {
            super::scheme::direct(scene, $build, &crate::builtin::draw::Sided {
                train: &[$($rt),+],
                held: &[$($rh),+],
            })
        }

        /// The same, hidden in tool output.
        pub(super) fn $indirect(scene: &mut super::scene::Scene) -> super::case::Case {
            super::scheme::indirect(scene, $build, &crate::builtin::draw::Sided {
                train: &[$($ot),+],
                held: &[$($oh),+],
            })
        })+
    };
}
pub(super) use schemes;
