//! A subscription on both engines. It delivers each message once, and the messages of each
//! publisher in order.

use std::collections::HashMap;
use std::sync::Arc;

use feros_engine::gaps::Gaps;
use feros_engine::{
    AnnounceError, BridgeMark, Created, EventError, Gid, Match, QosProfile, Reliability, Sample,
    Subscription, SubscriptionEvent, SubscriptionOptions, TakeError, twin,
};
use feros_sync::Mutex;

use crate::announced::{self, Announced};
use crate::heard::Heard;
use crate::joining::{Joined, Joiner};
use crate::later::Watch;
use crate::shared::Shared;
use crate::status::SubscriptionStatus;

/// If there are more publishers than this, publishers that no longer match are forgotten.
const REMEMBERED_PUBLISHERS: usize = 256;

/// When an engine delivers its first message of a publisher that is on both engines, the messages
/// that wait on the other engine are taken first, because they may include earlier messages of the
/// publisher. This is the limit on the number of messages that are taken for this reason. It is the
/// usual limit of a history.
const DRAIN_LIMIT: usize = 1024;

pub(crate) struct PairSubscription {
    shared: Arc<Shared>,
    sides: [Arc<dyn Subscription>; 2],
    topic: String,
    watch: Arc<Watch>,
    matches: Mutex<Matches>,
    reception: Mutex<Reception>,
    announcement: Mutex<String>,
}

struct Matches {
    joiner: Joiner,
    last: Vec<Joined>,
    status: SubscriptionStatus,
    /// The sources of messages on each engine, stored by the gid of the publisher on that engine.
    sources: [HashMap<Gid, Source>; 2],
    /// The graph's version when the sources were last determined.
    version: u64,
}

/// The source of the messages that have a certain gid on one engine.
#[derive(Clone, Copy)]
enum Source {
    /// A publisher that is only on this engine.
    Single(Gid),
    /// A publisher that may be on both engines, or whose messages a bridge forwards with their
    /// numbers.
    Twin { identity: Gid, in_order: bool },
    /// A bridge that does not name the original publisher. `repeats` is true if the other engine
    /// delivers the same messages.
    Bridge { gid: Gid, repeats: bool },
}

#[derive(Default)]
struct Reception {
    heads: [Option<Sample>; 2],
    heard: HashMap<Gid, Heard>,
    gaps: Gaps,
    /// The engine from which the next message is taken. This alternates between the two engines.
    next: usize,
    drained: usize,
}

impl PairSubscription {
    pub(crate) fn new(shared: &Arc<Shared>, options: &SubscriptionOptions<'_>) -> Created<Self> {
        let nodes = shared.node(options.node, options.topic)?;
        let watch = Watch::new(options.on_event.clone());
        let of_side = |side: usize, qos: QosProfile, announcement: &str| {
            shared.sides[side].create_subscription(SubscriptionOptions {
                node: nodes[side],
                qos,
                announcement,
                on_event: Some(watch.notifier()),
                ..options.clone()
            })
        };
        let first = of_side(0, options.qos, &twin::first_announcement(options.announcement))?;
        let marked = twin::announcement(first.gid(), options.announcement);
        let second = of_side(1, first.qos(), &marked)?;
        Ok(Self {
            shared: shared.clone(),
            topic: options.topic.to_owned(),
            matches: Mutex::new(Matches {
                joiner: Joiner::new(shared, watch.clone()),
                last: Vec::new(),
                status: SubscriptionStatus::default(),
                sources: Default::default(),
                version: 0,
            }),
            sides: [first, second],
            watch,
            reception: Mutex::default(),
            announcement: Mutex::new(options.announcement.to_owned()),
        })
    }

    /// Examines the matches again if they may have changed.
    fn refresh(&self) {
        if self.watch.take_change() {
            self.look(&mut self.matches.lock());
        }
    }

