//! Every vector, through the real binary, the component, and this store.

use std::path::Path;
use std::process::Command;

use leasehold_tests::binary::leasehold;

use crate::ground::Ground;

pub async fn every_vector(ground: &Ground) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    for (file, count) in [("lease-1.jsonl", 1600), ("edges-1.jsonl", 300), ("corrupt-1.jsonl", 160), ("keys-1.jsonl", 240)] {
        let url = ground.url.clone();
        let mut command = Command::new(leasehold());
        command.arg("vectors").arg(folder.join(file)).args(["--store", &url]);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().expect("leasehold runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let last = said.lines().last().unwrap_or_default();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(last, format!("{count} passed, 0 failed"), "{file}: {said}{told}");
        assert!(output.status.success(), "{file}: {told}");
    }
    let left = ground.sql("SELECT COUNT(*) FROM leasehold_idempotency").await;
    assert_eq!(left, "0", "the vectors' records are taken away again");
}
