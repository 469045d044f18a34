//! `partnerd`: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    partnerd::start::cli::main()
}
