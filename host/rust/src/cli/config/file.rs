//! The file of settings: TOML, every key known, every value with the line that it stands on.
//!
//! Knows the names of settings, and not what they mean. Tests: below.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::faults::{Faults, Given, meant};
use super::options::{CONFIG, LOG_OPTIONS, OPTIONS};

/// The table of a path that differs.
const ROUTE: &str = "route";
/// The path, in such a table.
const PATH: &str = "path";

/// What a file says, unread.
#[derive(Debug, Default)]
pub(super) struct FileLayer {
    /// For the whole server, by name.
    pub(super) values: BTreeMap<&'static str, Given>,
    /// For single paths.
    pub(super) routes: Vec<RouteLayer>,
}

/// What a `[[route]]` says, unread.
#[derive(Debug)]
pub(super) struct RouteLayer {
    /// Where it stands.
    pub(super) origin: String,
    /// Its path.
    pub(super) path: Option<Given>,
    /// Its settings, by name.
    pub(super) values: BTreeMap<&'static str, Given>,
}

/// Reads the file; `None` where nothing can be made of it.
pub(super) fn read(given: &Given, faults: &mut Faults) -> Option<FileLayer> {
    let text = match std::fs::read_to_string(&given.text) {
        Ok(text) => text,
        Err(error) => {
            faults.add(&given.origin, format!("cannot read {}: {error}", given.text));
            return None;
        }
    };
    let name = Path::new(&given.text).file_name().map_or_else(|| given.text.clone(), |name| name.to_string_lossy().into_owned());
    parse(&name, &text, faults)
}

fn parse(name: &str, text: &str, faults: &mut Faults) -> Option<FileLayer> {
    let reader = Reader { name, text };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let place = error.span().map_or_else(|| name.to_owned(), |span| reader.place(span.start));
        faults.add(&place, error.message());
    }
    if !errors.is_empty() {
        return None;
    }
    let mut layer = FileLayer::default();
    for (key, value) in in_order(document.get_ref()) {
        let origin = reader.origin(key.span().start, key.get_ref());
        if key.get_ref() == ROUTE {
            reader.routes(&origin, value, &mut layer, faults);
        } else if let Some(name) = known(key.get_ref()) {
            layer.values.extend(reader.given(&origin, name, value, faults).map(|given| (name, given)));
        } else {
            faults.add(&origin, no_such(key.get_ref(), server_names().chain([ROUTE])));
        }
    }
    Some(layer)
}

/// The members of a table, as they stand in the file.
fn in_order<'d, 'i>(table: &'d DeTable<'i>) -> Vec<(&'d Spanned<DeString<'i>>, &'d Spanned<DeValue<'i>>)> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    members
}

fn server_names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|option| option.name).filter(|name| *name != CONFIG).chain(LOG_OPTIONS)
}

fn route_names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().filter(|option| option.of_a_route).map(|option| option.name)
}

fn known(key: &str) -> Option<&'static str> {
    server_names().find(|name| *name == key)
}

fn no_such(key: &str, known: impl Iterator<Item = &'static str>) -> String {
    match meant(key, known) {
        Some(name) => format!("there is no such setting; write {name}"),
        None => "there is no such setting; `leasehold serve --help` lists them, take it out".to_owned(),
    }
}

/// The file, for those who must say where something stands.
struct Reader<'t> {
    name: &'t str,
    text: &'t str,
}

