//! Converts policies between the forms of rmw and Feros, and checks whether two profiles are
//! compatible.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_char;
use std::fmt::Write as _;
use std::time::Duration;

use feros_engine::{Durability, History, Liveliness, QosDuration, QosProfile, Reliability};

use crate::arguments::Out;
use crate::error::{Failure, guarded};
use crate::ffi::{rmw_qos_profile_t, rmw_ret_t, rmw_time_t};

const SYSTEM_DEFAULT: u32 = 0;
const RELIABLE: u32 = 1;
const BEST_EFFORT: u32 = 2;
const TRANSIENT_LOCAL: u32 = 1;
const VOLATILE: u32 = 2;
/// `UNKNOWN` has the same value for history, reliability and durability.
const UNKNOWN: u32 = 3;
const AUTOMATIC: u32 = 1;
const MANUAL_BY_NODE: u32 = 2;
const MANUAL_BY_TOPIC: u32 = 3;
const LIVELINESS_UNKNOWN: u32 = 4;

/// `RMW_DURATION_INFINITE`: as many nanoseconds as an `i64` holds.
const INFINITE: rmw_time_t = rmw_time_t { sec: 9_223_372_036, nsec: 854_775_807 };
/// `RMW_QOS_DEADLINE_BEST_AVAILABLE`: one nanosecond less.
const DURATION_BEST_AVAILABLE: rmw_time_t = rmw_time_t { sec: 9_223_372_036, nsec: 854_775_806 };

const COMPATIBILITY_OK: u32 = 0;
const COMPATIBILITY_WARNING: u32 = 1;
const COMPATIBILITY_ERROR: u32 = 2;

impl rmw_time_t {
    /// The time as a duration; `None` if it is infinite or longer.
    pub(crate) fn finite(self) -> Option<Duration> {
        let nanos = u128::from(self.sec) * 1_000_000_000 + u128::from(self.nsec);
        let nanos = i64::try_from(nanos).ok().filter(|nanos| *nanos != i64::MAX)?;
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }

    fn to_qos(self) -> QosDuration {
        if self == DURATION_BEST_AVAILABLE {
            return QosDuration::BestAvailable;
        }
        // Zero means unspecified, which is infinite.
        self.finite().map_or(QosDuration::Infinite, QosDuration::from)
    }
}

impl From<QosDuration> for rmw_time_t {
    fn from(duration: QosDuration) -> Self {
        match duration {
            QosDuration::Infinite => INFINITE,
            QosDuration::BestAvailable => DURATION_BEST_AVAILABLE,
            QosDuration::Finite(duration) => {
                Self { sec: duration.as_secs(), nsec: duration.subsec_nanos().into() }
            }
        }
    }
}

/// Converts a policy of rmw by its number.
fn policy<P>(name: &str, number: u32, read: impl FnOnce(u8) -> Option<P>) -> Result<P, Failure> {
    u8::try_from(number).ok().and_then(read).ok_or_else(|| {
        Failure::invalid(format!(
            "the QoS policy {name} has the unknown value {number}: no endpoint can be created with \
             it"
        ))
    })
}

/// Reads the policies of a new endpoint.
pub(crate) fn from_rmw(profile: &rmw_qos_profile_t) -> Result<QosProfile, Failure> {
    let of_endpoint =
        |number| History::from_number(number).filter(|history| *history != History::Unknown);
    Ok(QosProfile {
        history: policy("history", profile.history, of_endpoint)?,
        depth: profile.depth,
        reliability: policy("reliability", profile.reliability, Reliability::from_number)?,
        durability: policy("durability", profile.durability, Durability::from_number)?,
        deadline: profile.deadline.to_qos(),
        lifespan: profile.lifespan.to_qos(),
        liveliness: match profile.liveliness {
            MANUAL_BY_NODE => {
                return Err(Failure::invalid(
                    "liveliness MANUAL_BY_NODE is no longer part of ROS 2: use MANUAL_BY_TOPIC",
                ));
            }
            number => policy("liveliness", number, Liveliness::from_number)?,
        },
        liveliness_lease_duration: profile.liveliness_lease_duration.to_qos(),
        avoid_ros_namespace_conventions: profile.avoid_ros_namespace_conventions,
    })
}

/// Writes the policies of an endpoint for the host program.
///
/// # Safety
/// The pointer is null or points to memory for a profile.
pub(crate) unsafe fn report(
    of_endpoint: &QosProfile,
    profile: *mut rmw_qos_profile_t,
) -> Result<(), Failure> {
    // SAFETY: [outputs] there is memory for the profile.
    unsafe { Out::new(profile, "qos") }?.set(to_rmw(of_endpoint));
    Ok(())
}

