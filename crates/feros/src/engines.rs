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

/// Why a context cannot have the engine, or the two, that were asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// An engine that this program has not.
    #[error("there is no engine {name:?} in this program; it has: {available}. {cure}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        available: String,
        /// How to get it.
        cure: String,
    },
    /// Two engines that cannot be one.
    #[error("the engines {names} cannot be one: {reason}")]
    NoPair {
        /// What was asked for.
        names: String,
        /// Why, and what to do.
        reason: &'static str,
    },
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
/// are more than two, the same twice, or two that cannot be one.
///
/// ```
/// use feros::{ContextOptions, engine};
/// let options = ContextOptions::from_variables()?;
/// let options = ContextOptions { engine: Some(engine("cyclonedds")?), ..options };
/// # Ok::<(), feros::Error>(())
/// ```
pub fn engine(name: &str) -> Result<Arc<dyn Engine>, EngineError> {
    let names: Vec<&str> = name.split(',').collect();
    let are_few = matches!(names[..], [_]) || matches!(names[..], [one, other] if one != other);
    if !are_few {
        let cure = "A context has one engine, or two that differ, such as cyclonedds,zenoh";
        return Err(unknown(name, cure.to_owned()));
    }
    if let Some(reason) = why_no_pair(&names) {
        return Err(EngineError::NoPair { names: names.join(","), reason });
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

/// Why these, if they are two, cannot be one, whether they are in this program or not.
fn why_no_pair(names: &[&str]) -> Option<&'static str> {
    let has = |name| names.contains(&name);
    match names {
        // Twins know each other by what they announce.
        [_, _] if has("ros1") => Some(
            "ros1 announces nothing to other processes, so two programs on both would hear each message twice. Choose one \
             of them; `feros ros1 bridge` joins ROS 1 and the others",
        ),
        [_, _] if has("cyclonedds") && has("fastdds") => Some(
            "both speak DDS, so in one domain everybody would meet each endpoint twice: a server would be asked twice, and \
             what is latched would come twice. Choose one of them; each reaches all nodes on DDS",
        ),
        _ => None,
    }
}

fn unknown(name: &str, cure: String) -> EngineError {
    let available: Vec<_> = engines().iter().map(|engine| engine.name()).collect();
    EngineError::Unknown {
        name: name.chars().take(64).collect(),
        available: available.join(", "),
        cure,
    }
}

/// Which ones Feros has not at all; else how to get all that are missing.
fn why_missing(names: &[&str]) -> EngineError {
    if let Some(name) = names.iter().find(|name| !ENGINE_NAMES.contains(name)) {
        let all = ENGINE_NAMES.join(", ");
        return unknown(name, format!("Feros has: {all} ({ENGINE_VARIABLE})"));
    }
    let name = names.join(",");
    let cure = format!(
        "Build {} in: `cargo build --features {name}` for the command, `feros = {{ features = [\"{}\"] }}` in the \
         Cargo.toml of a program, `scripts/build_wheel.sh --features {name}` for Python",
        if names.len() == 1 { "it" } else { "both" },
        names.join("\", \"")
    );
    unknown(&name, cure)
}

/// The engine that contexts get that ask for none: that of the environment, or the first.
///
/// # Errors
/// When the environment names one that is not built into this program.
pub fn chosen_engine() -> Result<Arc<dyn Engine>, EngineError> {
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
        let pair = missing.iter().flat_map(|one| missing.iter().map(move |other| [*one, *other]));
        let pair =
            pair.filter(|[one, other]| one != other && why_no_pair(&[*one, *other]).is_none());
        for [first, second] in pair {
            let error = engine(&format!("{first},{second}")).err().unwrap().to_string();
            let flags = format!("--features {first},{second}`");
            assert!(error.contains("Build both in") && error.contains(&flags), "{error}");
        }
        for pair in ["cyclonedds,ros1", "ros1,fastdds", "zenoh,ros1"] {
            let error = engine(pair).err().unwrap().to_string();
            let says = format!("the engines {pair} cannot be one: ros1 announces nothing");
            assert!(error.starts_with(&says) && error.contains("`feros ros1 bridge`"), "{error}");
        }
        for pair in ["cyclonedds,fastdds", "fastdds,cyclonedds"] {
            let error = engine(pair).err().unwrap().to_string();
            let says = format!("the engines {pair} cannot be one: both speak DDS");
            assert!(error.starts_with(&says), "{error}");
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
