//! The parameters of one node, which are declared, set and read by the rules of rclcpp
//! (`rclcpp/src/rclcpp/node_interfaces/node_parameters.cpp`).

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use feros_sync::Mutex;

use crate::callbacks::{Callbacks, ParameterCallbackGuard};
use crate::change::{Change, ChangeKind, ChangeObserver};
use crate::change_queue::ChangeQueue;
use crate::descriptor::ParameterDescriptor;
use crate::error::{
    DeclareParameterError, GetParameterError, SetParameterError, UndeclareParameterError,
};
use crate::slot::Slot;
use crate::value::{NamedValue, ParameterType, ParameterValue};

/// The limit on the runs of on-set callbacks for one change. The callbacks run again if other
/// threads have changed parameters in the meantime.
const MAX_ATTEMPTS: u32 = 100;

/// The parameters of one node.
pub struct Store {
    allow_undeclared: bool,
    overrides: BTreeMap<String, ParameterValue>,
    state: Mutex<State>,
    callbacks: Arc<Callbacks>,
    changes: ChangeQueue,
}

#[derive(Default)]
struct State {
    /// The values are boxed, since each tree node of a `BTreeMap` reserves space for eleven
    /// values.
    declared: BTreeMap<String, Box<Declared>>,
    /// Counts changes, so that a validation notices changes that other threads make in the
    /// meantime.
    generation: u64,
}

struct Declared {
    /// The descriptor without its name, which is the key of the map.
    descriptor: ParameterDescriptor,
    slot: Arc<Slot>,
}

/// Names of parameters and their prefixes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParameterList {
    /// The names, in alphabetical order.
    pub names: Vec<String>,
    /// The part of each name before its last `.`; each prefix is listed once.
    pub prefixes: Vec<String>,
}

impl Store {
    /// Creates the empty store of the node with the name `node`. Parameters start with their values
    /// in `overrides` when they are declared; `observer` is notified of changes.
    pub fn new(
        node: String,
        allow_undeclared: bool,
        overrides: BTreeMap<String, ParameterValue>,
        observer: Arc<dyn ChangeObserver>,
    ) -> Self {
        Self {
            allow_undeclared,
            overrides,
            state: Mutex::default(),
            callbacks: Arc::default(),
            changes: ChangeQueue::new(node, observer),
        }
    }

    /// Returns the values that override the defaults of parameters.
    pub fn overrides(&self) -> &BTreeMap<String, ParameterValue> {
        &self.overrides
    }

    /// Declares a parameter. The parameter starts with the override for its name, if there is an
    /// override and `ignore_override` is false, and with `default` otherwise.
    pub(crate) fn declare(
        &self,
        mut descriptor: ParameterDescriptor,
        default: ParameterValue,
        ignore_override: bool,
    ) -> Result<Arc<Slot>, DeclareParameterError> {
        self.callbacks.refuse_within().map_err(DeclareParameterError::NotAllowed)?;
        let name = std::mem::take(&mut descriptor.name);
        if name.is_empty() {
            return Err(DeclareParameterError::NotAllowed(SetParameterError::EmptyName));
        }
        check_range(&name, &descriptor)?;
        let overriding = self.overrides.get(&name).filter(|_| !ignore_override);
        let overriding = overriding.cloned().map(|value| {
            let is_static = !descriptor.dynamic_typing;
            if is_static { value.as_declared(descriptor.parameter_type) } else { value }
        });
        let initial = vec![(name.clone(), overriding.unwrap_or(default))];
        let refuse = |source| DeclareParameterError::Value { name: name.clone(), source };
        let has_value = !initial[0].1.is_not_set();
        if has_value {
            descriptor.check(&name, &initial[0].1).map_err(refuse)?;
        }
        check_nul(&initial[0]).map_err(refuse)?;
        for _ in 0..MAX_ATTEMPTS {
            let seen = {
                let state = self.state.lock();
                if state.declared.contains_key(&name) {
                    return Err(DeclareParameterError::AlreadyDeclared { name });
                }
                state.generation
            };
            if has_value {
                self.callbacks.on_set(&initial).map_err(refuse)?;
            }
            let mut state = self.state.lock();
            if state.generation != seen {
                continue;
            }
            let slot = state.insert(name, descriptor, initial[0].1.clone());
            state.generation += 1;
            if has_value {
                self.changes.push(Change { parameters: initial, kinds: vec![ChangeKind::New] });
            }
            drop(state);
            self.changes.deliver(&self.callbacks);
            return Ok(slot);
        }
        Err(refuse(SetParameterError::Contended { attempts: MAX_ATTEMPTS }))
    }

