//! What a condition controls.

use oxc::ast::AstKind;
use oxc::ast::ast::{Statement, SwitchStatement};
use oxc::semantic::NodeId;
use oxc::span::{GetSpan, Span};

use super::flow::{Fact, Flow, Role};
use super::invariants::{MUTATORS, node_at};
use super::program::Program;

/// How deep calls of local functions are followed in search of a decision.
const CALL_DEPTH: u8 = 4;

impl Flow<'_, '_> {
    /// A match reached the test of `statement`: follow what it controls.
    pub(super) fn control(&mut self, statement: NodeId, and: bool, or: bool) {
        let p = self.program;
        match p.kind(statement) {
            AstKind::IfStatement(s) => {
                self.region(s.consequent.span(), statement, and);
                if let Some(alternate) = &s.alternate {
                    self.region(alternate.span(), statement, and);
                }
                if let Some(reach) = exit_reach(p, statement, &s.consequent) {
                    let rest = Span::new(s.span.end, reach.end);
                    self.region(rest, statement, and || or);
                }
            }
            AstKind::ConditionalExpression(c) => {
                self.region(c.consequent.span(), statement, and);
                self.region(c.alternate.span(), statement, and);
            }
            AstKind::LogicalExpression(l) => self.region(l.right.span(), statement, and),
            AstKind::WhileStatement(s) => self.region(s.body.span(), statement, and),
            AstKind::DoWhileStatement(s) => self.region(s.body.span(), statement, and),
            AstKind::ForStatement(s) => self.region(s.body.span(), statement, and),
            AstKind::ForOfStatement(s) => self.region(s.body.span(), statement, and),
            AstKind::ForInStatement(s) => self.region(s.body.span(), statement, and),
            AstKind::SwitchStatement(s) => {
                for case in &s.cases {
                    self.region(case.span, statement, and);
                }
            }
            AstKind::SwitchCase(_) => {
                for span in fall_through(p, statement) {
                    self.region(span, statement, and);
                }
            }
            _ => {}
        }
    }

    /// Looks through a controlled stretch of source for decisions, results and changed
    /// variables. `scoped`: an invariant must hold as well before it is reached.
    fn region(&mut self, region: Span, control: NodeId, scoped: bool) {
        let p = self.program;
        let home = p.function_of(control);
        for id in p.within(region).collect::<Vec<_>>() {
            if p.decisions.contains(&id) {
                let guarded = scoped || self.guarded(id, region);
                self.found(if guarded { Role::Scopes } else { Role::Decides }, id);
                continue;
            }
            match p.kind(id) {
                AstKind::ReturnStatement(r) => {
                    if let (Some(argument), Some(function)) = (&r.argument, p.function_of(id))
                        && Some(function) == home
                        && !self.plain_decision(argument.span(), id)
                    {
                        let scoped = scoped || self.guarded(id, region);
                        self.result(function, Fact::Match { and: scoped, or: scoped });
                    }
                }
                AstKind::CallExpression(call) => {
                    self.called_in(id, region, scoped);
                    let scoped = scoped || self.guarded(id, region);
                    if let Some(member) = call.callee.get_inner_expression().as_member_expression()
                        && member.static_property_name().is_some_and(|m| MUTATORS.contains(&m))
                        && let Some(symbol) = self.root_symbol(member.object())
                    {
                        self.variable(symbol, Fact::Match { and: scoped, or: scoped });
                    }
                }
                AstKind::AssignmentExpression(a) => {
                    let scoped = scoped || self.guarded(id, region);
                    for symbol in self.targets(&a.left) {
                        self.variable(symbol, Fact::Match { and: scoped, or: scoped });
                    }
                }
                AstKind::UpdateExpression(u) => {
                    let scoped = scoped || self.guarded(id, region);
                    if let Some(symbol) = self.updated(&u.argument) {
                        self.variable(symbol, Fact::Match { and: scoped, or: scoped });
                    }
                }
                _ => {}
            }
        }
    }

    /// A controlled call of a local function that decides inside.
    fn called_in(&mut self, call: NodeId, region: Span, scoped: bool) {
        let Some(unguarded) = self.decides_inside(call, CALL_DEPTH) else { return };
        let guarded = scoped || !unguarded || self.guarded(call, region);
        self.found(if guarded { Role::Scopes } else { Role::Decides }, call);
    }

    /// Whether a call reaches a decision in a local function, and whether one of them
    /// needs no invariant.
    fn decides_inside(&self, call: NodeId, depth: u8) -> Option<bool> {
        let p = self.program;
        let AstKind::CallExpression(c) = p.kind(call) else { return None };
        let function = p.function(&c.callee)?;
        let body = p.span(function);
        let mut found = None;
        for id in p.subtree(function) {
            if p.decisions.contains(&id) {
                let free = !self.guarded(id, body);
                found = Some(found.unwrap_or(false) || free);
            } else if depth > 0
                && matches!(p.kind(id), AstKind::CallExpression(_))
                && let Some(inner) = self.decides_inside(id, depth - 1)
            {
                let free = inner && !self.guarded(id, body);
                found = Some(found.unwrap_or(false) || free);
            }
        }
        found
    }

