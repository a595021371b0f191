//! A session: its start, its nodes, and the creation of its endpoints.

use std::sync::Arc;
use std::time::Duration;

use feros_engine::dds::names;
use feros_engine::engine::front::{self, Front};
use feros_engine::engine::known;
use feros_engine::engine::{GraphChangeGuard, LOG_TARGET};
use feros_engine::{
    Client, ClientOptions, CreateEndpointError, Created, EndpointKind, Gid, GraphSnapshot, Kept,
    NamePrefix, NodeId, NodeName, Notify, OpenError, Publisher, PublisherOptions, Service,
    ServiceOptions, Session, SessionOptions, Subscription, SubscriptionOptions,
};
use zenoh::key_expr::KeyExpr;
use zenoh::sample::SampleKind;
use zenoh::{Config, Wait as _};

use crate::client::ZenohClient;
use crate::config::{self, ConfigError, Variables};
use crate::graph::{Graph, session_gid};
use crate::name::{ENGINE_NAME, ENGINE_VERSION};
use crate::publisher::ZenohPublisher;
use crate::service::ZenohService;
use crate::session_state::{SessionParts, SessionState};
use crate::subscription::ZenohSubscription;
use crate::wire::{announcement, token};

/// The session of the engine.
pub(crate) struct ZenohSession(Arc<SessionState>);

impl ZenohSession {
    pub(crate) fn open(
        options: &SessionOptions,
        variables: &Variables,
    ) -> Result<Arc<dyn Session>, OpenError> {
        let refused = |error: ConfigError| OpenError::Configuration {
            engine: ENGINE_NAME,
            source_name: error.source_name,
            detail: error.detail,
        };
        let below = options.graph_below.clone();
        let config = match &below {
            None => variables.session(),
            Some(_) => variables.session_of_part(),
        };
        let config = config.map_err(refused)?;
        let checks = variables.router_checks().map_err(refused)?;
        let failed = |operation: &'static str| {
            move |error: zenoh::Error| OpenError::Engine {
                engine: ENGINE_NAME,
                domain_id: options.domain_id,
                operation,
                code: error.to_string(),
            }
        };
        let configuration = config::describe(&config);
        let session = opened(&config, checks).map_err(|error| OpenError::Engine {
            engine: ENGINE_NAME,
            domain_id: options.domain_id,
            operation: "opening Zenoh's session",
            code: format!("{}{}", error.to_string().trim_end(), config::cure_of_refusal(&config)),
        })?;
        look_for_router(&session, &config, checks);
        let zid: Arc<str> = session.zid().to_string().into();
        let (domain_id, form) = (options.domain_id, options.discovery_form);
        let graph = Graph::new(&zid, form);
        let feeding = feed(&session, &graph, (domain_id, below.as_ref()), &zid)
            .map_err(failed("subscribing to liveliness tokens"))?;
        let enclave = options.enclave.clone();
        let parts = SessionParts {
            feeding,
            graph,
            zid,
            domain_id,
            below,
            enclave,
            form,
            configuration,
            session,
        };
        Ok(Arc::new(Self(Arc::new(SessionState::new(parts)))))
    }
}

