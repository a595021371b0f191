//! Checks of the versions and of the start of the engine.

use feros::{Context, ContextOptions};

use super::finding::Finding;

/// The findings, and the context if the engine started: the domain stays open for further checks,
/// and the engine's warnings are printed only once.
pub(super) fn examine() -> (Vec<Finding>, Option<Context>) {
    const AREA: &str = "engine";
    let mut findings = vec![Finding::ok("version", format!("feros {}", env!("CARGO_PKG_VERSION")))];
    let options = match ContextOptions::from_variables() {
        Ok(options) => options,
        // The finding about the environment reports this error.
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
            (findings, Some(context))
        }
        Err(error) => {
            let cure =
                "fix the errors above in this list; feros doctor --verbose shows the configuration";
            findings.push(Finding::error(AREA, error.to_string(), cure));
            (findings, None)
        }
    }
}
