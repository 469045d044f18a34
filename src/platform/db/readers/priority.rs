//! Threads that let others go first: long reads, and what takes long to compute.

/// How much they do (nice(1)): as much as there is. With less, two of them and the writer keep the threads of the
/// sockets waiting for whole ticks of the scheduler (4 ms) on two cores.
#[cfg(target_os = "linux")]
pub const NICENESS: i32 = 19;

/// Lets other threads go first, from the first call of a thread on.
pub fn step_back() {
    // Linux gives each thread a priority of its own; elsewhere it would be that of the whole server.
    #[cfg(target_os = "linux")]
    {
        thread_local! {
            static STEPPED_BACK: () = if let Err(error) = rustix::process::nice(NICENESS) {
                crate::platform::db::log(&format!("long work has the same priority as short work: {error}"));
            };
        }
        STEPPED_BACK.with(|()| ());
    }
}