/// Converts the policies of an endpoint of this or another process into the form of rmw.
pub(crate) fn to_rmw(profile: &QosProfile) -> rmw_qos_profile_t {
    rmw_qos_profile_t {
        history: profile.history.number().into(),
        depth: profile.depth,
        reliability: profile.reliability.number().into(),
        durability: profile.durability.number().into(),
        deadline: profile.deadline.into(),
        lifespan: profile.lifespan.into(),
        liveliness: profile.liveliness.number().into(),
        liveliness_lease_duration: profile.liveliness_lease_duration.into(),
        avoid_ros_namespace_conventions: profile.avoid_ros_namespace_conventions,
    }
}

/// The result of comparing two profiles: whether they are compatible, and the reasons if they are
/// not.
#[derive(Debug, PartialEq, Eq)]
struct Compatibility {
    grade: u32,
    reasons: String,
}

impl Compatibility {
    fn of(publisher: &rmw_qos_profile_t, subscription: &rmw_qos_profile_t) -> Self {
        let mut found = Self { grade: COMPATIBILITY_OK, reasons: String::new() };
        found.find_errors(publisher, subscription);
        if found.grade == COMPATIBILITY_OK {
            found.find_doubts(publisher, subscription);
        }
        found
    }

    fn add(&mut self, grade: u32, applies: bool, reason: &str) {
        if applies {
            self.grade = self.grade.max(grade);
            let word = if grade == COMPATIBILITY_ERROR { "ERROR" } else { "WARNING" };
            let _ = write!(self.reasons, "{word}: {reason};");
        }
    }

    /// Finds the policies that prevent a match.
    fn find_errors(&mut self, publisher: &rmw_qos_profile_t, subscription: &rmw_qos_profile_t) {
        let mut error = |applies, reason| self.add(COMPATIBILITY_ERROR, applies, reason);
        error(
            publisher.reliability == BEST_EFFORT && subscription.reliability == RELIABLE,
            "the publisher is best effort and the subscription reliable",
        );
        error(
            publisher.durability == VOLATILE && subscription.durability == TRANSIENT_LOCAL,
            "the publisher is volatile and the subscription transient local",
        );
        error(
            is_longer(publisher.deadline, subscription.deadline),
            "the deadline of the publisher is longer than the subscription's",
        );
        error(
            publisher.liveliness == AUTOMATIC && subscription.liveliness == MANUAL_BY_TOPIC,
            "the liveliness of the publisher is automatic and the subscription's manual by topic",
        );
        error(
            is_longer(publisher.liveliness_lease_duration, subscription.liveliness_lease_duration),
            "the liveliness lease of the publisher is longer than the subscription's",
        );
    }

    /// Finds the unknown policies that may prevent a match, depending on what the rmw
    /// implementation chooses.
    fn find_doubts(&mut self, publisher: &rmw_qos_profile_t, subscription: &rmw_qos_profile_t) {
        let mut doubt = |is_open: &dyn Fn(u32) -> bool, offer, request, weak, strong, reason| {
            let applies = is_open(offer) && (is_open(request) || request == strong)
                || is_open(request) && offer == weak;
            self.add(COMPATIBILITY_WARNING, applies, reason);
        };
        let is_open = |value| matches!(value, SYSTEM_DEFAULT | UNKNOWN);
        doubt(
            &is_open,
            publisher.reliability,
            subscription.reliability,
            BEST_EFFORT,
            RELIABLE,
            "the reliability of one side is unknown",
        );
        doubt(
            &is_open,
            publisher.durability,
            subscription.durability,
            VOLATILE,
            TRANSIENT_LOCAL,
            "the durability of one side is unknown",
        );
        doubt(
            &|value| matches!(value, SYSTEM_DEFAULT | LIVELINESS_UNKNOWN),
            publisher.liveliness,
            subscription.liveliness,
            AUTOMATIC,
            MANUAL_BY_TOPIC,
            "the liveliness of one side is unknown",
        );
    }
}

/// Whether the offered time is longer than the requested time. A best-available time is never
/// longer, since it adapts.
fn is_longer(offered: rmw_time_t, requested: rmw_time_t) -> bool {
    match (offered.to_qos(), requested.to_qos()) {
        (QosDuration::BestAvailable, _) | (_, QosDuration::BestAvailable) => false,
        (_, QosDuration::Infinite) => false,
        (QosDuration::Infinite, QosDuration::Finite(_)) => true,
        (QosDuration::Finite(offered), QosDuration::Finite(requested)) => offered > requested,
    }
}

/// Copies as much of a string as fits, followed by a NUL.
///
/// # Safety
/// `to` has room for `size` bytes.
pub(crate) unsafe fn copy_text(text: &str, to: *mut c_char, size: usize) {
    let Some(room) = size.checked_sub(1) else { return };
    let len = text.len().min(room);
    // SAFETY: there is room for `len` bytes and the NUL.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), len);
        to.add(len).write(0);
    }
}

