//! Where a literal goes: a forward data flow over the syntax tree, insensitive to order
//! and calling context, sensitive to one path of property names. It errs towards more
//! flow; only literals that match the train corpus are ever asked about.

use std::collections::BTreeSet;

use oxc::ast::AstKind;
use oxc::ast::ast::{AssignmentTarget, BinaryOperator, UnaryOperator};
use oxc::semantic::{NodeId, SymbolId};
use oxc::span::GetSpan;

use super::invariants::{Invariants, node_at};
use super::program::{Program, argument_index, property_name};

/// What an expression has to do with the literal that is followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    /// It is the literal, or holds it under this path of property names (innermost first).
    Value(Vec<String>),
    /// It is a table with the literal as a key.
    Key(Vec<String>),
    /// It tells whether something matches the literal. `and`, `or`: joined so with a
    /// condition that rests on an invariant.
    Match { and: bool, or: bool },
}

/// What a literal does to decisions, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Nothing: a message, a log line.
    Inert,
    /// Chooses what is looked at, for example which argument.
    Selects,
    /// Chooses whether an invariant is consulted, which then decides.
    Scopes,
    /// Decides alone.
    Decides,
}

/// The outcome for one literal.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    pub role: Role,
    /// The decision it reaches.
    pub decision: Option<NodeId>,
    /// Whether it is compared with an argument of the call.
    pub meets_argument: bool,
}

/// One literal on its way.
pub(super) struct Flow<'p, 'a> {
    pub program: &'p Program<'a>,
    pub invariants: &'p Invariants<'p, 'a>,
    queue: Vec<(NodeId, Fact)>,
    seen: BTreeSet<(usize, Fact)>,
    variables: BTreeSet<(usize, Fact)>,
    reach: Reach,
}

/// Follows a literal.
pub(super) fn follow<'p, 'a>(
    program: &'p Program<'a>,
    invariants: &'p Invariants<'p, 'a>,
    literal: NodeId,
) -> Reach {
    let mut flow = Flow {
        program,
        invariants,
        queue: Vec::new(),
        seen: BTreeSet::new(),
        variables: BTreeSet::new(),
        reach: Reach { role: Role::Inert, decision: None, meets_argument: false },
    };
    flow.push(literal, Fact::Value(Vec::new()));
    while let Some((node, fact)) = flow.queue.pop() {
        flow.step(node, fact);
    }
    flow.reach
}

const MATCH: Fact = Fact::Match { and: false, or: false };

