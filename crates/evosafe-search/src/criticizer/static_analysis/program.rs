//! A parsed harness with the look-ups that the data flow needs.

use std::collections::BTreeMap;

use oxc::ast::AstKind;
use oxc::ast::ast::{Argument, BindingPattern, Expression, FormalParameters, PropertyKey};
use oxc::semantic::{NodeId, Semantic, SymbolId};
use oxc::span::{GetSpan, Span};

/// The hooks that a bundle may export.
const HOOKS: [&str; 6] = [
    "begin",
    "onUserMessage",
    "systemPromptTransform",
    "onPreToolCall",
    "onPostToolCall",
    "onFinalAnswer",
];

/// Decision builders that change what happens, as opposed to `allow` and `keep`.
const DECIDES: [&str; 4] = ["block", "rewrite", "redirect", "replace"];

/// A parsed harness.
pub(super) struct Program<'a> {
    pub semantic: &'a Semantic<'a>,
    /// One past the last node of each subtree (node ids are in pre-order).
    end: Vec<usize>,
    /// Calls, objects and throws that decide.
    pub decisions: Vec<NodeId>,
    /// Functions by the name of the property or method that holds them.
    pub methods: BTreeMap<String, Vec<NodeId>>,
    line_starts: Vec<u32>,
    /// `// mechanism: NAME` comments: offset and name.
    mechanisms: Vec<(u32, String)>,
}

impl<'a> Program<'a> {
    pub fn new(semantic: &'a Semantic<'a>) -> Self {
        let nodes = semantic.nodes();
        let mut end: Vec<usize> = (1..=nodes.len()).collect();
        for id in (1..nodes.len()).rev() {
            let parent = nodes.parent_id(NodeId::from_usize(id)).index();
            end[parent] = end[parent].max(end[id]);
        }
        let source = semantic.source_text();
        let line_starts = std::iter::once(0)
            .chain(source.match_indices('\n').map(|(at, _)| offset(at + 1)))
            .collect();
        let mechanisms = semantic
            .comments()
            .iter()
            .filter_map(|comment| {
                let text = &source[comment.span.start as usize..comment.span.end as usize];
                let name = text.trim_start_matches('/').trim().strip_prefix("mechanism:")?;
                Some((comment.span.start, name.trim().to_owned()))
            })
            .collect();
        let mut program = Self {
            semantic,
            end,
            decisions: Vec::new(),
            methods: BTreeMap::new(),
            line_starts,
            mechanisms,
        };
        for node in nodes.iter() {
            if program.decides(node.id()) {
                program.decisions.push(node.id());
            }
            if program.is_function(node.id())
                && let Some(name) = program.method_name(node.id())
            {
                program.methods.entry(name).or_default().push(node.id());
            }
        }
        program
    }

