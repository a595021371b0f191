//! Services and clients, in both mappings.

use std::fmt::Debug;
use std::time::Instant;

use feros_engine::{
    ClientOptions, PublishError, PublisherOptions, QosProfile, RequestId, ServiceMapping,
    ServiceOptions, SubscriptionOptions,
};

use crate::Fixture;
use crate::endpoints::{TestClient, TestNode, TestService, test_nodes};
use crate::harness::{
    NotificationCounter, WATCHDOG, assert_same, number_in, numbered, patterned, unique,
};

const BOTH: [ServiceMapping; 2] =
    [ServiceMapping::RelatedSampleIdentity, ServiceMapping::PayloadHeader];

impl TestService {
    /// Responds to a client that exists. A server discovers the two endpoints of a client one after
    /// the other, and on a busy machine it may discover the second endpoint only after it has
    /// stopped waiting for it. Therefore the call is repeated.
    pub(crate) fn respond(&self, request: &RequestId, bytes: &[u8]) -> Result<(), PublishError> {
        let began = Instant::now();
        loop {
            match self.respond_once(request, bytes) {
                Err(PublishError::ClientGone { .. }) if began.elapsed() < WATCHDOG => {}
                result => return result,
            }
        }
    }

    /// Responds to the next request with the request's number plus `plus`.
    fn answer_one(&self, plus: u32) -> RequestId {
        let (id, request) = self.next();
        self.respond(&id, &numbered(number_in(&request.payload) + plus)).unwrap();
        id
    }
}

/// Returns the mapping in which a client's requests arrive: `wanted`, if the engine has several
/// mappings.
fn mapping_on(node: &TestNode, wanted: ServiceMapping) -> ServiceMapping {
    if node.session.kept().dds_services { wanted } else { ServiceMapping::default() }
}

/// Whether calls go by the engine whose mappings count. A pair of engines calls by its second
/// engine until the first one has found the server.
struct Settling {
    is_settled: bool,
    began: Instant,
}

impl Settling {
    fn of(node: &TestNode) -> Self {
        let is_pair = node.session.engine_name().contains(',');
        Self { is_settled: !is_pair, began: Instant::now() }
    }

    /// Checks that `is_as_expected`, unless calls go by another engine so far.
    fn check(&mut self, is_as_expected: bool, found: &dyn Debug) {
        self.is_settled |= is_as_expected;
        assert!(
            is_as_expected || (!self.is_settled && self.began.elapsed() < WATCHDOG),
            "{found:?}"
        );
    }
}

fn call_some(server: &TestService, client: &TestClient, mapping: ServiceMapping, node: &TestNode) {
    client.wait_for_server();
    let mut settling = Settling::of(node);
    let mut number = 0;
    while number < 20 || !settling.is_settled {
        let asked = client.ask(number);
        let id = server.answer_one(1000);
        assert_eq!(id.sequence_number, asked);
        settling.check(id.mapping == mapping, &id);
        let (answered, response) = client.next();
        assert_eq!((answered, number_in(&response.payload)), (asked, number + 1000));
        assert_eq!(response.payload[4..].as_ptr().align_offset(8), 0);
        number += 1;
    }
    assert!(client.client.take_response().unwrap().is_none());
}

/// Calls work in the default mapping, and a response contains the identity of its request.
pub fn calls_are_answered(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    for replies_on_demand in [false, true] {
        let service = unique("/calls");
        let server = near
            .service_with(ServiceOptions { replies_on_demand, ..near.service_options(&service) });
        let client = far.client(&service, None);
        call_some(&server, &client, ServiceMapping::RelatedSampleIdentity, &far);
    }
}

/// If a server announces the other mapping, clients call it in that mapping without any further
/// option. A call also works if the client forces the other mapping.
pub fn calls_with_payload_header_are_answered(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    for replies_on_demand in [false, true] {
        let service = unique("/header_calls");
        let server = near.service_with(ServiceOptions {
            mapping: ServiceMapping::PayloadHeader,
            replies_on_demand,
            ..near.service_options(&service)
        });
        let forced = far.client(&service, Some(ServiceMapping::PayloadHeader));
        call_some(&server, &forced, mapping_on(&near, ServiceMapping::PayloadHeader), &far);
    }
}

