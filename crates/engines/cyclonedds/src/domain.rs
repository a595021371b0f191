//! The domains of this process. In each process, Cyclone DDS has one configuration and one set of
//! sockets and threads for each domain id. All sessions of the domain with the same configuration
//! share them. Sessions with another configuration, such as another discovery range, get a domain
//! of their own in the engine: its id is free in this process, and its configuration names the
//! domain's id on the network. Like the stacks of two processes, the two communicate over the
//! network, as far as their ranges allow it. rmw_fastrtps accepts contexts with different ranges,
//! and rmw_cyclonedds refuses them.

use feros_sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Once;

use feros_cyclonedds_sys as sys;
use feros_engine::engine::{LOG_TARGET, meeting_points};
use feros_engine::{DiscoveryRange, OpenError, SessionOptions};

use crate::c_string::c_string;
use crate::config::{self, Circumstances, largest_participant_index};
use crate::dds::{Code, Entity};
use crate::neighbours::Neighbours;

/// The name of the engine.
pub(crate) const ENGINE_NAME: &str = feros_engine::engine::known::CYCLONEDDS.name;
/// The version of the source code that `feros-cyclonedds-sys` builds.
pub(crate) const ENGINE_VERSION: &str = "11.0.0";

/// The limit on the memory of freed samples that a domain keeps for later samples, in bytes.
const RETAINED_BYTES: usize = 32 << 20;
/// The largest number of threads that a domain may have: three threads that receive, one for timed
/// events, two that deliver, one that collects garbage, and one more that a configuration may add.
const MOST_THREADS: usize = 8;
/// The largest domain id whose ports exist.
const LARGEST_DOMAIN_ID: u32 = 232;
/// The first id that the engine is given for a domain whose own id is in use with another
/// configuration. No domain has this id on the network.
const FIRST_FREE_ID: u32 = 1000;
const _: () = assert!(FIRST_FREE_ID > LARGEST_DOMAIN_ID);

/// The memory of samples, which all endpoints of a domain share.
#[derive(Debug)]
pub(crate) struct Pool(NonNull<sys::feros_pool>);

// SAFETY: the pool counts its references atomically and protects everything else with a mutex.
unsafe impl Send for Pool {}
// SAFETY: see above.
unsafe impl Sync for Pool {}

impl Pool {
    fn new() -> Self {
        // SAFETY: the call has no preconditions.
        let pool = unsafe { sys::feros_pool_new(RETAINED_BYTES) };
        Self(NonNull::new(pool).expect("a few hundred bytes can be allocated"))
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::feros_pool {
        self.0.as_ptr()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: this releases the reference that `new` has got. Samples hold their own
        // references.
        unsafe { sys::feros_pool_unref(self.0.as_ptr()) }
    }
}

struct Open {
    // The entity is dropped before the pool. Its sertypes hold their own references to the pool.
    _entity: Entity,
    // Dropped after the entity, whose deletion still calls them.
    neighbours: Option<std::sync::Arc<Neighbours>>,
    pool: std::sync::Arc<Pool>,
    /// The id of the domain on the network.
    domain_id: u32,
    /// The configuration that the sessions ask for.
    asked: String,
    /// The configuration that the engine has.
    configuration: String,
    users: usize,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(neighbours) = &self.neighbours {
            neighbours.close();
        }
    }
}

/// The domains that are open now, by the id that they have in the engine. The lock is held while a
/// domain is opened or closed, so a domain cannot be opened while it is being closed.
static OPEN: Mutex<Option<HashMap<u32, Open>>> = Mutex::new(None);

fn open_domains() -> MutexGuard<'static, Option<HashMap<u32, Open>>> {
    OPEN.lock()
}

/// A reference to an open domain. Dropping the last reference closes the domain.
#[derive(Debug)]
pub(crate) struct Domain {
    /// The id that the domain has in the engine.
    pub(crate) engine_id: u32,
    pub(crate) pool: std::sync::Arc<Pool>,
    pub(crate) configuration: String,
    /// `None` if all processes of this host are found by the network.
    pub(crate) neighbours: Option<std::sync::Arc<Neighbours>>,
}