    pub fn kind(&self, id: NodeId) -> AstKind<'a> {
        self.semantic.nodes().kind(id)
    }

    pub fn span(&self, id: NodeId) -> Span {
        self.kind(id).span()
    }

    pub fn parent(&self, id: NodeId) -> NodeId {
        self.semantic.nodes().parent_id(id)
    }

    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.semantic.nodes().ancestor_ids(id)
    }

    /// All nodes of a subtree, its root first.
    pub fn subtree(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        (id.index()..self.end[id.index()]).map(NodeId::from_usize)
    }

    /// Nodes that lie entirely in a stretch of source.
    pub fn within(&self, region: Span) -> impl Iterator<Item = NodeId> + '_ {
        self.semantic.nodes().iter().filter_map(move |node| {
            let span = node.kind().span();
            (region.start <= span.start && span.end <= region.end).then(|| node.id())
        })
    }

    /// Line and column of an offset, from 1, column in characters.
    pub fn position(&self, at: u32) -> (u32, u32) {
        let line = self.line_starts.partition_point(|&start| start <= at).max(1);
        let start = self.line_starts[line - 1] as usize;
        let column = self.semantic.source_text()[start..at as usize].chars().count();
        (offset(line), offset(column + 1))
    }

    /// The mechanism of a composed harness that holds an offset.
    pub fn mechanism(&self, at: u32) -> Option<&str> {
        let index = self.mechanisms.partition_point(|(start, _)| *start <= at);
        Some(self.mechanisms.get(index.checked_sub(1)?)?.1.as_str())
    }

    pub fn is_function(&self, id: NodeId) -> bool {
        matches!(self.kind(id), AstKind::Function(_) | AstKind::ArrowFunctionExpression(_))
    }

    /// The function that a node stands in.
    pub fn function_of(&self, id: NodeId) -> Option<NodeId> {
        self.ancestors(id).find(|&ancestor| self.is_function(ancestor))
    }

    pub fn params(&self, function: NodeId) -> Option<&'a FormalParameters<'a>> {
        match self.kind(function) {
            AstKind::Function(f) => Some(&f.params),
            AstKind::ArrowFunctionExpression(f) => Some(&f.params),
            _ => None,
        }
    }

    /// The name of the function declaration, variable, property or method that holds a
    /// function.
    pub fn function_name(&self, function: NodeId) -> Option<String> {
        if let AstKind::Function(f) = self.kind(function)
            && let Some(id) = &f.id
        {
            return Some(id.name.to_string());
        }
        if let AstKind::VariableDeclarator(declarator) = self.kind(self.parent(function))
            && let BindingPattern::BindingIdentifier(id) = &declarator.id
        {
            return Some(id.name.to_string());
        }
        self.method_name(function)
    }

    fn method_name(&self, function: NodeId) -> Option<String> {
        match self.kind(self.parent(function)) {
            AstKind::ObjectProperty(p) => property_name(&p.key),
            AstKind::MethodDefinition(m) => property_name(&m.key),
            AstKind::PropertyDefinition(p) => property_name(&p.key),
            _ => None,
        }
    }

    /// The symbol under which a function is called, if it has one.
    pub fn function_symbol(&self, function: NodeId) -> Option<SymbolId> {
        if let AstKind::Function(f) = self.kind(function)
            && let Some(id) = &f.id
        {
            return id.symbol_id.get();
        }
        match self.kind(self.parent(function)) {
            AstKind::VariableDeclarator(d) => match &d.id {
                BindingPattern::BindingIdentifier(id) => id.symbol_id.get(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a function is one of the hooks.
    pub fn hook(&self, function: NodeId) -> Option<&'static str> {
        let name = self.function_name(function)?;
        HOOKS.into_iter().find(|hook| *hook == name)
    }

    /// The symbol that an identifier expression refers to.
    pub fn symbol(&self, id: NodeId) -> Option<SymbolId> {
        let AstKind::IdentifierReference(ident) = self.kind(id) else { return None };
        self.semantic.scoping().get_reference(ident.reference_id.get()?).symbol_id()
    }

    pub fn symbol_of(&self, expression: &Expression<'a>) -> Option<SymbolId> {
        let ident = expression.get_inner_expression().get_identifier_reference()?;
        self.semantic.scoping().get_reference(ident.reference_id.get()?).symbol_id()
    }

    /// Nodes that refer to a symbol.
    pub fn references(&self, symbol: SymbolId) -> Vec<NodeId> {
        self.semantic.symbol_references(symbol).map(oxc::semantic::Reference::node_id).collect()
    }

    /// The function that an expression is or names.
    pub fn function(&self, expression: &Expression<'a>) -> Option<NodeId> {
        match expression.get_inner_expression() {
            Expression::FunctionExpression(f) => Some(f.node_id.get()),
            Expression::ArrowFunctionExpression(f) => Some(f.node_id.get()),
            Expression::Identifier(_) => self.function_of_symbol(self.symbol_of(expression)?),
            _ => None,
        }
    }

    /// The function that a symbol names.
    pub fn function_of_symbol(&self, symbol: SymbolId) -> Option<NodeId> {
        let node = self.semantic.scoping().symbol_declaration(symbol);
        match self.kind(node) {
            AstKind::Function(_) => Some(node),
            AstKind::VariableDeclarator(d) => match d.init.as_ref()?.get_inner_expression() {
                Expression::FunctionExpression(f) => Some(f.node_id.get()),
                Expression::ArrowFunctionExpression(f) => Some(f.node_id.get()),
                _ => None,
            },
            _ => None,
        }
    }

    /// `[mechanism, params]` in `compose([...])`: the function behind the first element,
    /// looked up through the immediately invoked wrapper that composition writes.
    pub fn composed(&self, pair: NodeId) -> Option<NodeId> {
        let AstKind::ArrayExpression(array) = self.kind(pair) else { return None };
        let outer = self.parent(pair);
        let AstKind::ArrayExpression(_) = self.kind(outer) else { return None };
        let AstKind::CallExpression(call) = self.kind(self.parent(outer)) else { return None };
        if call.callee_name() != Some("compose") {
            return None;
        }
        let first = array.elements.first()?.as_expression()?;
        let Expression::CallExpression(wrapper) = first.get_inner_expression() else {
            return self.function(first);
        };
        let wrapper = self.function(&wrapper.callee)?;
        self.subtree(wrapper).find_map(|id| match self.kind(id) {
            AstKind::ReturnStatement(r) if self.function_of(id) == Some(wrapper) => {
                self.function(r.argument.as_ref()?)
            }
            _ => None,
        })
    }

    fn decides(&self, id: NodeId) -> bool {
        match self.kind(id) {
            AstKind::ThrowStatement(_) => true,
            AstKind::CallExpression(call) => {
                call.callee.get_inner_expression().get_identifier_reference().is_some_and(|ident| {
                    DECIDES.contains(&ident.name.as_str())
                        && self.symbol(ident.node_id.get()).is_none()
                })
            }
            AstKind::ObjectProperty(p) => {
                property_name(&p.key).as_deref() == Some("do")
                    && matches!(&p.value, Expression::StringLiteral(s) if DECIDES.contains(&s.value.as_str()))
            }
            _ => false,
        }
    }
}

/// The static name of a property key.
pub(super) fn property_name(key: &PropertyKey<'_>) -> Option<String> {
    key.static_name().map(|name| name.into_owned())
}

/// The position of an argument among those of a call.
pub(super) fn argument_index(arguments: &[Argument<'_>], span: Span) -> Option<usize> {
    arguments.iter().position(|argument| argument.span() == span)
}

fn offset(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
