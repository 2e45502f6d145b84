//! Calls on the way of a literal: as argument, as receiver, and back to the caller.

use oxc::ast::AstKind;
use oxc::ast::ast::Expression;
use oxc::semantic::NodeId;
use oxc::span::GetSpan;

use super::flow::{Fact, Flow, Role};
use super::program::argument_index;

/// Methods that compare their receiver with their argument, whichever is the literal.
const COMPARES: [&str; 15] = [
    "has",
    "includes",
    "indexOf",
    "lastIndexOf",
    "startsWith",
    "endsWith",
    "test",
    "exec",
    "match",
    "matchAll",
    "search",
    "get",
    "localeCompare",
    "equals",
    "hasOwnProperty",
];

/// Methods whose result still is, or holds, the receiver.
const PASSES: [&str; 26] = [
    "toLowerCase",
    "toUpperCase",
    "toLocaleLowerCase",
    "trim",
    "trimStart",
    "trimEnd",
    "normalize",
    "toString",
    "valueOf",
    "slice",
    "substring",
    "concat",
    "split",
    "join",
    "keys",
    "values",
    "entries",
    "flat",
    "reverse",
    "sort",
    "at",
    "replace",
    "replaceAll",
    "padEnd",
    "pop",
    "repeat",
];

/// Methods that run a callback over the items of their receiver.
const ITERATES: [&str; 13] = [
    "some",
    "every",
    "find",
    "findIndex",
    "findLast",
    "filter",
    "map",
    "flatMap",
    "forEach",
    "reduce",
    "reduceRight",
    "sort",
    "from",
];

/// Functions that hand their argument through.
const HANDS_THROUGH: [&str; 12] = [
    "Set",
    "Map",
    "RegExp",
    "Array",
    "String",
    "Number",
    "foldText",
    "normalizeText",
    "stripInvisible",
    "words",
    "canonicalUrl",
    "hostOf",
];

const MATCH: Fact = Fact::Match { and: false, or: false };

