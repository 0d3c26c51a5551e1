//! What lies under `$SEPIA_HOME`.