/// Opens a session of Zenoh. A client cannot be opened without a router, so it tries again once a
/// second, as many times as `ZENOH_ROUTER_CHECK_ATTEMPTS` allows.
fn opened(config: &Config, attempts: Option<u64>) -> Result<zenoh::Session, zenoh::Error> {
    let mut made = 0;
    loop {
        let error = match zenoh::open(config.clone()).wait() {
            Ok(session) => return Ok(session),
            Err(error) => error,
        };
        made += 1;
        if !config::is_client(config) || attempts.is_some_and(|attempts| made >= attempts) {
            return Err(error);
        }
        if made == 1 {
            let cure = config::cure_of_refusal(config);
            tracing::warn!(target: LOG_TARGET, "{}{cure}; trying again", error.to_string().trim_end());
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

type Feeding =
    (zenoh::pubsub::Subscriber<()>, zenoh::pubsub::Subscriber<()>, zenoh::query::Queryable<()>);

/// Starts to update the graph, or only the part below a namespace, beginning with announcements,
/// and to answer the queries by which other sessions check that this session has handled their
/// messages (`fence`).
fn feed(
    session: &zenoh::Session,
    graph: &Arc<Graph>,
    (domain_id, below): (u32, Option<&NamePrefix>),
    zid: &str,
) -> Result<Feeding, zenoh::Error> {
    let fence = session
        .declare_queryable(announcement::fence(domain_id, zid))
        .complete(true)
        .callback(|query| {
            // The reply fails only if the session that asked has left, so the failure is ignored.
            let _ = query.reply(query.key_expr().clone(), Vec::new()).wait();
        })
        .wait()?;
    let known = graph.clone();
    let announcements = session
        .liveliness()
        .declare_subscriber(announcement::all(domain_id, below))
        .history(true)
        .callback(move |sample| match sample.kind() {
            SampleKind::Put => known.announcement_appeared(sample.key_expr().as_str()),
            SampleKind::Delete => known.announcement_left(sample.key_expr().as_str()),
        })
        .wait()?;
    let known = graph.clone();
    let tokens = session
        .liveliness()
        .declare_subscriber(token::all(domain_id, below))
        .history(true)
        .callback(move |sample| match sample.kind() {
            SampleKind::Put => known.token_appeared(sample.key_expr().as_str()),
            SampleKind::Delete => known.token_left(sample.key_expr().as_str()),
        })
        .wait()?;
    Ok((announcements, tokens, fence))
}

/// Looks for a router once a second, as many times as `ZENOH_ROUTER_CHECK_ATTEMPTS` allows. If
/// there is no router, the session continues, and finds the router when it starts.
fn look_for_router(session: &zenoh::Session, config: &Config, attempts: Option<u64>) {
    let mut made = 0;
    while attempts.is_none_or(|attempts| made < attempts) {
        if session.info().routers_zid().wait().next().is_some() {
            return;
        }
        made += 1;
        if made == 1 {
            tracing::warn!(
                target: LOG_TARGET,
                "no Zenoh router is at {}: until a router runs, nodes of other processes are not found \
                 (ZENOH_ROUTER_CHECK_ATTEMPTS=-1 skips this check); {}",
                config::endpoints(config),
                config::cure_of_no_router(config)
            );
        }
        if attempts.is_none_or(|attempts| made < attempts) {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

fn check_name(name: &str, as_it_is: bool) -> Result<(), CreateEndpointError> {
    if !as_it_is {
        return front::check_ros_name(name);
    }
    let fits = (1..=255).contains(&name.len())
        && !name.contains(['*', '$', '%'])
        && KeyExpr::try_from(name.trim_matches('/')).is_ok();
    let expected = "it must have 1 to 255 bytes, no empty part, and none of the characters * $ ? # \
                    %";
    front::check_wire_name(name, fits, expected)
}

const FRONT: Front = Front {
    kept: known::ZENOH.kept,
    check_name,
    instead_of_times: "Zenoh announces the deadline and liveliness that were requested, but \
                       enforces neither",
    no_local_requests_only: Some(
        "Zenoh does not show the source of a request; use its access control, or a DDS engine",
    ),
};

impl Session for ZenohSession {
    fn engine_name(&self) -> &'static str {
        ENGINE_NAME
    }

    fn engine_version(&self) -> String {
        ENGINE_VERSION.to_owned()
    }

    fn domain_id(&self) -> u32 {
        self.0.domain_id
    }

    fn gid(&self) -> Gid {
        session_gid(&self.0.zid)
    }

    fn kept(&self) -> Kept {
        FRONT.kept
    }

    fn configuration(&self) -> String {
        self.0.configuration.clone()
    }

    fn create_node(&self, name: &NodeName) -> Created<NodeId> {
        self.0.add_node(name)
    }

    fn remove_node(&self, node: NodeId) {
        self.0.remove_node(node);
    }

    fn create_publisher(&self, mut options: PublisherOptions<'_>) -> Created<Arc<dyn Publisher>> {
        let topic = options.topic;
        FRONT
            .publisher(&mut options, || self.0.graph.profiles(topic, EndpointKind::Subscription))?;
        let token = self.0.endpoint(
            options.node,
            EndpointKind::Publisher,
            options.topic,
            names::type_name(options.type_name, "")?,
            options.type_hash,
            options.qos,
        )?;
        Ok(Arc::new(ZenohPublisher::new(&self.0, token, options)?))
    }

    fn create_subscription(
        &self,
        mut options: SubscriptionOptions<'_>,
    ) -> Created<Arc<dyn Subscription>> {
        let topic = options.topic;
        FRONT
            .subscription(&mut options, || self.0.graph.profiles(topic, EndpointKind::Publisher))?;
        let token = self.0.endpoint(
            options.node,
            EndpointKind::Subscription,
            options.topic,
            names::type_name(options.type_name, "")?,
            options.type_hash,
            options.qos,
        )?;
        Ok(Arc::new(ZenohSubscription::new(&self.0, token, options)?))
    }

    fn create_service(&self, mut options: ServiceOptions<'_>) -> Created<Arc<dyn Service>> {
        FRONT.service(&mut options)?;
        let token = self.0.endpoint(
            options.node,
            EndpointKind::Service,
            options.service,
            names::type_name(options.type_name, "")?,
            options.type_hash,
            options.qos,
        )?;
        Ok(Arc::new(ZenohService::new(&self.0, token, options)?))
    }

    fn create_client(&self, mut options: ClientOptions<'_>) -> Created<Arc<dyn Client>> {
        FRONT.client(&mut options)?;
        let token = self.0.endpoint(
            options.node,
            EndpointKind::Client,
            options.service,
            names::type_name(options.type_name, "")?,
            options.type_hash,
            options.qos,
        )?;
        Ok(Arc::new(ZenohClient::new(&self.0, token, options)?))
    }

    fn graph(&self) -> Arc<GraphSnapshot> {
        self.0.graph.snapshot()
    }

    fn on_graph_change(&self, notify: Notify) -> GraphChangeGuard {
        self.0.graph.on_change(notify)
    }
}

impl Drop for ZenohSession {
    fn drop(&mut self) {
        self.0.graph.close();
    }
}
