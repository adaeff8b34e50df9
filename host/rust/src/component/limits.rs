//! How much memory an instance may have.

use wasmtime::ResourceLimiter;

/// Linear memory of one instance, in bytes.
pub const MEMORY_BYTES_MAX: usize = 256 << 20;
/// An instance that has grown past this is not kept.
const MEMORY_BYTES_KEPT_MAX: usize = 8 << 20;
/// Elements of a table.
const TABLE_ELEMENTS_MAX: usize = 10_000;

/// The limits of one store, and what it has.
#[derive(Debug, Default)]
pub(super) struct Limits {
    memory_bytes: usize,
}

impl Limits {
    pub(super) const fn is_large(&self) -> bool {
        self.memory_bytes > MEMORY_BYTES_KEPT_MAX
    }
}

impl ResourceLimiter for Limits {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let allowed = desired <= MEMORY_BYTES_MAX;
        if allowed {
            self.memory_bytes = desired;
        }
        Ok(allowed)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS_MAX)
    }
}
