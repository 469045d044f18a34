//! Lowers the priority of threads with long work: long reads and long computations.

/// The niceness of such threads (nice(1)): the maximum. With less, two of them and the writer keep the socket
/// threads waiting for whole scheduler ticks (4 ms) on two cores.
#[cfg(target_os = "linux")]
pub const NICENESS: i32 = 19;

/// Lowers the priority of the calling thread, from its first call on.
pub fn step_back() {
    // Linux gives each thread its own priority; elsewhere this would lower the whole server's.
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
