//! Stores samples as an HDR histogram, which is small enough to be kept for every cell, and
//! readable by other HDR tools.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use thiserror::Error;

use crate::Distribution;

/// Three digits: an error of at most 0.1 %, which is below the noise between repetitions.
const DIGITS: u8 = 3;

/// The reason why a histogram cannot be read.
#[derive(Debug, Error)]
pub enum HistogramError {
    /// There is no histogram: only the quantiles were kept.
    #[error("there is no histogram, only quantiles")]
    Absent,
    /// The text is not base64.
    #[error("the histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// The histogram is damaged, or is not in the format "V2, deflated".
    #[error("this is not an HDR histogram (V2, deflated): {0:?}")]
    Form(hdrhistogram::serialization::DeserializeError),
}

/// Encodes samples as the text of a histogram.
pub(super) fn encode(samples: &[u64]) -> String {
    let mut histogram = empty();
    for &sample in samples {
        histogram.record(sample).expect("the histogram grows up to the largest sample");
    }
    text(&histogram)
}

/// Encodes a histogram as text.
pub(super) fn text(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect(
        "writing into memory does not fail, and a histogram of three digits is far below the form's limit",
    );
    STANDARD.encode(bytes)
}

/// Decodes a histogram from its text.
pub(super) fn decode(text: &str) -> Result<Histogram<u64>, HistogramError> {
    let bytes = STANDARD.decode(text)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(HistogramError::Form)
}

/// The histogram of the samples of all parts together; `None` if a part has no histogram.
pub(super) fn sum(parts: &[&Distribution]) -> Option<Histogram<u64>> {
    let mut together = empty();
    for part in parts {
        together.add(part.histogram().ok()?).ok()?;
    }
    Some(together)
}

fn empty() -> Histogram<u64> {
    // The histogram grows automatically up to the largest sample.
    Histogram::new(DIGITS).expect("the histogram supports three digits")
}
