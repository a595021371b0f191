//! Converts QoS profiles to and from the QoS of the engine.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::time::Duration;

use feros_cyclonedds_sys as sys;
use feros_engine::dds::library::Library;
use feros_engine::dds::user_data::ParticipantData;
use feros_engine::{
    Durability, History, KEEP_ALL_LIMIT, Liveliness, QosDuration, QosProfile, Reliability,
};

/// The engine's QoS object.
pub(crate) struct Qos(NonNull<sys::dds_qos_t>);

impl Drop for Qos {
    fn drop(&mut self) {
        // SAFETY: `dds_create_qos` created the QoS, which is deleted only once.
        unsafe { sys::dds_delete_qos(self.0.as_ptr()) }
    }
}

impl Qos {
    fn new() -> Self {
        // SAFETY: the call has no preconditions.
        Self(
            NonNull::new(unsafe { sys::dds_create_qos() })
                .expect("the engine aborts when it has no memory"),
        )
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::dds_qos_t {
        self.0.as_ptr()
    }

    fn set_user_data(&self, user_data: &str) {
        // SAFETY: the QoS is alive, and the engine copies the bytes.
        unsafe { sys::dds_qset_userdata(self.as_ptr(), user_data.as_ptr().cast(), user_data.len()) }
    }

    /// A QoS that contains only USER_DATA. It is used to change the USER_DATA of an existing
    /// entity.
    pub(crate) fn user_data_only(user_data: &str) -> Self {
        let qos = Self::new();
        qos.set_user_data(user_data);
        qos
    }

    /// The QoS of a participant, which announces its enclave and that it runs Feros.
    pub(crate) fn participant(enclave: &str) -> Self {
        let qos = Self::new();
        qos.set_user_data(&ParticipantData::of_this_process(enclave).encode());
        let name = crate::c_string::c_string(enclave);
        // SAFETY: the QoS is alive, and the engine copies the string.
        unsafe { sys::dds_qset_entity_name(qos.as_ptr(), name.as_ptr()) };
        qos
    }

    /// The QoS of a writer, which is made from a resolved profile.
    pub(crate) fn writer(profile: &QosProfile, user_data: &str) -> Self {
        let qos = Self::endpoint(profile, user_data);
        let (kind, depth) = history(profile);
        // SAFETY: the QoS is alive.
        unsafe {
            if profile.durability == Durability::TransientLocal {
                let unlimited = sys::DDS_LENGTH_UNLIMITED;
                sys::dds_qset_durability_service(
                    qos.as_ptr(),
                    0,
                    kind,
                    depth,
                    unlimited,
                    unlimited,
                    unlimited,
                );
            }
            sys::dds_qset_lifespan(qos.as_ptr(), nanos(profile.lifespan));
            sys::dds_qset_writer_data_lifecycle(qos.as_ptr(), false);
        }
        qos
    }

    /// The QoS of a reader, which is made from a resolved profile.
    pub(crate) fn reader(profile: &QosProfile, user_data: &str, ignore_local: bool) -> Self {
        let qos = Self::endpoint(profile, user_data);
        if profile.history == History::KeepAll {
            let unlimited = sys::DDS_LENGTH_UNLIMITED;
            // SAFETY: the QoS is alive.
            unsafe {
                sys::dds_qset_resource_limits(
                    qos.as_ptr(),
                    KEEP_ALL_LIMIT as i32,
                    unlimited,
                    unlimited,
                );
            }
        }
        if ignore_local {
            // SAFETY: the QoS is alive.
            unsafe { sys::dds_qset_ignorelocal(qos.as_ptr(), sys::DDS_IGNORELOCAL_PARTICIPANT) };
        }
        qos
    }

    fn endpoint(profile: &QosProfile, user_data: &str) -> Self {
        let qos = Self::new();
        if !user_data.is_empty() {
            qos.set_user_data(user_data);
        }
        let reliability = match profile.reliability {
            Reliability::BestEffort => sys::DDS_RELIABILITY_BEST_EFFORT,
            _ => sys::DDS_RELIABILITY_RELIABLE,
        };
        let durability = match profile.durability {
            Durability::TransientLocal => sys::DDS_DURABILITY_TRANSIENT_LOCAL,
            _ => sys::DDS_DURABILITY_VOLATILE,
        };
        let liveliness = match profile.liveliness {
            Liveliness::ManualByTopic => sys::DDS_LIVELINESS_MANUAL_BY_TOPIC,
            _ => sys::DDS_LIVELINESS_AUTOMATIC,
        };
        let (kind, depth) = history(profile);
        let xcdr1 = [0_i16];
        // SAFETY: the QoS is alive, and the engine copies the data that is passed to the calls.
        unsafe {
            sys::dds_qset_history(qos.as_ptr(), kind, depth);
            // Like in stock rmw_cyclonedds, a reliable publisher waits without a time limit while a
            // link is full.
            sys::dds_qset_reliability(qos.as_ptr(), reliability, sys::DDS_INFINITY);
            sys::dds_qset_durability(qos.as_ptr(), durability);
            sys::dds_qset_deadline(qos.as_ptr(), nanos(profile.deadline));
            sys::dds_qset_liveliness(
                qos.as_ptr(),
                liveliness,
                nanos(profile.liveliness_lease_duration),
            );
            sys::dds_qset_data_representation(qos.as_ptr(), 1, xcdr1.as_ptr());
        }
        qos
    }
}

fn history(profile: &QosProfile) -> (i32, i32) {
    match profile.history {
        History::KeepAll => (sys::DDS_HISTORY_KEEP_ALL, sys::DDS_LENGTH_UNLIMITED),
        _ => (sys::DDS_HISTORY_KEEP_LAST, i32::try_from(profile.depth).unwrap_or(i32::MAX).max(1)),
    }
}

fn nanos(duration: QosDuration) -> sys::dds_duration_t {
    let finite = duration.finite().and_then(|duration| i64::try_from(duration.as_nanos()).ok());
    finite.unwrap_or(sys::DDS_INFINITY)
}

fn duration(nanos: sys::dds_duration_t) -> QosDuration {
    match u64::try_from(nanos) {
        Ok(nanos) if nanos < sys::DDS_INFINITY as u64 => {
            QosDuration::Finite(Duration::from_nanos(nanos))
        }
        _ => QosDuration::Infinite,
    }
}

/// Returns the USER_DATA of a QoS object, or an empty vector if the QoS has no USER_DATA.
///
/// # Safety
/// `qos` must be null or point to a QoS object that is alive during the call.
pub(crate) unsafe fn user_data(qos: *const sys::dds_qos_t) -> Vec<u8> {
    if qos.is_null() {
        return Vec::new();
    }
    let (mut value, mut size): (*mut c_void, usize) = (ptr::null_mut(), 0);
    // SAFETY: the caller guarantees that the QoS is alive, and the out parameters are valid. The
    // engine returns a copy that it has allocated with malloc. The copy is read within its size and
    // freed once.
    unsafe {
        if !sys::dds_qget_userdata(qos, &raw mut value, &raw mut size) || value.is_null() {
            return Vec::new();
        }
        let bytes = std::slice::from_raw_parts(value.cast::<u8>(), size).to_vec();
        sys::dds_free(value);
        bytes
    }
}

/// Returns the library that a participant of another process announces, which our patch of the
/// engine adds to the participant's QoS (`patches/library.patch`). Participants of this process
/// have no such property.
///
/// # Safety
/// `qos` must be null or point to a QoS object that is alive during the call.
pub(crate) unsafe fn library(qos: *const sys::dds_qos_t) -> Option<Library> {
    if qos.is_null() {
        return None;
    }
    let mut value = ptr::null_mut();
    // SAFETY: the caller guarantees that the QoS is alive, the name ends with NUL, and the out
    // parameter is valid. The engine returns a string that it has allocated with malloc, which is
    // read and then freed once.
    unsafe {
        if !sys::dds_qget_prop(qos, sys::LIBRARY_PROPERTY.as_ptr(), &raw mut value)
            || value.is_null()
        {
            return None;
        }
        let library = Library::parse(&CStr::from_ptr(value).to_string_lossy());
        sys::dds_free(value.cast());
        library
    }
}

/// Returns the profile of an announced endpoint. For policies that the endpoint does not announce,
/// the profile has the defaults of the DDS specification.
///
/// # Safety
/// `qos` must be null or point to a QoS object that is alive during the call.
pub(crate) unsafe fn profile(qos: *const sys::dds_qos_t) -> QosProfile {
    let mut profile =
        QosProfile { liveliness: Liveliness::Automatic, depth: 1, ..QosProfile::default() };
    if qos.is_null() {
        return profile;
    }
    let (mut kind, mut depth, mut time) = (0, 0, 0);
    // SAFETY: the caller guarantees that the QoS is alive. Each getter writes its out parameters
    // only if it returns true.
    unsafe {
        if sys::dds_qget_history(qos, &raw mut kind, &raw mut depth) {
            let keep_all = kind == sys::DDS_HISTORY_KEEP_ALL;
            profile.history = if keep_all { History::KeepAll } else { History::KeepLast };
            profile.depth = if keep_all { 0 } else { usize::try_from(depth).unwrap_or(0) };
        }
        if sys::dds_qget_reliability(qos, &raw mut kind, &raw mut time) {
            let reliable = kind == sys::DDS_RELIABILITY_RELIABLE;
            profile.reliability =
                if reliable { Reliability::Reliable } else { Reliability::BestEffort };
        }
        if sys::dds_qget_durability(qos, &raw mut kind) {
            let local = kind >= sys::DDS_DURABILITY_TRANSIENT_LOCAL;
            profile.durability =
                if local { Durability::TransientLocal } else { Durability::Volatile };
        }
        if sys::dds_qget_deadline(qos, &raw mut time) {
            profile.deadline = duration(time);
        }
        if sys::dds_qget_lifespan(qos, &raw mut time) {
            profile.lifespan = duration(time);
        }
        if sys::dds_qget_liveliness(qos, &raw mut kind, &raw mut time) {
            let manual = kind != sys::DDS_LIVELINESS_AUTOMATIC;
            profile.liveliness =
                if manual { Liveliness::ManualByTopic } else { Liveliness::Automatic };
            profile.liveliness_lease_duration = duration(time);
        }
    }
    profile
}

#[cfg(test)]
mod tests {
    use feros_engine::QosPolicy;

