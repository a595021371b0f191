//! The buffer: the trees of frames behind a lock, the lookups in them, and the watchers of changes.

mod check;
mod counts;
mod waiting;

pub use counts::{BufferCounts, Refusals};
pub(crate) use waiting::{Seen, Waiting};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use feros_executor::Time;
use feros_msgs::geometry_msgs::msg::TransformStamped;
use feros_sync::{Mutex, RwLock};

use crate::frame_id::FrameId;
use crate::geometry::{StampedTransformable, TransformError};
use crate::insert_error::InsertError;
use crate::lookup_error::LookupError;
use crate::render::{self, FrameInfo};
use crate::transform::Transform;
use crate::tree::{Inserted, Limits, Tree};
use crate::walk::{self, Failure, Way};

/// The limits of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferOptions {
    /// The age at which transforms are forgotten, measured from the newest transform of the same
    /// frame. The default is 10 s, as in tf2 (`tf2/include/tf2/buffer_core.h`).
    pub cache_length: Duration,
    /// The limit on transforms that are kept for one frame, at 72 bytes each. By default, 100 000
    /// transforms are kept, which is 10 s at 10 kHz. Memory is allocated as transforms arrive.
    pub samples_per_frame: usize,
    /// The limit on the number of frames in the buffer. The default is 10 000.
    pub max_frames: usize,
}

impl Default for BufferOptions {
    fn default() -> Self {
        Self {
            cache_length: Duration::from_secs(10),
            samples_per_frame: 100_000,
            max_frames: 10_000,
        }
    }
}

impl BufferOptions {
    /// Sets how long transforms are kept.
    #[must_use]
    pub fn cache_length(self, cache_length: Duration) -> Self {
        Self { cache_length, ..self }
    }

    /// Sets the limit on transforms of each frame.
    #[must_use]
    pub fn samples_per_frame(self, samples_per_frame: usize) -> Self {
        Self { samples_per_frame, ..self }
    }

    /// Sets the limit on frames.
    #[must_use]
    pub fn max_frames(self, max_frames: usize) -> Self {
        Self { max_frames, ..self }
    }
}

/// Whether a transform is known; see [`Buffer::readiness`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// The transform is known.
    Ready,
    /// The transform is unknown, but may become known when further transforms arrive.
    NotYet,
    /// The transform is unknown, and no later transform can make it known: a name is wrong, or the
    /// time lies further back than the buffer keeps.
    Never,
}

/// An object that is notified when a buffer changes, on the thread that changed the buffer, while
/// no lock of the buffer is held.
pub trait BufferWatcher: Send + Sync {
    /// The buffer received transforms.
    fn transforms_came(&self);

    /// All transforms that are not static have been forgotten, for example because time jumped
    /// back.
    fn buffer_cleared(&self) {}
}

/// Stores the transforms between frames during the last seconds. Clones refer to the same buffer.
/// All methods may be called from any thread, and lookups do not wait for each other.
#[derive(Clone)]
pub struct Buffer {
    inner: Arc<Inner>,
}

struct Inner {
    tree: RwLock<Tree>,
    counts: Mutex<BufferCounts>,
    waiting: Waiting,
    /// The list is copied when a watcher is added, which is rare, so that a notification only
    /// clones one pointer.
    watchers: Mutex<Arc<[Weak<dyn BufferWatcher>]>>,
    options: BufferOptions,
}

impl Default for Buffer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("frames", &self.inner.tree.read().frames().len())
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

impl Buffer {
    /// Creates an empty buffer that keeps 10 s of transforms.
    #[must_use]
    pub fn new() -> Self {
        Self::with(BufferOptions::default())
    }

    /// Creates an empty buffer with these options.
    #[must_use]
    pub fn with(options: BufferOptions) -> Self {
        let limits = Limits {
            cache: options.cache_length,
            samples_per_frame: options.samples_per_frame,
            frames: options.max_frames,
        };
        Self {
            inner: Arc::new(Inner {
                tree: RwLock::new(Tree::new(limits)),
                counts: Mutex::default(),
                waiting: Waiting::default(),
                watchers: Mutex::new(Arc::new([])),
                options,
            }),
        }
    }

