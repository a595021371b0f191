//! Reports of runs that never were: what they say, how they look in a browser, and what becomes of damaged ones.
#![allow(clippy::unwrap_used, missing_docs)]

mod synthetic;

use feros_lab::report::{Report, Results};
use synthetic::Synthetic;

#[test]
fn sample_for_eyes() {
    let folder = std::path::PathBuf::from(std::env::var("SAMPLE").unwrap());
    Synthetic::new(7, 3).write(&folder);
    let results = Results::read(&folder).unwrap();
    Report::of(&results).write(&folder).unwrap();
}
