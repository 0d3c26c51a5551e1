//! Every bound of the host, with its unit, its reason, and the variable that changes it.
//! A value that can't be read as a number is the default, with a line in the log.

use std::time::Duration;

/// Bounds of calls into drivers.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Time of one call of a component; a listing of a cold store of 10 GB takes about ten
    /// seconds. `SEPIA_CALL_TIMEOUT_MS`.
    pub call: Duration,
    /// Time of one store in a listing of all: one that hangs is named, and the others are
    /// listed. `SEPIA_LIST_TIMEOUT_MS`.
    pub listing: Duration,
    /// Memory of one instance, all its memories together, bytes. A driver that streams needs
    /// a few MiB; a line of 50 MB must still fit, several times. `SEPIA_DRIVER_MEMORY_MB`.
    pub memory: usize,
    /// What one call may hand over to the host, bytes: a batch of nodes with a line of 64 MB
    /// must fit. `SEPIA_DRIVER_TRANSFER_MB`.
    pub transfer: usize,
    /// Resource handles of one instance.
    pub handles: usize,
    /// Table elements of one instance.
    pub table_elements: usize,
    /// What is kept of a guest's stderr, and of its stdout, bytes each.
    pub guest_output: usize,
    /// Size of a component file, bytes. `SEPIA_DRIVER_FILE_MB`.
    pub component_file: u64,
    /// Time that compiling a component may take; done once for each build of a driver.
    pub compile: Duration,
    /// Nodes of one session; one that has more is taken for a driver that does not end.
    pub session_nodes: u64,
    /// Text of one session, bytes, as long as it streams; for the same reason.
    pub session_bytes: u64,
    /// Time of one call of a subprocess driver. `SEPIA_PROCESS_TIMEOUT_MS`.
    pub process_call: Duration,
    /// Time that a program has to answer `--manifest`.
    pub process_probe: Duration,
    /// One frame of a subprocess driver, bytes; a whole session comes as one.
    /// `SEPIA_PROCESS_FRAME_MB`.
    pub process_frame: usize,
    /// Lines kept of a subprocess driver's stderr.
    pub stderr_lines: usize,
    /// One frame of a client of `sepia serve`, bytes. `SEPIA_MAX_FRAME_MB`.
    pub client_frame: usize,
    /// Requests of one client that run at once; more wait in order.
    pub concurrent_requests: usize,
    /// What of an answer is kept in memory before it goes to a temporary file, bytes.
    pub answer_in_memory: usize,
    /// Time that a change of the overlay waits for another process that is at it; such a change
    /// takes milliseconds. `SEPIA_META_TIMEOUT_MS`.
    pub overlay_wait: Duration,
    /// Sessions that are live at once; each has a process, or several. `SEPIA_MAX_LIVE_SESSIONS`.
    pub live_sessions: usize,
    /// One frame of an agent's program, bytes: an update with a picture in it has tens of MB.
    /// `SEPIA_AGENT_FRAME_MB`.
    pub agent_frame: usize,
    /// Time of a call of an agent's program that is not a prompt: it starts, or reads a large
    /// session. A prompt takes as long as it takes. `SEPIA_AGENT_TIMEOUT_MS`.
    pub agent_call: Duration,
    /// Time in which a turn that was cancelled ends by itself; its agent is stopped after it.
    /// `SEPIA_CANCEL_TIMEOUT_MS`.
    pub cancel: Duration,
    /// A permission that nobody answers is refused after this time; none: it is waited for.
    /// `SEPIA_PERMISSION_TTL_MS`.
    pub permission: Option<Duration>,
    /// Facts of live sessions are kept for so long. `SEPIA_EVENTS_MAX_DAYS`.
    pub events_age: Duration,
    /// The log of live sessions takes so much, bytes; the oldest facts go. `SEPIA_EVENTS_MAX_MB`.
    pub events_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call: Duration::from_mins(1),
            listing: Duration::from_secs(30),
            memory: 512 << 20,
            transfer: 256 << 20,
            handles: 10_000,
            table_elements: 100_000,
            guest_output: 64 << 10,
            component_file: 16 << 20,
            compile: Duration::from_mins(1),
            session_nodes: 20_000_000,
            session_bytes: 16 << 30,
            process_call: Duration::from_secs(30),
            process_probe: Duration::from_secs(10),
            process_frame: 1 << 30,
            stderr_lines: 64,
            client_frame: 256 << 20,
            concurrent_requests: 64,
            answer_in_memory: 8 << 20,
            overlay_wait: Duration::from_secs(5),
            live_sessions: 256,
            agent_frame: 128 << 20,
            agent_call: Duration::from_mins(2),
            cancel: Duration::from_secs(10),
            permission: None,
            events_age: Duration::from_hours(24 * 30),
            events_bytes: 512 << 20,
        }
    }
}

impl Limits {
    /// The defaults, changed by the environment.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut limits = Self::default();
        let number = |name: &str| -> Option<u64> {
            let text = env(name).filter(|text| !text.is_empty())?;
            let parsed = text.parse().ok().filter(|n| *n > 0);
            if parsed.is_none() {
                tracing::warn!("{name}={text:?} is no positive whole number; the default is used");
            }
            parsed
        };
        let mebibytes = |name: &str| number(name).and_then(|n| usize::try_from(n.checked_mul(1 << 20)?).ok());
        let millis = |name: &str| number(name).map(Duration::from_millis);
        let set = |place: &mut Duration, value: Option<Duration>| *place = value.unwrap_or(*place);
        set(&mut limits.call, millis("SEPIA_CALL_TIMEOUT_MS"));
        set(&mut limits.listing, millis("SEPIA_LIST_TIMEOUT_MS"));
        set(&mut limits.process_call, millis("SEPIA_PROCESS_TIMEOUT_MS"));
        set(&mut limits.overlay_wait, millis("SEPIA_META_TIMEOUT_MS"));
        set(&mut limits.agent_call, millis("SEPIA_AGENT_TIMEOUT_MS"));
        set(&mut limits.cancel, millis("SEPIA_CANCEL_TIMEOUT_MS"));
        set(
            &mut limits.events_age,
            number("SEPIA_EVENTS_MAX_DAYS").map(|days| Duration::from_secs(days.saturating_mul(86_400))),
        );
        limits.live_sessions = number("SEPIA_MAX_LIVE_SESSIONS")
            .and_then(|number| usize::try_from(number).ok())
            .unwrap_or(limits.live_sessions);
        limits.permission = millis("SEPIA_PERMISSION_TTL_MS");
        limits.events_bytes =
            number("SEPIA_EVENTS_MAX_MB").map_or(limits.events_bytes, |mb| mb.saturating_mul(1 << 20));
        let set = |place: &mut usize, value: Option<usize>| *place = value.unwrap_or(*place);
        set(&mut limits.memory, mebibytes("SEPIA_DRIVER_MEMORY_MB"));
        set(&mut limits.transfer, mebibytes("SEPIA_DRIVER_TRANSFER_MB"));
        set(&mut limits.process_frame, mebibytes("SEPIA_PROCESS_FRAME_MB"));
        set(&mut limits.client_frame, mebibytes("SEPIA_MAX_FRAME_MB"));
        set(&mut limits.agent_frame, mebibytes("SEPIA_AGENT_FRAME_MB"));
        limits.component_file = mebibytes("SEPIA_DRIVER_FILE_MB").map_or(limits.component_file, |n| n as u64);
        limits
    }
}