    #[cold]
    fn look(&self, matches: &mut Matches) {
        matches.version = self.shared.version();
        let lists = self.sides.each_ref().map(|side| side.matches());
        for (side, list) in lists.iter().enumerate() {
            let known = &mut matches.sources[side];
            // Publishers that have left are remembered for some time, because some of their
            // messages may not have been taken yet.
            if known.len() > REMEMBERED_PUBLISHERS + list.len() {
                known.clear();
            }
            known.extend(list.iter().map(|found| (found.gid, self.source(side, found, &lists))));
        }
        let joined = matches.joiner.join_offers(lists);
        matches.status.set_matched(joined.iter().map(|one| one.identity));
        matches.last = joined;
    }

    fn source(&self, side: usize, found: &Match, lists: &[Vec<Match>; 2]) -> Source {
        let announcement = found.announcement.as_deref();
        let is_of_a_bridge = BridgeMark::read(announcement).is_some();
        if is_of_a_bridge && BridgeMark::origin(announcement).is_none() {
            let repeats = self.shared.repeats_the_other(side, announcement);
            return Source::Bridge { gid: found.gid, repeats };
        }
        let identity_of = |side, found: &Match| {
            Announced::of_messages(side, found.gid, found.announcement.as_ref()).identity
        };
        let identity = identity_of(side, found);
        let is_named =
            || lists[1 - side].iter().any(|other| identity_of(1 - side, other) == identity);
        if identity == found.gid && !is_named() {
            return Source::Single(found.gid);
        }
        let best_effort = Reliability::BestEffort;
        let in_order =
            self.sides[0].qos().reliability == best_effort || found.qos.reliability == best_effort;
        Source::Twin { identity, in_order }
    }

    /// Returns the source of a message.
    fn source_of(&self, side: usize, gid: Gid) -> Source {
        self.refresh();
        let mut matches = self.matches.lock();
        let known = matches.sources[side].get(&gid).copied();
        let is_settled = match known {
            Some(Source::Bridge { repeats: false, .. }) | None => {
                matches.version == self.shared.version() && known.is_some()
            }
            Some(_) => true,
        };
        if is_settled {
            return known.unwrap_or(Source::Single(gid));
        }
        self.look(&mut matches);
        let found = matches.sources[side].get(&gid).copied();
        found.unwrap_or_else(|| self.source_of_unmatched(side, gid))
    }

    /// Returns the source of a message that arrived before its publisher matched.
    fn source_of_unmatched(&self, side: usize, gid: Gid) -> Source {
        let graph = self.shared.sides[side].graph();
        let found = graph.endpoints.iter().find(|endpoint| endpoint.gid == gid);
        let said =
            found.map(|found| Announced::of_messages(side, gid, found.announcement.as_ref()));
        match said {
            Some(Announced { identity, .. }) if identity != gid => {
                let in_order = self.sides[0].qos().reliability == Reliability::BestEffort;
                Source::Twin { identity, in_order }
            }
            _ => Source::Single(gid),
        }
    }

    fn fill(&self, reception: &mut Reception) -> Result<(), TakeError> {
        for (head, side) in reception.heads.iter_mut().zip(&self.sides) {
            if head.is_none() {
                *head = side.take()?;
            }
        }
        Ok(())
    }

    /// Chooses the engine whose message is delivered next. If the next messages of both engines are
    /// from the same publisher, the older message is delivered first.
    fn choose(&self, reception: &mut Reception) -> Option<usize> {
        let gids = reception.heads.each_ref().map(|head| Some(head.as_ref()?.info.publisher_gid));
        let [Some(first), Some(second)] = gids else {
            return gids.iter().position(Option::is_some);
        };
        let sources = [self.source_of(0, first), self.source_of(1, second)];
        if let [Source::Twin { identity, .. }, Source::Twin { identity: other, .. }] = sources
            && identity == other
        {
            let number = |side: usize| {
                let head = reception.heads[side].as_ref();
                head.and_then(|head| head.info.publication_sequence_number)
            };
            return Some(usize::from(number(1) < number(0)));
        }
        for (side, source) in sources.into_iter().enumerate() {
            let Source::Twin { identity, .. } = source else { continue };
            let heard = reception.heard.get(&identity);
            let begins = heard.is_some_and(|heard| !heard.by[side] && heard.by[1 - side]);
            if begins && reception.drained < DRAIN_LIMIT {
                reception.drained += 1;
                return Some(1 - side);
            }
        }
        reception.next = 1 - reception.next;
        Some(reception.next)
    }

