//! What else the component knows: statements, keys, the rules of the bridge, its policy, packed documents.

use leasehold_decision::http::{Effect, Failure, Key, Rules};
use leasehold_decision::statements::{Dialect, DialectNotCarried, Layout, Statement};
use leasehold_decision::{Family, Settings};

use super::{CallError, Component, FUEL_PER_BYTE, FUEL_PER_CALL, convert};

/// Fuel for building a catalogue: it is text.
const FUEL_PER_CATALOGUE: u64 = 200_000_000;

fn fuel(bytes: usize) -> u64 {
    FUEL_PER_CALL.saturating_add(FUEL_PER_BYTE.saturating_mul(bytes as u64))
}

impl Component {
    /// Every table of a dialect.
    ///
    /// # Errors
    /// The component failed. The inner error: it carries no such dialect.
    pub fn schema(&self, dialect: Dialect) -> Result<Result<Layout, DialectNotCarried>, CallError> {
        let answer = self.call(FUEL_PER_CATALOGUE, |store, instance| {
            instance.leasehold_decision_statements().call_schema(store, convert::dialect(dialect))
        })?;
        Ok(match answer {
            Ok(layout) => Ok(Layout { version: layout.layout_version, statements: layout.statements }),
            Err(_) => Err(DialectNotCarried),
        })
    }

    /// Every statement of a dialect.
    ///
    /// # Errors
    /// The component failed. The inner error: it carries no such dialect.
    pub fn catalog(&self, dialect: Dialect) -> Result<Result<Vec<Statement>, DialectNotCarried>, CallError> {
        let answer = self.call(FUEL_PER_CATALOGUE, |store, instance| {
            instance.leasehold_decision_statements().call_catalog(store, convert::dialect(dialect))
        })?;
        Ok(match answer {
            Ok(statements) => Ok(statements.into_iter().map(convert::statement_back_of).collect()),
            Err(_) => Err(DialectNotCarried),
        })
    }

    /// How a state is spelled in a family's table.
    ///
    /// # Errors
    /// The component failed.
    pub fn spelling(&self, family: Family, state: leasehold_decision::State) -> Result<Option<String>, CallError> {
        self.call(FUEL_PER_CALL, |store, instance| {
            instance.leasehold_decision_statements().call_spelling(store, convert::family(family), convert::state(state))
        })
    }

    /// The scope of a key. `None`: the operation code is malformed.
    ///
    /// # Errors
    /// The component failed.
    pub fn scope(
        &self,
        version: u32,
        secret: &[u8],
        principal: &[u8],
        operation_code: &str,
        key: &[u8],
    ) -> Result<Option<String>, CallError> {
        self.call(fuel(principal.len() + key.len()), |store, instance| {
            instance.leasehold_decision_keys().call_scope(store, version, secret, principal, operation_code, key)
        })
        .map(Result::ok)
    }

    /// The fingerprint of a payload.
    ///
    /// # Errors
    /// The component failed: the body needs more memory than an instance may have.
    pub fn fingerprint(
        &self,
        secret: &[u8],
        method: &[u8],
        target: &[u8],
        content_type: Option<&[u8]>,
        body: &[u8],
    ) -> Result<String, CallError> {
        self.call(fuel(target.len() + body.len()), |store, instance| {
            instance.leasehold_decision_keys().call_fingerprint(store, secret, method, target, content_type, body)
        })
    }

    /// What the values of all `Idempotency-Key` lines of a request say.
    ///
    /// # Errors
    /// The component failed.
    pub fn parse_key(&self, values: &[Vec<u8>]) -> Result<Key, CallError> {
        let bytes = values.iter().map(Vec::len).sum();
        self.call(fuel(bytes), |store, instance| instance.leasehold_decision_http().call_parse_key(store, values))
            .map(convert::key_back)
    }

    /// How an answer counts.
    ///
    /// # Errors
    /// The component failed.
    pub fn classify_status(&self, status: u16, retry_after: bool, rules: Rules) -> Result<Effect, CallError> {
        self.call(FUEL_PER_CALL, |store, instance| {
            instance.leasehold_decision_http().call_classify_status(store, status, retry_after, convert::rules(rules))
        })
        .map(convert::effect_back)
    }

    /// How a transport failure counts.
    ///
    /// # Errors
    /// The component failed.
    pub fn classify_failure(&self, failure: Failure) -> Result<Effect, CallError> {
        self.call(FUEL_PER_CALL, |store, instance| {
            instance.leasehold_decision_http().call_classify_failure(store, convert::failure(failure))
        })
        .map(convert::effect_back)
    }

    /// Whole seconds for Retry-After.
    ///
    /// # Errors
    /// The component failed.
    pub fn retry_after(&self, now: u64, at: u64, most: u32) -> Result<u32, CallError> {
        self.call(FUEL_PER_CALL, |store, instance| instance.leasehold_decision_http().call_retry_after(store, now, at, most))
    }

    /// The settings that ship for a family.
    ///
    /// # Errors
    /// The component failed.
    pub fn default_settings(&self, family: Family) -> Result<Settings, CallError> {
        self.call(FUEL_PER_CALL, |store, instance| {
            instance.leasehold_decision_policy().call_default_settings(store, convert::family(family))
        })
        .map(convert::settings_back)
    }

    /// Version of the contract that the component was built for.
    ///
    /// # Errors
    /// The component failed.
    pub fn contract_version(&self) -> Result<u32, CallError> {
        self.call(FUEL_PER_CALL, |store, instance| instance.leasehold_decision_policy().call_contract_version(store))
    }

    /// A decision as one JSON document in, one out.
    ///
    /// # Errors
    /// The component failed: the document needs more memory than an instance may have.
    pub fn packed(&self, document: &str) -> Result<String, CallError> {
        self.call(fuel(document.len()), |store, instance| instance.call_packed(store, document))
    }
}
