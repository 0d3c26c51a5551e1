//! skeleton
#[cfg(target_family = "wasm")]
mod c {
    use sepia_ir::*;
    use sepia_sdk::component::bindings::exports::sepia::driver::{identity, session_read as sr};
    struct D;
    struct T;
    struct N;
    impl identity::Guest for D {
        fn describe() -> Manifest {
            Manifest {
                id: "x".into(),
                label: "x".into(),
                version: "1.0.0".into(),
                backend_type: "x".into(),
                stores: vec![StoreRequest {
                    name: "a".into(),
                    env: vec![],
                    default_path: "~/.a".into(),
                    kind: StoreKind::Directory,
                    access: StoreAccess::Read,
                    follow_links_in: vec![],
                }],
                agent_command: vec![],
                config_schema: "null".into(),
            }
        }
    }
    impl sr::GuestTranscript for T {
        fn header(&self) -> Session {
            Session::new("a", "b")
        }
        fn next(&self, max: u32) -> Result<Vec<MessageNode>, DriverError> {
            Ok((0..max).map(|i| MessageNode::new(i.into(), Role::User, 0.0)).collect())
        }
    }
    impl sr::GuestNativeCopy for N {
        fn name(&self) -> String {
            String::new()
        }
        fn next(&self, _m: u32) -> Result<Vec<u8>, DriverError> {
            Ok(vec![])
        }
    }
    impl sr::Guest for D {
        type Transcript = T;
        type NativeCopy = N;
        fn scan() -> Result<ScanReport, DriverError> {
            let r = sepia_sdk::component::bindings::sepia::driver::bulk_files::walk("a", "", 1, &["x".into()])?;
            Ok(ScanReport { entries: vec![], warnings: vec![Warning::new("a", format!("{}", r.files.len()))] })
        }
        fn summaries(_k: Vec<String>, _d: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
            Ok(vec![])
        }
        fn summary_of(_s: SessionRef) -> Result<Session, DriverError> {
            Err(DriverError::unknown_session("a"))
        }
        fn open(_s: SessionRef) -> Result<sr::Transcript, DriverError> {
            Ok(sr::Transcript::new(T))
        }
        fn history(_s: SessionRef, _q: HistoryQuery) -> Result<HistoryPage, DriverError> {
            Err(DriverError::unknown_session("a"))
        }
        fn native(_s: SessionRef) -> Result<sr::NativeCopy, DriverError> {
            Err(DriverError::unknown_session("a"))
        }
        fn locks() -> Result<Vec<LockState>, DriverError> {
            Ok(vec![])
        }
    }
    sepia_sdk::component::bindings::export!(D with_types_in sepia_sdk::component::bindings);
}
