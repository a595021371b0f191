//! The engines that are built into this program, and the choice of the engine for a context.
//!
//! # Invariants
//!
//! Nothing above this crate imports the crate of an engine, except the command for the router of
//! Zenoh. The feature of an engine adds that engine, and does not change any other engine.

use std::sync::Arc;

use feros_engine::Engine;
use feros_engine::engine::known;
use feros_engine_pair::PairEngine;

/// The engines that Feros has. The default engine is first. For each engine, there is a feature
/// with the same name. [`engines`] returns the engines that are built into this program.
pub const ENGINE_NAMES: [&str; known::ALL.len()] = {
    let mut names = [""; known::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = known::ALL[at].name;
        at += 1;
    }
    names
};

/// The variable that names the engine, or a pair of engines (`cyclonedds,zenoh`), for contexts that
/// do not choose an engine themselves.
pub const ENGINE_VARIABLE: &str = "FEROS_ENGINE";

/// The reason why a context cannot use the requested engine or pair of engines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine is not in this program.
    #[error("there is no engine {name:?} in this program; it has: {available}. {cure}")]
    Unknown {
        /// The requested engine.
        name: String,
        /// The available engines.
        available: String,
        /// How to get the engine.
        cure: String,
    },
    /// The two engines cannot be combined.
    #[error("the engines {names} cannot be combined: {reason}")]
    NoPair {
        /// The requested engines.
        names: String,
        /// The reason why they cannot be combined, and what to do.
        reason: String,
    },
}

/// The engines that are built into this program. The default engine is first.
pub fn engines() -> Vec<Arc<dyn Engine>> {
    vec![
        #[cfg(feature = "cyclonedds")]
        Arc::new(feros_cyclonedds::CycloneEngine),
        #[cfg(feature = "fastdds")]
        Arc::new(feros_fastdds::FastDdsEngine),
        #[cfg(feature = "ros1")]
        Arc::new(feros_ros1_master::Ros1Engine),
        #[cfg(feature = "zenoh")]
        Arc::new(feros_zenoh::ZenohEngine),
    ]
}

/// Returns the engine with this name for a context. A name such as `cyclonedds,zenoh` returns a
/// pair of engines, in which the first engine has precedence.
///
/// # Errors
/// Returns an error if the engine is not built into this program; the error names the available
/// engines and how to get this engine. Also returns an error if more than two engines are named, if
/// the same engine is named twice, or if the two engines cannot be combined.
///
/// ```
/// # #[cfg(feature = "cyclonedds")]
/// assert_eq!(feros_engine_list::engine("cyclonedds")?.name(), "cyclonedds");
/// let error = feros_engine_list::engine("cyclonedds,fastdds").map(drop).expect_err("both speak DDS");
/// assert!(error.to_string().contains("Choose one of them"));
/// # Ok::<(), feros_engine_list::EngineError>(())
/// ```
pub fn engine(name: &str) -> Result<Arc<dyn Engine>, EngineError> {
    let names: Vec<&str> = name.split(',').collect();
    let are_few = matches!(names[..], [_]) || matches!(names[..], [one, other] if one != other);
    if !are_few {
        let pair = known::example_pair();
        let cure = format!("A context has one engine, or two different ones, such as {pair}");
        return Err(unknown(name, cure));
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

/// The reason why two engines cannot be combined, no matter whether they are in this program.
/// Returns `None` if they can be combined, or if `names` are not two known engines.
fn why_no_pair(names: &[&str]) -> Option<String> {
    let [first, second] = names else { return None };
    known::by_name(first)?.why_no_pair(&known::by_name(second)?)
}

fn unknown(name: &str, cure: String) -> EngineError {
    let available: Vec<_> = engines().iter().map(|engine| engine.name()).collect();
    EngineError::Unknown {
        name: name.chars().take(64).collect(),
        available: available.join(", "),
        cure,
    }
}

/// The error for engines that are not in this program. It says either that a name is unknown to
/// Feros, or how to get the missing engines.
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

/// The engine for contexts that do not choose an engine: the engine that [`ENGINE_VARIABLE`] names,
/// or the first engine if the variable is not set.
///
/// # Errors
/// Returns an error if the variable names an engine that is not built into this program.
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
            let says = format!("the engines {pair} cannot be combined: ros1 announces nothing");
            assert!(error.starts_with(&says) && error.contains("`feros ros1 bridge`"), "{error}");
        }
        for pair in ["cyclonedds,fastdds", "fastdds,cyclonedds"] {
            let error = engine(pair).err().unwrap().to_string();
            let says = format!("the engines {pair} cannot be combined: both speak DDS");
            assert!(error.starts_with(&says), "{error}");
        }
        let pairs =
            [("cyclonedds,zeno", "\"zeno\""), ("cyclonedds,cyclonedds", "two different ones")];
        for (pair, says) in pairs.into_iter().chain([("a,b,c", "two different ones")]) {
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
