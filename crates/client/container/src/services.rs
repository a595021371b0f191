//! The services of a container: the services of rclcpp's containers (`composition_interfaces`), and
//! a Feros service with the states of the components.

use std::sync::Arc;

use feros::engine::FailureCounter;
use feros::msgs::composition_interfaces::srv::{
    ListNodes, ListNodes_Request, ListNodes_Response, LoadNode, LoadNode_Request,
    LoadNode_Response, UnloadNode, UnloadNode_Request, UnloadNode_Response,
};
use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{CreateError, Node, PublishError, QosProfile, Responder, Service, ServiceOptions};
use feros_component::remote::{SERVICES, STATES_SERVICE, write_states};

use crate::manager::Manager;

/// The queue depth of rclcpp's containers: a launch file may load many components at once.
const DEPTH: usize = 200;

/// The services of a container, which end when this value is dropped.
pub(crate) struct Services {
    _load: Service<LoadNode>,
    _unload: Service<UnloadNode>,
    _list: Service<ListNodes>,
    _states: Service<Trigger>,
}

impl Services {
    /// `local_requests_only`: whether requests from other hosts are ignored.
    pub(crate) fn new(
        node: &Node,
        manager: &Arc<Manager>,
        local_requests_only: bool,
    ) -> Result<Self, CreateError> {
        let qos = QosProfile { depth: DEPTH, ..QosProfile::services_default() };
        let options = || ServiceOptions { local_requests_only, ..ServiceOptions::from(qos) };
        let states_options = ServiceOptions { local_requests_only, ..ServiceOptions::default() };
        let [load_name, unload_name, list_name] = SERVICES.map(|suffix| format!("~{suffix}"));
        let loading = manager.clone();
        let load = move |request: LoadNode_Request, responder: Responder<LoadNode>| {
            let answer = |result: Result<feros_component::remote::Loaded, String>| {
                let response = match result {
                    Ok(loaded) => LoadNode_Response {
                        success: true,
                        full_node_name: loaded.full_node_name,
                        unique_id: loaded.unique_id,
                        ..LoadNode_Response::default()
                    },
                    Err(error_message) => {
                        LoadNode_Response { error_message, ..LoadNode_Response::default() }
                    }
                };
                report(responder.send(&response));
            };
            loading.load(request, Box::new(answer));
        };
        let unloading = manager.clone();
        let unload = move |request: UnloadNode_Request, responder: Responder<UnloadNode>| {
            let answer = |result: Result<(), String>| {
                let success = result.is_ok();
                let error_message = result.err().unwrap_or_default();
                report(responder.send(&UnloadNode_Response { success, error_message }));
            };
            unloading.unload(request.unique_id, Box::new(answer));
        };
        let listing = manager.clone();
        let list = move |_: ListNodes_Request| {
            let (unique_ids, full_node_names) = listing
                .list()
                .into_iter()
                .map(|loaded| (loaded.unique_id, loaded.full_node_name))
                .unzip();
            ListNodes_Response { full_node_names, unique_ids }
        };
        let asked = manager.clone();
        let states = move |_: Trigger_Request| Trigger_Response {
            success: true,
            message: write_states(&asked.states()),
        };
        Ok(Self {
            _load: node.create_service_with(&load_name, options(), load)?,
            _unload: node.create_service_with(&unload_name, options(), unload)?,
            _list: node.create_service_with(&list_name, options(), list)?,
            _states: node.create_service_with(
                &format!("~{STATES_SERVICE}"),
                states_options,
                states,
            )?,
        })
    }
}

fn report(sent: Result<(), PublishError>) {
    static UNSENT: FailureCounter = FailureCounter::new();
    if let Err(error) = sent
        && let Some(so_far) = UNSENT.so_far()
    {
        tracing::warn!("a response of the container was not sent: {error}{so_far}");
    }
}
