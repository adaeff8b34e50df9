//! From a text to one syntax tree, and what can be said of any tree: its parameters, its tables, its functions.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use leasehold_decision::statements::Dialect;
use sqlparser::ast::{
    Expr, Ident, ObjectName, Statement, Value, ValueWithSpan, Visit, Visitor, visit_expressions, visit_relations,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use super::{Reason, spelling};

/// Beginnings of comments in any of the dialects, and what parts statements: none of them is ever needed in a catalogue.
const NEVER: [&str; 5] = ["--", "/*", "*/", "#", ";"];

/// Every statement of a text.
///
/// # Errors
/// It is no SQL of that dialect, or holds a comment.
pub fn parse_all(dialect: Dialect, text: &str) -> Result<Vec<Statement>, Reason> {
    let sqlparser_dialect = spelling::parsed(dialect)?;
    let numbered = if dialect == Dialect::Mysql { numbered(text) } else { text.to_owned() };
    let tokens = Tokenizer::new(sqlparser_dialect.as_ref(), &numbered).tokenize().map_err(|error| error.to_string())?;
    let comment =
        |token: &Token| matches!(token, Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)));
    if tokens.iter().any(comment) {
        return Err("a comment".to_owned());
    }
    Parser::new(sqlparser_dialect.as_ref()).with_tokens(tokens).parse_statements().map_err(|error| error.to_string())
}

/// MySQL's parameters with their numbers, and without the lock that the parser does not know.
fn numbered(text: &str) -> String {
    let text = text.strip_suffix(spelling::MYSQL_LOCK).map_or_else(|| text.to_owned(), |text| format!("{text})"));
    let mut numbered = String::new();
    let mut number = 0;
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        numbered.push(char);
        if char == '?' && !rest.peek().is_some_and(char::is_ascii_digit) {
            number += 1;
            numbered.push_str(&number.to_string());
        }
    }
    numbered
}

/// The one statement of a text.
pub(super) fn one(dialect: Dialect, text: &str) -> Result<Statement, Reason> {
    if let Some(found) = NEVER.iter().find(|never| text.contains(**never)) {
        return Err(format!("the text holds {found}"));
    }
    if !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err("the text holds something else than printable ASCII".to_owned());
    }
    let mut statements = parse_all(dialect, text)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => unquoted(dialect, &statement).map(|()| statement),
        (Some(_), false) => Err("more than one statement".to_owned()),
        (None, _) => Err("no statement".to_owned()),
    }
}

/// Quoted names could be texts in disguise (SQLite reads `"x"` as a text where no column has that name).
fn unquoted(dialect: Dialect, statement: &Statement) -> Result<(), Reason> {
    struct Quoted(Dialect);
    impl Visitor for Quoted {
        type Break = String;
        fn pre_visit_ident(&mut self, ident: &Ident) -> ControlFlow<String> {
            let quoted = ident.quote_style.is_some() && !spelling::may_quote(self.0, &ident.value);
            if quoted { ControlFlow::Break(ident.value.clone()) } else { ControlFlow::Continue(()) }
        }
    }
    match statement.visit(&mut Quoted(dialect)) {
        ControlFlow::Break(name) => Err(format!("the name {name} is quoted")),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The number of the parameter that an expression consists of, from 1.
pub(super) fn parameter(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::Placeholder(name), .. }) => number(name),
        _ => None,
    }
}

fn number(placeholder: &str) -> Option<usize> {
    let digits = placeholder.strip_prefix(['?', '$'])?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// The source that the bind plan gives to the parameter that an expression consists of.
pub(super) fn source<'b>(expr: &Expr, binds: &'b [String]) -> Option<&'b str> {
    parameter(expr).and_then(|number| binds.get(number.checked_sub(1)?)).map(String::as_str)
}

/// The parameters are numbered from 1, without a gap, and are as many as the plan's sources.
pub(super) fn placeholders(statement: &Statement, binds: &[String]) -> Result<(), Reason> {
    struct Placeholders(BTreeSet<usize>);
    impl Visitor for Placeholders {
        type Break = String;
        fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<String> {
            if let Value::Placeholder(name) = &value.value {
                match number(name) {
                    Some(number) => self.0.insert(number),
                    None => return ControlFlow::Break(name.clone()),
                };
            }
            ControlFlow::Continue(())
        }
    }
    let mut found = Placeholders(BTreeSet::new());
    if let ControlFlow::Break(name) = statement.visit(&mut found) {
        return Err(format!("the parameter {name} has no number"));
    }
    if found.0.iter().copied().eq(1..=binds.len()) {
        return Ok(());
    }
    Err(format!("the parameters are {:?}, but the bind plan has {} sources", found.0, binds.len()))
}

/// Every table that is named anywhere.
pub(super) fn relations(statement: &Statement, may_name: impl Fn(&str) -> bool) -> Result<(), Reason> {
    let visited = visit_relations(statement, |relation: &ObjectName| {
        let name = relation.to_string();
        if may_name(&name) { ControlFlow::Continue(()) } else { ControlFlow::Break(name) }
    });
    match visited {
        ControlFlow::Break(name) => Err(format!("names the table {name}")),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Every function that is called anywhere.
pub(super) fn functions(statement: &Statement, known: &[&str]) -> Result<(), Reason> {
    let visited = visit_expressions(statement, |expr| match expr {
        Expr::Function(function) if !known.contains(&function.name.to_string().as_str()) => {
            ControlFlow::Break(function.name.to_string())
        }
        _ => ControlFlow::Continue(()),
    });
    match visited {
        ControlFlow::Break(name) => Err(format!("calls {name}")),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The operands of a chain of ANDs, outside of any parentheses.
pub(super) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    use sqlparser::ast::BinaryOperator::And;
    match expr {
        Expr::BinaryOp { left, op: And, right } => conjuncts(left).into_iter().chain(conjuncts(right)).collect(),
        other => vec![other],
    }
}