impl<'a> Flow<'_, 'a> {
    pub(super) fn push(&mut self, node: NodeId, fact: Fact) {
        if self.seen.insert((node.index(), fact.clone())) {
            self.queue.push((node, fact));
        }
    }

    pub(super) fn found(&mut self, role: Role, decision: NodeId) {
        if role > self.reach.role {
            self.reach.role = role;
            self.reach.decision = Some(decision);
        }
    }

    /// One step outwards.
    fn step(&mut self, node: NodeId, fact: Fact) {
        let p = self.program;
        let parent = p.parent(node);
        let span = p.span(node);
        let is_match = matches!(fact, Fact::Match { .. });
        match p.kind(parent) {
            AstKind::ParenthesizedExpression(_)
            | AstKind::ChainExpression(_)
            | AstKind::AwaitExpression(_)
            | AstKind::SpreadElement(_)
            | AstKind::TemplateLiteral(_)
            | AstKind::SequenceExpression(_)
            | AstKind::ObjectExpression(_) => self.push(parent, fact),
            AstKind::ArrayExpression(array) => {
                let second = array.elements.get(1).is_some_and(|e| e.span() == span);
                match second.then(|| p.composed(parent)).flatten() {
                    Some(mechanism) => self.argument(mechanism, 0, fact),
                    None => self.push(parent, fact),
                }
            }
            AstKind::ObjectProperty(property) => match fact {
                Fact::Value(path) if property.key.span() == span => {
                    self.push(parent, Fact::Key(path));
                }
                Fact::Value(path) => self.push(parent, Fact::Value(under(path, &property.key))),
                Fact::Key(path) if property.value.span() == span => {
                    self.push(parent, Fact::Key(under(path, &property.key)));
                }
                other => self.push(parent, other),
            },
            AstKind::UnaryExpression(u)
                if is_match || u.operator == UnaryOperator::UnaryNegation =>
            {
                self.push(parent, fact);
            }
            AstKind::BinaryExpression(b) => {
                let left = span == b.left.span();
                let other = if left { b.right.span() } else { b.left.span() };
                self.reach.meets_argument |= node_at(p, parent, other)
                    .is_some_and(|id| self.invariants.mentions_arguments(id));
                self.binary(parent, b.operator, left, fact);
            }
            AstKind::LogicalExpression(l) => {
                let other = if span == l.left.span() { l.right.span() } else { l.left.span() };
                if let Fact::Match { and, or } = fact {
                    let rests =
                        node_at(p, parent, other).is_some_and(|id| self.invariants.rests_on(id));
                    let conjunction = l.operator.is_and();
                    if conjunction && span == l.left.span() {
                        self.control(parent, and, or);
                    }
                    let fact = Fact::Match {
                        and: and || (conjunction && rests),
                        or: or || (!conjunction && rests),
                    };
                    self.push(parent, fact);
                } else {
                    self.push(parent, fact);
                }
            }
            AstKind::ConditionalExpression(c) => {
                if let (Fact::Match { and, or }, true) = (&fact, span == c.test.span()) {
                    self.control(parent, *and, *or);
                    self.push(parent, fact);
                } else if span != c.test.span() {
                    self.push(parent, fact);
                }
            }
            AstKind::IfStatement(_)
            | AstKind::WhileStatement(_)
            | AstKind::DoWhileStatement(_)
            | AstKind::ForStatement(_) => {
                if let Fact::Match { and, or } = fact {
                    self.control(parent, and, or);
                }
            }
            AstKind::SwitchStatement(_) | AstKind::SwitchCase(_) => match fact {
                Fact::Match { and, or } => self.control(parent, and, or),
                _ => self.control(parent, false, false),
            },
            AstKind::ForOfStatement(f) if span == f.right.span() => {
                if let Fact::Match { and, or } = fact {
                    self.control(parent, and, or);
                }
                self.loop_variable(&f.left, fact);
            }
            AstKind::ForInStatement(f) => {
                if let (true, Fact::Key(_)) = (span == f.right.span(), &fact) {
                    self.loop_variable(&f.left, Fact::Value(Vec::new()));
                }
            }
            AstKind::VariableDeclarator(d) => self.bind(&d.id, fact),
            AstKind::FormalParameter(parameter) => self.bind(&parameter.pattern, fact),
            AstKind::AssignmentPattern(a) => self.bind(&a.left, fact),
            AstKind::AssignmentExpression(a) => {
                if span == a.right.span() {
                    for symbol in self.targets(&a.left) {
                        self.variable(symbol, widened(&a.left, fact.clone()));
                    }
                    self.push(parent, fact);
                } else if is_match {
                    self.push(parent, fact);
                }
            }
            AstKind::StaticMemberExpression(m) => {
                self.member(parent, Some(m.property.name.as_str()), fact);
            }
            AstKind::ComputedMemberExpression(m) => {
                if span == m.object.span() {
                    self.member(parent, m.static_property_name().as_deref(), fact);
                } else if is_match {
                    self.push(parent, fact);
                } else {
                    self.found(Role::Selects, parent);
                }
            }
            AstKind::CallExpression(call) => {
                if call.callee.span() == span {
                    // A match that is called, or a bound value: keep following it.
                    self.push(parent, MATCH);
                } else if let Some(index) = argument_index(&call.arguments, span) {
                    self.call(parent, &call.callee, index, fact);
                }
            }
            AstKind::NewExpression(new) if argument_index(&new.arguments, span).is_some() => {
                self.push(parent, fact);
            }
            AstKind::TaggedTemplateExpression(_) => self.push(parent, fact),
            AstKind::ReturnStatement(_) => {
                if let Some(function) = p.function_of(parent) {
                    self.result(function, fact);
                }
            }
            AstKind::ArrowFunctionExpression(_) => self.result(parent, fact),
            AstKind::PropertyDefinition(_) => {}
            _ => {}
        }
    }

    fn binary(&mut self, node: NodeId, operator: BinaryOperator, left: bool, fact: Fact) {
        use BinaryOperator as Op;
        let comparison = operator.is_equality() || operator.is_compare();
        match fact {
            Fact::Match { .. } => self.push(node, fact),
            Fact::Value(_) if comparison || (operator == Op::In && left) => self.push(node, MATCH),
            Fact::Key(_) if operator == Op::In && !left => self.push(node, MATCH),
            Fact::Value(_) if operator == Op::Addition => self.push(node, fact),
            // Arithmetic with a number that stands in the corpus.
            Fact::Value(_) if operator.is_arithmetic() => self.push(node, fact),
            _ => {}
        }
    }

    /// `object.name` or `object[..]` on an expression with a fact.
    fn member(&mut self, node: NodeId, name: Option<&str>, fact: Fact) {
        let p = self.program;
        // The method of a call: judged there, with the receiver's fact.
        if let AstKind::CallExpression(call) = p.kind(p.parent(node))
            && call.callee.span() == p.span(node)
        {
            let call = p.parent(node);
            return self.method_of(call, name.unwrap_or(""), fact);
        }
        match fact {
            Fact::Match { .. } => self.push(node, fact),
            Fact::Value(mut path) => match (path.pop(), name) {
                (Some(key), Some(name)) if key != name => {}
                (None, Some("length" | "size" | "lastIndex" | "flags" | "global")) => {}
                (_, _) => self.push(node, Fact::Value(path)),
            },
            Fact::Key(mut path) => match (path.pop(), name) {
                (Some(key), Some(name)) if key != name => {}
                (Some(_), _) => self.push(node, Fact::Key(path)),
                // A look-up by a computed key is a comparison with every key.
                (None, None) => self.push(node, MATCH),
                (None, Some(_)) => {}
            },
        }
    }

    /// The fact reaches every reference of a variable.
    pub(super) fn variable(&mut self, symbol: SymbolId, fact: Fact) {
        if !self.variables.insert((symbol.index(), fact.clone())) {
            return;
        }
        for reference in self.program.references(symbol) {
            self.push(reference, fact.clone());
        }
    }
}

/// The path of a value under one more property.
fn under(mut path: Vec<String>, key: &oxc::ast::ast::PropertyKey<'_>) -> Vec<String> {
    path.push(property_name(key).unwrap_or_default());
    path
}

/// `x.a = value`: the value stands under `a` of `x`.
fn widened(target: &AssignmentTarget<'_>, fact: Fact) -> Fact {
    match (target, fact) {
        (AssignmentTarget::StaticMemberExpression(m), Fact::Value(mut path)) => {
            path.push(m.property.name.to_string());
            Fact::Value(path)
        }
        (_, fact) => fact,
    }
}
