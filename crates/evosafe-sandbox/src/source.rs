//! From `harness.js`, an ES module, to a function that the provider can evaluate.
//!
//! The `export` keywords are blanked out in place, so that every line and column stays
//! where it was; one line is put in front and a `return` of the hooks behind.

use evosafe_types::Hook;
use oxc::allocator::Allocator;
use oxc::ast::ast::{
    AwaitExpression, Declaration, ExportDeclaration, Expression, ForOfStatement, Function,
    ImportExpression, ImportMeta, ModuleExportName, Program, Statement, VariableDeclarator,
};
use oxc::ast::{AstKind, ast::ArrowFunctionExpression};
use oxc::ast_visit::{Visit, walk};
use oxc::diagnostics::OxcDiagnostic;
use oxc::parser::Parser;
use oxc::semantic::{Semantic, SemanticBuilder};
use oxc::span::{GetSpan, SourceType, Span};
use oxc::syntax::operator::UnaryOperator;
use oxc::syntax::scope::ScopeFlags;

use crate::error::{BuildError, Finding};
use crate::surface::{HOOKS, is_global};

/// File name of the code in a bundle.
pub const CODE_FILE: &str = "harness.js";
/// Lines that the wrapper puts before the candidate's first.
pub const WRAPPER_LINES: u32 = 1;

/// A wrapped module without hooks.
pub const EMPTY: &str = "(function () { \"use strict\"; return { __proto__: null }; })";

/// A candidate that parsed.
#[derive(Debug, Clone)]
pub struct Wrapped {
    /// What the provider's `load` receives.
    pub source: String,
    /// Hooks it exports, in the order of the contract.
    pub hooks: Vec<Hook>,
}

/// Parses `code` and wraps it.
///
/// # Errors
/// Everything that is wrong with it, in source order: syntax errors, imports, top-level
/// `await`, exports that are no hooks, names the sandbox does not have.
pub fn wrap(code: &str) -> Result<Wrapped, BuildError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, code, SourceType::mjs()).parse();
    let mut problems = Problems { code, found: Vec::new() };
    for diagnostic in parsed.diagnostics.iter() {
        problems.diagnostic(diagnostic);
    }
    if parsed.panicked || !problems.found.is_empty() {
        return Err(problems.into_error());
    }
    let built = SemanticBuilder::new()
        .with_build_nodes(true)
        .with_check_syntax_error(true)
        .build(&parsed.program);
    for diagnostic in built.diagnostics.iter() {
        problems.diagnostic(diagnostic);
    }
    unknown_names(&built.semantic, &mut problems);
    let mut refused = Refused { problems: &mut problems, functions: 0 };
    refused.visit_program(&parsed.program);
    let exports = exports(&parsed.program, &mut problems);
    if !problems.found.is_empty() {
        return Err(problems.into_error());
    }
    Ok(assemble(code, &exports))
}

/// Names that a script declares at its top level and shares, in source order. For
/// `prelude.js`. What freezing does not make immutable (maps, sets, patterns) is not shared.
pub fn top_level_names(script: &str) -> Vec<String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, script, SourceType::cjs()).parse();
    let mut names = Vec::new();
    for statement in &parsed.program.body {
        if let Some(declaration) = statement.as_declaration()
            && !holds_state(declaration)
        {
            declared_names(declaration, &mut |name, _| names.push(name.to_owned()));
        }
    }
    names
}

/// Whether freezing may leave a value mutable: anything made by a call or `new` (but
/// `Object.freeze`), and patterns, which keep `lastIndex`.
fn holds_state(declaration: &Declaration<'_>) -> bool {
    let Declaration::VariableDeclaration(variables) = declaration else { return false };
    variables.declarations.iter().any(|variable| match &variable.init {
        Some(Expression::NewExpression(_) | Expression::RegExpLiteral(_)) => true,
        Some(Expression::CallExpression(call)) => {
            !call.callee.is_specific_member_access("Object", "freeze")
        }
        _ => false,
    })
}