impl Domain {
    pub(crate) fn open(
        options: &SessionOptions,
        user_configuration: Option<&str>,
    ) -> Result<Self, OpenError> {
        let id = options.domain_id;
        if largest_participant_index(id).is_none() {
            return Err(OpenError::DomainId {
                domain_id: id,
                largest: LARGEST_DOMAIN_ID,
                engine: ENGINE_NAME,
            });
        }
        let circumstances = Circumstances {
            options,
            interfaces: &config::interfaces(),
            user_configuration,
            process_id: std::process::id(),
        };
        let configuration = config::configuration(&circumstances);
        let (domain, said) = share(options, &configuration, user_configuration.is_some())?;
        if let Some(said) = said {
            crate::peers::warn_of_others(options);
            said.iter().for_each(log::Line::say);
        }
        crate::multicast::warn_if_impossible(&circumstances);
        Ok(domain)
    }
}

/// Returns a reference to the domain, and the engine's log if this call opened the domain.
fn share(
    options: &SessionOptions,
    asked: &str,
    user_configured: bool,
) -> Result<(Domain, Option<Vec<log::Line>>), OpenError> {
    let id = options.domain_id;
    let is_alone = options.discovery_range == DiscoveryRange::Off;
    let mut domains = open_domains();
    let domains = domains.get_or_insert_default();
    let same = |open: &Open| open.domain_id == id && open.asked == asked;
    let shared = domains.iter().find(|(_, open)| same(open)).map(|(engine_id, _)| *engine_id);
    let engine_id = shared.unwrap_or_else(|| free_id(id, |id| domains.contains_key(&id)));
    let mut said = None;
    let open = match domains.entry(engine_id) {
        std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
        std::collections::hash_map::Entry::Vacant(entry) => {
            let configuration = if engine_id == id {
                asked.to_owned()
            } else {
                config::with_domain_id_on_the_network(id, asked)
            };
            let neighbours = if is_alone { None } else { Neighbours::join(id, asked) };
            let create =
                || create_with(id, engine_id, &configuration, user_configured, neighbours.as_ref());
            let created = with_role(role(options), create);
            if let Some(neighbours) = &neighbours {
                neighbours.created(created.as_ref().ok().map(|(entity, _)| entity.handle()));
            }
            let (entity, lines) = created?;
            said = Some(lines);
            entry.insert(Open {
                _entity: entity,
                neighbours: neighbours.map(std::sync::Arc::new),
                pool: std::sync::Arc::new(Pool::new()),
                domain_id: id,
                asked: asked.to_owned(),
                configuration,
                users: 0,
            })
        }
    };
    open.users += 1;
    let (pool, configuration) = (open.pool.clone(), open.configuration.clone());
    let neighbours = open.neighbours.clone();
    Ok((Domain { engine_id, pool, configuration, neighbours }, said))
}

/// Returns the domain's own id if it is not in use in the engine, and another free id otherwise.
fn free_id(domain_id: u32, is_used: impl Fn(u32) -> bool) -> u32 {
    let mut ids = std::iter::once(domain_id).chain(FIRST_FREE_ID..);
    ids.find(|id| !is_used(*id)).unwrap_or(domain_id)
}

impl Drop for Domain {
    fn drop(&mut self) {
        let mut domains = open_domains();
        let Some(domains) = domains.as_mut() else { return };
        if let Some(open) = domains.get_mut(&self.engine_id) {
            open.users -= 1;
            if open.users == 0 {
                domains.remove(&self.engine_id);
            }
        }
    }
}

/// Checks that the operating system can start as many threads as the engine may need. If it cannot,
/// the engine would end the process with SIGABRT and without a message.
fn check_threads() -> std::io::Result<()> {
    let gate = Mutex::new(());
    std::thread::scope(|scope| {
        let closed = gate.lock();
        let probe = || drop(gate.lock());
        let spawn = |_| std::thread::Builder::new().name("probe".into()).spawn_scoped(scope, probe);
        let spawned = (0..MOST_THREADS).try_for_each(|number| spawn(number).map(drop));
        drop(closed);
        spawned
    })
}

/// The role at meeting points of a domain with these options. See
/// `engine/feros_introductions.h` of the crate with the engine.
fn role(options: &SessionOptions) -> u32 {
    if options.meeting_points.is_empty() || options.discovery_range == DiscoveryRange::Off {
        sys::FEROS_MEETS_NOBODY
    } else if options.meeting_points.iter().any(|host| meeting_points::is_this_host(host)) {
        sys::FEROS_INTRODUCES
    } else {
        sys::FEROS_MEETS
    }
}

