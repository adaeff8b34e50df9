//! The decision component, on wasmtime: loaded once, an instance for each decision under way, each in a store of its own.
//!
//! Every call is bounded: fuel for the time, a limit for the memory. A trap costs the instance that trapped and nothing else: the
//! error says so, nothing was written, and the next call gets a fresh store. Compiled code is cached by wasmtime, keyed by the
//! component's digest, the engine's version and its configuration.
//!
//! Knows no store and no HTTP. Tests: `tests/tests/host/`: `agreement.rs`, `hostile.rs`.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use wasmtime::component::{Component as Compiled, Linker};
use wasmtime::{Cache, CacheConfig, Config, Engine, Store};

mod bindings;
mod convert;
mod decide;
mod limits;
mod rules;

use bindings::{Component as Instance, ComponentPre};
use limits::Limits;

/// The component that this build carries: the same bytes in every host.
pub const BUILT_IN: &[u8] = include_bytes!("../../../../component/leasehold.wasm");

pub use limits::MEMORY_BYTES_MAX;
/// Fuel of a call, roughly one unit an instruction: a decision needs a few thousand.
pub const FUEL_PER_CALL: u64 = 2_000_000;
/// Fuel that each byte of input adds (hashing and canonical JSON need below 500).
pub const FUEL_PER_BYTE: u64 = 2_000;
/// Fuel that each item of a batch adds.
pub const FUEL_PER_ITEM: u64 = 100_000;
/// Idle instances that are kept.
const IDLE_INSTANCES_MAX: usize = 64;

/// Why a component could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The engine refuses its configuration.
    #[error("the WebAssembly engine could not be set up: {0}")]
    Engine(String),
    /// The cache's folder cannot be used.
    #[error("the folder for compiled code cannot be used: {0}; set LEASEHOLD_CACHE_DIR to another one, or to \"off\"")]
    Cache(String),
    /// The bytes are no component of the world that this host serves.
    #[error("this is no component of the world leasehold:decision/component@1: {0}")]
    Component(String),
    /// The component asks for something: a decision has no business outside.
    #[error("the component imports {0}; a decision component imports nothing")]
    Imports(String),
}

/// A decision did not come about; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The component trapped, ran out of fuel, or asked for too much memory.
    #[error("the decision component failed ({0}); nothing was written, and the next decision runs on a fresh instance")]
    Trapped(String),
    /// What it answered is no decision.
    #[error("the decision component answered what is no decision; nothing was written")]
    Malformed,
    /// An instance could not be made.
    #[error("no instance of the decision component could be made: {0}; nothing was written")]
    Instance(String),
}

/// Where compiled code is kept between runs.
#[derive(Clone, Debug, Default)]
pub enum CodeCache {
    /// In the user's cache folder, or nowhere if there is none.
    #[default]
    UserFolder,
    /// In that folder.
    Folder(PathBuf),
    /// Nowhere.
    Off,
}

impl CodeCache {
    fn folder(&self) -> Option<PathBuf> {
        match self {
            Self::UserFolder => {
                let home =
                    || std::env::var_os("HOME").filter(|home| !home.is_empty()).map(|home| PathBuf::from(home).join(".cache"));
                let base = std::env::var_os("XDG_CACHE_HOME").filter(|base| !base.is_empty()).map(PathBuf::from).or_else(home)?;
                base.is_absolute().then(|| base.join("leasehold"))
            }
            Self::Folder(folder) => Some(folder.clone()),
            Self::Off => None,
        }
    }

    /// A user's cache folder that cannot be written is no reason not to run; one that was named is.
    fn open(&self) -> Result<Option<Cache>, LoadError> {
        let Some(folder) = self.folder() else {
            return Ok(None);
        };
        let opened = std::fs::create_dir_all(&folder).map_err(|error| error.to_string()).and_then(|()| {
            let mut config = CacheConfig::new();
            config.with_directory(&folder);
            Cache::new(config).map_err(|error| error.to_string())
        });
        match (opened, self) {
            (Ok(cache), _) => Ok(Some(cache)),
            (Err(why), Self::Folder(_)) => Err(LoadError::Cache(format!("{}: {why}", folder.display()))),
            (Err(why), Self::UserFolder | Self::Off) => {
                tracing::debug!(folder = %folder.display(), why, "compiled code is not cached");
                Ok(None)
            }
        }
    }
}

struct Worker {
    store: Store<Limits>,
    instance: Instance,
}

/// A loaded component.
pub struct Component {
    engine: Engine,
    instances: ComponentPre<Limits>,
    /// Boxed, since they are large and change hands twice a call.
    #[expect(clippy::vec_box, reason = "moving a worker costs more than finding it")]
    idle: Mutex<Vec<Box<Worker>>>,
}

impl std::fmt::Debug for Component {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Component").finish_non_exhaustive()
    }
}

impl Component {
    /// The component that this build carries.
    ///
    /// # Errors
    /// The engine or the cache's folder cannot be used.
    pub fn built_in(cache: &CodeCache) -> Result<Self, LoadError> {
        Self::load(BUILT_IN, cache)
    }

    /// A component of the full world.
    ///
    /// # Errors
    /// The bytes are no such component, it imports something, or the engine or the cache's folder cannot be used.
    pub fn load(bytes: &[u8], cache: &CodeCache) -> Result<Self, LoadError> {
        let mut config = Config::new();
        config.consume_fuel(true).concurrency_support(false).cache(cache.open()?);
        let engine = Engine::new(&config).map_err(|error| LoadError::Engine(format!("{error:#}")))?;
        let compiled = Compiled::new(&engine, bytes).map_err(|error| LoadError::Component(format!("{error:#}")))?;
        if let Some((name, _)) = compiled.component_type().imports(&engine).next() {
            return Err(LoadError::Imports(name.to_owned()));
        }
        let wrong_world = |error: wasmtime::Error| LoadError::Component(format!("{error:#}"));
        let linked = Linker::<Limits>::new(&engine).instantiate_pre(&compiled).map_err(wrong_world)?;
        let instances = ComponentPre::new(linked).map_err(wrong_world)?;
        Ok(Self { engine, instances, idle: Mutex::new(Vec::new()) })
    }

    fn worker(&self) -> Result<Box<Worker>, CallError> {
        if let Some(worker) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(worker);
        }
        let mut store = Store::new(&self.engine, Limits::default());
        store.limiter(|limits| limits);
        let fault = |error: wasmtime::Error| CallError::Instance(format!("{error:#}"));
        store.set_fuel(FUEL_PER_CALL).map_err(fault)?;
        let instance = self.instances.instantiate(&mut store).map_err(fault)?;
        Ok(Box::new(Worker { store, instance }))
    }

    /// Runs one call, with that much fuel, on an idle instance or a fresh one.
    fn call<T>(&self, fuel: u64, run: impl FnOnce(&mut Store<Limits>, &Instance) -> wasmtime::Result<T>) -> Result<T, CallError> {
        let mut worker = self.worker()?;
        let Worker { store, instance } = &mut *worker;
        let outcome = store.set_fuel(fuel).and_then(|()| run(store, instance));
        match outcome {
            Ok(value) => {
                self.keep(worker);
                Ok(value)
            }
            Err(error) => Err(CallError::Trapped(format!("{error:#}"))),
        }
    }

    /// One that has grown large is let go, so that a large body does not hold its memory for ever.
    fn keep(&self, worker: Box<Worker>) {
        if worker.store.data().is_large() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_INSTANCES_MAX {
            idle.push(worker);
        }
    }
}