/// One server responds to interleaved calls from clients of both mappings.
pub fn both_mappings_at_once(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let service = unique("/bilingual");
    let server = near
        .service_with(ServiceOptions { replies_on_demand: true, ..near.service_options(&service) });
    let clients = BOTH.map(|mapping| far.client(&service, Some(mapping)));
    clients.iter().for_each(TestClient::wait_for_server);
    let mut settling = Settling::of(&far);
    let mut round = 0;
    while round < 10 || !settling.is_settled {
        let asked: Vec<_> =
            (0..).zip(&clients).map(|(n, client)| client.ask(round * 10 + n)).collect();
        // The server takes both requests before it responds to either, so it must tell them apart.
        let requests = [server.next(), server.next()];
        let differ = requests[0].0.mapping != requests[1].0.mapping;
        settling
            .check(differ == near.session.kept().dds_services, &[&requests[0].0, &requests[1].0]);
        for (id, request) in requests.iter().rev() {
            server.respond(id, &numbered(number_in(&request.payload) + 7)).unwrap();
        }
        for ((n, client), asked) in (0..).zip(&clients).zip(asked) {
            let (answered, response) = client.next();
            assert_eq!((answered, number_in(&response.payload)), (asked, round * 10 + n + 7));
        }
        round += 1;
    }
    assert_eq!(server.service.refused_samples(), 0);
}

/// Requests and responses of 300 KB arrive in both mappings.
pub fn large_responses(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    for mapping in BOTH {
        let service = unique("/large_responses");
        let server = near.service(&service, ServiceMapping::default());
        let client = far.client(&service, Some(mapping));
        client.wait_for_server();
        let (question, answer) = (patterned(300_001, 3), patterned(300_002, 4));
        for _ in 0..3 {
            let asked = client.send(&question);
            let (id, request) = server.next();
            assert_same(&request.payload, &question);
            server.respond(&id, &answer).unwrap();
            let (answered, response) = client.next();
            assert_eq!(answered, asked);
            assert_same(&response.payload, &answer);
        }
    }
}

/// Every client of a service receives only its own responses.
pub fn responses_go_to_their_client(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    for mapping in BOTH {
        let service = unique("/own_responses");
        let server = near.service(&service, ServiceMapping::default());
        let clients = [&far, &far, &near].map(|end| end.client(&service, Some(mapping)));
        clients.iter().for_each(TestClient::wait_for_server);
        for round in 0..5 {
            for (n, client) in (0..).zip(&clients) {
                client.ask(round * 10 + n);
            }
            for _ in &clients {
                server.answer_one(0);
            }
            for (n, client) in (0..).zip(&clients) {
                assert_eq!(number_in(&client.next().1.payload), round * 10 + n);
            }
        }
        for client in &clients {
            assert!(client.client.take_response().unwrap().is_none());
            assert_eq!(client.client.refused_samples(), 0);
        }
    }
}

/// A client that takes its responses slowly does not lose any, no matter how many other clients
/// there are.
pub fn responses_are_displaced_by_no_others(fixture: &dyn Fixture) {
    const OWN: u32 = 30;
    let (near, far) = test_nodes(fixture);
    for mapping in BOTH {
        let service = unique("/displaced");
        let server = near.service(&service, ServiceMapping::default());
        let [slow, quick] = [(); 2].map(|()| far.client(&service, Some(mapping)));
        [&slow, &quick].iter().for_each(|client| client.wait_for_server());
        for number in 0..OWN {
            slow.ask(number);
            server.answer_one(0);
            quick.ask(number);
            server.answer_one(0);
            assert_eq!(number_in(&quick.next().1.payload), number);
        }
        for number in 0..OWN {
            assert_eq!(number_in(&slow.next().1.payload), number, "{mapping:?}");
        }
    }
}

/// If more requests arrive than the server's history keeps, the lost requests are counted.
pub fn lost_requests_are_counted(fixture: &dyn Fixture) {
    const REQUESTS: u32 = 40;
    let (near, far) = test_nodes(fixture);
    let service = unique("/flood");
    let server = near.service(&service, ServiceMapping::default());
    let client = far.client(&service, None);
    client.wait_for_server();
    client.ask(0);
    server.answer_one(0);
    for number in 1..=REQUESTS {
        client.ask(number);
    }
    // A pair of engines may send the first requests by its second engine, and they may arrive after
    // the last request, so the last request does not end the count.
    let mut taken = Vec::new();
    server.requests.wait_for("all requests to be taken or lost", || {
        while let Some((_, request)) = server.service.take_request().unwrap() {
            taken.push(number_in(&request.payload));
        }
        let counted = server.service.lost_requests() + taken.len() as u64;
        assert!(counted <= u64::from(REQUESTS), "{counted}: {taken:?}");
        (counted == u64::from(REQUESTS)).then_some(())
    });
    assert!(taken.contains(&REQUESTS), "{taken:?}");
}

