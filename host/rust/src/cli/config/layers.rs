//! Command line over variables over the file: who says what.
//!
//! Knows no meaning of a setting. Tests: below, and in [`super`].

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::faults::{Faults, Given, meant};
use super::file::{self, FileLayer, RouteLayer};
use super::options::{CONFIG, LOG_OPTIONS, OPTIONS, variable};

/// What begins the name of every variable of ours.
const PREFIX: &str = "LEASEHOLD_";
/// What begins the name of a secret's variable; the versions behind it are read by [`crate::keyring::Secrets`].
const SECRET_PREFIX: &str = "LEASEHOLD_SECRET_";
/// What begins the name of a variable that was meant to be a secret.
const SECRET_WORD: &str = "LEASEHOLD_SECRET";
/// Kubernetes sets these for a service that is called `leasehold`.
const KUBERNETES: [&str; 2] = ["LEASEHOLD_SERVICE_", "LEASEHOLD_PORT"];

/// What a process is told.
#[derive(Debug, Default)]
pub(in crate::cli) struct Inputs {
    /// Flags, by the name of the setting.
    pub(in crate::cli) flags: BTreeMap<&'static str, String>,
    /// Variables.
    pub(in crate::cli) variables: Vec<(OsString, OsString)>,
}

/// The layers, unread.
#[derive(Debug)]
pub(super) struct Layers {
    /// Flags and variables: they go before the file.
    near: BTreeMap<&'static str, Given>,
    file: Option<FileLayer>,
    /// Whether the file was named and nothing can be made of it.
    pub(super) file_broken: bool,
    /// What is odd, and no fault.
    pub(super) warnings: Vec<String>,
}

/// What holds for one route, or for the whole server.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'l> {
    layers: &'l Layers,
    route: Option<&'l RouteLayer>,
}

impl<'l> View<'l> {
    /// What is said of a setting: by the route, else for the whole server.
    pub(super) fn get(self, name: &str) -> Option<&'l Given> {
        self.route.and_then(|route| route.values.get(name)).or_else(|| self.layers.get(name))
    }

    /// Where that was said, for people; or that nobody did.
    pub(super) fn place(self, name: &str) -> String {
        self.get(name).map_or_else(|| format!("{name} (by default)"), |given| given.origin.clone())
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    OPTIONS.iter().map(|option| option.name).chain(LOG_OPTIONS)
}

impl Layers {
    /// Gathers flags and variables, and reads the file that they name.
    pub(super) fn gather(inputs: &Inputs, faults: &mut Faults) -> Self {
        let mut layers = Self { near: BTreeMap::new(), file: None, file_broken: false, warnings: Vec::new() };
        layers.take_variables(&inputs.variables, faults);
        layers.near.extend(inputs.flags.iter().map(|(name, text)| (*name, Given::new(format!("--{name}"), text))));
        if let Some(given) = layers.near.get(CONFIG) {
            layers.file = file::read(given, faults);
            layers.file_broken = layers.file.is_none();
        }
        layers
    }

    fn take_variables(&mut self, variables: &[(OsString, OsString)], faults: &mut Faults) {
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX) && !name.starts_with(SECRET_PREFIX)) else {
                continue;
            };
            match (names().find(|known| variable(known) == name), value.to_str()) {
                (Some(known), Some(value)) => {
                    self.near.insert(known, Given::new(name, value));
                }
                (Some(_), None) => faults.add(name, "is not UTF-8: write plain text"),
                (None, _) => self.unknown_variable(name, faults),
            }
        }
    }

    /// A slip is a fault, since what was meant does not hold; anything else may be another program's.
    fn unknown_variable(&mut self, name: &str, faults: &mut Faults) {
        if KUBERNETES.iter().any(|prefix| name.starts_with(prefix)) {
            return;
        }
        if name.starts_with(SECRET_WORD) {
            faults.add(name, "there is no such setting; a secret is LEASEHOLD_SECRET_1, a file of them LEASEHOLD_SECRETS_FILE");
            return;
        }
        let known: Vec<String> = names().map(variable).collect();
        match meant(name, known.iter().map(String::as_str)) {
            Some(meant) => faults.add(name, format!("there is no such setting; write {meant}")),
            None => self.warnings.push(format!("the variable {name} is none of leasehold's; it is passed over")),
        }
    }

    /// What is said for the whole server.
    pub(super) fn get(&self, name: &str) -> Option<&Given> {
        self.near.get(name).or_else(|| self.file.as_ref().and_then(|file| file.values.get(name)))
    }

    /// The whole server's view.
    pub(super) const fn server(&self) -> View<'_> {
        View { layers: self, route: None }
    }

    /// Each route, with its view.
    pub(super) fn routes(&self) -> impl Iterator<Item = (&RouteLayer, View<'_>)> {
        let routes = self.file.iter().flat_map(|file| &file.routes);
        routes.map(|route| (route, View { layers: self, route: Some(route) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(flags: &[(&'static str, &str)], variables: &[(&str, &str)]) -> (Layers, Faults) {
        let inputs = Inputs {
            flags: flags.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(),
            variables: variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        };
        let mut faults = Faults::default();
        (Layers::gather(&inputs, &mut faults), faults)
    }

    #[test]
    fn a_flag_goes_before_a_variable() {
        let (layers, faults) = gather(&[("lease", "1s")], &[("LEASEHOLD_LEASE", "2s"), ("LEASEHOLD_ON_5XX", "no-effect")]);
        assert_eq!(layers.get("lease"), Some(&Given::new("--lease", "1s")));
        assert_eq!(layers.get("on-5xx"), Some(&Given::new("LEASEHOLD_ON_5XX", "no-effect")));
        assert!(layers.get("wait").is_none() && faults.lines().is_empty());
    }

    #[test]
    fn a_slip_in_a_variables_name_is_a_fault_and_a_stranger_is_not() {
        let given =
            ["LEASEHOLD_LEESE", "LEASEHOLD_COLOUR", "LEASEHOLD_PORT_80_TCP", "OTHER", "LEASEHOLD_SECRET_1", "LEASEHOLD_SECRET1"];
        let (layers, faults) = gather(&[], &given.map(|name| (name, "x")));
        let [slip, secret] = faults.lines() else { panic!("{faults:?}") };
        assert_eq!(slip, "LEASEHOLD_LEESE: there is no such setting; write LEASEHOLD_LEASE");
        assert!(secret.starts_with("LEASEHOLD_SECRET1: "), "{secret}");
        assert_eq!(layers.warnings.len(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_fault() {
        let (layers, faults) = gather(&[("config", "/nowhere/leasehold.toml")], &[]);
        assert!(layers.file_broken);
        assert!(faults.lines()[0].starts_with("--config: cannot read /nowhere/leasehold.toml: "), "{faults:?}");
    }
}
