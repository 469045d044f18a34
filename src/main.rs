//! The `partnerd` executable: runs the command line and exits with its code.

use std::process::ExitCode;

fn main() -> ExitCode {
    partnerd::start::cli::main()
}