/// A client is notified when its service becomes available and when it disappears.
pub fn availability_is_notified(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let service = unique("/availability");
    let client = far.client(&service, None);
    assert!(!client.client.service_is_available());
    assert_eq!(client.client.responders(), []);
    for mapping in BOTH {
        let server = near.service(&service, mapping);
        client.wait_for_server();
        let asked = client.ask(1);
        let (request, _) = server.next();
        assert_eq!(request.sequence_number, asked);
        server.respond(&request, &numbered(1)).unwrap();
        let (_, response) = client.next();
        // A pair of engines may ask a server by its second engine before it finds the server by
        // its first one, and then expects responses from both.
        let responders = client.client.responders();
        assert!(responders.contains(&response.info.publisher_gid), "{responders:?}");
        assert!(responders.len() <= fixture.wires(), "{responders:?}");
        drop(server);
        client.responses.wait_for("the server's end", || {
            let is_gone = client.client.responders().is_empty();
            (is_gone && !client.client.service_is_available()).then_some(())
        });
    }
}

/// Responses may be sent in any order and after any length of time, because the caller stores the
/// ids of the requests.
pub fn late_responses_are_accepted(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let service = unique("/late");
    let server = near.service(&service, ServiceMapping::default());
    let client = far.client(&service, None);
    client.wait_for_server();
    let asked: Vec<_> = (0..5).map(|number| client.ask(number)).collect();
    let requests: Vec<_> = asked.iter().map(|_| server.next()).collect();
    for (id, request) in requests.iter().rev() {
        server.respond(id, &numbered(number_in(&request.payload))).unwrap();
    }
    for expected in asked.iter().rev() {
        assert_eq!(client.next().0, *expected);
    }
}

/// The other side of a match and the graph see the announcements of servers and clients.
pub fn servers_and_clients_announce(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let service = unique("/announced");
    let announcement = "side=server";
    let options = ServiceOptions { announcement, ..near.service_options(&service) };
    let server = near.service_with(options);
    let announcement = "side=client";
    let options = ClientOptions { announcement, ..far.client_options(&service) };
    let client = far.client_with(options);
    client.wait_for_server();
    let servers = client.client.servers();
    assert_eq!(servers.len(), 1);
    assert!(servers[0].is_available);
    assert_eq!(servers[0].found.gid, server.service.gid());
    assert_eq!(servers[0].found.announcement.as_deref(), Some("side=server"));
    let found =
        server.requests.wait_for("a client", || server.service.clients().into_iter().next());
    assert_eq!(found.gid, client.client.gid());
    assert_eq!(found.announcement.as_deref(), Some("side=client"));
    for (kind, text) in [
        (feros_engine::EndpointKind::Service, "side=server"),
        (feros_engine::EndpointKind::Client, "side=client"),
    ] {
        far.wait_for_graph(text, |graph| {
            let found = graph.endpoints_of(kind, &service).next()?;
            (found.announcement.as_deref() == Some(text)).then_some(())
        });
    }
    drop(server);
    client
        .responses
        .wait_for("the server's end", || client.client.servers().is_empty().then_some(()));
}

/// If a request arrived over another transport, a server can send the response to the endpoint that
/// the client names, with any number as the identity.
pub fn responses_find_a_client_by_its_endpoint(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let service = unique("/other_way");
    let server = near.service(&service, ServiceMapping::default());
    let clients = [(); 2].map(|()| far.client(&service, None));
    clients.iter().for_each(TestClient::wait_for_server);
    for (client, number) in clients.iter().zip([1 << 62, i64::MAX]) {
        let id = RequestId {
            client: client.client.response_gid().0,
            sequence_number: number,
            mapping: ServiceMapping::RelatedSampleIdentity,
        };
        server.respond(&id, &numbered(7)).unwrap();
        let (answered, response) = client.next();
        assert_eq!((answered, number_in(&response.payload)), (number, 7));
    }
}

/// A response to a client that has left fails with a specific error, and the server continues to
/// work.
pub fn lost_clients_are_reported(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    for mapping in BOTH {
        let service = unique("/lost_client");
        let server = near.service(&service, ServiceMapping::default());
        let client = far.client(&service, Some(mapping));
        client.wait_for_server();
        client.ask(1);
        let (id, _request) = server.next();
        drop(client);
        near.wait_for_graph("the client's end", |graph| {
            (graph.count(feros_engine::EndpointKind::Client, &service) == 0).then_some(())
        });
        // The server may notice a little later that the client's other endpoint has ended. Until
        // then, it sends responses.
        let refused =
            std::iter::repeat_with(|| server.respond_once(&id, &numbered(1))).find_map(Result::err);
        assert!(
            matches!(refused, Some(PublishError::ClientGone { .. })),
            "{mapping:?}: {refused:?}"
        );
        let other = far.client(&service, Some(mapping));
        other.wait_for_server();
        let asked = other.ask(2);
        server.answer_one(0);
        assert_eq!(other.next().0, asked);
    }
}

