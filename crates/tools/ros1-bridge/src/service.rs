//! Bridges one service in one direction.

use std::sync::Arc;
use std::time::Duration;

use feros::{
    ClientOptions, GenericClient, GenericService, Node, SerializedResponder, ServiceOptions,
};
use feros_interface::TypeName;
use feros_ros1::{ServicePlans, type_text};
use feros_sync::{AtomicBool, AtomicUsize, Ordering};
use tokio::time::{sleep, timeout};

use crate::counts::Counters;
use crate::error::BridgeError;
use crate::types::Types;
use crate::waiting::wait;

/// The limits on concurrent calls of one ROS 1 service and of all together. Each call has a thread.
const MOST_CALLS: usize = 64;
const MOST_CALLS_OF_ALL: usize = 256;
/// How long a call waits for the client to match a server that the graph contains, and the interval
/// between checks.
const DISCOVERY: Duration = Duration::from_secs(5);
const LOOK_FOR_SERVER: Duration = Duration::from_millis(20);

static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// A ROS 1 server that clients of ROS 2 call.
pub(crate) struct OfRos1 {
    _service: GenericService,
    /// The node that serves it. Another node may serve it with another type.
    pub(crate) server: String,
}

impl OfRos1 {
    pub(crate) fn new(
        (ros1, ros2): (&feros_ros1::Node, &Node),
        name: &str,
        server: &str,
        types: &Arc<Types>,
        counters: &Arc<Counters>,
    ) -> Result<Self, BridgeError> {
        let info = feros_ros1::probe(ros1.master(), ros1.name(), name)?;
        let (ros2_type, definition) = types.ros2_service(server, &info.type_name, &info.md5sum)?;
        let call = Arc::new(CallOfRos2 {
            name: name.to_owned(),
            master: ros1.master().clone(),
            caller: ros1.name().to_owned(),
            md5sum: definition.md5sum.clone(),
            plans: types.service_plans(&definition, &ros2_type)?,
            under_way: AtomicUsize::new(0),
            counters: counters.clone(),
        });
        let identity = types.service_identity(&ros2_type)?;
        let callback = move |request: feros::SerializedMessage, responder: SerializedResponder| {
            call.start(request.to_vec(), responder);
        };
        let service =
            ros2.create_generic_service(name, &identity, ServiceOptions::default(), callback)?;
        Ok(Self { _service: service, server: server.to_owned() })
    }
}

/// The data for calls from ROS 2.
struct CallOfRos2 {
    name: String,
    master: feros_ros1::Master,
    caller: String,
    md5sum: String,
    plans: Arc<ServicePlans>,
    under_way: AtomicUsize,
    counters: Arc<Counters>,
}

impl CallOfRos2 {
    /// Calls on a separate thread, because the server may take any time.
    fn start(self: &Arc<Self>, request: Vec<u8>, responder: SerializedResponder) {
        let call = self.clone();
        let of_all = UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        let of_this = self.under_way.fetch_add(1, Ordering::Relaxed);
        if of_this >= MOST_CALLS || of_all >= MOST_CALLS_OF_ALL {
            self.end(Err(format!(
                "{MOST_CALLS} of its calls, or {MOST_CALLS_OF_ALL} calls of all services, are \
                 already under way"
            )));
            return responder.give_up();
        }
        let started =
            std::thread::Builder::new().name("feros-ros1-call".to_owned()).spawn(move || {
                match call.call(&request) {
                    Ok(response) => {
                        let sent = responder.send(&response).map_err(|error| error.to_string());
                        call.end(sent);
                    }
                    Err(reason) => {
                        // ROS 2 has no response for a failed call, so the client waits as if the
                        // server had left.
                        responder.give_up();
                        call.end(Err(reason));
                    }
                }
            });
        if let Err(error) = started {
            self.end(Err(error.to_string()));
        }
    }

    fn call(&self, request: &[u8]) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        let convert = self.plans.request.to_ros1.convert(request, &mut body);
        convert.map_err(|error| error.to_string())?;
        let called = feros_ros1::call(&self.master, &self.caller, &self.name, &self.md5sum, &body);
        let response = called.map_err(|error| error.to_string())?;
        let mut out = Vec::new();
        let convert = self.plans.response.to_ros2.convert(&response, &mut out);
        convert.map_err(|error| error.to_string())?;
        Ok(out)
    }

    fn end(&self, result: Result<(), String>) {
        self.under_way.fetch_sub(1, Ordering::Relaxed);
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
        count(&self.counters, &self.name, result);
    }
}

/// A ROS 2 server that clients of ROS 1 call.
pub(crate) struct OfRos2 {
    ros1: feros_ros1::Node,
    name: String,
    is_closed: Arc<AtomicBool>,
    pub(crate) ros2_type: TypeName,
}

impl OfRos2 {
    pub(crate) fn new(
        (ros1, ros2): (&feros_ros1::Node, &Node),
        name: &str,
        ros2_type: TypeName,
        types: &Arc<Types>,
        counters: &Arc<Counters>,
    ) -> Result<Self, BridgeError> {
        let definition = types.ros1_service(&ros2_type)?;
        let plans = types.service_plans(&definition, &ros2_type)?;
        let identity = types.service_identity(&ros2_type)?;
        let client = ros2.create_generic_client(name, &identity, ClientOptions::default())?;
        let is_closed = Arc::new(AtomicBool::new(false));
        let (closed, counters, named) = (is_closed.clone(), counters.clone(), name.to_owned());
        ros1.serve(feros_ros1::ServiceOptions {
            service: name.to_owned(),
            type_name: type_text(&definition.name),
            md5sum: definition.md5sum.clone(),
            handler: Arc::new(move |request| {
                let (client, plans) = (client.clone(), plans.clone());
                let (closed, counters) = (closed.clone(), counters.clone());
                let (request, named) = (request.to_vec(), named.clone());
                Box::pin(async move {
                    let response = call_ros2(&client, &plans, &request, &closed).await;
                    count(&counters, &named, response.as_ref().map(drop).map_err(Clone::clone));
                    response
                })
            }),
        })?;
        Ok(Self { ros1: ros1.clone(), name: name.to_owned(), is_closed, ros2_type })
    }
}

impl Drop for OfRos2 {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        self.ros1.stop_serving(&self.name);
    }
}

async fn call_ros2(
    client: &GenericClient,
    plans: &ServicePlans,
    request: &[u8],
    is_closed: &AtomicBool,
) -> Result<Vec<u8>, String> {
    let mut cdr = Vec::new();
    plans.request.to_ros2.convert(request, &mut cdr).map_err(|error| error.to_string())?;
    let met = async {
        while !client.service_is_ready() {
            sleep(LOOK_FOR_SERVER).await;
        }
    };
    let gone = "the ROS 2 server has ended";
    timeout(DISCOVERY, met).await.map_err(|_| gone)?;
    let future = client.call_serialized(&cdr).map_err(|error| error.to_string())?;
    let is_over = || is_closed.load(Ordering::Acquire) || !client.service_is_ready();
    let response = wait(future, is_over).await.ok_or(gone)?.map_err(|error| error.to_string())?;
    let mut body = Vec::new();
    let convert = plans.response.to_ros1.convert(&response, &mut body);
    convert.map(|()| body).map_err(|error| error.to_string())
}

fn count(counters: &Counters, name: &str, result: Result<(), String>) {
    match result {
        Ok(()) => Counters::add(&counters.calls),
        Err(reason) => counters.fail(format!("a call of {name} failed: {reason}")),
    }
}