    /// `return block(..)`, `return allow()`: a decision, not a value somebody reads.
    fn plain_decision(&self, argument: Span, statement: NodeId) -> bool {
        let p = self.program;
        let Some(node) = node_at(p, statement, argument) else { return true };
        match p.kind(node) {
            AstKind::CallExpression(call) => matches!(
                call.callee_name(),
                Some("allow" | "keep" | "block" | "rewrite" | "redirect" | "replace")
            ),
            _ => false,
        }
    }

    /// Whether a further condition that rests on an invariant stands between the edge of
    /// a region and a node in it.
    pub(super) fn guarded(&self, node: NodeId, region: Span) -> bool {
        let p = self.program;
        let mut child = p.span(node);
        for id in p.ancestors(node) {
            let span = p.span(id);
            let inside = region.start <= span.start && span.end <= region.end;
            let statements = statements_of(p, id);
            let early_exit = statements.is_some_and(|list| {
                list.iter()
                    .filter(|s| s.span().start >= region.start && s.span().end <= child.start)
                    .any(|s| match s {
                        Statement::IfStatement(s) => {
                            exits(&s.consequent) && self.test_rests(id, s.test.span())
                        }
                        _ => false,
                    })
            });
            if early_exit {
                return true;
            }
            if !inside {
                return false;
            }
            let test = match p.kind(id) {
                AstKind::IfStatement(s) if s.test.span() != child => Some(s.test.span()),
                AstKind::ConditionalExpression(c) if c.test.span() != child => Some(c.test.span()),
                AstKind::LogicalExpression(l) if l.right.span() == child => Some(l.left.span()),
                AstKind::ForOfStatement(s) if s.body.span() == child => Some(s.right.span()),
                AstKind::WhileStatement(s) if s.body.span() == child => Some(s.test.span()),
                _ => None,
            };
            if test.is_some_and(|test| self.test_rests(id, test)) {
                return true;
            }
            child = span;
        }
        false
    }

    fn test_rests(&self, root: NodeId, test: Span) -> bool {
        node_at(self.program, root, test).is_some_and(|id| self.invariants.rests_on(id))
    }
}

fn statements_of<'a>(p: &Program<'a>, id: NodeId) -> Option<&'a [Statement<'a>]> {
    match p.kind(id) {
        AstKind::BlockStatement(b) => Some(&b.body),
        AstKind::FunctionBody(b) => Some(&b.statements),
        AstKind::Program(b) => Some(&b.body),
        AstKind::SwitchCase(c) => Some(&c.consequent),
        _ => None,
    }
}

/// Whether a statement always leaves its block.
fn exits(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ReturnStatement(_)
        | Statement::ThrowStatement(_)
        | Statement::ContinueStatement(_)
        | Statement::BreakStatement(_) => true,
        Statement::BlockStatement(block) => block.body.last().is_some_and(exits),
        Statement::IfStatement(s) => {
            exits(&s.consequent) && s.alternate.as_ref().is_some_and(exits)
        }
        _ => false,
    }
}

/// Where control goes on without what an early exit skips: to the end of the function or,
/// for `continue` and `break`, of the loop or switch.
fn exit_reach(p: &Program<'_>, statement: NodeId, branch: &Statement<'_>) -> Option<Span> {
    if !exits(branch) {
        return None;
    }
    let of_loop = last(branch, |s| {
        matches!(s, Statement::ContinueStatement(_) | Statement::BreakStatement(_))
    });
    p.ancestors(statement)
        .find(|&id| match p.kind(id) {
            AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) | AstKind::Program(_) => {
                true
            }
            AstKind::ForOfStatement(_)
            | AstKind::ForInStatement(_)
            | AstKind::ForStatement(_)
            | AstKind::WhileStatement(_)
            | AstKind::SwitchStatement(_) => of_loop,
            _ => false,
        })
        .map(|id| p.span(id))
}

fn last(statement: &Statement<'_>, is: impl Fn(&Statement<'_>) -> bool) -> bool {
    match statement {
        Statement::BlockStatement(block) => block.body.last().is_some_and(is),
        other => is(other),
    }
}

/// The bodies that a matching case runs: its own and those it falls through to.
fn fall_through(p: &Program<'_>, case: NodeId) -> Vec<Span> {
    let own = p.span(case);
    let AstKind::SwitchStatement(SwitchStatement { cases, .. }) = p.kind(p.parent(case)) else {
        return Vec::new();
    };
    let mut spans = Vec::new();
    for case in cases.iter().skip_while(|case| case.span != own) {
        for statement in &case.consequent {
            spans.push(statement.span());
        }
        if case.consequent.last().is_some_and(exits) {
            break;
        }
    }
    spans
}