    pub(crate) fn waiting(&self) -> &Waiting {
        &self.inner.waiting
    }

    /// Returns the time for which transforms are kept.
    #[must_use]
    pub fn cache_length(&self) -> Duration {
        self.inner.options.cache_length
    }
}

/// # Adding transforms
impl Buffer {
    /// Adds a transform. `authority` names the publisher in error messages. A static transform is
    /// valid at any time, until another transform of the same frame arrives.
    ///
    /// One slash before a name is removed, as in tf2 (`tf2/src/buffer_core.cpp`); the rotation is
    /// normalized.
    ///
    /// # Errors
    /// See [`InsertError`]; each refusal is counted, and leaves the buffer unchanged.
    pub fn set_transform(
        &self,
        transform: &TransformStamped,
        authority: &str,
        is_static: bool,
    ) -> Result<(), InsertError> {
        let mut outcome = Ok(());
        self.set_transforms(std::slice::from_ref(transform), authority, is_static, |error| {
            outcome = Err(error);
        });
        outcome
    }

    /// Adds all transforms of a message like [`Buffer::set_transform`], but wakes waiting tasks
    /// only once. `refused` is called for each refused transform; the others are still added.
    pub fn set_transforms(
        &self,
        transforms: &[TransformStamped],
        authority: &str,
        is_static: bool,
        mut refused: impl FnMut(InsertError),
    ) {
        let mut is_changed = false;
        for transform in transforms {
            match self.set(transform, authority, is_static) {
                Ok(_) => is_changed = true,
                Err(error) => refused(error),
            }
        }
        if is_changed {
            self.notify_watchers(|watcher| watcher.transforms_came());
        }
    }

    fn set(
        &self,
        transform: &TransformStamped,
        authority: &str,
        is_static: bool,
    ) -> Result<Inserted, InsertError> {
        let outcome = check::statement(transform, authority, is_static)
            .and_then(|said| self.inner.tree.write().insert(&said));
        self.inner.counts.lock().count(&outcome);
        outcome
    }

    /// Forgets all transforms that are not static, for example because time has jumped back.
    pub fn clear(&self) {
        self.inner.tree.write().clear();
        self.inner.counts.lock().cleared += 1;
        self.notify_watchers(|watcher| watcher.buffer_cleared());
    }

    /// Ends all present and future waits for transforms, because no new transforms will arrive.
    pub fn close(&self) {
        self.inner.waiting.close();
    }

    /// Returns the numbers of transforms that have been added and refused so far.
    #[must_use]
    pub fn counts(&self) -> BufferCounts {
        *self.inner.counts.lock()
    }

    /// Notifies `watcher` of changes for as long as it lives.
    pub fn watch(&self, watcher: Weak<dyn BufferWatcher>) {
        let mut watchers = self.inner.watchers.lock();
        let alive = watchers.iter().filter(|known| known.strong_count() > 0).cloned();
        *watchers = alive.chain([watcher]).collect();
    }

    fn notify_watchers(&self, what: impl Fn(&dyn BufferWatcher)) {
        self.inner.waiting.wake();
        let watchers = Arc::clone(&*self.inner.watchers.lock());
        watchers.iter().filter_map(Weak::upgrade).for_each(|watcher| what(&*watcher));
    }
}

/// # Lookups
impl Buffer {
    /// Returns the transform that brings `source` into `target` at a time. [`Time::ZERO`] asks for
    /// the newest time at which the whole chain between both frames is known. The stamp of the
    /// result is the time for which the transform is valid.
    ///
    /// # Errors
    /// See [`LookupError`].
    pub fn lookup_transform(
        &self,
        target: &str,
        source: &str,
        time: Time,
    ) -> Result<TransformStamped, LookupError> {
        let (transform, time) = self.lookup(target, source, time)?;
        Ok(transform.to_stamped(target, source, time))
    }