struct Problems<'s> {
    code: &'s str,
    found: Vec<(u32, Finding)>,
}

impl Problems<'_> {
    fn at(&mut self, offset: u32, message: impl Into<String>) {
        let (line, column) = position(self.code, offset as usize);
        let finding = Finding {
            file: CODE_FILE.to_owned(),
            line: Some(line),
            column: Some(column),
            message: message.into(),
        };
        self.found.push((offset, finding));
    }

    fn diagnostic(&mut self, diagnostic: &OxcDiagnostic) {
        let offset = diagnostic.labels.first().map_or(0, |label| label.offset());
        let mut message = diagnostic.message.to_string();
        if let Some(help) = &diagnostic.help {
            message = format!("{message} ({help})");
        }
        self.at(offset, message);
    }

    fn into_error(mut self) -> BuildError {
        self.found.sort_by_key(|(offset, _)| *offset);
        BuildError { findings: self.found.into_iter().map(|(_, finding)| finding).collect() }
    }
}

/// Line and column (UTF-16 code units), both from 1, of a byte offset.
fn position(code: &str, offset: usize) -> (u32, u32) {
    let before = code.get(..offset.min(code.len())).unwrap_or(code);
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[start..].encode_utf16().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// References to globals that the sandbox does not have; `typeof name` may ask.
fn unknown_names(semantic: &Semantic<'_>, problems: &mut Problems<'_>) {
    let scoping = semantic.scoping();
    for (name, references) in scoping.root_unresolved_references() {
        if is_global(name.as_str()) {
            continue;
        }
        let used = references.iter().map(|id| scoping.get_reference(*id).node_id()).find(|node| {
            !matches!(semantic.nodes().parent_kind(*node),
                AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Typeof)
        });
        if let Some(node) = used {
            let offset = semantic.nodes().get_node(node).kind().span().start;
            problems.at(offset, format!("`{name}` is not defined in the sandbox"));
        }
    }
}

/// What a module may do and a candidate may not.
struct Refused<'p, 's> {
    problems: &'p mut Problems<'s>,
    functions: u32,
}

impl<'a> Visit<'a> for Refused<'_, '_> {
    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.problems.at(it.span.start, "imports are refused: a harness is one file");
        walk::walk_import_expression(self, it);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.problems.at(it.span.start, "`import.meta` is not available in the sandbox");
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        if self.functions == 0 {
            self.problems.at(it.span.start, "top-level `await` is refused: hooks are synchronous");
        }
        walk::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await && self.functions == 0 {
            self.problems.at(it.span.start, "top-level `await` is refused: hooks are synchronous");
        }
        walk::walk_for_of_statement(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions += 1;
        walk::walk_function(self, it, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.functions += 1;
        walk::walk_arrow_function_expression(self, it);
        self.functions -= 1;
    }
}

#[derive(Default)]
struct Exports {
    /// Exported hook and the local name that holds it.
    hooks: Vec<(Hook, String)>,
    /// Spans to blank out.
    blanks: Vec<Span>,
}

fn exports(program: &Program<'_>, problems: &mut Problems<'_>) -> Exports {
    let mut exports = Exports::default();
    for statement in &program.body {
        match statement {
            Statement::ImportDeclaration(it) => {
                problems.at(it.span.start, "imports are refused: a harness is one file");
            }
            Statement::ExportAllDeclaration(it) => {
                problems.at(it.span.start, "imports are refused: a harness is one file");
            }
            Statement::ExportFromDeclaration(it) => {
                problems.at(it.span.start, "imports are refused: a harness is one file");
            }
            Statement::ExportDefaultDeclaration(it) => {
                let message =
                    format!("a default export is no hook: export {} by name", hook_list());
                problems.at(it.span.start, message);
            }
            Statement::ExportDeclaration(it) => export_declaration(it, &mut exports, problems),
            Statement::ExportNamedDeclaration(it) => {
                exports.blanks.push(it.span);
                for specifier in &it.specifiers {
                    let local = export_name(&specifier.local);
                    let exported = export_name(&specifier.exported);
                    add_export(&exported, &local, specifier.span, &mut exports, problems);
                }
            }
            _ => {}
        }
    }
    if exports.hooks.is_empty() && problems.found.is_empty() {
        let message = format!("no hook is exported: expected one or more of {}", hook_list());
        problems.at(0, message);
    }
    exports
}

fn export_declaration(
    it: &ExportDeclaration<'_>,
    exports: &mut Exports,
    problems: &mut Problems<'_>,
) {
    exports.blanks.push(Span::new(it.span.start, it.declaration.span().start));
    declared_names(&it.declaration, &mut |name, span| {
        add_export(name, name, span, exports, problems);
    });
    let asynchronous = match &it.declaration {
        Declaration::FunctionDeclaration(function) => function.r#async || function.generator,
        Declaration::VariableDeclaration(variables) => {
            variables.declarations.iter().any(|variable| is_asynchronous(variable))
        }
        _ => false,
    };
    if asynchronous {
        problems.at(it.span.start, "hooks are synchronous: no async or generator function");
    }
}

fn is_asynchronous(variable: &VariableDeclarator<'_>) -> bool {
    match &variable.init {
        Some(Expression::ArrowFunctionExpression(function)) => function.r#async,
        Some(Expression::FunctionExpression(function)) => function.r#async || function.generator,
        _ => false,
    }
}

fn declared_names(declaration: &Declaration<'_>, add: &mut dyn FnMut(&str, Span)) {
    match declaration {
        Declaration::VariableDeclaration(variables) => {
            for variable in &variables.declarations {
                for identifier in variable.id.get_binding_identifiers() {
                    add(identifier.name.as_str(), identifier.span);
                }
            }
        }
        Declaration::FunctionDeclaration(function) => {
            if let Some(id) = &function.id {
                add(id.name.as_str(), id.span);
            }
        }
        Declaration::ClassDeclaration(class) => {
            if let Some(id) = &class.id {
                add(id.name.as_str(), id.span);
            }
        }
        _ => {}
    }
}

fn export_name(name: &ModuleExportName<'_>) -> String {
    match name {
        ModuleExportName::IdentifierName(it) => it.name.to_string(),
        ModuleExportName::IdentifierReference(it) => it.name.to_string(),
        ModuleExportName::StringLiteral(it) => it.value.to_string(),
    }
}

fn add_export(
    exported: &str,
    local: &str,
    span: Span,
    exports: &mut Exports,
    problems: &mut Problems<'_>,
) {
    match HOOKS.iter().find(|(_, name)| *name == exported) {
        Some((hook, _)) => exports.hooks.push((*hook, local.to_owned())),
        None => {
            let message =
                format!("export `{exported}` is no hook: expected one of {}", hook_list());
            problems.at(span.start, message);
        }
    }
}

fn hook_list() -> String {
    HOOKS.map(|(_, name)| name).join(", ")
}

/// Puts the wrapper around the source, every line and column staying in place.
fn assemble(code: &str, exports: &Exports) -> Wrapped {
    let mut bytes = code.as_bytes().to_vec();
    for blank in &exports.blanks {
        let range = blank.start as usize..blank.end as usize;
        // Spaces for text keep columns right for ASCII; a `;` keeps the statement before
        // from running on into the one behind.
        for byte in &mut bytes[range.clone()] {
            if *byte != b'\n' && *byte != b'\r' {
                *byte = b' ';
            }
        }
        bytes[range.start] = b';';
    }
    let body = String::from_utf8_lossy(&bytes);
    let mut returned = String::new();
    let mut hooks = Vec::new();
    for (hook, name) in HOOKS {
        if let Some((_, local)) = exports.hooks.iter().find(|(exported, _)| *exported == hook) {
            returned.push_str(&format!(", {name}: {local}"));
            hooks.push(hook);
        }
    }
    let source = format!(
        "(function () {{ \"use strict\";\n{body}\nreturn {{ __proto__: null{returned} }};\n}})"
    );
    Wrapped { source, hooks }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
