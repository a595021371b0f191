//! iceoryx2 alone, with its own event: bytes copied into its shared memory, a notification, and a
//! listener that waits for it.
//!
//! ```text
//! iceoryx2_latency --role pub|sub --space FOLDER --size BYTES --rate HZ --count N --timeout SECONDS
//! ```
//!
//! The queue is as long as that of Feros in the same bench, and everything else is iceoryx2's
//! default. `FOLDER` holds what iceoryx2 keeps in files; its name is the prefix of the shared
//! memory's names.

use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use feros_bench::contract::{
    Arguments, Failure, Load, Measured, Samples, monotonic_nanos, run, stamp,
};
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::event::PortFactory as Event;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory as PublishSubscribe;

const DEPTH: usize = 100;
/// How long the other side may take to appear, and a publisher stays after its last message.
const MATCH_LIMIT: Duration = Duration::from_secs(30);
const LINGER: Duration = Duration::from_secs(2);

type Services = (Node<ipc::Service>, PublishSubscribe<ipc::Service, [u8], ()>, Event<ipc::Service>);

fn main() -> ExitCode {
    run(|arguments| {
        let load = arguments.load()?;
        let (_node, data, event) = services(arguments)?;
        match arguments.text("--role")? {
            "pub" => publish(&data, &event, &load).map(|()| None),
            "sub" => receive(&data, &event, &load).map(Some),
            other => Err(format!("--role {other} is not known").into()),
        }
    })
}

fn services(arguments: &Arguments) -> Result<Services, Failure> {
    set_log_level(LogLevel::Error);
    let folder = arguments.text("--space")?;
    let name = Path::new(folder)
        .file_name()
        .and_then(|name| name.to_str())
        .ok_or("--space is no folder")?;
    let mut config = Config::default();
    config.global.set_root_path(&iceoryx2::prelude::Path::new(folder.as_bytes())?);
    config.global.prefix = FileName::new(name.as_bytes())?;
    let node = NodeBuilder::new().config(&config).create::<ipc::Service>()?;
    let data = node
        .service_builder(&"feros_lab".try_into()?)
        .publish_subscribe::<[u8]>()
        .subscriber_max_buffer_size(DEPTH)
        .open_or_create()?;
    let event = node.service_builder(&"feros_lab".try_into()?).event().open_or_create()?;
    Ok((node, data, event))
}

fn publish(
    data: &PublishSubscribe<ipc::Service, [u8], ()>,
    event: &Event<ipc::Service>,
    load: &Load,
) -> Result<(), Failure> {
    let publisher = data.publisher_builder().initial_max_slice_len(load.size_bytes).create()?;
    let notifier = event.notifier_builder().create()?;
    let are_there = || {
        data.dynamic_config().number_of_subscribers() > 0
            && event.dynamic_config().number_of_listeners() > 0
    };
    let until = Instant::now() + MATCH_LIMIT;
    while !are_there() {
        if Instant::now() > until {
            return Err("no subscriber came".into());
        }
        thread::sleep(Duration::from_millis(5));
    }
    let mut payload = vec![0x5a; load.size_bytes];
    load.pace(|number| {
        stamp(&mut payload, number);
        let sample = publisher.loan_slice_uninit(load.size_bytes)?;
        sample.write_from_slice(&payload).send()?;
        notifier.notify()?;
        Ok(())
    })?;
    let leave = Instant::now() + LINGER;
    while data.dynamic_config().number_of_subscribers() > 0 && Instant::now() < leave {
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn receive(
    data: &PublishSubscribe<ipc::Service, [u8], ()>,
    event: &Event<ipc::Service>,
    load: &Load,
) -> Result<Measured, Failure> {
    let listener = event.listener_builder().create()?;
    let subscriber = data.subscriber_builder().buffer_size(DEPTH).create()?;
    let mut samples = Samples::new(load);
    let until = Instant::now() + load.timeout;
    let mut is_last = false;
    while !is_last && Instant::now() < until {
        listener.timed_wait(|_| (), Duration::from_secs(1))?;
        while let Some(sample) = subscriber.receive()? {
            let now = monotonic_nanos();
            is_last |= samples.note(sample.payload(), now);
        }
    }
    Ok(samples.result())
}