    /// Declares a dynamically typed parameter for every override that has no declared parameter
    /// yet.
    ///
    /// # Errors
    /// When an on-set callback refuses a value.
    pub fn declare_overrides(&self) -> Result<(), DeclareParameterError> {
        for (name, value) in &self.overrides {
            if !self.is_declared(name) {
                let descriptor = ParameterDescriptor {
                    name: name.clone(),
                    dynamic_typing: true,
                    ..Default::default()
                };
                self.declare(descriptor, value.clone(), true)?;
            }
        }
        Ok(())
    }

    /// Undeclares a parameter.
    ///
    /// # Errors
    /// When the parameter is not declared, is read-only or is statically typed.
    pub fn undeclare(&self, name: &str) -> Result<(), UndeclareParameterError> {
        self.callbacks.refuse_within().map_err(UndeclareParameterError::NotAllowed)?;
        let mut state = self.state.lock();
        let name = || name.to_owned();
        match state.declared.get(&name()).map(|declared| &declared.descriptor) {
            None => Err(UndeclareParameterError::NotDeclared { name: name() }),
            Some(descriptor) if descriptor.read_only => {
                Err(UndeclareParameterError::ReadOnly { name: name() })
            }
            Some(descriptor) if !descriptor.dynamic_typing => {
                Err(UndeclareParameterError::StaticallyTyped { name: name() })
            }
            Some(_) => {
                state.declared.remove(&name());
                state.generation += 1;
                let parameters = vec![(name(), ParameterValue::NotSet)];
                self.changes.push(Change { parameters, kinds: vec![ChangeKind::Undeclared] });
                drop(state);
                self.changes.deliver(&self.callbacks);
                Ok(())
            }
        }
    }

    /// Whether a parameter is declared.
    pub fn is_declared(&self, name: &str) -> bool {
        self.state.lock().declared.contains_key(name)
    }

    /// Sets all of these parameters, or no parameter if one of them cannot be set.
    ///
    /// # Errors
    /// When a parameter is not declared, is read-only, has another type, is out of range or is
    /// refused by an on-set callback; the error names the first such parameter.
    pub fn set(&self, mut parameters: Vec<NamedValue>) -> Result<(), SetParameterError> {
        self.callbacks.refuse_within()?;
        self.callbacks.pre_set(&mut parameters);
        if parameters.is_empty() {
            return Err(SetParameterError::EmptyList);
        }
        for _ in 0..MAX_ATTEMPTS {
            let seen = {
                let state = self.state.lock();
                self.check(&state, &parameters)?;
                state.generation
            };
            self.callbacks.on_set(&parameters)?;
            let mut state = self.state.lock();
            if state.generation != seen {
                continue;
            }
            let kinds = parameters.iter().map(|(name, value)| state.set(name, value)).collect();
            state.generation += 1;
            self.changes.push(Change { parameters, kinds });
            drop(state);
            self.changes.deliver(&self.callbacks);
            return Ok(());
        }
        Err(SetParameterError::Contended { attempts: MAX_ATTEMPTS })
    }

    /// Checks these values against the declarations of their parameters, without the callbacks.
    fn check(&self, state: &State, parameters: &[NamedValue]) -> Result<(), SetParameterError> {
        for (name, _) in parameters {
            if name.is_empty() {
                return Err(SetParameterError::EmptyName);
            }
            match state.declared.get(name) {
                None if !self.allow_undeclared => {
                    return Err(SetParameterError::NotDeclared { name: name.clone() });
                }
                Some(declared) if declared.descriptor.read_only => {
                    return Err(SetParameterError::ReadOnly { name: name.clone() });
                }
                _ => {}
            }
        }
        for parameter in parameters {
            let (name, value) = parameter;
            check_nul(parameter)?;
            // A parameter that is declared only by this change takes any value.
            let Some(declared) = state.declared.get(name) else { continue };
            let takes_away = value.is_not_set() && !declared.slot.value().is_not_set();
            if takes_away && !declared.descriptor.dynamic_typing {
                return Err(SetParameterError::StaticallyTyped { name: name.clone() });
            }
            declared.descriptor.check(name, value)?;
        }
        Ok(())
    }

