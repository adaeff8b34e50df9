//! The `leasehold` program. Everything is in [`leasehold::cli`].

fn main() -> std::process::ExitCode {
    leasehold::cli::main()
}