impl Reader<'_> {
    fn place(&self, offset: usize) -> String {
        let line = self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count().saturating_add(1);
        format!("{} line {line}", self.name)
    }

    fn origin(&self, offset: usize, key: &str) -> String {
        format!("{}, {key}", self.place(offset))
    }

    fn routes(&self, origin: &str, value: &Spanned<DeValue<'_>>, layer: &mut FileLayer, faults: &mut Faults) {
        let Some(tables) = value.get_ref().as_array() else {
            faults.add(origin, "a list of tables is expected: write [[route]] above each");
            return;
        };
        for table in tables.iter() {
            match table.get_ref().as_table() {
                Some(members) => layer.routes.push(self.route(table.span().start, members, faults)),
                None => faults.add(origin, "a table is expected: write [[route]] above each"),
            }
        }
    }

    fn route(&self, offset: usize, members: &DeTable<'_>, faults: &mut Faults) -> RouteLayer {
        let mut route = RouteLayer { origin: self.origin(offset, "[[route]]"), path: None, values: BTreeMap::new() };
        for (key, value) in in_order(members) {
            let origin = self.origin(key.span().start, &format!("{ROUTE}.{}", key.get_ref()));
            if key.get_ref() == PATH {
                route.path = self.given(&origin, PATH, value, faults);
            } else if let Some(name) = route_names().find(|name| name == key.get_ref()) {
                route.values.extend(self.given(&origin, name, value, faults).map(|given| (name, given)));
            } else if known(key.get_ref()).is_some() {
                faults.add(&origin, "holds for the whole server: write it above the first [[route]]");
            } else {
                faults.add(&origin, no_such(key.get_ref(), route_names().chain([PATH])));
            }
        }
        route
    }

    /// A value as text: as it would stand on the command line.
    fn given(&self, origin: &str, name: &str, value: &Spanned<DeValue<'_>>, faults: &mut Faults) -> Option<Given> {
        let text = match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string()),
            DeValue::Array(elements) if name == "methods" => elements
                .iter()
                .map(|element| element.get_ref().as_str().map(str::to_owned))
                .collect::<Option<Vec<_>>>()
                .map(|texts| texts.join(",")),
            DeValue::Array(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
        };
        if text.is_none() {
            let kind = value.get_ref().type_str();
            faults.add(origin, format!("a text is expected, and this is of the kind {kind}: write {name} = \"...\""));
        }
        text.map(|text| Given::new(origin, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, faults: &[&str]) -> Option<FileLayer> {
        let mut found = Faults::default();
        let layer = parse("f.toml", text, &mut found);
        assert_eq!(found.lines(), faults);
        layer
    }

    #[test]
    fn values_are_texts_with_their_lines() {
        let layer = check(
            "lease = \"10s\"\nbody-max = 4_096\nmethods = [\"POST\", \"PUT\"]\n\n[[route]]\npath = \"/a\"\nattempt-limit = 0x10\n",
            &[],
        );
        let layer = layer.unwrap();
        assert_eq!(layer.values["lease"], Given::new("f.toml line 1, lease", "10s"));
        assert_eq!(layer.values["body-max"].text, "4096");
        assert_eq!(layer.values["methods"].text, "POST,PUT");
        assert_eq!(layer.routes[0].path, Some(Given::new("f.toml line 6, route.path", "/a")));
        assert_eq!(layer.routes[0].values["attempt-limit"], Given::new("f.toml line 7, route.attempt-limit", "16"));
        assert_eq!(layer.routes[0].origin, "f.toml line 5, [[route]]");
    }

    #[test]
    fn every_key_is_known() {
        check(
            "leese = \"1s\"\ncolour = 1\nconfig = \"other.toml\"\n[[route]]\nlisten = \"x\"\npaht = \"/\"\n",
            &[
                "f.toml line 1, leese: there is no such setting; write lease",
                "f.toml line 2, colour: there is no such setting; `leasehold serve --help` lists them, take it out",
                "f.toml line 3, config: there is no such setting; `leasehold serve --help` lists them, take it out",
                "f.toml line 5, route.listen: holds for the whole server: write it above the first [[route]]",
                "f.toml line 6, route.paht: there is no such setting; write path",
            ],
        );
    }

    #[test]
    fn a_value_of_another_kind_is_told() {
        check(
            "key = true\nroute = 1\nlease = [\"1s\"]",
            &[
                "f.toml line 1, key: a text is expected, and this is of the kind boolean: write key = \"...\"",
                "f.toml line 2, route: a list of tables is expected: write [[route]] above each",
                "f.toml line 3, lease: a text is expected, and this is of the kind array: write lease = \"...\"",
            ],
        );
    }

    #[test]
    fn all_that_is_no_toml_is_told() {
        let mut found = Faults::default();
        assert!(parse("f.toml", "lease = \nlisten = \"a\nlease = \"1s\"\n", &mut found).is_none());
        assert!(found.lines().iter().any(|line| line.starts_with("f.toml line 1: ")), "{found:?}");
        assert!(found.lines().iter().any(|line| line.starts_with("f.toml line 2: ")), "{found:?}");
    }
}
