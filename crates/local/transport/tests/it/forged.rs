//! Tests with forged announcements: false claims of a remote endpoint must not harm other
//! endpoints.

use feros_engine::{Payload, QosProfile};
use feros_shm::{Transport, TransportSet};
use feros_trace::Outbound;

use crate::support::{Place, next, number, until};

#[test]
fn a_copied_announcement_does_not_make_a_publisher_wait() {
    let (here, there, stranger) = (Place::new(), Place::new(), Place::new());
    let only = TransportSet::from(Transport::SharedMemory).with(Transport::Network);
    let publisher = here.publisher(only, QosProfile::keep_last(10));
    let (subscription, mut receiver) =
        there.subscription::<Payload>(only, QosProfile::keep_last(10));
    let graph = until("the announcement", || {
        let graph = stranger.session.graph();
        let is_known = graph.endpoints.iter().any(|found| found.gid == subscription.gid());
        is_known.then_some(graph)
    });
    let genuine = graph.endpoints.iter().find(|found| found.gid == subscription.gid()).unwrap();
    let forged = stranger
        .session
        .create_subscription(feros_engine::SubscriptionOptions {
            qos: QosProfile::keep_all(),
            announcement: genuine.announcement.as_deref().unwrap(),
            ..feros_engine::SubscriptionOptions::new(
                stranger.node(),
                publisher.topic(),
                "std_msgs/msg/Int32",
            )
        })
        .unwrap();
    until("both", || (publisher.matched_subscriptions() == 2).then_some(()));
    until("shared memory", || {
        let found = publisher.transports();
        let by_it = found.iter().filter(|one| one.transport == Some(Transport::SharedMemory));
        (by_it.count() >= 1).then_some(())
    });
    for data in 0..300 {
        publisher.publish_bytes(&number(data), &mut Outbound::publish()).unwrap();
    }
    until("the last one", || (**next(&mut receiver).object() == *number(299)).then_some(()));
    drop(forged);
}
