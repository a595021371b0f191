//! Subscriptions.

use std::sync::Arc;

use feros_engine::gaps::Gaps;
use feros_engine::{
    AnnounceError, Created, EndpointKind, EventError, Gid, Match, QosProfile, Sample, Stamp,
    Subscription, SubscriptionEvent, SubscriptionOptions, TakeError,
};
use feros_sync::Mutex;

use crate::incoming::{Incoming, Joining};
use crate::matches::{Matches, Reach};
use crate::message::Inbox;
use crate::participant::Member;
use crate::place::{Described, Place};

pub(crate) struct Ros1Subscription {
    member: Member,
    inbox: Arc<Inbox>,
    matches: Arc<Matches>,
    incoming: Arc<Incoming>,
    place: Place,
    gaps: Mutex<Gaps>,
    qos: QosProfile,
}

impl Ros1Subscription {
    pub(crate) fn new(place: Place, options: SubscriptionOptions<'_>) -> Created<Self> {
        let qos = options.qos;
        let participant = place.participant.clone();
        let inbox = Inbox::new(options.topic, &qos, &participant.room, options.on_data.clone());
        let matches = Arc::new(Matches::new(options.on_event.clone()));
        let reach = Reach::Subscription(inbox.clone());
        let described = Described {
            kind: EndpointKind::Subscription,
            name: options.topic,
            type_name: options.type_name,
            type_hash: options.type_hash,
            announcement: options.announcement,
        };
        let mut entry = place.entry(&described, qos, &matches, reach);
        entry.ignores_own_session = options.ignore_local_publications;
        let member = participant.add(entry);
        let joining = Joining { gid: member.gid, inbox: inbox.clone(), matches: matches.clone() };
        let incoming = place.topics.subscribe(options.topic, options.type_name, joining)?;
        Ok(Self { member, inbox, matches, incoming, place, gaps: Mutex::default(), qos })
    }
}

impl Drop for Ros1Subscription {
    fn drop(&mut self) {
        self.inbox.close();
        self.matches.close();
        self.member.leave();
        self.place.topics.unsubscribe(&self.incoming, self.member.gid);
    }
}

impl Subscription for Ros1Subscription {
    fn gid(&self) -> Gid {
        self.member.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take(&self) -> Result<Option<Sample>, TakeError> {
        while let Some(message) = self.inbox.pop() {
            if let Some(number) = message.number {
                let lost = self.gaps.lock().next(message.from, number, || self.matches.gids());
                self.matches.lost(lost);
            }
            let published = message.stamp.and_then(Stamp::to_system_time);
            if !self.matches.is_expired(message.from, published) {
                return Ok(Some(message.sample(self.member.gid)));
            }
        }
        Ok(None)
    }

    fn matched_publishers(&self) -> usize {
        self.matches.count()
    }

    fn matches(&self) -> Vec<Match> {
        self.matches.list()
    }

    fn announce(&self, announcement: &str) -> Result<(), AnnounceError> {
        self.member.announce(announcement)
    }

    fn expect_gaps(&self, publisher: Gid, expect: bool) {
        self.gaps.lock().expect(publisher, expect, || self.matches.gids());
    }

    fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError> {
        Ok(self.matches.take(feros_inbox::Status::take_of_subscription))
    }

    fn refused_samples(&self) -> u64 {
        self.inbox.refused()
    }
}