    /// Like [`Buffer::lookup_transform`], but returns numbers to compute with, and does not
    /// allocate.
    ///
    /// # Errors
    /// See [`LookupError`].
    pub fn lookup(
        &self,
        target: &str,
        source: &str,
        time: Time,
    ) -> Result<(Transform, Time), LookupError> {
        let tree = &*self.inner.tree.read();
        if target == source {
            return Ok((Transform::IDENTITY, newest_of(tree, target, time)));
        }
        find(tree, ("target_frame", target), ("source_frame", source), time)
    }

    /// Returns the transform that brings `source` at one time into `target` at another time,
    /// through a frame that does not move between these times. The stamp of the result is the
    /// target's time.
    ///
    /// # Errors
    /// See [`LookupError`].
    pub fn lookup_transform_full(
        &self,
        (target, target_time): (&str, Time),
        (source, source_time): (&str, Time),
        fixed: &str,
    ) -> Result<TransformStamped, LookupError> {
        let tree = &*self.inner.tree.read();
        let fixed = ("fixed_frame", fixed);
        let (inner, _) = find(tree, fixed, ("source_frame", source), source_time)?;
        let (outer, time) = find(tree, ("target_frame", target), fixed, target_time)?;
        Ok((outer * inner).to_stamped(target, source, time))
    }

    /// Whether [`Buffer::lookup_transform`] would succeed now.
    #[must_use]
    pub fn can_transform(&self, target: &str, source: &str, time: Time) -> bool {
        if target == source {
            return true;
        }
        let tree = &*self.inner.tree.read();
        let (Some(target), Some(source)) = (tree.id(target), tree.id(source)) else { return false };
        way(tree, target, source, time).is_ok()
    }

    /// Returns whether the transform from `source` into `target` at a time is known now, may become
    /// known later, or will never be known. The function makes no error message, so callers may
    /// call it often.
    #[must_use]
    pub fn readiness(&self, target: &str, source: &str, time: Time) -> Readiness {
        if target == source {
            return Readiness::Ready;
        }
        let is_name = |name: &str| !name.is_empty() && !name.starts_with('/');
        let tree = &*self.inner.tree.read();
        let (Some(to), Some(from)) = (tree.id(target), tree.id(source)) else {
            let may_come = is_name(target) && is_name(source);
            return if may_come { Readiness::NotYet } else { Readiness::Never };
        };
        match way(tree, to, from, time) {
            Ok(_) => Readiness::Ready,
            Err((failure, _)) if failure.is_final(time, self.cache_length()) => Readiness::Never,
            Err(_) => Readiness::NotYet,
        }
    }

    /// Returns the newest time at which the whole chain between two frames is known; [`Time::ZERO`]
    /// if the whole chain is static.
    ///
    /// # Errors
    /// See [`LookupError`].
    pub fn latest_common_time(&self, target: &str, source: &str) -> Result<Time, LookupError> {
        let tree = &*self.inner.tree.read();
        let (to, from) = known(tree, ("target_frame", target), ("source_frame", source))?;
        let time = walk::latest_common_time(tree, to, from);
        time.map_err(|failure| walk::describe(tree, failure, (to, from), Time::ZERO))
    }

    /// Expresses a message in another frame, at the time of the message's stamp.
    ///
    /// # Errors
    /// When the frames are not known at that time, or the message cannot be transformed.
    pub fn transform<M: StampedTransformable>(
        &self,
        message: &M,
        target: &str,
    ) -> Result<M, TransformError> {
        let time = Time::from_nanos(message.header().stamp.to_nanos());
        let (transform, time) = self.lookup(target, &message.header().frame_id, time)?;
        message.transformed_to(&transform, target, time)
    }

    /// Returns the frames from `source` to `target` at a time, both included, like `_chainAsVector`
    /// of tf2.
    ///
    /// # Errors
    /// See [`LookupError`].
    pub fn chain(
        &self,
        target: &str,
        source: &str,
        time: Time,
    ) -> Result<Vec<String>, LookupError> {
        let tree = &*self.inner.tree.read();
        let (to, from) = known(tree, ("target_frame", target), ("source_frame", source))?;
        if to == from {
            return Ok(vec![target.to_owned()]);
        }
        let (way, _) = way(tree, to, from, time)
            .map_err(|(failure, time)| walk::describe(tree, failure, (to, from), time))?;
        Ok(way.frames(tree).iter().map(|frame| tree.name(*frame).to_owned()).collect())
    }

