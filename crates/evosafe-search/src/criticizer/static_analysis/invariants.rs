//! Which conditions rest on an invariant: on what the run has shown so far (the user's
//! request, what tools returned, counters) or on a tool's declared effect, rather than
//! on the words of the call at hand.

use std::cell::RefCell;
use std::collections::BTreeMap;

use oxc::ast::AstKind;
use oxc::ast::ast::{AssignmentTarget, Expression};
use oxc::semantic::{NodeId, SymbolId};
use oxc::span::GetSpan;

use super::program::{Program, argument_index};

/// Properties of tool annotations (MCP hints) and of the run context.
const INVARIANT_PROPERTIES: [&str; 5] =
    ["instruction", "readOnlyHint", "destructiveHint", "openWorldHint", "idempotentHint"];

/// Methods that change their receiver.
pub(super) const MUTATORS: [&str; 8] =
    ["add", "set", "push", "unshift", "append", "delete", "splice", "fill"];

/// Methods of the shared session that only classify the call at hand by its words: alone
/// they leave a rule as keyed as it was.
const SESSION_WORD_RULES: [&str; 3] = ["effectOf", "toolNames", "tools"];

/// Local names that are looked through between an argument and a comparison.
const ORIGIN_DEPTH: u8 = 4;

/// Constructors and functions whose result is as constant as their arguments.
const CONSTANT_MAKERS: [&str; 10] =
    ["Set", "Map", "RegExp", "Array", "Object", "String", "Number", "Boolean", "Symbol", "compose"];

/// Answers whether conditions rest on an invariant.
pub(super) struct Invariants<'p, 'a> {
    program: &'p Program<'a>,
    state: Vec<SymbolId>,
    memo: RefCell<BTreeMap<SymbolId, bool>>,
}

impl<'p, 'a> Invariants<'p, 'a> {
    pub fn new(program: &'p Program<'a>) -> Self {
        let mut found = Self { program, state: Vec::new(), memo: RefCell::new(BTreeMap::new()) };
        found.state = program
            .semantic
            .scoping()
            .symbol_ids()
            .filter(|&symbol| found.is_session(symbol) || found.is_state(symbol))
            .collect();
        found
    }

    /// Whether the value of this subtree depends on an invariant.
    pub fn rests_on(&self, root: NodeId) -> bool {
        self.program.subtree(root).any(|id| match self.program.kind(id) {
            AstKind::StaticMemberExpression(m) => {
                INVARIANT_PROPERTIES.contains(&m.property.name.as_str())
            }
            AstKind::CallExpression(call) => {
                call.callee_name() == Some("classify") || self.calls_invariant(&call.callee)
            }
            AstKind::IdentifierReference(_) => {
                !self.only_words(id)
                    && self.program.symbol(id).is_some_and(|symbol| self.symbol(symbol))
            }
            _ => false,
        })
    }

    /// Whether the value of this subtree comes from the arguments of the call at hand.
    pub fn mentions_arguments(&self, root: NodeId) -> bool {
        self.mentions(root, ORIGIN_DEPTH)
    }

    fn mentions(&self, root: NodeId, depth: u8) -> bool {
        self.program.subtree(root).any(|id| match self.program.kind(id) {
            AstKind::StaticMemberExpression(m) => m.property.name == "arguments",
            AstKind::IdentifierReference(_) => {
                depth > 0
                    && self
                        .program
                        .symbol(id)
                        .and_then(|symbol| self.origin(symbol))
                        .is_some_and(|origin| self.mentions(origin, depth - 1))
            }
            _ => false,
        })
    }

    fn symbol(&self, symbol: SymbolId) -> bool {
        if self.state.contains(&symbol) {
            return true;
        }
        if let Some(&known) = self.memo.borrow().get(&symbol) {
            return known;
        }
        // Cycles count as constant.
        self.memo.borrow_mut().insert(symbol, false);
        let rests = self.origin(symbol).is_some_and(|origin| self.rests_on(origin));
        self.memo.borrow_mut().insert(symbol, rests);
        rests
    }