/// Checks whether a publisher and a subscription with these profiles match.
///
/// # Safety
/// `compatibility` is null or points to memory for a number; `reason` has room for `reason_size`
/// bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_qos_profile_check_compatible(
    publisher: rmw_qos_profile_t,
    subscription: rmw_qos_profile_t,
    compatibility: *mut u32,
    reason: *mut c_char,
    reason_size: usize,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [outputs] there is memory for the result.
        let compatibility = unsafe { Out::new(compatibility, "compatibility") }?;
        if reason.is_null() && reason_size != 0 {
            return Err(Failure::invalid("the argument `reason` is null, but its size is not 0"));
        }
        let found = Compatibility::of(&publisher, &subscription);
        if !reason.is_null() {
            // SAFETY: [arrays] `reason` has room for `reason_size` bytes. [outputs] Only this call
            // uses it.
            unsafe { copy_text(&found.reasons, reason, reason_size) };
        }
        compatibility.set(found.grade);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use feros_engine::QosPolicy;

    use super::*;

    #[test]
    fn profiles_come_back_as_they_were() {
        let profiles = [
            QosProfile::default(),
            QosProfile::sensor_data(),
            QosProfile::system_default(),
            QosProfile::best_available(),
            QosProfile::keep_all().transient_local().deadline(Duration::from_millis(1500)),
            QosProfile::keep_last(3).liveliness(Liveliness::ManualByTopic, Duration::from_nanos(1)),
        ];
        for profile in profiles {
            assert_eq!(from_rmw(&to_rmw(&profile)), Ok(profile));
        }
    }

    #[test]
    fn unknown_policies_are_refused_by_name() {
        let known = to_rmw(&QosProfile::default());
        let cases = [
            (rmw_qos_profile_t { history: UNKNOWN, ..known }, "history"),
            (rmw_qos_profile_t { reliability: UNKNOWN, ..known }, "reliability"),
            (rmw_qos_profile_t { durability: 77, ..known }, "durability"),
            (rmw_qos_profile_t { liveliness: LIVELINESS_UNKNOWN, ..known }, "liveliness"),
            (rmw_qos_profile_t { liveliness: MANUAL_BY_NODE, ..known }, "MANUAL_BY_TOPIC"),
        ];
        for (profile, word) in cases {
            let failure = from_rmw(&profile).expect_err(word);
            assert!(failure.text.contains(word), "{}", failure.text);
        }
    }

    #[test]
    fn rmw_has_every_policy() {
        let lost = QosPolicy::lost_in(|given| from_rmw(&to_rmw(given)).expect("it is resolved"));
        assert_eq!(lost, []);
    }

    #[test]
    fn durations_have_their_special_values() {
        let time = |sec, nsec| rmw_time_t { sec, nsec };
        assert_eq!(time(0, 0).to_qos(), QosDuration::Infinite);
        assert_eq!(INFINITE.to_qos(), QosDuration::Infinite);
        assert_eq!(time(u64::MAX, u64::MAX).to_qos(), QosDuration::Infinite);
        assert_eq!(DURATION_BEST_AVAILABLE.to_qos(), QosDuration::BestAvailable);
        assert_eq!(time(1, 2_000_000_000).finite(), Some(Duration::from_secs(3)));
    }

    #[test]
    fn compatibility_has_three_grades() {
        let grade = |publisher: &QosProfile, subscription: &QosProfile| {
            Compatibility::of(&to_rmw(publisher), &to_rmw(subscription)).grade
        };
        let default = QosProfile { liveliness: Liveliness::Automatic, ..QosProfile::default() };
        assert_eq!(grade(&default, &default), COMPATIBILITY_OK);
        let system = QosProfile::default(); // with the system default liveliness
        assert_eq!(grade(&system, &system), COMPATIBILITY_WARNING);
        assert_eq!(grade(&QosProfile::sensor_data(), &default), COMPATIBILITY_ERROR);
        assert_eq!(grade(&default, &default.transient_local()), COMPATIBILITY_ERROR);
        let often = default.deadline(Duration::from_secs(1));
        assert_eq!(grade(&default, &often), COMPATIBILITY_ERROR);
        assert_eq!(grade(&often, &default), COMPATIBILITY_OK);
        assert_eq!(grade(&QosProfile::system_default(), &default), COMPATIBILITY_WARNING);
        assert_eq!(grade(&QosProfile::best_available(), &default), COMPATIBILITY_OK);
        let both = Compatibility::of(&to_rmw(&QosProfile::sensor_data()), &to_rmw(&often));
        assert_eq!(both.reasons.matches("ERROR: ").count(), 2, "{}", both.reasons);
    }

    #[test]
    fn a_reason_is_cut_to_its_room() {
        let mut room = [1; 4];
        // SAFETY: the buffer is as large as the size says.
        unsafe { copy_text("too long", room.as_mut_ptr(), room.len()) };
        assert_eq!(room.map(|byte| byte as u8), *b"too\0");
        // SAFETY: nothing is written.
        unsafe { copy_text("nothing", room.as_mut_ptr(), 0) };
    }
}
