//! From a database's rows to ours. A row that cannot be is told as such, with its key.

use leasehold_decision::row::RowTransition;
use leasehold_decision::{Family, Row, TransitionKind};

use super::super::{After, AuditEntry, CorruptRow, Evidence, List, SecretVersion, StoreError, StoredRow};
use super::{Driver, corrupt};
use crate::catalogue::Catalogue;

/// A row of a family's table: its columns begin at `first`, in the catalogue's order.
pub(super) struct Decoder<'r, D: Driver> {
    pub(super) catalogue: &'r Catalogue,
    pub(super) family: Family,
    pub(super) row: &'r D::Row,
    pub(super) first: usize,
}

/// Positions behind `first`.
#[derive(Clone, Copy)]
enum Field {
    Scope,
    State,
    Owner,
    Operation,
    Attempt,
    AttemptLimit,
    Revision,
    Fingerprint,
    Codec,
    PolicyRevision,
    LeaseUntil,
    RetryAt,
    ExpiresAt,
    Reason,
    TransitionId,
    TransitionKind,
    TransitionDigest,
    ResultDigest,
    Response,
    CreatedAt,
    ChangedAt,
}

type Decoded<T> = Result<T, String>;

/// An integer of 0 and up.
pub(super) fn integer<D: Driver>(row: &D::Row, index: usize) -> Decoded<u64> {
    let value = D::integer(row, index).map_err(|error| error.to_string())?.ok_or_else(|| format!("column {index} is absent"))?;
    u64::try_from(value).map_err(|_| format!("column {index} is negative"))
}

impl<D: Driver> Decoder<'_, D> {
    const fn index(&self, at: Field) -> usize {
        self.first + at as usize
    }

    fn text(&self, at: Field) -> Decoded<Option<String>> {
        D::text(self.row, self.index(at)).map_err(|error| error.to_string())
    }

    fn number(&self, at: Field) -> Decoded<u64> {
        integer::<D>(self.row, self.index(at))
    }

    fn time(&self, at: Field) -> Decoded<Option<u64>> {
        let value = D::integer(self.row, self.index(at)).map_err(|error| error.to_string())?;
        value.map(|value| u64::try_from(value).map_err(|_| "a time is negative".to_owned())).transpose()
    }

    /// The row, where the outer join found one.
    pub(super) fn optional(&self) -> Result<Option<StoredRow>, CorruptRow> {
        match self.text(Field::Scope) {
            Ok(None) => Ok(None),
            Ok(Some(_)) => self.stored().map(Some),
            Err(what) => Err(corrupt("?", what)),
        }
    }

    /// The row.
    pub(super) fn stored(&self) -> Result<StoredRow, CorruptRow> {
        let scope = self.text(Field::Scope).ok().flatten().unwrap_or_else(|| "?".to_owned());
        self.decode(&scope).map_err(|what| corrupt(&scope, what))
    }

    fn decode(&self, scope: &str) -> Decoded<StoredRow> {
        let spelling = self.text(Field::State)?.ok_or("it has no state")?;
        let state = self.catalogue.state(self.family, &spelling).ok_or_else(|| format!("the state {spelling:?} is not known"))?;
        Ok(StoredRow {
            row: Row {
                scope: scope.to_owned(),
                state,
                owner: self.text(Field::Owner)?,
                operation: self.text(Field::Operation)?,
                attempt: self.number(Field::Attempt)?,
                attempt_limit: self.number(Field::AttemptLimit)?,
                revision: self.number(Field::Revision)?,
                fingerprint: self.text(Field::Fingerprint)?,
                codec: self.text(Field::Codec)?,
                policy_revision: self.number(Field::PolicyRevision)?,
                lease_until: self.time(Field::LeaseUntil)?,
                retry_at: self.time(Field::RetryAt)?,
                expires_at: self.time(Field::ExpiresAt)?,
                reason: self.text(Field::Reason)?,
                transition: self.transition()?,
                result_digest: self.text(Field::ResultDigest)?,
            },
            response: D::bytes(self.row, self.index(Field::Response)).map_err(|error| error.to_string())?,
            created_at: self.number(Field::CreatedAt)?,
            changed_at: self.number(Field::ChangedAt)?,
        })
    }

    fn transition(&self) -> Decoded<Option<RowTransition>> {
        match (self.text(Field::TransitionId)?, self.text(Field::TransitionKind)?) {
            (None, None) => Ok(None),
            (Some(id), Some(word)) => {
                let kind = TransitionKind::from_name(&word).ok_or_else(|| format!("the transition {word:?} is not known"))?;
                Ok(Some(RowTransition { id, kind, digest: self.text(Field::TransitionDigest)? }))
            }
            (Some(_), None) | (None, Some(_)) => Err("its last transition is half there".to_owned()),
        }
    }

    /// Where a list goes on behind this row.
    pub(super) fn position(&self, list: List) -> Result<After, StoreError> {
        let at = match list {
            List::Waiting => Field::ChangedAt,
            List::Lapsed => Field::LeaseUntil,
        };
        let time = self.number(at).map_err(StoreError::Fault)?;
        let scope = self.text(Field::Scope).map_err(StoreError::Fault)?.unwrap_or_default();
        Ok(After { time, scope })
    }
}

fn word<D: Driver>(row: &D::Row, index: usize) -> Decoded<Option<String>> {
    D::text(row, index).map_err(|error| error.to_string())
}

fn needed<D: Driver>(row: &D::Row, index: usize) -> Decoded<String> {
    word::<D>(row, index)?.ok_or_else(|| format!("column {index} is absent"))
}

pub(super) fn evidence<D: Driver>(row: &D::Row) -> Decoded<Evidence> {
    Ok(Evidence {
        attempt: integer::<D>(row, 0)?,
        at: integer::<D>(row, 1)?,
        kind: needed::<D>(row, 2)?,
        refused: needed::<D>(row, 3)?,
        digest: word::<D>(row, 4)?,
        reason: word::<D>(row, 5)?,
        response: D::bytes(row, 6).map_err(|error| error.to_string())?,
    })
}

pub(super) fn audit<D: Driver>(row: &D::Row) -> Decoded<AuditEntry> {
    Ok(AuditEntry {
        attempt: integer::<D>(row, 2)?,
        revision: integer::<D>(row, 3)?,
        verdict: needed::<D>(row, 4)?,
        actor: needed::<D>(row, 5)?,
        reason: needed::<D>(row, 6)?,
        at: integer::<D>(row, 7)?,
    })
}

pub(super) fn secret<D: Driver>(row: &D::Row) -> Decoded<SecretVersion> {
    let version = u32::try_from(integer::<D>(row, 1)?).map_err(|_| "a secret's version is past 2^32".to_owned())?;
    Ok(SecretVersion { version, active_from: integer::<D>(row, 2)?, check_value: needed::<D>(row, 3)? })
}
