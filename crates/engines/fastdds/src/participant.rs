//! A participant of Fast DDS, and the additional participants of its session.
//!
//! A participant of Fast DDS allows only one type for each topic name. An endpoint with a second
//! type and the same name is created in an additional participant, so that both endpoints are
//! discovered and report that they do not match.

use std::ffi::CString;
use std::net::ToSocketAddrs;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use feros_dds::graph::Graph;
use feros_engine::dds::user_data::ParticipantData;
use feros_engine::engine::LOG_TARGET;
use feros_engine::{DiscoveryRange, Gid, OpenError, SessionOptions};
use feros_fastdds_sys::{self as sys, Shim};
use feros_sync::Mutex;

use crate::discovery::{Discovered, on_endpoint, on_participant};
use crate::log;
use crate::settings::Settings;

/// The name of the engine.
pub(crate) const ENGINE_NAME: &str = feros_engine::engine::known::FASTDDS.name;

/// The largest domain id whose ports exist.
const LARGEST_DOMAIN_ID: u32 = 232;

pub(crate) struct Participant {
    raw: NonNull<sys::participant>,
    pub(crate) shim: &'static Shim,
    // This is dropped after `raw` has been deleted, because the participant's callbacks use it.
    pub(crate) discovered: Box<Discovered>,
    pub(crate) gid: Gid,
    pub(crate) settings: Settings,
    options: SessionOptions,
    others: Mutex<Vec<Weak<Participant>>>,
}

// SAFETY: Fast DDS may be called on any thread.
unsafe impl Send for Participant {}
// SAFETY: see above.
unsafe impl Sync for Participant {}

/// Converts a string for C. A NUL ends the string.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// Returns the IPv4 addresses of the peers. Logs the peers that have no address.
fn addresses<'a>(peers: impl Iterator<Item = &'a str>) -> Vec<CString> {
    let mut found = Vec::new();
    for peer in peers {
        let resolved = (peer, 0).to_socket_addrs().ok();
        match resolved.and_then(|mut all| all.find(|address| address.is_ipv4())) {
            Some(address) => found.push(c_string(&address.ip().to_string())),
            None => tracing::warn!(
                target: LOG_TARGET,
                "the peer {peer:?} is left out: it has no IPv4 address. Correct ROS_STATIC_PEERS \
                 or FEROS_MEETING_POINTS; an example is '10.0.0.2;10.0.0.3'"
            ),
        }
    }
    found
}

impl Participant {
    /// Opens the first participant of a session.
    pub(crate) fn open(options: &SessionOptions, graph: Arc<Graph>) -> Result<Self, OpenError> {
        if options.domain_id > LARGEST_DOMAIN_ID {
            return Err(OpenError::DomainId {
                domain_id: options.domain_id,
                largest: LARGEST_DOMAIN_ID,
                engine: ENGINE_NAME,
            });
        }
        let shim = Shim::get().map_err(|error| OpenError::NotInstalled {
            engine: ENGINE_NAME,
            detail: error.to_string(),
        })?;
        log::install(shim);
        Self::create(shim, options, Discovered::new(graph, false))
    }

