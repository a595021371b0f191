//! A topic consists of two services with the same name: one for the bytes, and one for the event
//! that wakes up the threads that wait for them.

use std::time::Duration;

use feros_lab_contract::{Arguments, Durability, Failure, now_nanos};
use iceoryx2::node::{Node, NodeBuilder};
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::PortFactory as _;
use iceoryx2::service::Service;
use iceoryx2::service::port_factory::event::PortFactory as Event;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory as PublishSubscribe;

/// The limit on ports, which exceeds the number in any experiment. The process that opens a service
/// first fixes the limit for all processes.
const MOST_PORTS: usize = 128;
/// The interval at which a waiting thread checks whether it must end.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) fn new_node<S: Service>() -> Result<Node<S>, Failure> {
    Ok(NodeBuilder::new().create::<S>()?)
}

pub(crate) struct Topic<S: Service> {
    data: PublishSubscribe<S, [u8], ()>,
    event: Event<S>,
    _node: Node<S>,
}

impl<S: Service> Topic<S> {
    pub(crate) fn open(arguments: &Arguments, name: &str) -> Result<Self, Failure> {
        let node = new_node::<S>()?;
        let run = std::env::var("FEROS_LAB_RUN").unwrap_or_default();
        let name = format!("feros_lab/{run}/{name}");
        let history =
            if arguments.durability == Durability::TransientLocal { arguments.depth } else { 0 };
        let data = node
            .service_builder(&name.as_str().try_into()?)
            .publish_subscribe::<[u8]>()
            .subscriber_max_buffer_size(arguments.depth)
            .history_size(history)
            .max_subscribers(MOST_PORTS)
            .max_publishers(1)
            .max_nodes(2 * MOST_PORTS)
            .open_or_create()?;
        let event = node
            .service_builder(&name.as_str().try_into()?)
            .event()
            .max_listeners(MOST_PORTS)
            .max_nodes(2 * MOST_PORTS)
            .open_or_create()?;
        Ok(Self { data, event, _node: node })
    }

    /// The number of subscribers that can be woken up.
    pub(crate) fn receivers(&self) -> usize {
        let data = self.data.dynamic_config().number_of_subscribers();
        if self.event.dynamic_config().number_of_listeners() == 0 { 0 } else { data }
    }

    pub(crate) fn sender(&self, arguments: &Arguments) -> Result<Sender<S>, Failure> {
        let publisher =
            self.data.publisher_builder().initial_max_slice_len(arguments.size_bytes).create()?;
        Ok(Sender { publisher, notifier: self.event.notifier_builder().create()? })
    }

    pub(crate) fn receiver(&self, arguments: &Arguments) -> Result<Reception<S>, Failure> {
        Reception::new(self, arguments, 1)
    }
}

pub(crate) struct Sender<S: Service> {
    publisher: Publisher<S, [u8], ()>,
    notifier: Notifier<S>,
}

impl<S: Service> Sender<S> {
    pub(crate) fn send(&self, payload: &[u8]) -> Result<(), Failure> {
        let sample = self.publisher.loan_slice_uninit(payload.len())?;
        sample.write_from_slice(payload).send()?;
        self.notifier.notify()?;
        Ok(())
    }
}

/// The subscribers that one thread serves.
pub(crate) struct Reception<S: Service> {
    listener: Listener<S>,
    subscribers: Vec<Subscriber<S, [u8], ()>>,
}

impl<S: Service> Reception<S> {
    pub(crate) fn new(
        topic: &Topic<S>,
        arguments: &Arguments,
        count: usize,
    ) -> Result<Self, Failure> {
        let listener = topic.event.listener_builder().create()?;
        let subscribe = |_| topic.data.subscriber_builder().buffer_size(arguments.depth).create();
        Ok(Self { listener, subscribers: (0..count).map(subscribe).collect::<Result<_, _>>()? })
    }

    /// Calls `receive` with the subscriber's index, the payload (without a copy) and the time,
    /// until `is_over`.
    pub(crate) fn until(
        &self,
        is_over: impl Fn() -> bool,
        mut receive: impl FnMut(usize, &[u8], u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while !is_over() {
            self.listener.timed_wait(|_| (), LOOK)?;
            for (index, subscriber) in self.subscribers.iter().enumerate() {
                while let Some(sample) = subscriber.receive()? {
                    receive(index, sample.payload(), now_nanos())?;
                }
            }
        }
        Ok(())
    }
}