impl<'a> Flow<'_, 'a> {
    /// The fact is argument `index` of a call.
    pub(super) fn call(&mut self, call: NodeId, callee: &Expression<'a>, index: usize, fact: Fact) {
        let p = self.program;
        if let Some(function) = p.function(callee) {
            return self.argument(function, index, fact);
        }
        match callee.get_inner_expression() {
            Expression::Identifier(ident) => self.global_call(call, ident.name.as_str(), fact),
            Expression::StaticMemberExpression(member) => {
                let name = member.property.name.to_string();
                for function in p.methods.get(&name).cloned().unwrap_or_default() {
                    self.argument(function, index, fact.clone());
                }
                if Self::is_mutator(&name)
                    && let Some(symbol) = self.root_symbol(&member.object)
                {
                    self.variable(symbol, fact.clone());
                }
                let object = member.object.get_inner_expression();
                if let Some(ident) = object.get_identifier_reference()
                    && p.symbol(ident.node_id.get()).is_none()
                {
                    // `Object.keys(x)`, `Array.from(x)`, `JSON.stringify(x)`, ...
                    let fact = match fact {
                        Fact::Key(_) => Fact::Value(Vec::new()),
                        other => other,
                    };
                    return self.push(call, fact);
                }
                match fact {
                    Fact::Match { .. } => self.push(call, fact),
                    _ if name == "concat" => self.push(call, fact),
                    _ => self.push(call, MATCH),
                }
            }
            _ => self.push(call, fact),
        }
    }

    fn global_call(&mut self, call: NodeId, name: &str, fact: Fact) {
        match (name, &fact) {
            // A reason, a log line, the text delivered instead: words, not decisions.
            ("block" | "replace" | "log" | "allow" | "keep", _) => {}
            ("rewrite" | "redirect", Fact::Value(_)) => self.found(Role::Decides, call),
            ("classify", Fact::Value(_)) => {
                // A question about the literal: the answer is a match.
                self.push(call, MATCH);
            }
            (name, _) if HANDS_THROUGH.contains(&name) => self.push(call, fact),
            (_, Fact::Match { .. }) => self.push(call, fact),
            _ => self.push(call, MATCH),
        }
    }

    /// A method is called on an expression with a fact.
    pub(super) fn method_of(&mut self, call: NodeId, name: &str, fact: Fact) {
        let p = self.program;
        let AstKind::CallExpression(c) = p.kind(call) else { return };
        if ITERATES.contains(&name)
            && let Some(function) =
                c.arguments.first().and_then(|argument| argument.as_expression())
        {
            let item = match &fact {
                Fact::Key(_) => None,
                fact => Some(fact.clone()),
            };
            let at = usize::from(name.starts_with("reduce"));
            if let (Some(item), Some(function)) = (item, p.function(function)) {
                self.argument(function, at, item);
            }
            let keeps_items = matches!(name, "filter" | "sort" | "find" | "findLast");
            if keeps_items || matches!(fact, Fact::Match { .. }) {
                self.push(call, fact);
            }
            return;
        }
        match fact {
            Fact::Match { .. } => self.push(call, fact),
            Fact::Value(_) if COMPARES.contains(&name) => {
                if name == "get" {
                    self.push(call, fact);
                }
                self.push(call, MATCH);
            }
            Fact::Key(_) if COMPARES.contains(&name) => self.push(call, MATCH),
            fact if PASSES.contains(&name) => self.push(call, fact),
            _ => {}
        }
    }

    /// The fact reaches parameter `index` of a local function.
    pub(super) fn argument(&mut self, function: NodeId, index: usize, fact: Fact) {
        let Some(params) = self.program.params(function) else { return };
        match params.items.get(index) {
            Some(item) => self.bind(&item.pattern, fact),
            None => {
                if let Some(rest) = &params.rest {
                    self.bind(&rest.rest.argument, fact);
                }
            }
        }
    }

    /// A function returns the fact: hand it to whoever calls the function.
    pub(super) fn result(&mut self, function: NodeId, fact: Fact) {
        let p = self.program;
        if let Some(hook) = p.hook(function) {
            return self.hook_result(function, hook, fact);
        }
        if let Some(symbol) = p.function_symbol(function) {
            for reference in p.references(symbol) {
                self.call_result(reference, fact.clone());
            }
        }
        if let Some(name) = p.function_name(function)
            && p.methods.get(&name).is_some_and(|all| all.contains(&function))
        {
            for node in p.semantic.nodes().iter() {
                if let AstKind::CallExpression(call) = node.kind()
                    && let Some(member) = call.callee.get_inner_expression().as_member_expression()
                    && member.static_property_name() == Some(name.as_str())
                {
                    self.push(node.id(), fact.clone());
                }
            }
        }
        self.call_result(function, fact.clone());
        let held = p.parent(function);
        let handed_on = matches!(
            p.kind(held),
            AstKind::ReturnStatement(_)
                | AstKind::ArrowFunctionExpression(_)
                | AstKind::ArrayExpression(_)
                | AstKind::ConditionalExpression(_)
                | AstKind::LogicalExpression(_)
        );
        if handed_on && matches!(fact, Fact::Match { .. }) {
            // A function made by a function: whoever calls it gets the match.
            self.push(function, fact);
        }
    }

    /// `node` is a function or a reference to one, in the position of a callee or an
    /// argument.
    fn call_result(&mut self, node: NodeId, fact: Fact) {
        let p = self.program;
        let span = p.span(node);
        let mut at = p.parent(node);
        while matches!(p.kind(at), AstKind::ParenthesizedExpression(_)) {
            at = p.parent(at);
        }
        let AstKind::CallExpression(call) = p.kind(at) else { return };
        if call.callee.span().start <= span.start && span.end <= call.callee.span().end {
            return self.push(at, fact);
        }
        if argument_index(&call.arguments, span).is_none() {
            return;
        }
        // A callback: what it says about the items decides what the method gives.
        let Some(member) = call.callee.get_inner_expression().as_member_expression() else {
            return self.push(at, fact);
        };
        let name = member.static_property_name().unwrap_or("");
        match name {
            "forEach" => {}
            "push" => self.granted(at, fact),
            "map" | "flatMap" | "reduce" | "from" => self.push(at, fact),
            _ => self.push(at, as_match(&fact)),
        }
    }

    /// A predicate handed to the session (a grant): what it matches is decided there.
    fn granted(&mut self, call: NodeId, fact: Fact) {
        match fact {
            Fact::Match { and: true, .. } | Fact::Match { or: true, .. } => {
                self.found(Role::Scopes, call);
            }
            Fact::Match { .. } => self.found(Role::Decides, call),
            _ => {}
        }
    }

    /// What a hook returns is the decision, except where `control` has seen it already.
    fn hook_result(&mut self, function: NodeId, hook: &str, fact: Fact) {
        match (hook, fact) {
            // The list of hidden tools.
            ("begin", Fact::Value(_) | Fact::Match { and: false, .. }) => {
                self.found(Role::Decides, function);
            }
            ("begin", Fact::Match { .. }) => self.found(Role::Scopes, function),
            // Part of the policy.
            ("systemPromptTransform", Fact::Value(_)) => self.found(Role::Decides, function),
            _ => {}
        }
    }
}

/// A match stays what it is; a value that a predicate returns becomes one.
fn as_match(fact: &Fact) -> Fact {
    match fact {
        Fact::Match { .. } => fact.clone(),
        _ => MATCH,
    }
}
