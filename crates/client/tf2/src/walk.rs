//! Finds the chain from one frame of a tree to another: up to the lowest common ancestor, and down
//! again.

use std::time::Duration;

use feros_executor::Time;
use smallvec::SmallVec;

use crate::frame_id::FrameId;
use crate::history::Missing;
use crate::lookup_error::LookupError;
use crate::transform::Transform;
use crate::tree::{DEEPEST, Place, Tree};

/// The longest chain of frames that needs no allocation.
const USUAL_DEPTH: usize = 16;

/// The frames of a chain, each with the position of its transform into the next one.
type Chain = SmallVec<[(FrameId, Place); USUAL_DEPTH]>;

/// Why a chain was not found. It does not contain the names of frames, since most callers do not
/// read the reason.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Failure {
    NotConnected { target_root: FrameId, source_root: FrameId },
    Missing { frame: FrameId, missing: Missing },
    TooDeep { frame: FrameId },
}

impl Failure {
    /// Like [`LookupError::is_final`].
    pub(crate) fn is_final(self, asked: Time, cache: Duration) -> bool {
        match self {
            Self::Missing {
                missing: Missing::Past { latest, .. } | Missing::OnlyAt(latest),
                ..
            } => asked != Time::ZERO && asked < latest - cache,
            _ => false,
        }
    }
}

/// The reason why a chain upwards ended.
enum End {
    /// The chain reached the wanted frame.
    Found,
    /// The chain reached a frame without a parent.
    Root(FrameId),
    /// The chain reached a frame whose transform is unknown at that time.
    Stopped(FrameId, Missing),
}

/// The chain from one frame to another.
pub(crate) struct Way {
    /// The frames below the lowest common frame, from the source upwards.
    up: Chain,
    /// The frames below the lowest common frame, from the target upwards.
    down: Chain,
    time: Time,
}

impl Way {
    /// Finds the chain between two frames at a time. [`Time::ZERO`] takes the newest transform of
    /// each frame. These transforms have a common time only if all of them are static; see
    /// [`latest_common_time`].
    pub(crate) fn find(
        tree: &Tree,
        target: FrameId,
        source: FrameId,
        time: Time,
    ) -> Result<Self, Failure> {
        let (mut up, mut down) = (Chain::new(), Chain::new());
        if target == source {
            return Ok(Self { up, down, time });
        }
        let (top, missing) = match ascend(tree, source, time, &mut up, |frame| frame == target)? {
            End::Found => return Ok(Self { up, down, time }),
            End::Root(frame) => (frame, None),
            End::Stopped(frame, missing) => (frame, Some(missing)),
        };
        let mut common = top;
        let target_end = ascend(tree, target, time, &mut down, |frame| {
            common = frame;
            frame == top || up.iter().any(|(above, _)| *above == frame)
        })?;
        match (target_end, missing) {
            (End::Found, _) => {
                if let Some(place) = up.iter().position(|(frame, _)| *frame == common) {
                    up.truncate(place);
                }
                Ok(Self { up, down, time })
            }
            // The source may have data for a time for which the target has no data.
            (End::Stopped(frame, missing), _) => Err(Failure::Missing { frame, missing }),
            (End::Root(_), Some(missing)) => Err(Failure::Missing { frame: top, missing }),
            (End::Root(target_root), None) => {
                Err(Failure::NotConnected { target_root, source_root: top })
            }
        }
    }

    /// Returns the transform from the source frame to the target frame.
    pub(crate) fn transform(&self, tree: &Tree) -> Transform {
        let along = |chain: &Chain| {
            let mut steps = chain.iter();
            let first = steps.next().map_or(Transform::IDENTITY, |(frame, place)| {
                tree.transform(*frame, *place, self.time)
            });
            steps.fold(first, |below, (frame, place)| {
                tree.transform(*frame, *place, self.time) * below
            })
        };
        match (self.up.is_empty(), self.down.is_empty()) {
            (_, true) => along(&self.up),
            (true, false) => along(&self.down).inverse(),
            (false, false) => along(&self.down).inverse() * along(&self.up),
        }
    }

    /// Returns the frames from the source to the target, both included.
    pub(crate) fn frames(&self, tree: &Tree) -> Vec<FrameId> {
        let up = self.up.iter().map(|(frame, _)| *frame);
        let down = self.down.iter().rev().map(|(frame, _)| *frame);
        // The lowest common frame is the parent of the last frame in each half of the chain.
        let last = self.down.last().or(self.up.last());
        let common = last.and_then(|(frame, _)| tree.step(*frame, self.time).ok()?);
        up.chain(common.map(|(_, parent)| parent)).chain(down).collect()
    }
}