    /// Returns the value of a parameter; `NotSet` if the parameter does not exist and undeclared
    /// parameters are allowed.
    ///
    /// # Errors
    /// When the parameter does not exist and undeclared parameters are not allowed, or when it has
    /// a static type and no value.
    pub fn get(&self, name: &str) -> Result<ParameterValue, GetParameterError> {
        self.get_in(&self.state.lock(), name)
    }

    /// Returns the values that several parameters have at the same moment.
    ///
    /// # Errors
    /// Like [`Store::get`], for the first parameter that fails.
    pub fn get_all<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<ParameterValue>, GetParameterError> {
        let state = self.state.lock();
        names.into_iter().map(|name| self.get_in(&state, name)).collect()
    }

    fn get_in(&self, state: &State, name: &str) -> Result<ParameterValue, GetParameterError> {
        let not_declared = || GetParameterError::NotDeclared { name: name.to_owned() };
        match state.declared.get(name) {
            Some(declared) => match &*declared.slot.value() {
                ParameterValue::NotSet if !declared.descriptor.dynamic_typing => {
                    Err(GetParameterError::NotInitialized { name: name.to_owned() })
                }
                value => Ok(value.clone()),
            },
            None if self.allow_undeclared => Ok(ParameterValue::NotSet),
            None => Err(not_declared()),
        }
    }

    /// Returns the parameters whose names begin with `prefix.`, keyed by the rest of the name. With
    /// an empty prefix, returns all parameters.
    pub fn get_by_prefix(&self, prefix: &str) -> BTreeMap<String, ParameterValue> {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}.") };
        let state = self.state.lock();
        let named = state
            .declared
            .range(prefix.clone()..)
            .take_while(|(name, _)| name.starts_with(&prefix));
        let below = named.filter(|(name, _)| name.len() > prefix.len());
        below
            .map(|(name, found)| (name[prefix.len()..].to_owned(), (*found.slot.value()).clone()))
            .collect()
    }

    /// Returns the types of the present values of parameters.
    ///
    /// # Errors
    /// When a parameter does not exist and undeclared parameters are not allowed.
    pub fn types(&self, names: &[String]) -> Result<Vec<ParameterType>, GetParameterError> {
        let state = self.state.lock();
        let parameter_type = |name: &String| match state.declared.get(name) {
            Some(declared) => Ok(declared.slot.value().parameter_type()),
            None if self.allow_undeclared => Ok(ParameterType::NotSet),
            None => Err(GetParameterError::NotDeclared { name: name.clone() }),
        };
        names.iter().map(parameter_type).collect()
    }

    /// Returns the descriptors of parameters.
    ///
    /// # Errors
    /// The same as for [`Store::types`].
    pub fn describe(
        &self,
        names: &[String],
    ) -> Result<Vec<ParameterDescriptor>, GetParameterError> {
        let state = self.state.lock();
        let describe = |name: &String| match state.declared.get(name) {
            Some(declared) => {
                Ok(ParameterDescriptor { name: name.clone(), ..declared.descriptor.clone() })
            }
            None if self.allow_undeclared => {
                Ok(ParameterDescriptor { name: name.clone(), ..ParameterDescriptor::default() })
            }
            None => Err(GetParameterError::NotDeclared { name: name.clone() }),
        };
        names.iter().map(describe).collect()
    }

    /// Lists the parameters below any of the prefixes, at most `depth` name parts deep; a depth of
    /// 0 means any depth. Without prefixes, lists from the root.
    pub fn list(&self, prefixes: &[String], depth: u64) -> ParameterList {
        let near =
            |rest: &str| depth == 0 || (rest.bytes().filter(|b| *b == b'.').count() as u64) < depth;
        let is_below = |name: &str, prefix: &String| match name.strip_prefix(prefix.as_str()) {
            Some("") => true,
            Some(rest) => rest.strip_prefix('.').is_some_and(near),
            None => false,
        };
        let wanted = |name: &&String| {
            if prefixes.is_empty() {
                near(name)
            } else {
                prefixes.iter().any(|prefix| is_below(name, prefix))
            }
        };
        let state = self.state.lock();
        let names: Vec<String> = state.declared.keys().filter(wanted).cloned().collect();
        drop(state);
        let mut seen = HashSet::new();
        let found = names.iter().filter_map(|name| name.rsplit_once('.')).map(|(prefix, _)| prefix);
        let prefixes = found.filter(|prefix| seen.insert(*prefix)).map(str::to_owned).collect();
        ParameterList { names, prefixes }
    }

    /// Calls `callback` with the new values before parameters are set; `callback` may change, add
    /// and remove values.
    pub fn add_pre_set_callback(
        &self,
        callback: impl Fn(&mut Vec<NamedValue>) + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.callbacks.add_pre_set(Arc::new(callback))
    }

    /// Calls `callback` with the new values before parameters are set or declared; an error from
    /// `callback` refuses the values and gives the reason.
    pub fn add_on_set_callback(
        &self,
        callback: impl Fn(&[NamedValue]) -> Result<(), String> + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.callbacks.add_on_set(Arc::new(callback))
    }

    /// Calls `callback` after parameters have been set or declared, in the order of the changes.
    pub fn add_post_set_callback(
        &self,
        callback: impl Fn(&[NamedValue]) + Send + Sync + 'static,
    ) -> ParameterCallbackGuard {
        self.callbacks.add_post_set(Arc::new(callback))
    }
}

