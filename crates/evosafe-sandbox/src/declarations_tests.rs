//! `evosafe.d.ts` says what the contract, the prelude and the provider say.

use std::collections::BTreeMap;

use oxc::allocator::Allocator;
use oxc::ast::ast::{Declaration, Expression, Program, Statement, TSSignature};
use oxc::parser::Parser;
use oxc::span::SourceType;

use super::*;

/// Shared by the files of the prelude with one another; no part of what is promised.
const INTERNAL: &[&str] = &[
    "CONFUSABLE_FROM",
    "CONFUSABLE_TO",
    "INFLECTIONS",
    "LIMITS",
    "MARKS",
    "MONTHS",
    "NOT_HINT_OR_ACTION",
    "Observation",
    "SEVERAL",
    "Segment",
    "TELLING",
    "TO_ASSISTANT",
    "addressesAssistant",
    "amountsOf",
    "datesOf",
    "familiarTo",
    "folded",
    "indentOf",
    "isAction",
    "isAscii",
    "isDigit",
    "isPlain",
    "isWordChar",
    "joinsNumber",
    "looksLikeYaml",
    "marksOf",
    "ordersReader",
    "monthNumber",
    "pad",
    "placesIn",
    "redactClaim",
    "segmentHas",
    "segmentsWith",
    "setOf",
    "stem",
    "strengthsOf",
    "verbClasses",
    "walkLeaves",
    "whichHave",
    "wholeWord",
    "withoutInvisible",
    "yamlLeaves",
];

/// Functions and classes with the number of their parameters (0 for classes), and the
/// members of interfaces, of methods with that number.
#[derive(Debug, Default)]
struct Surface {
    callable: BTreeMap<String, usize>,
    interfaces: BTreeMap<String, BTreeMap<String, Option<usize>>>,
}

fn surface(text: &str, kind: SourceType) -> Surface {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, kind).parse();
    let problems: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    assert!(!parsed.panicked && problems.is_empty(), "{problems:?}");
    of_program(&parsed.program)
}

fn of_program(program: &Program<'_>) -> Surface {
    let mut found = Surface::default();
    for declaration in program.body.iter().filter_map(Statement::as_declaration) {
        match declaration {
            Declaration::FunctionDeclaration(function) => {
                let name = function.id.as_ref().expect("named").name.to_string();
                found.callable.insert(name, function.params.items.len());
            }
            Declaration::ClassDeclaration(class) => {
                found.callable.insert(class.id.as_ref().expect("named").name.to_string(), 0);
            }
            Declaration::VariableDeclaration(variables) => {
                for variable in &variables.declarations {
                    if let Some(Expression::ArrowFunctionExpression(arrow)) = &variable.init {
                        let name = variable.id.get_binding_identifiers()[0].name.to_string();
                        found.callable.insert(name, arrow.params.items.len());
                    }
                }
            }
            Declaration::TSInterfaceDeclaration(interface) => {
                let mut members = BTreeMap::new();
                for member in &interface.body.body {
                    let (key, parameters) = match member {
                        TSSignature::TSPropertySignature(property) => (&property.key, None),
                        TSSignature::TSMethodSignature(method) => {
                            (&method.key, Some(method.params.items.len()))
                        }
                        _ => continue,
                    };
                    members.insert(key.static_name().expect("a name").to_string(), parameters);
                }
                found.interfaces.insert(interface.id.name.to_string(), members);
            }
            _ => {}
        }
    }
    found
}

fn declared() -> Surface {
    surface(DECLARATIONS, SourceType::d_ts())
}

fn camel(kebab: &str) -> String {
    let mut out = String::new();
    for (i, part) in kebab.trim_start_matches('%').split('-').enumerate() {
        let (first, rest) = part.split_at(1);
        out += &if i == 0 { first.to_owned() } else { first.to_uppercase() };
        out += rest;
    }
    out
}

/// Fields of a record or cases of a variant in the WIT.
fn members(of: &str) -> Vec<String> {
    let wit = WIT[0].1;
    let (_, from) = wit.split_once(&format!("{of} {{\n")).expect("the contract has it");
    let (body, _) = from.split_once('}').expect("it ends");
    let names =
        body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('/'));
    names.map(|line| line.split([':', '(', ',']).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn records_are_those_of_the_contract() {
    let declared = declared();
    for (record, interface) in [
        ("record tool", "Tool"),
        ("record run-context", "RunContext"),
        ("record tool-call", "ToolCall"),
        ("record tool-result", "ToolResult"),
    ] {
        let mut expected: Vec<String> = members(record).iter().map(|name| camel(name)).collect();
        expected.sort();
        let given: Vec<&String> = declared.interfaces[interface].keys().collect();
        assert_eq!(given, expected.iter().collect::<Vec<_>>(), "{interface}");
    }
    for variant in ["variant call-decision", "variant text-decision"] {
        for case in members(variant) {
            assert!(DECLARATIONS.contains(&format!("readonly do: \"{case}\"")), "{case}");
            assert!(declared.callable.contains_key(&case), "{case}");
        }
    }
}

#[test]
fn hooks_are_those_of_the_contract() {
    let wit = WIT[0].1;
    let hooks = &declared().interfaces["Hooks"];
    let exports: Vec<&str> =
        wit.lines().filter_map(|line| line.trim().strip_prefix("export ")).collect();
    assert_eq!(exports.len(), HOOKS.len());
    assert_eq!(hooks.len(), HOOKS.len());
    for export in exports {
        let (name, signature) = export.split_once(": func(").expect("a function");
        let (parameters, _) = signature.split_once(')').expect("it ends");
        let name = camel(name);
        assert!(HOOKS.iter().any(|(_, hook)| *hook == name), "{name}");
        assert_eq!(hooks[&name], Some(parameters.split(',').count()), "{name}");
    }
}

#[test]
fn helpers_are_those_of_the_prelude_and_the_provider() {
    let declared = declared().callable;
    let there = surface(PRELUDE, SourceType::cjs()).callable;
    let provider = surface(PROVIDER, SourceType::mjs()).callable;
    for (name, parameters) in &declared {
        let given = there.get(name).or_else(|| {
            HOST_FUNCTIONS.contains(&name.as_str()).then(|| provider.get(name)).flatten()
        });
        assert_eq!(given, Some(parameters), "{name} is declared otherwise than it is defined");
        assert!(is_global(name), "{name}");
    }
    for name in HOST_FUNCTIONS {
        assert!(declared.contains_key(name), "{name} is not declared");
    }
    let undeclared: Vec<&String> = prelude_names()
        .iter()
        .filter(|name| !declared.contains_key(*name) && !INTERNAL.contains(&name.as_str()))
        .collect();
    assert_eq!(undeclared, [] as [&String; 0], "declare them, or list them as internal");
}
