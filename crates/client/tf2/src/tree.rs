//! The known frames, their transforms into their parents, and the insertion of new transforms.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use feros_executor::Time;

use crate::frame_id::FrameId;
use crate::history::{Added, History, Missing, Position, Sample};
use crate::insert_error::InsertError;
use crate::transform::Transform;

/// The longest name of a frame, in bytes, so that names from the network cannot fill the memory.
pub(crate) const LONGEST_NAME_BYTES: usize = 1024;

/// The limit on frames in a chain, like `MAX_GRAPH_DEPTH` of tf2.
pub(crate) const DEEPEST: usize = 1000;

/// A frame and its transform into its parent.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) name: Arc<str>,
    pub(crate) link: Link,
    /// The publisher of the frame's last transform.
    pub(crate) authority: Arc<str>,
}

/// The transform of a frame into its parent.
#[derive(Debug)]
pub(crate) enum Link {
    /// The frame has no parent: it is the root of a tree.
    None,
    /// The transform is the same at any time.
    Static(Sample),
    /// The transforms are known at some times.
    Dynamic(History),
}

/// The position of a frame's transform for a time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    Static,
    Dynamic(Position),
}

/// The effect of adding a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inserted {
    pub(crate) added: Added,
    /// The number of histories that were dropped because they were too old and would have closed a
    /// loop of frames.
    pub(crate) forgotten: usize,
}

/// A transform from a publisher that has passed the checks.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) child: &'a str,
    pub(crate) parent: &'a str,
    pub(crate) stamp: Time,
    pub(crate) transform: Transform,
    pub(crate) authority: &'a str,
    pub(crate) is_static: bool,
}

/// The limits of a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) cache: Duration,
    pub(crate) samples_per_frame: usize,
    pub(crate) frames: usize,
}

/// All frames.
#[derive(Debug)]
pub(crate) struct Tree {
    ids: HashMap<Arc<str>, FrameId>,
    frames: Vec<Frame>,
    pub(crate) limits: Limits,
}

