//! Versions, and whether the engine starts.

use feros::{Context, ContextOptions};

use super::finding::Finding;

/// What was found, and the engine's configuration if it started.
pub(super) fn examine() -> (Vec<Finding>, Option<String>) {
    const AREA: &str = "engine";
    let mut findings = vec![Finding::ok("version", format!("feros {}", env!("CARGO_PKG_VERSION")))];
    let options = match ContextOptions::from_variables() {
        Ok(options) => options,
        // The environment's own finding says it.
        Err(_) => return (findings, None),
    };
    match Context::new(options) {
        Ok(context) => {
            let session = context.session();
            findings.push(Finding::ok(
                AREA,
                format!(
                    "{} {} started in domain {}",
                    session.engine_name(),
                    session.engine_version(),
                    session.domain_id()
                ),
            ));
            (findings, Some(session.configuration()))
        }
        Err(error) => {
            let cure = "mend what is said before in this list; feros doctor --verbose shows the configuration";
            findings.push(Finding::error(AREA, error.to_string(), cure));
            (findings, None)
        }
    }
}
