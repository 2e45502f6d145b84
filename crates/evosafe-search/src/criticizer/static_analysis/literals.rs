//! The literals of a harness: strings, templates, regular expressions, numbers.

use oxc::allocator::Allocator;
use oxc::ast::AstKind;
use oxc::ast::ast::{BinaryOperator, Expression};
use oxc::regular_expression::ast as re;
use oxc::regular_expression::{ConstructorParser, LiteralParser, Options};
use oxc::semantic::NodeId;

use super::program::Program;

/// What a literal says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    /// A string, or the constant value of concatenated strings.
    Text(String),
    /// A regular expression: its source, its flags, and its runs of literal characters.
    Pattern { source: String, flags: String, runs: Vec<String> },
    /// A number as written.
    Number(f64),
}

/// A literal and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    pub node: NodeId,
    pub content: Content,
}

/// All literals, in source order. Parts of a constant concatenation are reported once,
/// as the whole.
pub(super) fn collect(program: &Program<'_>) -> Vec<Literal> {
    let nodes = program.semantic.nodes();
    let mut literals = Vec::new();
    let mut skip_until = 0;
    for node in nodes.iter() {
        let id = node.id();
        if id.index() < skip_until {
            continue;
        }
        let content = match node.kind() {
            AstKind::BinaryExpression(b) if b.operator == BinaryOperator::Addition => {
                let Some(text) = folded_sum(&b.left, &b.right) else { continue };
                skip_until = program.subtree(id).last().map_or(0, |last| last.index() + 1);
                Content::Text(text)
            }
            AstKind::StringLiteral(s) => Content::Text(s.value.to_string()),
            AstKind::TemplateElement(t) => {
                let text = t.value.cooked.as_ref().unwrap_or(&t.value.raw);
                Content::Text(text.to_string())
            }
            AstKind::RegExpLiteral(r) => {
                pattern(r.regex.pattern.text.as_str(), &r.regex.flags.to_string(), Source::Literal)
            }
            AstKind::NumericLiteral(n) => Content::Number(n.value),
            _ => continue,
        };
        literals.push(Literal { node: id, content });
    }
    literals
}

/// How a regular expression is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Between slashes.
    Literal,
    /// As a string, for `RegExp` or `regexFindAll`; escapes already resolved.
    Constructor,
}

/// The content of a regular expression.
pub(super) fn pattern(source: &str, flags: &str, written: Source) -> Content {
    let allocator = Allocator::default();
    let parsed = match written {
        Source::Literal => {
            LiteralParser::new(&allocator, source, Some(flags), Options::default()).parse().ok()
        }
        // The text is the value of the string, so it is a pattern like any other; the
        // constructor parser would resolve escapes a second time.
        Source::Constructor if source.is_empty() => None,
        Source::Constructor => LiteralParser::new(&allocator, source, None, Options::default())
            .parse()
            .ok()
            .or_else(|| {
                ConstructorParser::new(&allocator, source, None, Options::default()).parse().ok()
            }),
    };
    let mut runs = Runs::default();
    if let Some(pattern) = parsed {
        runs.disjunction(&pattern.body);
        runs.cut();
    }
    Content::Pattern { source: source.to_owned(), flags: flags.to_owned(), runs: runs.done }
}

fn folded_sum(left: &Expression<'_>, right: &Expression<'_>) -> Option<String> {
    Some(folded(left)? + &folded(right)?)
}

fn folded(expression: &Expression<'_>) -> Option<String> {
    match expression.get_inner_expression() {
        Expression::StringLiteral(s) => Some(s.value.to_string()),
        Expression::TemplateLiteral(t) if t.expressions.is_empty() => {
            t.quasis.first().map(|q| q.value.cooked.as_ref().unwrap_or(&q.value.raw).to_string())
        }
        Expression::BinaryExpression(b) if b.operator == BinaryOperator::Addition => {
            folded_sum(&b.left, &b.right)
        }
        _ => None,
    }
}

/// Collects the maximal runs of characters that a pattern matches literally. White
/// space, dots and optional separators count as one space inside a run, so that
/// `important\s+message` reads as two neighbouring words.
#[derive(Default)]
struct Runs {
    current: String,
    done: Vec<String>,
}

impl Runs {
    fn cut(&mut self) {
        let run = std::mem::take(&mut self.current);
        if run.chars().any(char::is_alphanumeric) {
            self.done.push(run.trim().to_owned());
        }
    }

    fn disjunction(&mut self, disjunction: &re::Disjunction<'_>) {
        if let [only] = disjunction.body.as_slice() {
            // A group with one alternative continues the run around it.
            only.body.iter().for_each(|term| self.term(term));
            return;
        }
        self.cut();
        for alternative in &disjunction.body {
            alternative.body.iter().for_each(|term| self.term(term));
            self.cut();
        }
    }

    fn term(&mut self, term: &re::Term<'_>) {
        match term {
            re::Term::Character(c) => match char::from_u32(c.value) {
                Some(c) => self.current.push(c),
                None => self.cut(),
            },
            re::Term::CharacterClassEscape(e) if spacing(e.kind) => self.current.push(' '),
            re::Term::CharacterClass(class) => match separator_class(class) {
                true => self.current.push(' '),
                false => self.cut(),
            },
            re::Term::BoundaryAssertion(_) => {}
            re::Term::Quantifier(q) => match &q.body {
                re::Term::CharacterClassEscape(e) if spacing(e.kind) => self.current.push(' '),
                re::Term::CharacterClass(class) if separator_class(class) => self.current.push(' '),
                body if q.min == 1 => {
                    self.term(body);
                    self.cut();
                }
                body => {
                    self.cut();
                    self.term(body);
                    self.cut();
                }
            },
            re::Term::CapturingGroup(group) => self.disjunction(&group.body),
            re::Term::IgnoreGroup(group) => self.disjunction(&group.body),
            re::Term::LookAroundAssertion(around) => {
                self.cut();
                self.disjunction(&around.body);
                self.cut();
            }
            _ => self.cut(),
        }
    }
}

fn spacing(kind: re::CharacterClassEscapeKind) -> bool {
    matches!(kind, re::CharacterClassEscapeKind::S | re::CharacterClassEscapeKind::NegativeW)
}

/// A class of separators only, such as `[ _-]`.
fn separator_class(class: &re::CharacterClass<'_>) -> bool {
    !class.negative
        && class.body.iter().all(|item| match item {
            re::CharacterClassContents::CharacterClassEscape(e) => spacing(e.kind),
            re::CharacterClassContents::Character(c) => {
                char::from_u32(c.value).is_some_and(|c| matches!(c, ' ' | '_' | '-' | '\t' | '\n'))
            }
            _ => false,
        })
}