    /// Where a local name gets its value: an initialiser, the right side of `for of`, or
    /// for a callback's parameter the list that the callback is run over.
    fn origin(&self, symbol: SymbolId) -> Option<NodeId> {
        let p = self.program;
        let declared = p.semantic.scoping().symbol_declaration(symbol);
        let chain = std::iter::once(declared).chain(p.ancestors(declared));
        for id in chain.take(8) {
            match p.kind(id) {
                AstKind::VariableDeclarator(d) => {
                    if let Some(init) = &d.init {
                        return node_at(p, id, init.span());
                    }
                }
                AstKind::ForOfStatement(f) => return node_at(p, id, f.right.span()),
                AstKind::ForInStatement(f) => return node_at(p, id, f.right.span()),
                AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) => {
                    let call = p.parent(id);
                    let AstKind::CallExpression(c) = p.kind(call) else { return None };
                    argument_index(&c.arguments, p.span(id))?;
                    let Expression::StaticMemberExpression(m) = c.callee.get_inner_expression()
                    else {
                        return None;
                    };
                    return node_at(p, call, m.object.span());
                }
                _ => {}
            }
        }
        None
    }

    fn calls_invariant(&self, callee: &Expression<'a>) -> bool {
        let Some(function) = self.program.function(callee) else { return false };
        let Some(symbol) = self.program.function_symbol(function) else { return false };
        if let Some(&known) = self.memo.borrow().get(&symbol) {
            return known;
        }
        self.memo.borrow_mut().insert(symbol, false);
        let rests = self.rests_on(function);
        self.memo.borrow_mut().insert(symbol, rests);
        rests
    }

    /// `session.effectOf(call)`: a verdict on the words of the call, not on the run.
    fn only_words(&self, id: NodeId) -> bool {
        match self.program.kind(self.program.parent(id)) {
            AstKind::StaticMemberExpression(m) => {
                SESSION_WORD_RULES.contains(&m.property.name.as_str())
            }
            _ => false,
        }
    }

    /// The second parameter of a mechanism: the session that composition hands in.
    fn is_session(&self, symbol: SymbolId) -> bool {
        let p = self.program;
        let declared = p.semantic.scoping().symbol_declaration(symbol);
        let Some(function) =
            std::iter::once(declared).chain(p.ancestors(declared)).find(|&id| p.is_function(id))
        else {
            return false;
        };
        let second = p.params(function).and_then(|params| params.items.get(1));
        p.function_name(function).as_deref() == Some("mechanism")
            && second.is_some_and(|second| {
                let span = p.semantic.scoping().symbol_span(symbol);
                second.span.start <= span.start && span.end <= second.span.end
            })
    }

    /// A variable that outlives a hook call and is changed by hooks.
    fn is_state(&self, symbol: SymbolId) -> bool {
        let p = self.program;
        let declared = p.semantic.scoping().symbol_declaration(symbol);
        let AstKind::VariableDeclarator(declarator) = p.kind(declared) else { return false };
        let home = p.function_of(declared);
        if !self.sets_up(home) {
            return false;
        }
        let made = declarator.init.as_ref().is_some_and(|init| made_elsewhere(p, init));
        p.semantic.symbol_references(symbol).any(|reference| {
            let id = reference.node_id();
            p.function_of(id) != home && (reference.is_write() || made || self.mutates(id))
        })
    }

    /// Module level, `mechanism` itself, or a wrapper that is called at once.
    fn sets_up(&self, function: Option<NodeId>) -> bool {
        let Some(function) = function else { return true };
        let p = self.program;
        let name = p.function_name(function);
        let wrapper = name.is_none()
            && p.ancestors(function)
                .find(|&id| !matches!(p.kind(id), AstKind::ParenthesizedExpression(_)))
                .is_some_and(|id| match p.kind(id) {
                    AstKind::CallExpression(call) => p.function(&call.callee) == Some(function),
                    _ => false,
                });
        (wrapper || name.as_deref() == Some("mechanism")) && self.sets_up(p.function_of(function))
    }

    /// Whether a reference is changed in place: `x.add(..)`, `x.a = ..`, `x[i] = ..`.
    fn mutates(&self, id: NodeId) -> bool {
        let p = self.program;
        let parent = p.parent(id);
        let AstKind::StaticMemberExpression(member) = p.kind(parent) else {
            return matches!(p.kind(parent), AstKind::ComputedMemberExpression(_))
                && assigned(p, parent);
        };
        let called = match p.kind(p.parent(parent)) {
            AstKind::CallExpression(call) => call.callee.span() == p.span(parent),
            _ => false,
        };
        (called && MUTATORS.contains(&member.property.name.as_str())) || assigned(p, parent)
    }
}

/// The outermost node of a subtree with exactly this span.
pub(super) fn node_at(p: &Program<'_>, root: NodeId, span: oxc::span::Span) -> Option<NodeId> {
    p.subtree(root).find(|&id| p.span(id) == span)
}

fn assigned(p: &Program<'_>, target: NodeId) -> bool {
    match p.kind(p.parent(target)) {
        AstKind::AssignmentExpression(a) => match &a.left {
            AssignmentTarget::StaticMemberExpression(m) => m.span == p.span(target),
            AssignmentTarget::ComputedMemberExpression(m) => m.span == p.span(target),
            _ => false,
        },
        AstKind::UpdateExpression(_) => true,
        _ => false,
    }
}

/// Whether a value comes from a call that can hold state of its own (a tracker of the
/// prelude), unlike a constant collection.
fn made_elsewhere(p: &Program<'_>, init: &Expression<'_>) -> bool {
    match init.get_inner_expression() {
        Expression::CallExpression(call) => match call.callee.get_inner_expression() {
            Expression::Identifier(ident) => {
                !CONSTANT_MAKERS.contains(&ident.name.as_str())
                    && p.symbol(ident.node_id.get()).is_none()
            }
            _ => false,
        },
        Expression::NewExpression(new) => new
            .callee
            .get_inner_expression()
            .get_identifier_reference()
            .is_some_and(|ident| !CONSTANT_MAKERS.contains(&ident.name.as_str())),
        _ => false,
    }
}
