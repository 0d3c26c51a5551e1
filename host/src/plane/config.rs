//! The settings of the plane.

use schemars::JsonSchema;
use serde::Serialize;

/// What the environment and the defaults made of the settings; shown to whoever spawns the
/// plane, so that it can check that its variables arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaneConfig {
    /// A live session without subscribers is let go after so many milliseconds; `null`: never.
    /// `SEPIA_IDLE_TTL_MS`, 0 for never.
    pub idle_ttl_ms: Option<u64>,
    /// How often that is looked at, milliseconds. `SEPIA_SWEEP_MS`.
    pub sweep_ms: u64,
    /// Nodes of a history page when the request does not say. `SEPIA_HISTORY_LIMIT`.
    pub history_limit: u32,
    /// An agent kept to ask for locks is let go after so many milliseconds without use:
    /// `SEPIA_PROBE_IDLE_MS`, else ten times `SEPIA_LOCK_TTL_MS` and 60,000 at least.
    pub probe_idle_ms: u64,
}

impl PlaneConfig {
    /// Reads the environment. What is no whole number is the default, with a line in the log.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str| -> Option<u64> {
            let text = env(name).filter(|text| !text.is_empty())?;
            let parsed = text.parse().ok();
            if parsed.is_none() {
                tracing::warn!("{name}={text:?} is no whole number; the default is used");
            }
            parsed
        };
        let lock_ttl = number("SEPIA_LOCK_TTL_MS").unwrap_or(5_000);
        let history_limit = number("SEPIA_HISTORY_LIMIT").filter(|n| *n > 0).and_then(|n| u32::try_from(n).ok());
        Self {
            idle_ttl_ms: Some(number("SEPIA_IDLE_TTL_MS").unwrap_or(600_000)).filter(|ttl| *ttl > 0),
            sweep_ms: number("SEPIA_SWEEP_MS").filter(|n| *n > 0).unwrap_or(30_000),
            history_limit: history_limit.unwrap_or(500),
            probe_idle_ms: number("SEPIA_PROBE_IDLE_MS").unwrap_or_else(|| lock_ttl.saturating_mul(10).max(60_000)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PlaneConfig;

    #[test]
    fn defaults_and_what_changes_them() {
        let defaults = PlaneConfig::from_env(&|_| None);
        assert_eq!(
            defaults,
            PlaneConfig { idle_ttl_ms: Some(600_000), sweep_ms: 30_000, history_limit: 500, probe_idle_ms: 60_000 }
        );
        let set = PlaneConfig::from_env(&|name| {
            let value = match name {
                "SEPIA_IDLE_TTL_MS" | "SEPIA_HISTORY_LIMIT" => "0",
                "SEPIA_SWEEP_MS" => "soon",
                "SEPIA_LOCK_TTL_MS" => "7000",
                _ => return None,
            };
            Some(value.to_owned())
        });
        assert_eq!(set, PlaneConfig { idle_ttl_ms: None, sweep_ms: 30_000, history_limit: 500, probe_idle_ms: 70_000 });
    }
}
