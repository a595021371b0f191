//! The entry of a local endpoint in the graph.

use std::sync::Arc;

use feros_engine::{Created, Gid, SessionMember};
use zenoh::Wait as _;
use zenoh::liveliness::LivelinessToken;

use crate::announcing::Announced;
use crate::graph::session_gid;
use crate::matches::Matches;
use crate::session_state::{SessionState, failed};
use crate::wire::token::{self, EndpointToken};

/// An endpoint's entry in the graph. Dropping this value withdraws the endpoint.
pub(crate) struct Member {
    declared: Option<LivelinessToken>,
    _of_session: SessionMember,
    pub(crate) gid: Gid,
    pub(crate) name: String,
    pub(crate) announced: Announced,
    pub(crate) shared: Arc<SessionState>,
}

impl Member {
    /// Announces an endpoint, which must already be able to receive or send.
    pub(crate) fn announce(
        shared: &Arc<SessionState>,
        token: EndpointToken,
        announcement: &str,
        matches: Arc<Matches>,
    ) -> Created<Self> {
        let key = token.encode();
        let (gid, name) = (token::gid(&key), token.name.clone());
        let refused = |error| failed(&name, "announcing the endpoint", &error);
        let of_session = SessionMember::new(gid, session_gid(&shared.zid));
        // The announcement is declared before the endpoint's token, so that other sessions know
        // both at the same time.
        let announced =
            Announced::new(shared, (&name, token.entity), announcement).map_err(refused)?;
        let declared = shared.session.liveliness().declare_token(&key).wait().map_err(refused)?;
        shared.graph.own_appeared(gid, token, matches);
        let shared = shared.clone();
        Ok(Self { declared: Some(declared), _of_session: of_session, gid, name, announced, shared })
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        drop(self.declared.take());
        self.shared.graph.own_left(self.gid);
    }
}
