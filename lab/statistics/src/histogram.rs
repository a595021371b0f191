//! Samples as a histogram of the HDR kind: small enough to be kept for every cell, and readable by
//! other tools of that kind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use thiserror::Error;

use crate::Distribution;

/// Three digits: an error of at most 0.1 %, which is below what repeats.
const DIGITS: u8 = 3;

/// Why a histogram cannot be read.
#[derive(Debug, Error)]
pub enum HistogramError {
    /// Only the quantiles were kept.
    #[error("there is no histogram, only quantiles")]
    Absent,
    /// Not text of the kind base64.
    #[error("the histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// Another form than V2, deflated, or damaged.
    #[error("the histogram is not one of the HDR kind (V2, deflated): {0:?}")]
    Form(hdrhistogram::serialization::DeserializeError),
}

/// The samples as text.
pub(super) fn encode(samples: &[u64]) -> String {
    let mut histogram = empty();
    for &sample in samples {
        histogram.record(sample).expect("it grows as far as samples reach");
    }
    text(&histogram)
}

/// A histogram as text.
pub(super) fn text(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect(
        "writing into memory does not fail, and a histogram of three digits is far below the form's limit",
    );
    STANDARD.encode(bytes)
}

/// The histogram that a text holds.
pub(super) fn decode(text: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = STANDARD.decode(text)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(HistogramError::Form)
}

/// All samples of these together; `None` where one has no histogram.
pub(super) fn sum(parts: &[&Distribution]) -> Option<Histogram<u64>> {
    let mut together = empty();
    for part in parts {
        together.add(part.histogram().ok()?).ok()?;
    }
    Some(together)
}

fn empty() -> Histogram<u64> {
    // It grows by itself up to the largest sample.
    Histogram::new(DIGITS).expect("three digits are within what the histogram can do")
}
