//! The services that control a player remotely, with the names and types of rosbag2.

use std::sync::Arc;

use feros::msgs::rosbag2_interfaces::srv::{
    Burst, Burst_Request, Burst_Response, GetRate, GetRate_Request, GetRate_Response, IsPaused,
    IsPaused_Request, IsPaused_Response, Pause, Pause_Request, Pause_Response, Play, Play_Request,
    Play_Response, PlayNext, PlayNext_Request, PlayNext_Response, Resume, Resume_Request,
    Resume_Response, Seek, Seek_Request, Seek_Response, SetRate, SetRate_Request, SetRate_Response,
    Stop, Stop_Request, Stop_Response, TogglePaused, TogglePaused_Request, TogglePaused_Response,
};
use feros::{CreateError, Node, Service, Time};

use super::control::Control;

/// Keeps the services alive.
pub(super) struct Services {
    _pausing: (Service<Pause>, Service<Resume>, Service<TogglePaused>, Service<IsPaused>),
    _speed: (Service<GetRate>, Service<SetRate>),
    _moving: (Service<PlayNext>, Service<Burst>, Service<Seek>),
    _ends: (Service<Play>, Service<Stop>),
}

impl Services {
    pub(super) fn start(node: &Node, control: &Arc<Control>) -> Result<Self, CreateError> {
        let [pause, resume, toggle, paused] = [(); 4].map(|()| control.clone());
        let [rate, set_rate, next, burst, seek, stop] = [(); 6].map(|()| control.clone());
        Ok(Self {
            _pausing: (
                node.create_service::<Pause, _>("~/pause", move |_: Pause_Request| {
                    pause.set_paused(true);
                    Pause_Response::default()
                })?,
                node.create_service::<Resume, _>("~/resume", move |_: Resume_Request| {
                    resume.set_paused(false);
                    Resume_Response::default()
                })?,
                node.create_service::<TogglePaused, _>(
                    "~/toggle_paused",
                    move |_: TogglePaused_Request| {
                        toggle.toggle_paused();
                        TogglePaused_Response::default()
                    },
                )?,
                node.create_service::<IsPaused, _>("~/is_paused", move |_: IsPaused_Request| {
                    IsPaused_Response { paused: paused.is_paused() }
                })?,
            ),
            _speed: (
                node.create_service::<GetRate, _>("~/get_rate", move |_: GetRate_Request| {
                    GetRate_Response { rate: rate.rate() }
                })?,
                node.create_service::<SetRate, _>(
                    "~/set_rate",
                    move |request: SetRate_Request| SetRate_Response {
                        success: set_rate.set_rate(request.rate),
                    },
                )?,
            ),
            _moving: (
                node.create_service::<PlayNext, _>("~/play_next", move |_: PlayNext_Request| {
                    PlayNext_Response { success: next.step(1) == 1 }
                })?,
                node.create_service::<Burst, _>("~/burst", move |request: Burst_Request| {
                    // 0 asks for the rest of the bag.
                    let count =
                        if request.num_messages == 0 { u64::MAX } else { request.num_messages };
                    Burst_Response { actually_burst: burst.step(count) }
                })?,
                node.create_service::<Seek, _>("~/seek", move |request: Seek_Request| {
                    let time = Time::from(&request.time).as_nanos();
                    Seek_Response { success: seek.seek(time) }
                })?,
            ),
            _ends: (
                // A player that can answer this request is playing already.
                node.create_service::<Play, _>("~/play", |_: Play_Request| Play_Response {
                    success: false,
                })?,
                node.create_service::<Stop, _>("~/stop", move |_: Stop_Request| {
                    stop.stop();
                    Stop_Response::default()
                })?,
            ),
        })
    }
}