/// Creates a domain with this role.
fn with_role<T>(role: u32, create: impl FnOnce() -> T) -> T {
    // SAFETY: this sets a variable of this thread.
    let set = |role| unsafe { sys::feros_introductions_of_next_domain(role) };
    set(role);
    let created = create();
    set(sys::FEROS_MEETS_NOBODY);
    created
}

/// Creates the domain with these neighbours. If all ports at which others look for processes of
/// this host are in use, it takes another port.
fn create_with(
    id: u32,
    engine_id: u32,
    configuration: &str,
    user_configured: bool,
    neighbours: Option<&Neighbours>,
) -> Result<(Entity, Vec<log::Line>), OpenError> {
    let create = |configuration: &str| {
        Neighbours::prepare(neighbours);
        let created = create(id, engine_id, configuration, user_configured);
        Neighbours::prepare(None);
        created
    };
    match create(configuration) {
        Err(OpenError::NoFreePort { participants, .. }) => {
            tracing::info!(
                target: LOG_TARGET,
                "{participants} processes of this host use the ports at which nodes that start \
                 later look for others; such nodes find this process once it calls them"
            );
            create(&config::without_participant_index(configuration))
        }
        created => created,
    }
}

/// Opens the domain with this id on the network and this id in the engine. Also returns the lines
/// that the engine logged in the meantime.
fn create(
    id: u32,
    engine_id: u32,
    configuration: &str,
    user_configured: bool,
) -> Result<(Entity, Vec<log::Line>), OpenError> {
    check_threads().map_err(|error| OpenError::Threads {
        engine: ENGINE_NAME,
        needed: MOST_THREADS,
        cause: error.to_string(),
    })?;
    log::install();
    let text = c_string(configuration);
    log::start_collecting();
    // SAFETY: the string stays alive throughout the call.
    let created = Entity::new(unsafe { sys::dds_create_domain(engine_id, text.as_ptr()) });
    let said = log::collected();
    match created {
        Ok(entity) => Ok((entity, said)),
        Err(code) => {
            let said: Vec<_> = said.into_iter().map(|line| line.text).collect();
            Err(explain(id, code, &said, user_configured))
        }
    }
}

/// Converts the engine's log to an error that names how to solve the problem.
fn explain(domain_id: u32, code: Code, said: &[String], user_configured: bool) -> OpenError {
    // The log ends some of its lines with full stops.
    let said: Vec<_> = said.iter().map(|line| line.trim_end_matches(['.', ' '])).collect();
    let detail = if said.is_empty() { code.to_string() } else { said.join("; ") };
    let lower = detail.to_lowercase();
    let source_name =
        || if user_configured { "CYCLONEDDS_URI" } else { "the options of the session" }.to_owned();
    if lower.contains("participant index") {
        let participants = largest_participant_index(domain_id).map_or(0, |largest| largest + 1);
        OpenError::NoFreePort { domain_id, participants }
    } else if lower.contains("interface") && !lower.contains("parser error") {
        OpenError::NoInterface {
            detail,
            cure: format!(
                "Check `ip address`: an interface must be up; check {}; without any network use \
                 ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST.",
                source_name()
            ),
        }
    } else if lower.contains("config")
        || lower.contains("unknown element")
        || lower.contains("invalid value")
    {
        OpenError::Configuration { engine: ENGINE_NAME, source_name: source_name(), detail }
    } else {
        OpenError::Engine {
            engine: ENGINE_NAME,
            domain_id,
            operation: "opening the domain",
            code: detail,
        }
    }
}

/// The log of the engine. Its warnings and errors are passed to `tracing`. A thread can also
/// collect the lines that it causes.
mod log {
    use super::*;
    use std::cell::RefCell;

    /// A line of the engine's log.
    pub(super) struct Line {
        priority: u32,
        pub(super) text: String,
    }

    impl Line {
        pub(super) fn say(&self) {
            let text = &self.text;
            if self.priority & (sys::DDS_LC_FATAL | sys::DDS_LC_ERROR) != 0 {
                tracing::error!(target: LOG_TARGET, "{text}");
            } else if self.priority & sys::DDS_LC_WARNING != 0 {
                tracing::warn!(target: LOG_TARGET, "{text}");
            } else {
                tracing::debug!(target: LOG_TARGET, "{text}");
            }
        }
    }

    thread_local! {
        static COLLECTED: RefCell<Option<Vec<Line>>> = const { RefCell::new(None) };
    }

    /// The limit on the number of lines that are collected for one call.
    const MAX_LINES: usize = 20;
    /// The limit on the number of lines that are logged in one second. Further lines are only
    /// counted, because the engine writes a line for each malformed message that it receives.
    const MAX_PER_SECOND: u64 = 10;