    fn create(
        shim: &'static Shim,
        options: &SessionOptions,
        discovered: Discovered,
    ) -> Result<Self, OpenError> {
        let settings = Settings::from_variables(|name| std::env::var_os(name));
        let discovered = Box::new(discovered);
        let data = ParticipantData::of_this_process(&options.enclave);
        let (enclave, user_data) = (c_string(&options.enclave), c_string(&data.encode()));
        options.warn_of_ignored_peers();
        let peers = addresses(options.peers());
        let peers: Vec<_> = peers.iter().map(|peer| peer.as_ptr()).collect();
        let described = sys::participant_options {
            domain_id: options.domain_id,
            enclave: enclave.as_ptr(),
            user_data: user_data.as_ptr(),
            range: match options.discovery_range {
                DiscoveryRange::Subnet => 0,
                DiscoveryRange::Localhost => 1,
                DiscoveryRange::Off => 2,
                DiscoveryRange::SystemDefault => 3,
            },
            peers: peers.as_ptr(),
            peers_count: peers.len(),
            qos_from_xml: settings.qos_from_xml,
            context: (&raw const *discovered).cast_mut().cast(),
            on_participant,
            on_endpoint,
        };
        log::forget();
        // SAFETY: the options and their pointers are valid during the call, and the context exists
        // while the participant exists.
        let raw = NonNull::new(unsafe { (shim.participant_new)(&raw const described) });
        let raw = raw.ok_or_else(|| OpenError::Engine {
            engine: ENGINE_NAME,
            domain_id: options.domain_id,
            operation: "creating the participant",
            code: log::last_errors(),
        })?;
        let mut gid = Gid::default();
        // SAFETY: the participant is alive, and the out parameter is valid.
        unsafe { (shim.participant_guid)(raw.as_ptr(), &raw mut gid.0) };
        discovered.own.get_or_init(|| gid);
        if !discovered.is_quiet() {
            discovered.graph.participant_appeared(gid, data, None);
        }
        let (options, others) = (options.clone(), Mutex::default());
        Ok(Self { raw, shim, discovered, gid, settings, options, others })
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::participant {
        self.raw.as_ptr()
    }

    /// The configuration that the participant uses, in a form for users.
    pub(crate) fn configuration(&self) -> String {
        let version = self.shim.fastdds_version();
        // The variables and the file name of Fast DDS 2, followed by the variable of Fast DDS 3,
        // which the shim also reads.
        let (variables, file): (&[_], _) = if version.starts_with("2.") {
            (
                &["FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"],
                "DEFAULT_FASTRTPS_PROFILES.xml",
            )
        } else {
            (&["FASTDDS_DEFAULT_PROFILES_FILE"], "DEFAULT_FASTDDS_PROFILES.xml")
        };
        let profiles = variables.iter().find_map(std::env::var_os).map_or_else(
            || {
                format!(
                    "no variable names a file ({file} in the working directory is used if it \
                     exists)"
                )
            },
            |file| file.to_string_lossy().into_owned(),
        );
        format!(
            "Fast DDS {version}, profiles: {profiles}, policies that programs leave open come from \
             XML: {}, publication mode: {:?}, discovery: {:?}, peers: {:?}",
            self.settings.qos_from_xml,
            self.settings.publication_mode,
            self.options.discovery_range,
            self.options.peers().collect::<Vec<_>>()
        )
    }

    /// Creates an endpoint with `make` in this participant. If the endpoint's topic has another
    /// type in this participant, creates the endpoint in an additional participant.
    pub(crate) fn place<T>(
        self: &Arc<Self>,
        mut make: impl FnMut(&Arc<Self>) -> Result<T, i32>,
    ) -> Result<T, i32> {
        match make(self) {
            Err(sys::OTHER_TYPE) => {}
            made => return made,
        }
        let mut others = self.others.lock();
        others.retain(|other| other.strong_count() > 0);
        for other in others.iter().filter_map(Weak::upgrade) {
            match make(&other) {
                Err(sys::OTHER_TYPE) => {}
                made => return made,
            }
        }
        let quiet = Discovered::new(self.discovered.graph.clone(), true);
        let other = Self::create(self.shim, &self.options, quiet).map_err(|_| sys::OTHER_TYPE)?;
        let other = Arc::new(other);
        others.push(Arc::downgrade(&other));
        make(&other)
    }

    /// Makes Fast DDS forget the participant of a remote endpoint.
    pub(crate) fn forget(&self, endpoint: Gid) {
        if endpoint.participant_prefix() == self.gid.participant_prefix() {
            return;
        }
        // SAFETY: the participant is alive.
        let code = unsafe { (self.shim.ignore_participant)(self.as_ptr(), &raw const endpoint.0) };
        if code != 0 {
            tracing::debug!(%endpoint, code, "the participant of an ended process was already \
                                              forgotten");
        }
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        // SAFETY: endpoints keep the participant alive, so there are no endpoints left. No
        // callbacks run after the call.
        unsafe { (self.shim.participant_delete)(self.as_ptr()) }
    }
}