    use super::*;

    #[test]
    fn profiles_survive_the_engine() {
        let ms = Duration::from_millis;
        let table = [
            QosProfile::default(),
            QosProfile::sensor_data(),
            QosProfile::keep_all().transient_local(),
            QosProfile::keep_last(3)
                .deadline(ms(5))
                .lifespan(ms(7))
                .liveliness(Liveliness::ManualByTopic, ms(9)),
        ];
        for given in table {
            let given = given.with_system_defaults_resolved();
            let qos = Qos::writer(&given, "typehash=x;");
            // SAFETY: `qos` is alive.
            let (mut read, data) = unsafe { (profile(qos.as_ptr()), user_data(qos.as_ptr())) };
            if given.history == History::KeepAll {
                read.depth = given.depth;
            }
            assert_eq!(read, given);
            assert_eq!(data, b"typehash=x;");
        }
    }

    #[test]
    fn the_engine_has_every_policy() {
        let lost = QosPolicy::lost_in(|given| {
            let qos = Qos::writer(given, "");
            // SAFETY: `qos` is alive.
            unsafe { profile(qos.as_ptr()) }
        });
        // The profile does not need to contain this policy, because the prefix of the topic name
        // shows whether the name follows the ROS conventions.
        assert_eq!(lost, [QosPolicy::AvoidRosNamespaceConventions]);
    }

    #[test]
    fn absurd_durations_are_infinite() {
        assert_eq!(nanos(QosDuration::Finite(Duration::MAX)), sys::DDS_INFINITY);
        assert_eq!(duration(sys::DDS_INFINITY), QosDuration::Infinite);
        assert_eq!(duration(-1), QosDuration::Infinite);
    }
}
