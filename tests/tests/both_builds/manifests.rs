//! What the folder of each driver says of it is what the driver says of itself.

use sepia::limits::Limits;
use sepia::loader::Origin;
use sepia::loader::component::Components;
use sepia_ir::Manifest;
use std::path::Path;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_is_current() {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("introductions");
    for built_in in sepia::embedded::COMPONENTS {
        let components = Components::new(Limits::default(), Some(cache.clone()));
        let said = components.bring_in(built_in.wasm, Origin::Embedded).await.unwrap().about().manifest.clone();
        let expected = serde_json::to_string_pretty(&said).unwrap();
        let file = format!("drivers/{}/manifest.json", built_in.name);
        let written: Option<Manifest> = built_in.manifest.and_then(|text| serde_json::from_str(text).ok());
        assert_eq!(written, Some(said), "{file} is to hold:\n{expected}\n");
    }
}
