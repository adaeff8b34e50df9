//! Where the server listens, what it stands in front of, and where its files lie.
//!
//! Tests: in [`super`].

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::faults::{Faults, Given};
use super::layers::Layers;
use super::values;
use crate::bridge::forward::{Forward, ForwardOptions, UpstreamUrl};
use crate::bridge::tls::{TlsError, TlsFiles, Trust};
use crate::host::{HostError, SecretSource, secrets_beside};
use crate::keyring::{SecretError, Secrets};
use crate::store::StoreUrl;

/// Where clients connect, unless something else is said.
const LISTEN_DEFAULT: ([u8; 4], u16) = ([127, 0, 0, 1], 8080);

/// Something that must be chosen. Where the file is broken, it may be in there.
pub(super) fn needed<'l>(layers: &'l Layers, name: &str, example: &str, faults: &mut Faults) -> Option<&'l Given> {
    let given = layers.get(name);
    if given.is_none() && !layers.file_broken {
        let variable = super::options::variable(name);
        faults.add_line(format!("--{name} is missing: write --{name} {example}, or set {variable}, or {name} in the file"));
    }
    given
}

/// Where clients connect.
pub(super) fn listen(layers: &Layers, faults: &mut Faults) -> SocketAddr {
    let default = SocketAddr::from(LISTEN_DEFAULT);
    faults.read_or(layers.get("listen"), default, default, values::address)
}

/// Where operators connect: never where clients do.
pub(super) fn admin(layers: &Layers, listen: SocketAddr, faults: &mut Faults) -> Option<SocketAddr> {
    let given = layers.get("admin")?;
    let admin = faults.read(given, values::address)?;
    let same_port = admin.port() == listen.port() && admin.port() != 0;
    let any = admin.ip().is_unspecified() || listen.ip().is_unspecified();
    if same_port && (any || admin.ip().to_canonical() == listen.ip().to_canonical()) {
        let public = layers.server().place("listen");
        faults.add(&given.origin, format!("{admin} is the public address, too ({public}): write another port"));
    }
    Some(admin)
}

/// Whose key it is must be said, where others than this machine can connect.
pub(super) fn principal_chosen(layers: &Layers, listen: SocketAddr, faults: &mut Faults) {
    if layers.get("principal").is_some() || listen.ip().to_canonical().is_loopback() || layers.file_broken {
        return;
    }
    faults.add_line(format!(
        "--principal is missing: {listen} is no loopback address, so say whose key it is: header:NAME, basic-user or jwt:CLAIM; \
         or none, where all clients are one"
    ));
}

/// What the server stands in front of, and whom it trusts to be that.
pub(super) fn upstream(layers: &Layers, faults: &mut Faults) -> (Option<UpstreamUrl>, Trust) {
    let given = needed(layers, "upstream", "http://127.0.0.1:9000", faults);
    let url = given.and_then(|given| faults.read(given, |text| text.parse::<UpstreamUrl>().map_err(|error| error.to_string())));
    let Some(ca) = layers.get("upstream-ca") else {
        return (url, Trust::Public);
    };
    let trust = Trust::PemFile(PathBuf::from(&ca.text));
    // INVARIANT: this address can be read; it stands in for one that cannot, so that the file is looked at.
    if let Some(any) = url.clone().or_else(|| "https://localhost".parse().ok())
        && let Err(error) = Forward::new(any, &ForwardOptions { trust: trust.clone(), ..ForwardOptions::default() })
    {
        faults.add(&ca.origin, error);
    }
    (url, trust)
}

/// As whom the server serves.
pub(super) fn tls(layers: &Layers, faults: &mut Faults) -> Option<TlsFiles> {
    let (certificate, key) = (layers.get("tls-cert"), layers.get("tls-key"));
    for given in [certificate, key].into_iter().flatten() {
        if let Err(error) = File::open(&given.text) {
            faults.add(&given.origin, format!("cannot read {}: {error}", given.text));
        }
    }
    match (certificate, key) {
        (Some(certificate), Some(key)) => {
            let files = TlsFiles { certificates: PathBuf::from(&certificate.text), key: PathBuf::from(&key.text) };
            match files.check() {
                // Told above, of each file by itself.
                Ok(()) | Err(TlsError::Read { .. }) => {}
                Err(error @ TlsError::NoKey(_)) => faults.add(&key.origin, error),
                Err(error @ (TlsError::NotPem { .. } | TlsError::NoCertificate(_))) => faults.add(&certificate.origin, error),
                Err(error) => faults.add(&format!("{} with {}", certificate.origin, key.origin), error),
            }
            Some(files)
        }
        (Some(alone), None) => {
            faults.add(&alone.origin, "a certificate needs its key: give --tls-key, too");
            None
        }
        (None, Some(alone)) => {
            faults.add(&alone.origin, "a key needs its certificate: give --tls-cert, too");
            None
        }
        (None, None) => None,
    }
}

/// Where records are kept.
pub(super) fn store(layers: &Layers, faults: &mut Faults) -> Option<StoreUrl> {
    let given = needed(layers, "store", "sqlite:leasehold.db", faults)?;
    faults.read(given, |text| text.parse::<StoreUrl>().map_err(|error| error.to_string()))
}

/// Where the secrets come from: variables, or a file that was named, or one beside the store's file.
pub(super) fn secrets(
    layers: &Layers,
    store: Option<&StoreUrl>,
    variables: impl Iterator<Item = (String, String)>,
    faults: &mut Faults,
) -> SecretSource {
    let from_variables = Secrets::from_variables(variables).unwrap_or_else(|errors| {
        errors.iter().for_each(|error| faults.add_line(error.to_string()));
        None
    });
    let from_file = layers.get("secrets-file").and_then(|given| {
        let read = Secrets::from_file(given.text.as_ref()).and_then(|found| found.ok_or_else(|| absent(&given.text)));
        read.map_err(|error| faults.add(&given.origin, error)).ok()
    });
    match (from_variables, from_file) {
        (Some(_), Some(_)) => {
            let place = layers.server().place("secrets-file");
            faults.add(&place, "there are secrets in variables (LEASEHOLD_SECRET_1, ...), too: give them in one place alone");
            SecretSource::None
        }
        (Some(secrets), None) | (None, Some(secrets)) => SecretSource::Given(secrets),
        (None, None) => beside(store, faults),
    }
}

fn absent(path: &str) -> SecretError {
    SecretError::File { path: path.into(), why: "there is no such file".to_owned() }
}

/// One that is there must be good; one that is not is made later.
fn beside(store: Option<&StoreUrl>, faults: &mut Faults) -> SecretSource {
    match store {
        Some(StoreUrl::Sqlite(path)) => {
            if let Err(error) = Secrets::from_file(&secrets_beside(path)) {
                faults.add_line(error.to_string());
            }
            SecretSource::BesideStore
        }
        Some(StoreUrl::Postgres(_) | StoreUrl::Mysql(_)) => {
            faults.add_line(HostError::SharedStoreWithoutSecret.to_string());
            SecretSource::None
        }
        None => SecretSource::None,
    }
}