    /// Returns the message if it is new and must be delivered.
    fn receive(
        &self,
        side: usize,
        mut sample: Sample,
        reception: &mut Reception,
    ) -> Option<Sample> {
        let number = sample.info.publication_sequence_number;
        let (from, in_order, is_twin) = match self.source_of(side, sample.info.publisher_gid) {
            Source::Bridge { repeats: true, .. } => return None,
            Source::Bridge { gid, repeats: false } => (gid, false, false),
            // This publisher does not count as delivered by both engines, but the other engine may
            // find it later and deliver its latched messages again.
            Source::Single(gid) => (gid, false, false),
            Source::Twin { identity, in_order } => (identity, in_order, true),
        };
        self.forget_those_that_left(from, reception);
        let heard = reception.heard.entry(from).or_default();
        if !heard.by[side] {
            heard.by[side] = true;
            reception.drained = 0;
        }
        let is_new = number.is_none_or(|number| heard.note(number, in_order));
        // A bridged message may arrive before this subscription knows that its publisher is on both
        // sides.
        if !is_new && (is_twin || heard.by[1 - side]) {
            return None;
        }
        sample.info.publisher_gid = from;
        if let Some(number) = number.and_then(|number| i64::try_from(number).ok()) {
            let lost = reception.gaps.next(from, number, || self.known());
            if lost > 0 {
                self.matches.lock().status.add_lost(lost);
                self.watch.notify();
            }
        }
        Some(sample)
    }

    fn forget_those_that_left(&self, but: Gid, reception: &mut Reception) {
        if reception.heard.len() >= REMEMBERED_PUBLISHERS && !reception.heard.contains_key(&but) {
            let known = self.known();
            reception.heard.retain(|identity, _| known.contains(identity));
        }
    }

    /// Returns the matching publishers.
    fn known(&self) -> Vec<Gid> {
        self.matches.lock().last.iter().map(|one| one.identity).collect()
    }
}

impl Subscription for PairSubscription {
    fn gid(&self) -> Gid {
        self.sides[0].gid()
    }

    fn qos(&self) -> QosProfile {
        self.sides[0].qos()
    }

    fn take(&self) -> Result<Option<Sample>, TakeError> {
        let mut reception = self.reception.lock();
        loop {
            self.fill(&mut reception)?;
            let Some(side) = self.choose(&mut reception) else { return Ok(None) };
            let Some(sample) = reception.heads[side].take() else { continue };
            if let Some(sample) = self.receive(side, sample, &mut reception) {
                return Ok(Some(sample));
            }
        }
    }

    fn matched_publishers(&self) -> usize {
        self.refresh();
        self.matches.lock().last.len()
    }

    fn matches(&self) -> Vec<Match> {
        let mut matches = self.matches.lock();
        self.look(&mut matches);
        matches.last.iter().map(Joined::to_match).collect()
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        let endpoint = (&*self.topic, self.gid());
        announced::change(endpoint, &self.announcement, announcement, |side, text| {
            self.sides[side].announce(text)
        })
    }

    fn expect_gaps(&self, publisher: Gid, expect: bool) {
        self.reception.lock().gaps.expect(publisher, expect, || self.known());
    }

    fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError> {
        self.refresh();
        let mut matches = self.matches.lock();
        for (side, end) in self.sides.iter().enumerate() {
            while let Some(event) = end.take_event()? {
                matches.status.note(side, event);
            }
        }
        Ok(matches.status.take())
    }

    fn refused_samples(&self) -> u64 {
        self.sides.iter().map(|side| side.refused_samples()).sum()
    }
}

impl Drop for PairSubscription {
    fn drop(&mut self) {
        self.watch.close();
    }
}
