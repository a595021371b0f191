//! The services that control a player remotely, with the names and types of rosbag2.

use std::sync::Arc;

use feros::msgs::rosbag2_interfaces::srv::{
    Burst, Burst_Response, GetRate, GetRate_Response, IsPaused, IsPaused_Response, Pause, Play,
    Play_Response, PlayNext, PlayNext_Response, Resume, Seek, Seek_Response, SetRate,
    SetRate_Response, Stop, TogglePaused,
};
use feros::{CreateError, Node, Time};

use super::control::Control;
use crate::offered::{Offered, offer};

pub(super) fn start(node: &Node, control: &Arc<Control>) -> Result<Vec<Offered>, CreateError> {
    Ok(vec![
        offer::<Pause, _>(node, "~/pause", control, |control, _| {
            control.set_paused(true);
            Default::default()
        })?,
        offer::<Resume, _>(node, "~/resume", control, |control, _| {
            control.set_paused(false);
            Default::default()
        })?,
        offer::<TogglePaused, _>(node, "~/toggle_paused", control, |control, _| {
            control.toggle_paused();
            Default::default()
        })?,
        offer::<IsPaused, _>(node, "~/is_paused", control, |control, _| IsPaused_Response {
            paused: control.is_paused(),
        })?,
        offer::<GetRate, _>(node, "~/get_rate", control, |control, _| GetRate_Response {
            rate: control.rate(),
        })?,
        offer::<SetRate, _>(node, "~/set_rate", control, |control, request| SetRate_Response {
            success: control.set_rate(request.rate),
        })?,
        offer::<PlayNext, _>(node, "~/play_next", control, |control, _| PlayNext_Response {
            success: control.step(1) == 1,
        })?,
        offer::<Burst, _>(node, "~/burst", control, |control, request| {
            // 0 asks for the rest of the bag.
            let count = if request.num_messages == 0 { u64::MAX } else { request.num_messages };
            Burst_Response { actually_burst: control.step(count) }
        })?,
        offer::<Seek, _>(node, "~/seek", control, |control, request| Seek_Response {
            success: control.seek(Time::from(&request.time).as_nanos()),
        })?,
        // A player that can answer this request is playing already.
        offer::<Play, _>(node, "~/play", control, |_, _| Play_Response { success: false })?,
        offer::<Stop, _>(node, "~/stop", control, |control, _| {
            control.stop();
            Default::default()
        })?,
    ])
}
