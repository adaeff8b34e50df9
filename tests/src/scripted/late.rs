//! A swap that outlives its sender's patience: everything it borrows, kept, and sent later.

use std::sync::Arc;
use std::time::Duration;

use leasehold::Family;
use leasehold::store::{Store, SwapRequest};
use leasehold_decision::{CallTexts, Row, Write};

/// The texts of a call, kept.
struct Texts([Option<String>; 7]);

impl Texts {
    fn new(texts: &CallTexts<'_>) -> Self {
        let all = [texts.owner, texts.operation, texts.fingerprint, texts.codec, texts.transition, texts.digest, texts.reason];
        Self(all.map(|text| text.map(str::to_owned)))
    }

    fn borrowed(&self) -> CallTexts<'_> {
        let [owner, operation, fingerprint, codec, transition, digest, reason] = self.0.each_ref().map(Option::as_deref);
        CallTexts { owner, operation, fingerprint, codec, transition, digest, reason }
    }
}

/// A swap, kept.
pub(super) struct LateSwap {
    family: Family,
    scope: String,
    before: Option<Row>,
    write: Write,
    texts: Texts,
    now: u64,
    deadline: u64,
    response: Option<Vec<u8>>,
}

impl LateSwap {
    pub(super) fn new(request: &SwapRequest<'_>) -> Self {
        Self {
            family: request.family,
            scope: request.scope.to_owned(),
            before: request.before.cloned(),
            write: *request.write,
            texts: Texts::new(request.texts),
            now: request.now,
            deadline: request.deadline,
            response: request.response.map(<[u8]>::to_vec),
        }
    }

    /// Arrives at the store after that time; nobody waits for its reply.
    pub(super) fn send(self, store: Arc<dyn Store>, after: Duration) {
        tokio::spawn(async move {
            tokio::time::sleep(after).await;
            let texts = self.texts.borrowed();
            let request = SwapRequest {
                family: self.family,
                scope: &self.scope,
                before: self.before.as_ref(),
                write: &self.write,
                texts: &texts,
                now: self.now,
                deadline: self.deadline,
                response: self.response.as_deref(),
            };
            let _ = store.swap(request).await;
        });
    }
}
