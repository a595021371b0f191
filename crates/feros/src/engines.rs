//! The engines of this program, and which of them a context gets.

use std::sync::Arc;

use feros_engine_pair::PairEngine;
use feros_rmw::Engine;

/// The engines that Feros has, the default first. Each is a feature of the crate with the engine's
/// name; [`engines`] are those that this program was built with.
pub const ENGINE_NAMES: [&str; 4] = ["cyclonedds", "fastdds", "ros1", "zenoh"];

/// The variable that names the engine of contexts that ask for none, or two of them:
/// `cyclonedds,zenoh`.
pub const ENGINE_VARIABLE: &str = "FEROS_ENGINE";

/// An engine that this program has not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no engine {name:?} in this program; it has: {available}. {cure}")]
pub struct UnknownEngine {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub available: String,
    /// How to get it.
    pub cure: String,
}

/// The engines that are built into this program, the default first.
pub fn engines() -> Vec<Arc<dyn Engine>> {
    vec![
        #[cfg(feature = "cyclonedds")]
        Arc::new(feros_rmw_cyclonedds::CycloneEngine),
        #[cfg(feature = "fastdds")]
        Arc::new(feros_rmw_fastdds::FastDdsEngine),
        #[cfg(feature = "ros1")]
        Arc::new(feros_rmw_ros1::Ros1Engine),
        #[cfg(feature = "zenoh")]
        Arc::new(feros_rmw_zenoh::ZenohEngine),
    ]
}

/// The engine of this name, for [`ContextOptions::engine`](crate::ContextOptions::engine), or two
/// as one, such as `cyclonedds,zenoh`: the first one of these is asked first.
///
/// # Errors
/// When it is not built into this program; the error says what is and how to get it. Or when they
/// are more than two, or the same twice.
///
/// ```
/// use feros::{ContextOptions, engine};
/// let options = ContextOptions::from_variables()?;
/// let options = ContextOptions { engine: Some(engine("cyclonedds")?), ..options };
/// # Ok::<(), feros::Error>(())
/// ```
pub fn engine(name: &str) -> Result<Arc<dyn Engine>, UnknownEngine> {
    let names: Vec<&str> = name.split(',').collect();
    let are_few = matches!(names[..], [_]) || matches!(names[..], [one, other] if one != other);
    if !are_few {
        let cure = "A context has one engine, or two that differ, such as cyclonedds,zenoh";
        return Err(unknown(name, cure.to_owned()));
    }
    let engines = engines();
    let is_missing = |name: &&str| engines.iter().all(|engine| engine.name() != *name);
    let missing: Vec<&str> = names.iter().copied().filter(is_missing).collect();
    if !missing.is_empty() {
        return Err(why_missing(&missing));
    }
    let found = |name: &str| engines.iter().find(|engine| engine.name() == name).cloned();
    let mut found = names.iter().filter_map(|name| found(name));
    match (found.next(), found.next()) {
        (Some(first), Some(second)) => Ok(Arc::new(PairEngine::new([first, second]))),
        (Some(one), None) => Ok(one),
        (None, _) => Err(why_missing(&names)),
    }
}

fn unknown(name: &str, cure: String) -> UnknownEngine {
    let available: Vec<_> = engines().iter().map(|engine| engine.name()).collect();
    UnknownEngine { name: name.chars().take(64).collect(), available: available.join(", "), cure }
}

/// Which ones Feros has not at all; else how to get all that are missing.
fn why_missing(names: &[&str]) -> UnknownEngine {
    if let Some(name) = names.iter().find(|name| !ENGINE_NAMES.contains(name)) {
        let all = ENGINE_NAMES.join(", ");
        return unknown(name, format!("Feros has: {all} ({ENGINE_VARIABLE})"));
    }
    let name = names.join(",");
    let cure = format!(
        "Build {} in: `cargo build --features {name}` for the command, `feros = {{ features = [\"{}\"] }}` in the \
         Cargo.toml of a program",
        if names.len() == 1 { "it" } else { "both" },
        names.join("\", \"")
    );
    unknown(&name, cure)
}

/// The engine that contexts get that ask for none: that of the environment, or the first.
///
/// # Errors
/// When the environment names one that is not built into this program.
pub fn chosen_engine() -> Result<Arc<dyn Engine>, UnknownEngine> {
    let wanted = std::env::var_os(ENGINE_VARIABLE).filter(|name| !name.is_empty());
    match (wanted, engines().first()) {
        (Some(name), _) => engine(&name.to_string_lossy()),
        (None, Some(first)) => Ok(first.clone()),
        (None, None) => engine(ENGINE_NAMES[0]),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn engines_are_found_by_name_or_it_is_said_how_to_get_them() {
        for built_in in engines() {
            assert_eq!(engine(built_in.name()).unwrap().name(), built_in.name());
            assert!(ENGINE_NAMES.contains(&built_in.name()));
        }
        for name in ENGINE_NAMES {
            let Err(error) = engine(name) else { continue };
            assert!(error.to_string().contains(&format!("--features {name}`")), "{error}");
        }
        let missing: Vec<_> =
            ENGINE_NAMES.into_iter().filter(|name| engine(name).is_err()).collect();
        if let [first, second, ..] = missing[..] {
            let error = engine(&format!("{first},{second}")).err().unwrap().to_string();
            let flags = format!("--features {first},{second}`");
            assert!(error.contains("Build both in") && error.contains(&flags), "{error}");
        }
        let pairs = [("cyclonedds,zeno", "\"zeno\""), ("cyclonedds,cyclonedds", "two that differ")];
        for (pair, says) in pairs.into_iter().chain([("a,b,c", "two that differ")]) {
            let error = engine(pair).err().unwrap().to_string();
            assert!(error.contains(says), "{error}");
        }
        let error = engine("zeno").err().unwrap().to_string();
        assert!(
            error.contains("\"zeno\"") && error.contains("cyclonedds, fastdds, ros1, zenoh"),
            "{error}"
        );
    }
}