/// Returns options for plain endpoints of a service's topic, in the form in which another
/// implementation would create them.
fn raw<'a>(
    node: &TestNode,
    topic: &'a str,
    type_name: &'a str,
) -> (PublisherOptions<'a>, SubscriptionOptions<'a>) {
    let qos = QosProfile::services_default().avoid_ros_namespace_conventions();
    let mut publisher = node.publisher_options(topic, qos);
    let mut subscription = node.subscription_options(topic, qos);
    (publisher.type_name, subscription.type_name) = (type_name, type_name);
    (publisher, subscription)
}

/// A request without an identity counts as a request of its writer, and every reader of replies
/// gets the response. If the services of the engine do not consist of topics, a publisher with the
/// name of such a topic does not reach the service.
pub fn raw_requests_without_identity_are_answered(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let service = unique("/raw");
    let server = near.service(&service, ServiceMapping::default());
    let (request, reply) = (format!("rq{service}Request"), format!("rr{service}Reply"));
    let requests = far.publisher_with(raw(&far, &request, "std_srvs/srv/SetBool_Request").0);
    let replies = far.subscription_with(raw(&far, &reply, "std_srvs/srv/SetBool_Response").1);
    if !near.session.kept().dds_services {
        let far_end = far.client(&service, None);
        far_end.wait_for_server();
        requests.publish(&numbered(4));
        far_end.ask(5);
        let (id, request) = server.next();
        assert_eq!((id.client, number_in(&request.payload)), (far_end.client.gid().0, 5));
        assert_eq!((requests.publisher.matched_subscriptions(), replies.matched()), (0, 0));
        return;
    }
    requests.wait_for_matches(1);
    replies.wait_for_matches(fixture.wires());
    // This subscription is announced after the reader of replies, so a server that knows it also
    // knows the reader of replies.
    let later = unique("/later");
    let _later = far.subscription(&later, QosProfile::services_default());
    near.wait_for_graph("the listener of replies", |graph| {
        (graph.count(feros_engine::EndpointKind::Subscription, &later) == 1).then_some(())
    });
    let number = requests.publish(&numbered(4));
    let (id, _) = server.next();
    assert_eq!(id.client, requests.publisher.gid().0);
    assert_eq!(u64::try_from(id.sequence_number), Ok(number));
    server.respond(&id, &numbered(5)).unwrap();
    assert_eq!(replies.next_number(), 5);
}

/// A client refuses and counts responses that are too short for a header. After that, it still
/// receives the next valid response. If the services of the engine do not consist of topics, a
/// publisher with the name of such a topic reaches no client.
pub fn truncated_headers_are_refused(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let service = unique("/truncated");
    let server = near.service(&service, ServiceMapping::default());
    let client = far.client(&service, Some(ServiceMapping::PayloadHeader));
    client.wait_for_server();
    let reply = format!("rr{service}Reply");
    let hostile = near.publisher_with(raw(&near, &reply, "std_srvs/srv/SetBool_Response").0);
    if !near.session.kept().dds_services {
        hostile.publish(&patterned(4, 0));
        let asked = client.ask(1);
        server.answer_one(0);
        assert_eq!(client.next().0, asked);
        let matches = hostile.publisher.matched_subscriptions();
        assert_eq!((matches, client.client.refused_samples()), (0, 0));
        return;
    }
    hostile.wait_for_matches(fixture.wires());
    for size in [4, 5, 12, 16] {
        hostile.publish(&patterned(size, 0));
    }
    hostile.publish(&patterned(20, 0)); // this is long enough, but it is not addressed to any client
    hostile.publisher.wait_for_all_acked(std::time::Duration::from_secs(60)).unwrap();
    let asked = client.ask(1);
    server.answer_one(0);
    assert_eq!(client.next().0, asked);
    let counter = NotificationCounter::new();
    counter.wait_for("the refusals", || {
        assert!(client.client.take_response().unwrap().is_none());
        (client.client.refused_samples() == 4 * fixture.wires() as u64).then_some(())
    });
}