    /// The current second, the number of lines that were logged in it, and the number of lines that
    /// were omitted since the last logged line.
    static RATE: Mutex<(u64, u64, u64)> = Mutex::new((0, 0, 0));

    /// Returns the number of lines that were omitted before this line, or `None` if this line must
    /// also be omitted.
    pub(super) fn admit(second: u64) -> Option<u64> {
        let mut rate = RATE.lock();
        if rate.0 != second {
            (rate.0, rate.1) = (second, 0);
        }
        if rate.1 >= MAX_PER_SECOND {
            rate.2 += 1;
            return None;
        }
        rate.1 += 1;
        Some(std::mem::take(&mut rate.2))
    }

    fn this_second() -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| now.as_secs())
    }

    pub(super) fn install() {
        static INSTALLED: Once = Once::new();
        // SAFETY: `sink` may be called from any thread at any time and needs no argument.
        INSTALLED.call_once(|| unsafe { sys::dds_set_log_sink(Some(sink), std::ptr::null_mut()) });
    }

    pub(super) fn start_collecting() {
        COLLECTED.with_borrow_mut(|lines| *lines = Some(Vec::new()));
    }

    pub(super) fn collected() -> Vec<Line> {
        COLLECTED.with_borrow_mut(Option::take).unwrap_or_default()
    }

    unsafe extern "C" fn sink(_arg: *mut c_void, data: *const sys::dds_log_data_t) {
        // SAFETY: the engine passes a record with a NUL-terminated message that exists during the
        // call.
        let (priority, message) = unsafe { ((*data).priority, CStr::from_ptr((*data).message)) };
        let text = message.to_string_lossy().trim().to_owned();
        if text.is_empty() {
            return;
        }
        let line = Line { priority, text };
        let line = COLLECTED.with_borrow_mut(|lines| match lines {
            Some(lines) => {
                if lines.len() < MAX_LINES {
                    lines.push(line);
                }
                None
            }
            None => Some(line),
        });
        let Some(line) = line else { return };
        let Some(left_out) = admit(this_second()) else { return };
        if left_out > 0 {
            tracing::warn!(target: LOG_TARGET, "{left_out} more log lines of Cyclone DDS were left \
                                                out");
        }
        line.say();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(line: &str) -> OpenError {
        explain(5, Code(-1), &[line.to_owned()], true)
    }

    #[test]
    fn failures_are_explained() {
        let error = explained("Failed to find a free participant index for domain 5");
        assert!(
            matches!(error, OpenError::NoFreePort { domain_id: 5, participants: 120 }),
            "{error}"
        );
        let error = explained("eth7: does not match an available interface");
        assert!(matches!(&error, OpenError::NoInterface { .. }), "{error}");
        assert!(error.to_string().contains("LOCALHOST"), "{error}");
        let error = explained("eth7: does not match an available interface..");
        assert!(error.to_string().contains("interface. Check"), "{error}");
        let line = "config: //CycloneDDS/Domain/General/Interfaces: parser error open/close tag";
        let error = explained(line);
        assert!(matches!(&error, OpenError::Configuration { .. }), "{error}");
        let error = explained("config: //CycloneDDS/Domain/Generall: unknown element");
        assert!(error.to_string().contains("CYCLONEDDS_URI"), "{error}");
        assert!(explain(5, Code(-1), &[], false).to_string().contains("domain 5"));
    }

    #[test]
    fn floods_of_log_lines_are_counted() {
        let admitted = (0..1000).filter(|_| log::admit(1).is_some()).count();
        assert_eq!(admitted, 10);
        assert_eq!(log::admit(2), Some(990));
        assert_eq!(log::admit(2), Some(0));
    }

    #[test]
    fn a_domain_has_its_own_id_in_the_engine_if_that_is_free() {
        assert_eq!(free_id(7, |_| false), 7);
        assert_eq!(free_id(7, |id| id == 7), FIRST_FREE_ID);
        assert_eq!(free_id(7, |id| [7, 1000, 1001, 1003].contains(&id)), 1002);
    }

    #[test]
    fn domain_id_is_checked_before_anything_is_opened() {
        let options = SessionOptions { domain_id: 233, ..SessionOptions::default() };
        assert!(matches!(
            Domain::open(&options, None),
            Err(OpenError::DomainId { domain_id: 233, .. })
        ));
    }
}
