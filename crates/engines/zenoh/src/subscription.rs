//! Subscriptions.

use std::sync::Arc;
use std::time::Duration;

use feros_engine::gaps::Gaps;
use feros_engine::{
    AnnounceError, Created, Durability, EventError, Gid, Match, MessageInfo, QosProfile, Sample,
    Stamp, Subscription, SubscriptionEvent, SubscriptionOptions, TakeError,
};
use feros_sync::Mutex;
use zenoh::Wait as _;
use zenoh::sample::{Locality, Sample as ZenohSample};
use zenoh_ext::{AdvancedSubscriber, AdvancedSubscriberBuilderExt as _, HistoryConfig};

use crate::inbox::{self, Inbox};
use crate::matches::Matches;
use crate::member::Member;
use crate::publisher::kept_samples;
use crate::sample::payload;
use crate::session_state::{SessionState, failed};
use crate::wire::token::{self, EndpointToken};

enum Declared {
    Plain {
        _subscriber: zenoh::pubsub::Subscriber<()>,
    },
    /// A subscription that asks publishers for their histories.
    Asking {
        _subscriber: AdvancedSubscriber<()>,
    },
}

impl Declared {
    fn new(
        shared: &SessionState,
        token: &EndpointToken,
        ignores_own: bool,
        inbox: &Arc<Inbox>,
    ) -> Result<Self, zenoh::Error> {
        let inbox = inbox.clone();
        let put =
            move |sample: ZenohSample| inbox::put(&inbox, sample.payload(), sample.attachment());
        let origin = if ignores_own { Locality::Remote } else { Locality::Any };
        let builder = shared.session.declare_subscriber(token.data_key()).callback(put);
        let builder = builder.allowed_origin(origin);
        if token.qos.durability != Durability::TransientLocal {
            return builder.wait().map(|subscriber| Self::Plain { _subscriber: subscriber });
        }
        let history = HistoryConfig::default().detect_late_publishers();
        let history = history.max_samples(kept_samples(&token.qos));
        let asking = builder.history(history).query_timeout(Duration::from_millis(u64::MAX));
        asking.wait().map(|subscriber| Self::Asking { _subscriber: subscriber })
    }
}

pub(crate) struct ZenohSubscription {
    // The announcement must be dropped before the values that receive messages.
    member: Member,
    _declared: Declared,
    inbox: Arc<Inbox>,
    matches: Arc<Matches>,
    gaps: Mutex<Gaps>,
    qos: QosProfile,
}

impl ZenohSubscription {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        token: EndpointToken,
        options: SubscriptionOptions<'_>,
    ) -> Created<Self> {
        let (qos, topic) = (token.qos, token.name.clone());
        let inbox = Inbox::new(&topic, &qos, &shared.room, options.on_data);
        let matches = Matches::new(options.on_event);
        if options.ignore_local_publications {
            matches.ignore_session(&shared.zid);
        }
        shared.add_inbox(token::gid(&token.encode()), &inbox);
        let declared = Declared::new(shared, &token, options.ignore_local_publications, &inbox)
            .map_err(|error| failed(&topic, "declaring the subscription", &error))?;
        let member = Member::announce(shared, token, options.announcement, matches.clone())?;
        let gaps = Mutex::default();
        Ok(Self { member, _declared: declared, inbox, matches, gaps, qos })
    }
}

impl Drop for ZenohSubscription {
    fn drop(&mut self) {
        self.inbox.close();
        self.matches.close();
        self.member.shared.remove_inbox(self.member.gid);
    }
}

impl Subscription for ZenohSubscription {
    fn gid(&self) -> Gid {
        self.member.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take(&self) -> Result<Option<Sample>, TakeError> {
        while let Some(received) = self.inbox.pop() {
            let from = received.attachment.gid;
            let number = received.attachment.number;
            let lost = self.gaps.lock().next(from, number, || self.matches.gids());
            self.matches.lost(lost);
            let source_timestamp = Stamp(received.attachment.stamp_nanos).to_system_time();
            if self.matches.is_expired(from, source_timestamp) {
                continue;
            }
            let info = MessageInfo {
                source_timestamp,
                received_timestamp: Some(received.at),
                publication_sequence_number: u64::try_from(number).ok().filter(|n| *n > 0),
                publisher_gid: from,
                from_same_session: from.is_of_session_of(&self.member.gid),
            };
            return Ok(Some(Sample { payload: payload(received.bytes), info }));
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
        self.member.announced.change(&self.member.name, announcement)
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