    /// Returns all known frames, by name.
    #[must_use]
    pub fn frames(&self) -> BTreeMap<String, FrameInfo> {
        render::frames(&self.inner.tree.read())
    }

    /// Whether the buffer knows a frame of this name.
    #[must_use]
    pub fn has_frame(&self, name: &str) -> bool {
        self.inner.tree.read().id(name).is_some()
    }

    /// Returns the frames as `allFramesAsString` of tf2 prints them, one per line.
    #[must_use]
    pub fn all_frames_as_string(&self) -> String {
        render::as_string(&self.frames())
    }

    /// Returns the frames in YAML, like `allFramesAsYAML` of tf2; delays are measured at `now`.
    #[must_use]
    pub fn all_frames_as_yaml(&self, now: Time) -> String {
        render::as_yaml(&self.frames(), now)
    }
}

/// An argument of a lookup and the name of a frame that was passed for it.
type Named<'a> = (&'static str, &'a str);

fn find(
    tree: &Tree,
    target: Named<'_>,
    source: Named<'_>,
    time: Time,
) -> Result<(Transform, Time), LookupError> {
    let (to, from) = known(tree, target, source)?;
    if to == from {
        return Ok((Transform::IDENTITY, newest_of(tree, target.1, time)));
    }
    match way(tree, to, from, time) {
        Ok((way, time)) => Ok((way.transform(tree), time)),
        Err((failure, time)) => Err(walk::describe(tree, failure, (to, from), time)),
    }
}

/// Returns the chain between two frames and the time for which it is valid, or the failure and that
/// time.
fn way(
    tree: &Tree,
    target: FrameId,
    source: FrameId,
    time: Time,
) -> Result<(Way, Time), (Failure, Time)> {
    let time = match time {
        Time::ZERO => walk::latest_common_time(tree, target, source).map_err(|f| (f, time))?,
        time => time,
    };
    Ok((Way::find(tree, target, source, time).map_err(|f| (f, time))?, time))
}

/// Returns the time for which the transform of a frame into itself is valid. That transform is
/// known at any time, so [`Time::ZERO`] stands for the time of the frame's last sample.
fn newest_of(tree: &Tree, frame: &str, time: Time) -> Time {
    let latest = || tree.latest(tree.id(frame)?)?.0;
    if time == Time::ZERO { latest().unwrap_or(time) } else { time }
}

fn known(
    tree: &Tree,
    target: Named<'_>,
    source: Named<'_>,
) -> Result<(FrameId, FrameId), LookupError> {
    match (tree.id(target.1), tree.id(source.1)) {
        (Some(to), Some(from)) => Ok((to, from)),
        (None, None) => Err(unknown(tree, &[target, source])),
        (None, Some(_)) => Err(unknown(tree, &[target])),
        (Some(_), None) => Err(unknown(tree, &[source])),
    }
}

/// Returns the error for names that no frame has. An invalid name is reported first, since waiting
/// for it is useless.
#[cold]
fn unknown(tree: &Tree, names: &[Named<'_>]) -> LookupError {
    let is_invalid = |(_, name): &&Named<'_>| name.is_empty() || name.starts_with('/');
    if let Some((argument, frame)) = names.iter().find(is_invalid) {
        return LookupError::InvalidFrame { argument, frame: (*frame).to_owned() };
    }
    let (argument, frame) = names.first().copied().unwrap_or_default();
    let names = tree.frames().iter().map(|known| &*known.name);
    let nearest = feros_wording::nearest(frame, names.take(100));
    LookupError::UnknownFrame {
        argument,
        frame: frame.to_owned(),
        nearest: nearest.first().map(|name| (*name).to_owned()),
    }
}
