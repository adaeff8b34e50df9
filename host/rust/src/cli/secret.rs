//! `leasehold secret`: versions of the secrets, and when the next one takes over.
//!
//! Source: section 5 of the contract. Nothing of a secret is ever printed. Tests: below, and `tests/tests/cli/`.

use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;

use super::config::values;
use super::open::{self, SecretPlace, StoreArgs};
use super::stored::relative;
use super::{CliError, Outcome, output};
use crate::host::{Leasehold, SecretSource};
use crate::keyring::Secrets;
use crate::store::SecretVersion;

/// List and rotate the secrets that keys are hashed with
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLE)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Secrets are LEASEHOLD_SECRET_1, _2, ...; or lines VERSION HEX in the file that LEASEHOLD_SECRETS_FILE names; or in the file beside
the store's, which a server makes.

Example:
  leasehold secret rotate --to 2 --at +1h --store sqlite:leasehold.db";

#[derive(clap::Subcommand, Debug)]
enum Command {
    List(ListArgs),
    Rotate(RotateArgs),
}

/// List the versions that the store knows, and from when each makes new records
#[derive(clap::Args, Debug)]
struct ListArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Let another secret make new records from an instant on
///
/// Keys of older records are still found by the older versions, so keep those for as long as records live. Every host must know the
/// new version before the instant: set the variable (or extend the file) on all of them and restart them first. Where secrets lie in
/// a file and the version is not in it, it is made there.
#[derive(clap::Args, Debug)]
struct RotateArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The number of the new version; past all that the store knows
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u32).range(1..))]
    to: u32,
    /// When it takes over, on the store's clock: +10m from now, 2026-01-31T12:00:00Z, or milliseconds since the epoch
    #[arg(long, value_name = "INSTANT")]
    at: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Does what is asked.
pub(super) async fn run(args: Args) -> Outcome {
    match args.command {
        Command::List(args) => list(args).await,
        Command::Rotate(args) => rotate(args).await,
    }
}

async fn list(args: ListArgs) -> Outcome {
    let (_, here) = open::secrets(&args.store.url()?)?;
    let known_here = |version| here.as_ref().is_some_and(|secrets| secrets.get(version).is_some());
    let (now, versions) = args.store.host().await?.store().secrets().await?;
    if args.json {
        let view = |one: &SecretVersion| json!({ "version": one.version, "active-from": one.active_from, "active": one.active_from <= now, "known-here": known_here(one.version) });
        output::json(&versions.iter().map(view).collect::<Vec<_>>())?;
    } else {
        let rows = versions.iter().map(|one| {
            let from = if one.active_from == 0 { "the beginning".to_owned() } else { relative(one.active_from, now) };
            [one.version.to_string(), from, if known_here(one.version) { "yes" } else { "no" }.to_owned()]
        });
        output::print(&output::table(["VERSION", "MAKES NEW RECORDS FROM", "KNOWN HERE"], rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn rotate(args: RotateArgs) -> Outcome {
    let url = args.store.url()?;
    let (place, secrets) = open::secrets(&url)?;
    let secrets =
        secrets.ok_or_else(|| CliError::Refused("there is no secret here yet: name those that the servers use".to_owned()))?;
    let host = args.store.host().await?;
    let (now, versions) = host.store().secrets().await?;
    let at = instant(&args.at, now).map_err(|why| CliError::Usage(format!("--at: {why}")))?;
    may_follow(args.to, &versions)?;
    let (secrets, made) = with_version(args.to, secrets, &place)?;
    let host = Leasehold::open(args.store.options(SecretSource::Given(secrets))?).await?;
    if let Some(keyring) = host.keyring() {
        keyring.rotate(host.store(), args.to, at).await?;
    }
    if args.json {
        output::json(&json!({ "version": args.to, "active-from": at, "made": made }))?;
        return Ok(ExitCode::SUCCESS);
    }
    output::line(&format!("version {} makes new records from {} on", args.to, relative(at, now)))?;
    match place {
        SecretPlace::File(path) => {
            let how = if made { "was made in" } else { "lies in" };
            let path = path.display();
            output::line(&format!("its secret {how} {path}: restart every server that reads that file before then"))?;
        }
        SecretPlace::Variables => {
            output::line(&format!("set LEASEHOLD_SECRET_{} on every host, and restart it, before then", args.to))?
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Looked at before a secret is made: one that the store knows must never be made anew.
fn may_follow(to: u32, versions: &[SecretVersion]) -> Result<(), CliError> {
    match versions.last() {
        None => Err(CliError::Refused(
            "this store has not been used with a secret yet, so there is nothing to rotate: its first server enters the newest"
                .to_owned(),
        )),
        Some(newest) if to <= newest.version => {
            Err(CliError::Refused(format!("the store knows version {} already: rotate to a higher one", newest.version)))
        }
        Some(_) => Ok(()),
    }
}

/// The secrets with that version among them, and whether it was made just now.
fn with_version(version: u32, secrets: Secrets, place: &SecretPlace) -> Result<(Secrets, bool), CliError> {
    match place {
        _ if secrets.get(version).is_some() => Ok((secrets, false)),
        SecretPlace::Variables => Err(CliError::Refused(format!(
            "there is no LEASEHOLD_SECRET_{version}: set it here and on every host, as `openssl rand -hex 32` prints it"
        ))),
        SecretPlace::File(path) => {
            Secrets::add_to_file(path, version)?;
            let again = Secrets::from_file(path)?;
            Ok((again.ok_or(crate::keyring::SecretError::Absent)?, true))
        }
    }
}

/// Milliseconds since the epoch, on the store's clock.
fn instant(text: &str, now: u64) -> Result<u64, String> {
    if let Some(ahead) = text.strip_prefix('+') {
        return values::milliseconds(ahead).map(|ahead| now.saturating_add(ahead));
    }
    if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) {
        return text.parse().map_err(|_| format!("{text} is past every clock"));
    }
    let since = humantime::parse_rfc3339(text).ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map(|since: Duration| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)).ok_or_else(|| {
        format!(
            "{text:?} is no instant: write +10m, an instant of UTC such as 2026-01-31T12:00:00Z, or milliseconds since the epoch"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_told_in_three_ways() {
        assert_eq!(instant("+10m", 1_000), Ok(601_000));
        assert_eq!(instant("1970-01-01T00:00:01.5Z", 7), Ok(1_500));
        assert_eq!(instant("1764547200000", 7), Ok(1_764_547_200_000));
        for text in ["", "soon", "10m", "+10", "-10m", "2026-01-31", "2026-01-31T12:00:00+02:00", "99999999999999999999"] {
            assert!(instant(text, 0).is_err(), "{text}");
        }
    }

    #[test]
    fn a_version_that_the_store_knows_is_not_made_anew() {
        let known = |version| SecretVersion { version, active_from: 0, check_value: String::new() };
        assert!(may_follow(2, &[]).is_err());
        assert!(may_follow(2, &[known(1), known(2)]).is_err());
        assert!(may_follow(3, &[known(1), known(2)]).is_ok());
    }
}