impl Tree {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { ids: HashMap::new(), frames: Vec::new(), limits }
    }

    pub(crate) fn id(&self, name: &str) -> Option<FrameId> {
        self.ids.get(name).copied()
    }

    /// Returns a frame of this tree.
    ///
    /// # Panics
    /// This never panics: frames get their numbers from this tree, and no frame is ever removed.
    pub(crate) fn frame(&self, id: FrameId) -> &Frame {
        &self.frames[id.index()]
    }

    pub(crate) fn name(&self, id: FrameId) -> &str {
        &self.frame(id).name
    }

    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Returns the position of a frame's transform for a time, and the frame's parent at that time;
    /// `None` for a root, and for a frame whose transforms have all been forgotten.
    pub(crate) fn step(
        &self,
        id: FrameId,
        time: Time,
    ) -> Result<Option<(Place, FrameId)>, Missing> {
        match &self.frame(id).link {
            Link::None => Ok(None),
            Link::Static(sample) => Ok(Some((Place::Static, sample.parent))),
            Link::Dynamic(history) => {
                let position = history.find(time)?;
                Ok(position.and_then(|position| {
                    let sample = history.sample(position)?;
                    Some((Place::Dynamic(position), sample.parent))
                }))
            }
        }
    }

    /// Returns the transform at a position that [`Tree::step`] returned for a time.
    pub(crate) fn transform(&self, id: FrameId, place: Place, time: Time) -> Transform {
        let found = match (&self.frame(id).link, place) {
            (Link::Static(sample), _) => Some(sample.transform),
            (Link::Dynamic(history), Place::Dynamic(position)) => history.transform(position, time),
            _ => None,
        };
        // The position comes from this tree, which has not changed since.
        found.unwrap_or(Transform::IDENTITY)
    }

    /// Returns the newest parent of a frame, and the time of that transform; the time is `None` for
    /// a static frame.
    pub(crate) fn latest(&self, id: FrameId) -> Option<(Option<Time>, FrameId)> {
        match &self.frame(id).link {
            Link::None => None,
            Link::Static(sample) => Some((None, sample.parent)),
            Link::Dynamic(history) => {
                history.latest().map(|sample| (Some(sample.stamp), sample.parent))
            }
        }
    }

    /// Adds a transform from a publisher.
    ///
    /// # Errors
    /// When the transform is too old, exceeds a limit, or closes a loop. The caller has checked
    /// everything else.
    pub(crate) fn insert(&mut self, said: &Statement<'_>) -> Result<Inserted, InsertError> {
        self.check_age(said)?;
        let (child, parent) = self.ids_for(said)?;
        let known_parent = self.latest(child).map(|(_, parent)| parent);
        let forgotten =
            if known_parent == Some(parent) { 0 } else { self.cut_loop(child, parent, said)? };
        let sample = Sample { stamp: said.stamp, parent, transform: said.transform };
        let limits = self.limits;
        let frame = &mut self.frames[child.index()];
        let added = if said.is_static {
            let is_new = !matches!(frame.link, Link::Static(_));
            frame.link = Link::Static(sample);
            if is_new { Added::New } else { Added::Repeated }
        } else {
            if !matches!(frame.link, Link::Dynamic(_)) {
                frame.link = Link::Dynamic(History::default());
            }
            let Link::Dynamic(history) = &mut frame.link else { unreachable!("set above") };
            history.insert(sample, limits.cache, limits.samples_per_frame)
        };
        if &*frame.authority != said.authority {
            frame.authority = said.authority.into();
        }
        Ok(Inserted { added, forgotten })
    }

    fn check_age(&self, said: &Statement<'_>) -> Result<(), InsertError> {
        let Some(Link::Dynamic(history)) = self.id(said.child).map(|id| &self.frame(id).link)
        else {
            return Ok(());
        };
        match history.too_old(said.stamp, self.limits.cache) {
            Some(latest) if !said.is_static => Err(InsertError::OldData {
                child: said.child.to_owned(),
                authority: said.authority.to_owned(),
                stamp: said.stamp,
                latest,
                cache_seconds: self.limits.cache.as_secs_f64(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the numbers of both frames, which are new if the names are new.
    fn ids_for(&mut self, said: &Statement<'_>) -> Result<(FrameId, FrameId), InsertError> {
        let known = (self.id(said.child), self.id(said.parent));
        if let (Some(child), Some(parent)) = known {
            return Ok((child, parent));
        }
        let missing = usize::from(known.0.is_none()) + usize::from(known.1.is_none());
        if self.frames.len() + missing > self.limits.frames {
            return Err(InsertError::TooManyFrames {
                child: said.child.to_owned(),
                parent: said.parent.to_owned(),
                authority: said.authority.to_owned(),
                frames: self.limits.frames,
            });
        }
        let child = known.0.unwrap_or_else(|| self.add(said.child));
        let parent = known.1.unwrap_or_else(|| self.add(said.parent));
        Ok((child, parent))
    }

    fn add(&mut self, name: &str) -> FrameId {
        let name: Arc<str> = name.into();
        let id = FrameId::new(u32::try_from(self.frames.len()).unwrap_or(u32::MAX));
        self.ids.insert(name.clone(), id);
        self.frames.push(Frame { name, link: Link::None, authority: "".into() });
        id
    }

    /// Refuses a new parent that is a descendant of the child. If the parent is a descendant only
    /// through a history that is older than the cache length, that history is dropped instead.
    /// Returns the number of dropped histories.
    fn cut_loop(
        &mut self,
        child: FrameId,
        parent: FrameId,
        said: &Statement<'_>,
    ) -> Result<usize, InsertError> {
        let mut chain = vec![child];
        let mut stale = None;
        let mut frame = parent;
        while let Some((latest, above)) = self.latest(frame) {
            chain.push(frame);
            let is_stale = latest.is_some_and(|latest| latest < said.stamp - self.limits.cache);
            if is_stale && frame != child {
                stale = Some(frame);
            }
            if frame == child || chain.len() > DEEPEST {
                break;
            }
            frame = above;
        }
        if frame != child {
            return Ok(0);
        }
        if let Some(stale) = stale
            && let Link::Dynamic(history) = &mut self.frames[stale.index()].link
        {
            history.clear();
            return Ok(1);
        }
        if chain.last() != Some(&child) {
            chain.push(child);
        }
        let before = chain.iter().rev().nth(1).copied().unwrap_or(child);
        Err(InsertError::Loop {
            child: said.child.to_owned(),
            parent: said.parent.to_owned(),
            authority: said.authority.to_owned(),
            chain: chain.iter().map(|frame| self.name(*frame).to_owned()).collect(),
            before: self.name(before).to_owned(),
        })
    }

    /// Drops all transforms that are not static. The frames stay known.
    pub(crate) fn clear(&mut self) {
        for frame in &mut self.frames {
            if let Link::Dynamic(history) = &mut frame.link {
                history.clear();
            }
        }
    }
}
