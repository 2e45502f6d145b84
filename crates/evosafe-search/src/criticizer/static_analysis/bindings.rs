//! Names that a fact reaches: bound by patterns, assigned, changed in place.

use oxc::ast::ast::{
    AssignmentTarget, BindingPattern, Expression, ForStatementLeft, IdentifierReference,
    SimpleAssignmentTarget,
};
use oxc::semantic::SymbolId;

use super::flow::{Fact, Flow};
use super::invariants::MUTATORS;
use super::program::property_name;

impl<'a> Flow<'_, 'a> {
    /// Names bound by a pattern.
    pub(super) fn bind(&mut self, pattern: &BindingPattern<'a>, fact: Fact) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                if let Some(symbol) = id.symbol_id.get() {
                    self.variable(symbol, fact);
                }
            }
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    let name = property_name(&property.key);
                    let inner = match &fact {
                        Fact::Match { .. } => Some(fact.clone()),
                        Fact::Value(path) | Fact::Key(path) => {
                            let mut path = path.clone();
                            match (path.pop(), name) {
                                (Some(key), Some(name)) if key != name => None,
                                _ if matches!(fact, Fact::Key(_)) => Some(Fact::Key(path)),
                                _ => Some(Fact::Value(path)),
                            }
                        }
                    };
                    if let Some(inner) = inner {
                        self.bind(&property.value, inner);
                    }
                }
                if let Some(rest) = &object.rest {
                    self.bind(&rest.argument, fact);
                }
            }
            BindingPattern::ArrayPattern(array) => {
                for element in array.elements.iter().flatten() {
                    self.bind(element, fact.clone());
                }
                if let Some(rest) = &array.rest {
                    self.bind(&rest.argument, fact);
                }
            }
            BindingPattern::AssignmentPattern(assignment) => self.bind(&assignment.left, fact),
        }
    }

    pub(super) fn loop_variable(&mut self, left: &ForStatementLeft<'a>, fact: Fact) {
        if let ForStatementLeft::VariableDeclaration(declaration) = left {
            for declarator in &declaration.declarations {
                self.bind(&declarator.id, fact.clone());
            }
        }
    }

    /// The variables that an assignment changes.
    pub(super) fn targets(&self, target: &AssignmentTarget<'a>) -> Vec<SymbolId> {
        let p = self.program;
        let reference = |id: &IdentifierReference<'a>| p.symbol(id.node_id.get());
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(id) => reference(id).into_iter().collect(),
            AssignmentTarget::StaticMemberExpression(m) => {
                self.root_symbol(&m.object).into_iter().collect()
            }
            AssignmentTarget::ComputedMemberExpression(m) => {
                self.root_symbol(&m.object).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn updated(&self, target: &SimpleAssignmentTarget<'a>) -> Option<SymbolId> {
        match target {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(id) => {
                self.program.symbol(id.node_id.get())
            }
            SimpleAssignmentTarget::StaticMemberExpression(m) => self.root_symbol(&m.object),
            SimpleAssignmentTarget::ComputedMemberExpression(m) => self.root_symbol(&m.object),
            _ => None,
        }
    }

    /// `a` of `a.b[c].d`.
    pub(super) fn root_symbol(&self, expression: &Expression<'a>) -> Option<SymbolId> {
        match expression.get_inner_expression() {
            Expression::Identifier(_) => self.program.symbol_of(expression),
            Expression::StaticMemberExpression(m) => self.root_symbol(&m.object),
            Expression::ComputedMemberExpression(m) => self.root_symbol(&m.object),
            _ => None,
        }
    }

    pub(super) fn is_mutator(name: &str) -> bool {
        MUTATORS.contains(&name)
    }
}
