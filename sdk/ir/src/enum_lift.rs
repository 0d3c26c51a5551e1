//! What `wit-bindgen` expects of an enum that it did not generate itself.

/// Gives unit enums the constructor that generated guest bindings call on the discriminant
/// that came over the boundary. The host checked it already, as the canonical ABI demands.
macro_rules! enum_lift {
    ($($name:ident { $($variant:ident),+ $(,)? })+) => {$(
        impl $crate::$name {
            #[doc(hidden)]
            pub fn _lift(discriminant: u8) -> Self {
                $(if discriminant == Self::$variant as u8 {
                    return Self::$variant;
                })+
                unreachable!("the host passes only discriminants that exist")
            }
        }
    )+};
}

enum_lift! {
    Branch { Live, All }
    ConfigVerb { Wrote, Updated, Unchanged, Merged, Skipped }
    ErrorCode { NotFound, Busy, Locked, Unsupported, Store, Invalid, Conflict }
    LogLevel { Debug, Info, Warn, Error }
    LossKind { Mapped, MetadataOnly, Dropped }
    Role { System, User, Assistant, Tool }
    SearchPart { Title, User, Assistant, System, Thinking, Call, Result }
    StoreAccess { Read, ReadWrite }
    StoreKind { Directory, Database }
    SummaryDetail { Row, Stats }
    ToolCallStatus { Pending, Success, Error }
}
