//! Private database servers for tests: each in a temporary folder, on a free port of loopback, from the programs on this machine, and
//! stopped with its handle. Without the programs a test says aloud that it is skipped.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::require::skipped;

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);
/// Where Debian keeps the programs of PostgreSQL's versions, the newest first.
const POSTGRES_FOLDERS: [&str; 3] = ["/usr/lib/postgresql/17/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/15/bin"];

/// Which kind of server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// PostgreSQL.
    Postgres,
    /// MariaDB, which speaks MySQL's protocol.
    Mariadb,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    kind: Kind,
    port: u16,
    folder: TempDir,
    child: Mutex<Option<Child>>,
    databases: AtomicU32,
}

impl Server {
    /// Starts one. `None`: its programs are not here, which has been said.
    ///
    /// # Panics
    /// It does not start.
    #[must_use]
    pub fn start(kind: Kind) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let server = Self { kind, port, folder, child: Mutex::new(None), databases: AtomicU32::new(0) };
        match kind {
            Kind::Postgres => {
                let Some(initdb) = postgres("initdb") else {
                    skipped("PostgreSQL", "apt-get install postgresql");
                    return None;
                };
                open_to_all(server.folder.path());
                let data = server.data();
                done(as_postgres(&initdb).args(["--auth", "trust", "--username", "postgres", "--no-sync", "--pgdata"]).arg(&data));
            }
            Kind::Mariadb => {
                let (Some(install), true) = (on_path("mariadb-install-db"), on_path("mariadbd").is_some()) else {
                    skipped("MariaDB", "apt-get install mariadb-server");
                    return None;
                };
                let mut command = Command::new(install);
                command.arg("--no-defaults").args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
                done(command.arg(user()).arg(option("--datadir", &server.data())));
            }
        }
        server.run();
        Some(server)
    }

    /// One that tests share which run at the same time; it stops with the last of them.
    ///
    /// # Panics
    /// It does not start.
    #[must_use]
    pub fn shared(kind: Kind) -> Option<Arc<Self>> {
        static SHARED: Mutex<[Weak<Server>; 2]> = Mutex::new([Weak::new(), Weak::new()]);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let place = &mut shared[kind as usize];
        if let Some(running) = place.upgrade() {
            return Some(running);
        }
        let started = Arc::new(Self::start(kind)?);
        *place = Arc::downgrade(&started);
        Some(started)
    }

    /// Which kind it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Starts it (again), on the same port with the same data.
    ///
    /// # Panics
    /// It does not start.
    pub fn run(&self) {
        let log = std::fs::File::create(self.folder.path().join("log")).expect("a log");
        let mut command = match self.kind {
            Kind::Postgres => {
                let mut command = as_postgres(&postgres("postgres").expect("it is there"));
                command.arg("-D").arg(self.data()).args(["-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
                command.args(["-c", "unix_socket_directories=", "-c", "max_connections=200"]);
                command
            }
            Kind::Mariadb => {
                let mut command = Command::new(on_path("mariadbd").expect("it is there"));
                command.args(["--no-defaults", "--bind-address=127.0.0.1", "--max-connections=300"]).arg(user());
                command.arg(option("--datadir", &self.data())).arg(option("--socket", &self.socket()));
                command.arg(option("--pid-file", &self.folder.path().join("pid"))).arg(format!("--port={}", self.port));
                command
            }
        };
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        *self.child() = Some(command.spawn().expect("the server's program starts"));
        let begun = Instant::now();
        while !self.answers() {
            let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(begun.elapsed() < PATIENCE, "{:?} does not answer: {}", self.kind, log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn answers(&self) -> bool {
        let mut ask = self.client(self.own(), "SELECT 1");
        ask.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// The server's own client, with a text to execute as its administrator.
    fn client(&self, database: &str, text: &str) -> Command {
        match self.kind {
            Kind::Postgres => {
                let mut command = Command::new(postgres("psql").expect("it is there"));
                command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "postgres", "-p"]);
                command.arg(self.port.to_string()).args(["-d", database, "-A", "-t", "-c", text]);
                command
            }
            Kind::Mariadb => {
                let mut command = Command::new(on_path("mariadb").expect("it is there"));
                command
                    .arg("--no-defaults")
                    .arg(option("--socket", &self.socket()))
                    .args(["-u", "root", "-N", "-B", "-D", database, "-e", text]);
                command
            }
        }
    }

    /// Executes a text as the administrator.
    ///
    /// # Panics
    /// It is refused.
    pub fn administer(&self, text: &str) {
        done(&mut self.client(self.own(), text));
    }

    /// The database that every server has.
    const fn own(&self) -> &'static str {
        match self.kind {
            Kind::Postgres => "postgres",
            Kind::Mariadb => "mysql",
        }
    }

    /// Executes a text in a database, past all hosts, and gives what it printed.
    ///
    /// # Panics
    /// It is refused.
    #[must_use]
    pub fn execute(&self, database: &Database, text: &str) -> String {
        done(&mut self.client(&database.name, text))
    }

    /// A new database, and the URL by which a store finds it.
    ///
    /// # Panics
    /// It cannot be made.
    #[must_use]
    pub fn database(&self) -> Database {
        let name = format!("leasehold_{}", self.databases.fetch_add(1, Ordering::SeqCst));
        self.administer(&format!("CREATE DATABASE {name}"));
        let user = match self.kind {
            Kind::Postgres => {
                self.administer(&format!("CREATE ROLE {name} LOGIN PASSWORD 's3cret'"));
                self.administer(&format!("ALTER DATABASE {name} OWNER TO {name}"));
                format!("postgres://{name}:s3cret")
            }
            Kind::Mariadb => {
                for host in ["127.0.0.1", "localhost"] {
                    self.administer(&format!("CREATE USER {name}@'{host}' IDENTIFIED BY 's3cret'"));
                    self.administer(&format!("GRANT ALL ON {name}.* TO {name}@'{host}'"));
                }
                format!("mysql://{name}:s3cret")
            }
        };
        Database { url: format!("{user}@127.0.0.1:{}/{name}", self.port), name }
    }

    /// Ends it at once, as a crash does.
    ///
    /// # Panics
    /// It cannot be ended.
    pub fn crash(&self) {
        if let Some(mut child) = self.child().take() {
            signal(&child, "KILL");
            child.wait().expect("it ends");
        }
        // A crashed PostgreSQL leaves workers that end by themselves once they notice.
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// A database of a test's own.
#[derive(Clone, Debug)]
pub struct Database {
    /// As a store's address.
    pub url: String,
    /// Its name, which is its user's, too.
    pub name: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child().take() {
            // PostgreSQL: the immediate way; what is in a temporary folder needs no care.
            signal(&child, if self.kind == Kind::Postgres { "QUIT" } else { "KILL" });
            let _ = child.wait();
        }
    }
}

fn signal(child: &Child, name: &str) {
    let _ = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
}

fn done(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn option(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// MariaDB runs as root only where it is told to.
fn user() -> String {
    let name = if is_root() { "root".to_owned() } else { std::env::var("USER").unwrap_or_default() };
    format!("--user={name}")
}

/// PostgreSQL does not run as root: there its programs run as its own user, who must be able to use the folder.
fn as_postgres(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", "--"]).arg(program).current_dir("/");
    command
}

fn open_to_all(folder: &Path) {
    if is_root() {
        done(Command::new("chown").arg("postgres").arg(folder));
    }
}

fn postgres(program: &str) -> Option<PathBuf> {
    let known = POSTGRES_FOLDERS.iter().map(|folder| Path::new(folder).join(program));
    on_path(program).or_else(|| known.into_iter().find(|path| path.is_file()))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join(OsStr::new(program))).find(|path| path.is_file())
}
