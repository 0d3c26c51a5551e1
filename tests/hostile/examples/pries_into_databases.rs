//! Asks databases whatever it is told to ask, and lists what one of them holds.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::{DriverError, ErrorCode, ScanReport, Session, SqlValue};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    /// One entry a row of the table `t` of `a.db`.
    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        let rows = match host.database("home", "a.db") {
            Ok(database) => database.rows("SELECT id FROM t ORDER BY id", &[])?,
            Err(e) if e.code == ErrorCode::NotFound => Vec::new(),
            Err(e) => return Err(e),
        };
        let keys = rows.into_iter().filter_map(|row| match row.into_iter().next() {
            Some(SqlValue::Text(id)) => Some(id),
            _ => None,
        });
        Ok(ScanReport { entries: keys.map(sepia_hostile::entry).collect(), warnings: vec![] })
    }

    /// The order is `<store>|<path>|<sql>`, or `hoard` to open more and more.
    fn summary_of(host: &Host, order: &str) -> Result<Session, DriverError> {
        let mut parts = order.splitn(3, '|');
        let mut part = || parts.next().unwrap_or_default();
        if order == "hoard" {
            let mut open = Vec::new();
            loop {
                open.push(host.database("home", "a.db")?);
            }
        }
        let rows = host.database(part(), part())?.rows(part(), &[])?;
        Ok(sepia_hostile::answer(format!("{rows:?}")))
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
