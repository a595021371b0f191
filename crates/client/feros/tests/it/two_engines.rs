//! A context on two engines, which are Cyclone DDS in two domains here. A node on both engines
//! finds the nodes on each engine, and each message arrives exactly once, on any transport.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, OnceLock};

use feros::action::GoalResult;
use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Goal, Fibonacci_Result};
use feros::msgs::std_msgs::msg::UInt32;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{
    CancelResponse, Context, ContextOptions, GoalId, GoalResponse, Node, QosProfile,
    ServerGoalHandle, TransportSet,
};
use feros_cyclonedds::CycloneEngine;
use feros_engine::{DiscoveryRange, Engine, OpenError, Session, SessionOptions};
use feros_engine_pair::PairEngine;
use feros_test_support::{ReservedDomain, own_domain};

use crate::support::{WATCHDOG, spinning_node};

/// Cyclone DDS in a fixed domain.
struct InDomain(u32);

impl Engine for InDomain {
    fn name(&self) -> &'static str {
        "cyclonedds"
    }

    fn open(&self, options: &SessionOptions) -> Result<Arc<dyn Session>, OpenError> {
        CycloneEngine.open(&SessionOptions {
            domain_id: self.0,
            discovery_range: DiscoveryRange::Localhost,
            ..options.clone()
        })
    }
}

/// Makes engines for two domains that only this process uses.
fn domains() -> [Arc<dyn Engine>; 2] {
    static SECOND: OnceLock<ReservedDomain> = OnceLock::new();
    let second = SECOND.get_or_init(ReservedDomain::new).id();
    [Arc::new(InDomain(own_domain())), Arc::new(InDomain(second.into()))]
}

fn context(engine: Arc<dyn Engine>, transports: TransportSet) -> Context {
    Context::new(ContextOptions {
        engine: Some(engine),
        transports,
        ..ContextOptions::new(SessionOptions::default())
    })
    .unwrap()
}

fn on_both(transports: TransportSet) -> Context {
    context(Arc::new(PairEngine::new(domains())), transports)
}

/// Makes one node on each of the two engines alone, one node on both engines, and one node on both
/// engines that may use only the network transport.
fn nodes() -> [Node; 4] {
    let [first, second] = domains();
    let all = TransportSet::ALL;
    let network = [feros::Transport::Network].into_iter().collect();
    let contexts = [context(first, all), context(second, all), on_both(all), on_both(network)];
    let names = ["first", "second", "both", "far"];
    let mut named = contexts.into_iter().zip(names);
    std::array::from_fn(|_| {
        let (context, name) = named.next().unwrap();
        context.create_node(name).unwrap()
    })
}

fn received(node: &Node, topic: &str) -> (feros::Subscription<UInt32>, Receiver<u32>) {
    let (sender, numbers) = sync_channel(10_000);
    let heard = move |message: UInt32| sender.send(message.data).unwrap();
    let subscription =
        node.create_subscription::<UInt32, _>(topic, QosProfile::keep_all(), heard).unwrap();
    (subscription, numbers)
}

#[test]
fn each_message_comes_once_by_whichever_way() {
    let nodes = nodes();
    let publishing = on_both(TransportSet::ALL).create_node("publishing").unwrap();
    let heard: Vec<_> = nodes.iter().map(|node| received(node, "pair_numbers")).collect();
    let publisher =
        publishing.create_publisher::<UInt32>("pair_numbers", QosProfile::keep_all()).unwrap();
    let _spinning = nodes.each_ref().map(spinning_node);
    publisher.wait_for_subscriptions(nodes.len(), WATCHDOG).unwrap();
    for (subscription, _) in &heard {
        subscription.wait_for_publishers(1, WATCHDOG).unwrap();
    }
    for data in 0..500 {
        crate::support::publish_patiently(&publisher, &UInt32 { data });
    }
    for (_, numbers) in &heard {
        (0..500).for_each(|number| assert_eq!(numbers.recv_timeout(WATCHDOG), Ok(number)));
    }
    publisher.wait_for_all_acked(WATCHDOG).unwrap();
    // This message arrives later than any duplicate of an earlier message would have.
    crate::support::publish_patiently(&publisher, &UInt32 { data: 500 });
    for (_, numbers) in &heard {
        assert_eq!(numbers.recv_timeout(WATCHDOG), Ok(500));
    }
}

#[test]
fn calls_and_goals_of_either_engine_are_answered() {
    let nodes = nodes();
    let serving = on_both(TransportSet::ALL).create_node("serving").unwrap();
    let answer = |request: SetBool_Request| SetBool_Response {
        success: request.data,
        message: "both".into(),
    };
    let _server = serving.create_service::<SetBool, _>("pair_enable", answer).unwrap();
    let _action = serving
        .create_action_server::<Fibonacci, _>(
            "pair_fibonacci",
            (
                |_: &GoalId, _: &Fibonacci_Goal| GoalResponse::AcceptAndExecute,
                |_: &ServerGoalHandle<Fibonacci>| CancelResponse::Accept,
                |goal: ServerGoalHandle<Fibonacci>| {
                    let sequence = vec![goal.goal().order];
                    goal.succeed(Fibonacci_Result { sequence }).unwrap();
                },
            ),
        )
        .unwrap();
    let _spinning = spinning_node(&serving);
    for (order, node) in (0..).zip(&nodes) {
        let _spinning = spinning_node(node);
        let client = node.create_client::<SetBool>("pair_enable").unwrap();
        client.wait_for_service(WATCHDOG).unwrap();
        for data in [true, false] {
            let response = client.call(&SetBool_Request { data }).unwrap().wait(WATCHDOG).unwrap();
            assert_eq!((response.success, &*response.message), (data, "both"));
        }
        let client = node.create_action_client::<Fibonacci>("pair_fibonacci").unwrap();
        client.wait_for_server(WATCHDOG).unwrap();
        let goal = client.send_goal_and_wait(Fibonacci_Goal { order }, WATCHDOG).unwrap();
        let result: GoalResult<Fibonacci_Result> =
            goal.get_result().unwrap().wait(WATCHDOG).unwrap();
        assert_eq!(result.result.sequence, [order]);
    }
}
