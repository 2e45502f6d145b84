//! Draws of mechanism parameters within their declared ranges.

use std::collections::BTreeMap;

use evosafe_spec::{Mechanism, Param, ParamKind};
use evosafe_types::{MechanismUse, ParamValue};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Chance that a newly added mechanism starts from its defaults.
const DEFAULTS: f64 = 0.6;

/// A use of `mechanism`: its defaults, or one parameter away from them.
pub fn fresh(mechanism: &Mechanism, rng: &mut ChaCha8Rng) -> MechanismUse {
    let start = MechanismUse { name: mechanism.name.clone(), params: BTreeMap::new() };
    if rng.random_bool(DEFAULTS) {
        return start;
    }
    tuned(mechanism, &start, rng).unwrap_or(start)
}

/// `current` with one parameter changed, or `None` if nothing can be tuned.
pub fn tuned(
    mechanism: &Mechanism,
    current: &MechanismUse,
    rng: &mut ChaCha8Rng,
) -> Option<MechanismUse> {
    let tunable: Vec<&Param> = mechanism.params.iter().filter(|p| is_tunable(p)).collect();
    if tunable.is_empty() {
        return None;
    }
    let param = tunable[rng.random_range(0..tunable.len())];
    let value = current.params.get(&param.name).unwrap_or(&param.default);
    let value = neighbour(param, value, rng)?;
    let mut next = current.clone();
    if value == param.default {
        next.params.remove(&param.name);
    } else {
        next.params.insert(param.name.clone(), value);
    }
    Some(next)
}

fn is_tunable(param: &Param) -> bool {
    match &param.kind {
        ParamKind::Int { min, max } => min < max,
        ParamKind::Float { min, max } => min < max,
        ParamKind::Bool => true,
        ParamKind::Choice(values) => values.len() > 1,
        ParamKind::List => false,
    }
}

fn neighbour(param: &Param, value: &ParamValue, rng: &mut ChaCha8Rng) -> Option<ParamValue> {
    match (&param.kind, value) {
        (ParamKind::Bool, ParamValue::Bool(on)) => Some(ParamValue::Bool(!on)),
        (ParamKind::Int { min, max }, ParamValue::Int(at)) => {
            // Small steps are likelier than jumps, but the whole range stays reachable.
            let reach = (max - min).max(1);
            let step = if rng.random_bool(0.6) { 1 } else { rng.random_range(1..=reach) };
            let to = if rng.random_bool(0.5) { at + step } else { at - step };
            let to = to.clamp(*min, *max);
            Some(ParamValue::Int(if to == *at {
                (if at == min { *max } else { *min }).min(*max)
            } else {
                to
            }))
        }
        (ParamKind::Float { min, max }, ParamValue::Float(at)) => {
            let step = (max - min) * rng.random_range(-0.35..0.35);
            // Two decimals keep the composed code readable.
            Some(ParamValue::Float(((at + step).clamp(*min, *max) * 100.0).round() / 100.0))
        }
        (ParamKind::Choice(values), ParamValue::Text(at)) => {
            let others: Vec<&String> = values.iter().filter(|v| *v != at).collect();
            let pick = others.get(rng.random_range(0..others.len().max(1)))?;
            Some(ParamValue::Text((*pick).clone()))
        }
        _ => None,
    }
}
