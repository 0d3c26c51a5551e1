//! Sessions that a running agent holds.
//!
//! The agent leaves no lock file. A database in write-ahead mode that a process has open is
//! locked by it in its `-shm` file, and a file that lies there without a holder means nothing. Of
//! the IDE, which has its one database open as long as it runs, only composers that are
//! generating are held.

use crate::ide::{self, Ide};
use crate::places::IDE;
use crate::sources::Stores;
use crate::{blobs::bytes_of, chat};
use sepia_ir::{DriverError, LockState, SqlValue};
use sepia_sdk::Host;
use std::collections::BTreeMap;

/// Composers that are asked whether they are generating, the newest first.
const MOST: usize = 64;

/// The sessions held now.
pub(crate) fn locks(host: &Host) -> Result<Vec<LockState>, DriverError> {
    let stores = Stores::of(host);
    let mut held: BTreeMap<String, Option<u32>> = BTreeMap::new();
    let mut asked: BTreeMap<&str, Vec<(Option<&str>, &crate::key::Source)>> = BTreeMap::new();
    let places = stores.places()?;
    let named = places
        .kept
        .iter()
        .flat_map(|(id, kept)| kept.sources.iter().map(move |found| (Some(id.as_str()), &found.source)));
    let nameless = places.nameless.iter().map(|found| (None, &found.source));
    for (id, source) in named.chain(nameless).filter(|(_, source)| source.kind.rank() == 0) {
        asked.entry(source.kind.store()).or_default().push((id, source));
    }
    for (store, sources) in asked {
        let paths: Vec<String> = sources.iter().map(|(_, source)| format!("{}-shm", source.path)).collect();
        for ((id, source), holder) in sources.into_iter().zip(host.lock_holders(store, &paths)) {
            let Some(pid) = holder else { continue };
            if let Some(id) = id {
                held.insert(id.to_owned(), Some(pid));
                continue;
            }
            // Its own row says it when it can't be read.
            let records = chat::open(host, source).ok().flatten().map(|chat| chat.records(host, "", 0.0));
            if let Some(Ok(records)) = records
                && let Some(record) = records.first()
            {
                held.insert(record.session.id.clone(), Some(pid));
            }
        }
    }
    let paths = [format!("{}-shm", ide::GLOBAL), ide::GLOBAL.to_owned()];
    let holder = host.lock_holders(IDE, &paths).into_iter().flatten().next();
    if let (Some(pid), Ok(Some(ide))) = (holder, stores.ide()) {
        for id in generating(ide)? {
            held.entry(id).or_insert(Some(pid));
        }
    }
    Ok(held.into_iter().map(|(id, holder_pid)| LockState { id, holder_pid }).collect())
}

/// Composers that say that they are generating.
fn generating(ide: &Ide) -> Result<Vec<String>, DriverError> {
    if !ide.has("cursorDiskKV") {
        return Ok(Vec::new());
    }
    let mut heads: Vec<_> = ide.composers()?.into_iter().collect();
    heads.sort_by(|(_, a), (_, b)| b.updated_ms.total_cmp(&a.updated_ms));
    let ids: Vec<&String> = heads.iter().take(MOST).map(|(id, _)| id).collect();
    let list = serde_json::to_string(&ids).unwrap_or_else(|_| "[]".to_owned());
    let sql = "WITH docs AS (SELECT wanted.value AS id, CAST(b.value AS TEXT) AS doc FROM json_each(?) AS wanted \
               JOIN cursorDiskKV AS b ON b.key = 'composerData:' || wanted.value AND octet_length(b.value) <= 67108864) \
               SELECT id FROM docs WHERE CASE WHEN json_valid(doc) THEN \
               COALESCE(json_array_length(doc, '$.generatingBubbleIds'), 0) > 0 \
               OR COALESCE(json_extract(doc, '$.status'), '') IN ('generating', 'streaming', 'loading') END";
    let rows = ide.rows(sql, &[SqlValue::Text(list)])?;
    let ids = rows.into_iter().filter_map(|row| row.into_iter().next());
    Ok(ids
        .map(|id| String::from_utf8_lossy(&bytes_of(id)).into_owned())
        .filter(|id| crate::places::plausible(id))
        .collect())
}