impl State {
    fn insert(
        &mut self,
        name: String,
        mut descriptor: ParameterDescriptor,
        value: ParameterValue,
    ) -> Arc<Slot> {
        if descriptor.dynamic_typing {
            descriptor.parameter_type = value.parameter_type();
        }
        let slot = Arc::new(Slot::new(value));
        self.declared.insert(name, Box::new(Declared { descriptor, slot: slot.clone() }));
        slot
    }

    /// Sets a parameter whose value has passed the checks.
    fn set(&mut self, name: &str, value: &ParameterValue) -> ChangeKind {
        let Some(declared) = self.declared.get_mut(name) else {
            let descriptor =
                ParameterDescriptor { dynamic_typing: true, ..ParameterDescriptor::default() };
            self.insert(name.to_owned(), descriptor, value.clone());
            return if value.is_not_set() {
                ChangeKind::DeclaredWithoutValue
            } else {
                ChangeKind::New
            };
        };
        if value.is_not_set() && !declared.slot.value().is_not_set() {
            declared.slot.set(ParameterValue::NotSet);
            self.declared.remove(name);
            return ChangeKind::Deleted;
        }
        declared.descriptor.parameter_type = value.parameter_type();
        declared.slot.set(value.clone());
        ChangeKind::Changed
    }
}

/// Refuses strings with a NUL character, which cannot be sent.
fn check_nul((name, value): &NamedValue) -> Result<(), SetParameterError> {
    let has_nul = |text: &String| text.contains('\0');
    let found = match value {
        ParameterValue::String(text) => has_nul(text),
        ParameterValue::StringArray(texts) => texts.iter().any(has_nul),
        _ => false,
    };
    if found || has_nul(name) {
        Err(SetParameterError::Nul { name: name.replace('\0', "?") })
    } else {
        Ok(())
    }
}

fn check_range(name: &str, descriptor: &ParameterDescriptor) -> Result<(), DeclareParameterError> {
    let refuse = |range: String| Err(DeclareParameterError::Range { name: name.to_owned(), range });
    match (&descriptor.integer_range, &descriptor.floating_point_range) {
        (Some(range), _) if range.from_value > range.to_value => {
            refuse(format!("{} to {}", range.from_value, range.to_value))
        }
        (_, Some(range)) if !(range.from_value <= range.to_value && range.step >= 0.0) => {
            refuse(format!("{} to {} by {}", range.from_value, range.to_value, range.step))
        }
        _ => Ok(()),
    }
}