fn ascend(
    tree: &Tree,
    from: FrameId,
    time: Time,
    chain: &mut Chain,
    mut is_end: impl FnMut(FrameId) -> bool,
) -> Result<End, Failure> {
    let mut frame = from;
    loop {
        if is_end(frame) {
            return Ok(End::Found);
        }
        match tree.step(frame, time) {
            Ok(None) => return Ok(End::Root(frame)),
            Err(missing) => return Ok(End::Stopped(frame, missing)),
            Ok(Some(_)) if chain.len() == DEEPEST => return Err(Failure::TooDeep { frame: from }),
            Ok(Some((place, parent))) => {
                chain.push((frame, place));
                frame = parent;
            }
        }
    }
}

/// Returns the newest time at which the whole chain between two frames is known, according to the
/// newest parent of each frame; [`Time::ZERO`] if the whole chain is static.
pub(crate) fn latest_common_time(
    tree: &Tree,
    target: FrameId,
    source: FrameId,
) -> Result<Time, Failure> {
    // This holds each frame from the source upwards, with the oldest of the newest times of the
    // frames below it.
    let mut below: SmallVec<[(FrameId, Option<Time>); USUAL_DEPTH]> = SmallVec::new();
    let (mut frame, mut oldest) = (source, None);
    loop {
        below.push((frame, oldest));
        if frame == target || below.len() > DEEPEST {
            break;
        }
        let Some((time, parent)) = tree.latest(frame) else { break };
        (frame, oldest) = (parent, older(oldest, time));
    }
    if below.len() > DEEPEST {
        return Err(Failure::TooDeep { frame: source });
    }
    let source_root = frame;
    let (mut frame, mut oldest, mut depth) = (target, None, 0);
    loop {
        if let Some((_, of_source)) = below.iter().find(|(known, _)| *known == frame) {
            return Ok(older(oldest, *of_source).unwrap_or(Time::ZERO));
        }
        let Some((time, parent)) = tree.latest(frame) else { break };
        (frame, oldest) = (parent, older(oldest, time));
        depth += 1;
        if depth > DEEPEST {
            return Err(Failure::TooDeep { frame: target });
        }
    }
    Err(Failure::NotConnected { target_root: frame, source_root })
}

fn older(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Converts a failure into an error that names the frames.
pub(crate) fn describe(
    tree: &Tree,
    failure: Failure,
    (target, source): (FrameId, FrameId),
    requested: Time,
) -> LookupError {
    let name = |frame: FrameId| tree.name(frame).to_owned();
    let (target, source_frame) = (name(target), name(source));
    match failure {
        Failure::NotConnected { target_root, source_root } => LookupError::NotConnected {
            target,
            source_frame,
            target_root: name(target_root),
            source_root: name(source_root),
        },
        Failure::Missing { frame, missing: Missing::OnlyAt(only) } => {
            LookupError::OneSample { target, source_frame, frame: name(frame), requested, only }
        }
        Failure::Missing { frame, missing: Missing::Future { latest } } => {
            LookupError::Future { target, source_frame, frame: name(frame), requested, latest }
        }
        Failure::Missing { frame, missing: Missing::Past { earliest, latest } } => {
            let frame = name(frame);
            LookupError::Past { target, source_frame, frame, requested, earliest, latest }
        }
        Failure::TooDeep { frame } => too_deep(tree, frame, requested),
    }
}

/// Returns the error for a chain that is a loop or has too many frames.
fn too_deep(tree: &Tree, from: FrameId, requested: Time) -> LookupError {
    let mut chain: Vec<FrameId> = Vec::new();
    let mut frame = from;
    while chain.len() <= DEEPEST {
        let step = tree.step(frame, requested).ok().flatten().map(|(_, parent)| parent);
        let Some(parent) = step.or_else(|| tree.latest(frame).map(|(_, parent)| parent)) else {
            break;
        };
        if let Some(first) = chain.iter().position(|known| *known == frame) {
            chain.drain(..first);
            chain.push(frame);
            let chain = chain.iter().map(|frame| tree.name(*frame).to_owned()).collect();
            return LookupError::Loop { requested, chain };
        }
        chain.push(frame);
        frame = parent;
    }
    LookupError::TooDeep { frame: tree.name(from).to_owned(), deepest: DEEPEST }
}
