//! A naive tf2 with lists of all transforms and with matrices, written without regard to speed.
//! Times are in nanoseconds.

use std::collections::BTreeMap;

use feros_tf2::Transform;
use feros_tf2::glam::{DMat4, DQuat};

/// The transform of a frame into its parent at a time.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) child: String,
    pub(crate) parent: String,
    pub(crate) nanos: i64,
    pub(crate) transform: Transform,
    pub(crate) is_static: bool,
}

/// The transforms of one frame.
#[derive(Debug, Clone, Default)]
struct Known {
    is_static: bool,
    samples: BTreeMap<i64, Said>,
}

/// All frames.
#[derive(Debug, Default)]
pub(crate) struct Reference {
    frames: BTreeMap<String, Known>,
    cache_nanos: i64,
}

/// Why a lookup fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    Unknown,
    Unconnected,
    Extrapolation,
    /// The frames form a loop at that time.
    Loop,
}

/// Why a transform is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    Old,
    Loop,
}

impl Reference {
    pub(crate) fn new(cache_nanos: i64) -> Self {
        Self { frames: BTreeMap::new(), cache_nanos }
    }

    pub(crate) fn say(&mut self, said: Said) -> Result<(), Refused> {
        let cache = self.cache_nanos;
        let known = self.frames.get(&said.child).cloned().unwrap_or_default();
        let newest = known.samples.keys().next_back().copied().unwrap_or(said.nanos);
        let is_dynamic = !known.is_static && !said.is_static;
        if is_dynamic && said.nanos < newest - cache {
            return Err(Refused::Old);
        }
        if self.latest_parent(&said.child) != Some(&said.parent) {
            self.cut_loop(&said)?;
        }
        self.frames.entry(said.parent.clone()).or_default();
        let known = self.frames.entry(said.child.clone()).or_default();
        if !is_dynamic {
            known.samples.clear();
        }
        known.is_static = said.is_static;
        let newest = known.samples.keys().next_back().copied().unwrap_or(said.nanos);
        let newest = newest.max(said.nanos);
        known.samples.insert(said.nanos, said);
        known.samples.retain(|nanos, _| *nanos >= newest - cache);
        Ok(())
    }

    fn latest_parent(&self, frame: &str) -> Option<&String> {
        Some(&self.frames.get(frame)?.samples.values().next_back()?.parent)
    }

    /// Refuses a new parent that is a descendant of the child. If the transforms that make it a
    /// descendant have expired, those transforms are dropped instead.
    fn cut_loop(&mut self, said: &Said) -> Result<(), Refused> {
        let mut frame = said.parent.clone();
        let mut expired = None;
        while frame != said.child {
            let Some(parent) = self.latest_parent(&frame).cloned() else { return Ok(()) };
            let known = &self.frames[&frame];
            let newest = known.samples.keys().next_back().copied().unwrap_or(0);
            if !known.is_static && newest < said.nanos - self.cache_nanos {
                expired = Some(frame);
            }
            frame = parent;
        }
        let expired = expired.ok_or(Refused::Loop)?;
        self.frames.entry(expired).or_default().samples.clear();
        Ok(())
    }

    /// Returns the parent of a frame at a time, and the transform into the parent; `None` for
    /// roots.
    fn step(&self, frame: &str, nanos: i64) -> Result<Option<(String, DMat4)>, Wrong> {
        let Some(known) = self.frames.get(frame) else { return Err(Wrong::Unknown) };
        let Some(newest) = known.samples.values().next_back() else { return Ok(None) };
        let matrix = |transform: &Transform| {
            DMat4::from_rotation_translation(transform.rotation, transform.translation)
        };
        if known.is_static || nanos == 0 {
            return Ok(Some((newest.parent.clone(), matrix(&newest.transform))));
        }
        let before = known.samples.range(..=nanos).next_back();
        let after = known.samples.range(nanos..).next();
        let (Some((older_nanos, older)), Some((newer_nanos, newer))) = (before, after) else {
            return Err(Wrong::Extrapolation);
        };
        if older_nanos == newer_nanos || older.parent != newer.parent {
            return Ok(Some((older.parent.clone(), matrix(&older.transform))));
        }
        let ratio = (nanos - older_nanos) as f64 / (newer_nanos - older_nanos) as f64;
        let (from, to) = (older.transform.rotation, newer.transform.rotation);
        let turn = from.conjugate() * to;
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let axis = turn.to_scaled_axis();
        let rotation = from * DQuat::from_scaled_axis(axis * ratio);
        let translation =
            older.transform.translation * (1.0 - ratio) + newer.transform.translation * ratio;
        Ok(Some((
            older.parent.clone(),
            DMat4::from_rotation_translation(rotation.normalize(), translation),
        )))
    }

    /// Returns the frames upwards from one frame, each with the transform of the given frame into
    /// it, and the error with which the chain ends, if any.
    fn ancestors(&self, frame: &str, nanos: i64) -> (Vec<(String, DMat4)>, Option<Wrong>) {
        let mut chain = vec![(frame.to_owned(), DMat4::IDENTITY)];
        loop {
            let (last, matrix) = chain.last().cloned().expect("it begins with the frame");
            match self.step(&last, nanos) {
                Ok(None) => return (chain, None),
                Err(wrong) => return (chain, Some(wrong)),
                Ok(Some((parent, step))) => {
                    if chain.iter().any(|(known, _)| *known == parent) {
                        return (chain, Some(Wrong::Loop));
                    }
                    chain.push((parent, step * matrix));
                }
            }
        }
    }

    /// Returns the transform that brings the source into the target at a time that is not zero.
    pub(crate) fn lookup(&self, target: &str, source: &str, nanos: i64) -> Result<DMat4, Wrong> {
        if target == source {
            return Ok(DMat4::IDENTITY);
        }
        if !self.frames.contains_key(target) || !self.frames.contains_key(source) {
            return Err(Wrong::Unknown);
        }
        let (up, up_end) = self.ancestors(source, nanos);
        let (down, down_end) = self.ancestors(target, nanos);
        if [up_end, down_end].contains(&Some(Wrong::Loop)) {
            return Err(Wrong::Loop);
        }
        for (frame, from_source) in &up {
            if let Some((_, from_target)) = down.iter().find(|(known, _)| known == frame) {
                return Ok(from_target.inverse() * *from_source);
            }
        }
        Err(up_end.or(down_end).unwrap_or(Wrong::Unconnected))
    }

    /// Returns the newest time at which a chain is known, according to the newest parents; zero if
    /// the whole chain is static.
    pub(crate) fn latest_common_time(&self, target: &str, source: &str) -> Result<i64, Wrong> {
        if !self.frames.contains_key(target) || !self.frames.contains_key(source) {
            return Err(Wrong::Unknown);
        }
        let up = self.latest_chain(source)?;
        let down = self.latest_chain(target)?;
        for (i, frame) in up.iter().enumerate() {
            if let Some(j) = down.iter().position(|known| known == frame) {
                let times = up[..i].iter().chain(&down[..j]).filter_map(|frame| {
                    let known = &self.frames[frame];
                    if known.is_static { None } else { known.samples.keys().next_back().copied() }
                });
                return Ok(times.min().unwrap_or(0));
            }
        }
        Err(Wrong::Unconnected)
    }

    fn latest_chain(&self, frame: &str) -> Result<Vec<String>, Wrong> {
        let mut chain = vec![frame.to_owned()];
        while let Some(parent) = self.latest_parent(chain.last().expect("it has a first")) {
            if chain.contains(parent) {
                return Err(Wrong::Loop);
            }
            chain.push(parent.clone());
        }
        Ok(chain)
    }
}
