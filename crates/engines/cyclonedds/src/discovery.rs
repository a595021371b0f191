//! The readers that update the graph: the readers of three built-in topics of the engine, and a
//! reader of `ros_discovery_info`.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use feros_cyclonedds_sys as sys;
use feros_engine::{Created, Gid, QosProfile};

use crate::dds::{Entity, Listener};
use crate::participant::Participant;
use crate::qos::{self, Qos};
use crate::sample::take;
use crate::topic::{Topic, failed};
use feros_dds::graph::{Graph, WireEndpoint};
use feros_dds::library::Taken as _;
use feros_dds::names::EndpointNames;
use feros_engine::dds::user_data::{EndpointData, ParticipantData};

/// Updates a graph while this value exists.
#[derive(Debug)]
pub(crate) struct Discovery {
    // The readers are dropped before the topic and the graph, because their listeners use both.
    _readers: Vec<Entity>,
    _topic: Topic,
    _graph: Arc<Graph>,
}

impl Discovery {
    pub(crate) fn start(participant: &Participant, graph: Arc<Graph>) -> Created<Self> {
        let names = EndpointNames::of_discovery();
        let topic = participant.create_topic(&names)?;
        // SAFETY: the values are constants of the C library.
        let builtin = unsafe {
            [
                (sys::feros_builtin_participant, on_participants as sys::on_data_available_fn),
                (sys::feros_builtin_publication, on_publications),
                (sys::feros_builtin_subscription, on_subscriptions),
            ]
        };
        let announcements = Qos::reader(&QosProfile::keep_all().transient_local(), "", true);
        let sources = builtin
            .map(|(topic, callback)| (topic, callback, std::ptr::null_mut()))
            .into_iter()
            .chain([(
                topic.entity.handle(),
                on_announcements as sys::on_data_available_fn,
                announcements.as_ptr(),
            )]);
        let mut readers = Vec::new();
        for (source, callback, qos) in sources {
            let listener = Listener::new(Arc::as_ptr(&graph).cast());
            // SAFETY: the participant, the topic, the QoS and the listener are alive; the graph
            // outlives the reader (see `Discovery`).
            let reader = unsafe {
                sys::dds_lset_data_available(listener.as_ptr(), Some(callback));
                sys::dds_create_reader(participant.entity.handle(), source, qos, listener.as_ptr())
            };
            readers
                .push(Entity::new(reader).map_err(failed(&names, "creating a discovery reader"))?);
        }
        Ok(Self { _readers: readers, _topic: topic, _graph: graph })
    }
}

unsafe extern "C" fn on_participants(reader: sys::dds_entity_t, graph: *mut c_void) {
    // SAFETY: the listener's argument is the graph, which outlives the reader.
    let graph = unsafe { &*graph.cast::<Graph>() };
    take_all(reader, |sample: &sys::dds_builtintopic_participant_t, alive| {
        let gid = Gid(sample.key.v);
        if alive {
            // SAFETY: the QoS of the sample exists while the sample exists.
            let (data, library) = unsafe { (qos::user_data(sample.qos), qos::library(sample.qos)) };
            graph.participant_appeared(gid, ParticipantData::parse(&data), library);
        } else {
            graph.participant_left(gid);
        }
    });
}

unsafe extern "C" fn on_publications(reader: sys::dds_entity_t, graph: *mut c_void) {
    // SAFETY: the listener's argument is the graph, which outlives the reader.
    on_endpoints(reader, unsafe { &*graph.cast::<Graph>() }, true);
}

unsafe extern "C" fn on_subscriptions(reader: sys::dds_entity_t, graph: *mut c_void) {
    // SAFETY: the listener's argument is the graph, which outlives the reader.
    on_endpoints(reader, unsafe { &*graph.cast::<Graph>() }, false);
}

fn on_endpoints(reader: sys::dds_entity_t, graph: &Graph, is_writer: bool) {
    take_all(reader, |sample: &sys::dds_builtintopic_endpoint_t, alive| {
        let gid = Gid(sample.key.v);
        if !alive {
            return graph.endpoint_left(gid);
        }
        // SAFETY: a valid sample has both names and a QoS, which exist while the sample exists.
        let endpoint = unsafe {
            WireEndpoint {
                gid,
                is_writer,
                topic: text(sample.topic_name),
                type_name: text(sample.type_name),
                qos: qos::profile(sample.qos),
                data: EndpointData::parse(&qos::user_data(sample.qos)),
            }
        };
        graph.endpoint_appeared(endpoint);
    });
}

/// # Safety
/// `text` must be null or a NUL-terminated string.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller guarantees this.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Calls `each` with every sample of a built-in topic, and with a flag that is true if the
/// participant or endpoint in the sample is alive. `T` is the topic's C type.
fn take_all<T>(reader: sys::dds_entity_t, mut each: impl FnMut(&T, bool)) {
    const BATCH: usize = 16;
    loop {
        let mut samples = [std::ptr::null_mut::<c_void>(); BATCH];
        let mut infos = [sys::dds_sample_info_t::default(); BATCH];
        // SAFETY: both arrays have room for the batch. Null sample pointers ask the engine to lend
        // samples.
        let count = unsafe {
            sys::dds_take(reader, samples.as_mut_ptr(), infos.as_mut_ptr(), BATCH, BATCH as u32)
        };
        if count <= 0 {
            return;
        }
        for (sample, info) in samples.iter().zip(&infos).take(count as usize) {
            // SAFETY: the engine has lent `count` samples of the topic's type, and they are
            // returned below.
            if let Some(sample) = unsafe { sample.cast::<T>().as_ref() } {
                each(
                    sample,
                    info.valid_data && info.instance_state == sys::DDS_ALIVE_INSTANCE_STATE,
                );
            }
        }
        // SAFETY: this returns the samples that the engine lent above.
        unsafe { sys::dds_return_loan(reader, samples.as_mut_ptr(), count) };
    }
}

unsafe extern "C" fn on_announcements(reader: sys::dds_entity_t, graph: *mut c_void) {
    // SAFETY: the listener's argument is the graph, which outlives the reader.
    let graph = unsafe { &*graph.cast::<Graph>() };
    while let Ok(Some(taken)) = take(reader) {
        graph.announcement_came(taken.writer(), taken.bytes());
    }
}
