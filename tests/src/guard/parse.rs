//! From a text to one syntax tree, and what can be said of any tree: its parameters, its tables, its functions.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use leasehold_decision::statements::Dialect;
use sqlparser::ast::{
    Expr, Ident, ObjectName, Statement, Value, ValueWithSpan, Visit, Visitor, visit_expressions, visit_relations,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use super::Reason;

/// Beginnings of comments in any of the dialects, and what parts statements: none of them is ever needed in a catalogue.
const NEVER: [&str; 5] = ["--", "/*", "*/", "#", ";"];

/// Every statement of a text.
///
/// # Errors
/// It is no SQL of that dialect, or holds a comment.
pub fn parse_all(dialect: Dialect, text: &str) -> Result<Vec<Statement>, Reason> {
    let sqlparser_dialect = match dialect {
        Dialect::Sqlite => SQLiteDialect {},
        Dialect::Postgres | Dialect::Mysql | Dialect::Redis => return Err(format!("{dialect:?} has no parser here")),
    };
    let tokens = Tokenizer::new(&sqlparser_dialect, text).tokenize().map_err(|error| error.to_string())?;
    let comment =
        |token: &Token| matches!(token, Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)));
    if tokens.iter().any(comment) {
        return Err("a comment".to_owned());
    }
    Parser::new(&sqlparser_dialect).with_tokens(tokens).parse_statements().map_err(|error| error.to_string())
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
        (Some(statement), true) => unquoted(&statement).map(|()| statement),
        (Some(_), false) => Err("more than one statement".to_owned()),
        (None, _) => Err("no statement".to_owned()),
    }
}

/// Quoted names could be texts in disguise (SQLite reads `"x"` as a text where no column has that name).
fn unquoted(statement: &Statement) -> Result<(), Reason> {
    struct Quoted;
    impl Visitor for Quoted {
        type Break = String;
        fn pre_visit_ident(&mut self, ident: &Ident) -> ControlFlow<String> {
            if ident.quote_style.is_some() { ControlFlow::Break(ident.value.clone()) } else { ControlFlow::Continue(()) }
        }
    }
    match statement.visit(&mut Quoted) {
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
    let digits = placeholder.strip_prefix('?')?;
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
