//! The known nodes and endpoints. Nodes and endpoints of other sessions are known from liveliness
//! tokens. Nodes and endpoints of this session are added when they are created. No thread polls.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use feros_engine::engine::{GraphChangeGuard, GraphListeners, LOG_TARGET};
use feros_engine::graph::EndpointNode;
use feros_engine::{
    DiscoveryForm, EndpointInfo, EndpointKind, FailureCounter, Gid, GraphSnapshot, NodeInfo,
    Notify, OtherForms, ParticipantInfo, QosProfile,
};
use feros_sync::Mutex;

use crate::matches::{Matches, Peer};
use crate::wire::announcement::{AnnouncementToken, FIRST_ENTITY};
use crate::wire::token::{self, EndpointToken, NodeToken, Token};

/// The limit on the number of stored tokens, and also on the number of stored announcements. Only a
/// hostile program declares more tokens.
const MOST_TOKENS: usize = 1 << 17;

struct Endpoint {
    token: EndpointToken,
    zid: Arc<str>,
    /// Whether the token has the word for a type without a hash.
    names_no_hash: bool,
}

/// Identifies the endpoint to which an announcement belongs, by its session and its number in that
/// session.
type Speaker = (Arc<str>, u64);

#[derive(Default)]
struct State {
    generation: u64,
    snapshot: Option<Arc<GraphSnapshot>>,
    nodes: HashMap<String, NodeToken>,
    endpoints: BTreeMap<Gid, Endpoint>,
    by_name: HashMap<String, Vec<Gid>>,
    announcements: HashMap<Speaker, BTreeMap<u64, Arc<str>>>,
    own: HashMap<Gid, Arc<Matches>>,
    /// Endpoints of Feros whose announcements have not arrived yet.
    awaited: HashMap<Speaker, (Gid, EndpointToken)>,
    speakers: HashMap<Speaker, Gid>,
}

/// The graph as one session knows it.
pub(crate) struct Graph {
    own_zid: Arc<str>,
    state: Mutex<State>,
    listeners: GraphListeners,
    /// Counts refused tokens: malformed tokens and tokens beyond the limit.
    pub(crate) refused: FailureCounter,
    other_forms: OtherForms,
}

/// What follows from a session with a form that is not the form of this session.
fn consequence(form: DiscoveryForm) -> &'static str {
    match form {
        DiscoveryForm::Humble => "no message passes between it and this process",
        DiscoveryForm::SinceIron => "it gets no message of this process",
    }
}

/// The matches that must be notified when no lock is held any longer.
type Changed = Vec<Arc<Matches>>;

impl Graph {
    pub(crate) fn new(own_zid: &str, form: DiscoveryForm) -> Arc<Self> {
        Arc::new(Self {
            own_zid: own_zid.into(),
            state: Mutex::default(),
            listeners: GraphListeners::default(),
            refused: FailureCounter::new(),
            other_forms: OtherForms::new(form),
        })
    }

    /// Adds a token of another session. The tokens of this session are ignored, because its
    /// endpoints are already known.
    pub(crate) fn token_appeared(&self, key: &str) {
        let Some(token) = Token::decode(key) else { return self.refuse(key) };
        if *token_zid(&token) == *self.own_zid {
            return;
        }
        let is_full = {
            let state = self.state.lock();
            state.nodes.len() + state.endpoints.len() + state.awaited.len() >= MOST_TOKENS
        };
        if is_full {
            return self.refuse(key);
        }
        match token {
            Token::Node(node) => self.node_appeared(key, node),
            Token::Endpoint(endpoint) => {
                let (gid, names_no_hash) = (token::gid(key), token::names_no_hash(key));
                self.see_form(&endpoint, names_no_hash);
                self.change(|state| state.endpoint_appeared(gid, *endpoint, names_no_hash));
            }
        }
    }

    /// Warns if the session of an endpoint uses the form that this session does not use. Endpoints
    /// of Feros may have no hash in either form.
    fn see_form(&self, endpoint: &EndpointToken, names_no_hash: bool) {
        let form = match endpoint.type_hash {
            Some(_) => DiscoveryForm::SinceIron,
            None if names_no_hash && endpoint.entity < FIRST_ENTITY => DiscoveryForm::Humble,
            None => return,
        };
        self.other_forms.see(session_gid(&endpoint.node.zid), form, consequence(form));
    }

    pub(crate) fn token_left(&self, key: &str) {
        match Token::decode(key) {
            Some(token) if *token_zid(&token) == *self.own_zid => {}
            Some(Token::Node(_)) => self.node_left(key),
            Some(Token::Endpoint(_)) => self.endpoint_left(token::gid(key)),
            None => {} // the token was refused when it appeared
        }
    }

    fn refuse(&self, key: &str) {
        if let Some(count) = self.refused.count() {
            let shown: String = key.chars().take(200).collect();
            tracing::warn!(
                target: LOG_TARGET,
                "a liveliness token was refused ({count} so far): {shown:?} is not a token of rmw_zenoh, or there are \
                 more than {MOST_TOKENS}; its node or endpoint is not shown"
            );
        }
    }

    pub(crate) fn node_appeared(&self, key: &str, node: NodeToken) {
        self.change(|state| {
            state.nodes.insert(key.to_owned(), node);
            Changed::new()
        });
    }

    pub(crate) fn node_left(&self, key: &str) {
        self.change(|state| {
            state.nodes.remove(key);
            Changed::new()
        });
    }

    pub(crate) fn endpoint_left(&self, gid: Gid) {
        self.change(|state| state.endpoint_left(gid));
    }

    /// Adds an endpoint of this session. From now on, keeps its `matches` up to date.
    pub(crate) fn own_appeared(&self, gid: Gid, token: EndpointToken, matches: Arc<Matches>) {
        self.change(|state| {
            state.own.insert(gid, matches.clone());
            for (other_gid, other) in state.others_of(gid, &token) {
                if token.matches(&other.token) {
                    matches.appeared(other_gid, state.peer(other));
                } else {
                    matches.clashed();
                }
            }
            let mut changed = state.endpoint_appeared(gid, token, false);
            changed.push(matches);
            changed
        });
    }

    pub(crate) fn own_left(&self, gid: Gid) {
        self.change(|state| {
            let changed = state.endpoint_left(gid);
            state.own.remove(&gid);
            changed
        });
    }

    /// Adds an announcement of another session.
    pub(crate) fn announcement_appeared(&self, key: &str) {
        match AnnouncementToken::decode(key) {
            Some(token) if *token.zid == *self.own_zid => {}
            Some(token) if self.state.lock().announcements.len() < MOST_TOKENS => {
                self.announced(&token.zid, token.entity, token.version, Some(token.text.into()));
            }
            _ => self.refuse(key),
        }
    }

    pub(crate) fn announcement_left(&self, key: &str) {
        if let Some(token) = AnnouncementToken::decode(key)
            && *token.zid != *self.own_zid
        {
            self.announced(&token.zid, token.entity, token.version, None);
        }
    }

    /// Records that an endpoint announces this text as this version. `None` means that it has
    /// withdrawn this version.
    pub(crate) fn announced(&self, zid: &str, entity: u64, version: u64, text: Option<Arc<str>>) {
        self.change(|state| {
            let speaker: Speaker = (zid.into(), entity);
            let said = state.announcements.entry(speaker.clone()).or_default();
            match text {
                Some(text) => said.insert(version, text),
                None => said.remove(&version),
            };
            // When a new version replaces the old version, both exist for a short time.
            while said.len() > 2 {
                said.pop_first();
            }
            if said.is_empty() {
                state.announcements.remove(&speaker);
            } else if let Some((gid, token)) = state.awaited.remove(&speaker) {
                return state.endpoint_appeared(gid, token, false);
            }
            state.announce_again(&speaker)
        });
    }

    /// Returns the policies of all endpoints with this name and kind.
    pub(crate) fn profiles(&self, name: &str, kind: EndpointKind) -> Vec<QosProfile> {
        let state = self.state.lock();
        let named = state.by_name.get(name).into_iter().flatten();
        let endpoints = named.filter_map(|gid| state.endpoints.get(gid));
        endpoints.filter(|e| e.token.kind == kind).map(|e| e.token.qos).collect()
    }

    pub(crate) fn snapshot(&self) -> Arc<GraphSnapshot> {
        let mut state = self.state.lock();
        if let Some(snapshot) = &state.snapshot {
            return snapshot.clone();
        }
        let mut snapshot = state.make_snapshot();
        let own = session_gid(&self.own_zid);
        if let Some(own) = snapshot.participants.iter_mut().find(|session| session.gid == own) {
            own.form = Some(self.other_forms.own());
        }
        let snapshot = Arc::new(snapshot);
        state.snapshot = Some(snapshot.clone());
        snapshot
    }

    pub(crate) fn on_change(&self, notify: Notify) -> GraphChangeGuard {
        self.listeners.add(notify)
    }

    /// Closes all notifications.
    pub(crate) fn close(&self) {
        self.listeners.close();
    }

    fn change(&self, change: impl FnOnce(&mut State) -> Changed) {
        let changed = {
            let mut state = self.state.lock();
            state.generation += 1;
            state.snapshot = None;
            change(&mut state)
        };
        changed.iter().for_each(|matches| matches.notify());
        self.listeners.notify();
    }
}

fn token_zid(token: &Token) -> &str {
    match token {
        Token::Node(node) => &node.zid,
        Token::Endpoint(endpoint) => &endpoint.node.zid,
    }
}

/// Returns the gid of a session, which is its Zenoh id.
pub(crate) fn session_gid(zid: &str) -> Gid {
    let number = u128::from_str_radix(zid, 16).unwrap_or_default();
    Gid(number.to_be_bytes())
}

impl State {
    /// Returns the endpoints of the opposite kind with the same name, except pairs in which one
    /// endpoint ignores the session of the other.
    fn others_of(&self, gid: Gid, token: &EndpointToken) -> Vec<(Gid, &Endpoint)> {
        let named = self.by_name.get(&token.name).into_iter().flatten();
        let endpoints = named.filter_map(|gid| Some((*gid, self.endpoints.get(gid)?)));
        let others = endpoints.filter(|(_, endpoint)| token.has_name_of(&endpoint.token));
        let ignores =
            |one: Gid, zid: &str| self.own.get(&one).is_some_and(|matches| matches.ignores(zid));
        others
            .filter(|(other, endpoint)| {
                !ignores(gid, &endpoint.zid) && !ignores(*other, &token.node.zid)
            })
            .collect()
    }

    /// Returns the matches of this session's endpoints of the opposite kind with the same name.
    /// Each of them has a flag that is true if the endpoint matches the given endpoint.
    fn own_beside(&self, gid: Gid, token: &EndpointToken) -> Vec<(bool, Arc<Matches>)> {
        let others = self.others_of(gid, token).into_iter();
        others
            .filter_map(|(other_gid, other)| {
                let matches = self.own.get(&other_gid)?;
                Some((other.token.matches(token), matches.clone()))
            })
            .collect()
    }

    fn peer(&self, endpoint: &Endpoint) -> Peer {
        let speaker: Speaker = (endpoint.zid.clone(), endpoint.token.entity);
        Peer {
            reach: endpoint.zid.clone(),
            announcement: self.said_by(&speaker),
            qos: endpoint.token.qos,
        }
    }

    fn said_by(&self, speaker: &Speaker) -> Option<Arc<str>> {
        let said = self.announcements.get(speaker)?;
        let (_, text) = said.last_key_value()?;
        (!text.is_empty()).then(|| text.clone())
    }

    fn endpoint_appeared(
        &mut self,
        gid: Gid,
        token: EndpointToken,
        names_no_hash: bool,
    ) -> Changed {
        if self.endpoints.contains_key(&gid) {
            return Changed::new();
        }
        let endpoint = Endpoint { zid: token.node.zid.as_str().into(), token, names_no_hash };
        let speaker: Speaker = (endpoint.zid.clone(), endpoint.token.entity);
        if speaker.1 >= FIRST_ENTITY && !self.announcements.contains_key(&speaker) {
            self.awaited.insert(speaker, (gid, endpoint.token));
            return Changed::new();
        }
        self.speakers.insert(speaker, gid);
        let peer = self.peer(&endpoint);
        let mut changed = Changed::new();
        for (is_match, matches) in self.own_beside(gid, &endpoint.token) {
            if is_match {
                matches.appeared(gid, peer.clone());
            } else {
                matches.clashed();
            }
            changed.push(matches);
        }
        self.by_name.entry(endpoint.token.name.clone()).or_default().push(gid);
        self.endpoints.insert(gid, endpoint);
        changed
    }

    fn endpoint_left(&mut self, gid: Gid) -> Changed {
        let Some(endpoint) = self.endpoints.remove(&gid) else {
            self.awaited.retain(|_, (awaited, _)| *awaited != gid);
            return Changed::new();
        };
        self.speakers.remove(&(endpoint.zid.clone(), endpoint.token.entity));
        if let Some(named) = self.by_name.get_mut(&endpoint.token.name) {
            named.retain(|other| *other != gid);
            if named.is_empty() {
                self.by_name.remove(&endpoint.token.name);
            }
        }
        let beside = self.own_beside(gid, &endpoint.token).into_iter();
        let matched = beside.filter(|(is_match, _)| *is_match).map(|(_, matches)| matches);
        matched.filter(|matches| matches.left(gid)).collect()
    }

    /// Passes an endpoint's current announcement to the matches of this session's endpoints.
    fn announce_again(&self, speaker: &Speaker) -> Changed {
        let text = self.said_by(speaker);
        let found = self.speakers.get(speaker);
        let Some((gid, endpoint)) = found.and_then(|gid| self.endpoints.get_key_value(gid)) else {
            return Changed::new();
        };
        let beside = self.own_beside(*gid, &endpoint.token).into_iter().map(|(_, matches)| matches);
        beside.inspect(|matches| matches.announced(*gid, text.clone())).collect()
    }

    fn make_snapshot(&self) -> GraphSnapshot {
        let mut nodes: Vec<_> = self
            .nodes
            .values()
            .map(|node| NodeInfo {
                name: node.name.clone(),
                enclave: node.enclave.clone(),
                participant: session_gid(&node.zid),
            })
            .collect();
        nodes.sort();
        let mut endpoints: Vec<_> =
            self.endpoints.iter().map(|(gid, endpoint)| self.info(*gid, endpoint)).collect();
        endpoints.sort_by(|a, b| (&a.name, a.kind, a.gid).cmp(&(&b.name, b.kind, b.gid)));
        let participants = self.participants();
        GraphSnapshot { generation: self.generation, participants, nodes, endpoints }
    }

    /// The sessions, sorted by gid, with what their tokens show. Only sessions of Feros number
    /// their nodes and endpoints from [`FIRST_ENTITY`].
    fn participants(&self) -> Vec<ParticipantInfo> {
        let mut found: HashMap<&str, ParticipantInfo> = HashMap::new();
        let new = |zid: &str| ParticipantInfo::new(session_gid(zid));
        for node in self.nodes.values() {
            let session = found.entry(&node.zid).or_insert_with(|| new(&node.zid));
            session.is_feros |= node.node >= FIRST_ENTITY;
        }
        for Endpoint { token, zid, names_no_hash } in self.endpoints.values() {
            let session = found.entry(zid).or_insert_with(|| new(zid));
            session.is_feros |= token.entity >= FIRST_ENTITY;
            session.has_type_hashes |= token.type_hash.is_some();
            session.has_buffer_backends |= token.buffer_backends.is_some();
            if *names_no_hash {
                session.form = Some(DiscoveryForm::Humble);
            } else if token.type_hash.is_some() {
                session.form = session.form.or(Some(DiscoveryForm::SinceIron));
            }
        }
        let mut sessions: Vec<_> = found.into_values().collect();
        sessions.sort_by_key(|session| session.gid);
        sessions
    }

    fn info(&self, gid: Gid, endpoint: &Endpoint) -> EndpointInfo {
        let token = &endpoint.token;
        let is_ros = token.name.starts_with('/');
        EndpointInfo {
            kind: token.kind,
            name: token.name.clone(),
            type_name: if is_ros {
                token::ros_type(&token.wire_type)
            } else {
                token.wire_type.clone()
            },
            type_hash: token.type_hash,
            gid,
            node: EndpointNode::Named(token.node.name.clone()),
            qos: token.qos,
            is_ros,
            announcement: self.said_by(&(endpoint.zid.clone(), token.entity)),
            buffer_backends: token.buffer_backends.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

    /// A publisher's token of the session with this number.
    fn token(session: u8, entity: u64, hash: &str, more: &str) -> String {
        let zid = format!("{session:02x}").repeat(16);
        format!(
            "@ros2_lv/0/{zid}/0/{entity}/MP/%/%/n{session}/%image/\
             sensor_msgs::msg::dds_::Image_/{hash}/::,10:,:,:,,{more}"
        )
    }

    fn session(number: u8) -> ParticipantInfo {
        ParticipantInfo::new(Gid([number; 16]))
    }

    #[test]
    fn sessions_are_shown_with_what_their_tokens_say() {
        let graph = Graph::new("ff", DiscoveryForm::SinceIron);
        let fourth = "04".repeat(16);
        for key in [
            token(1, 10, token::NO_HASH, ""),
            token(2, 10, HASH, ""),
            token(3, 10, HASH, "/backends:cpu:;cuda:0"),
            token(3, 11, &HASH.replace("RIHS01", "RIHS02"), "/later:x"),
            format!("@ros2_lv/0/{fourth}/{FIRST_ENTITY}/{FIRST_ENTITY}/NN/%/%/of_feros"),
            "@ros2_lv/0/not a token".to_owned(),
        ] {
            graph.token_appeared(&key);
        }
        let snapshot = graph.snapshot();
        let since_iron = |number| ParticipantInfo {
            form: Some(DiscoveryForm::SinceIron),
            has_type_hashes: true,
            ..session(number)
        };
        let expected = [
            ParticipantInfo { form: Some(DiscoveryForm::Humble), ..session(1) },
            since_iron(2),
            ParticipantInfo { has_buffer_backends: true, ..since_iron(3) },
            ParticipantInfo { is_feros: true, ..session(4) },
        ];
        assert_eq!(snapshot.participants, expected);
        let with_backends = |endpoint: &&EndpointInfo| endpoint.buffer_backends.is_some();
        assert_eq!(snapshot.endpoints.iter().filter(with_backends).count(), 1);
        assert_eq!(snapshot.endpoints.len(), 4);

        graph.token_left(&token(1, 10, token::NO_HASH, ""));
        assert_eq!(graph.snapshot().participants.len(), 3);
    }

    #[test]
    fn a_session_with_another_form_is_named_once_with_the_cure() {
        let humble = [token(1, 10, token::NO_HASH, ""), token(1, 11, token::NO_HASH, "")];
        let since_iron = [token(2, 10, HASH, ""), token(2, 11, HASH, "")];
        let of_feros = token(3, FIRST_ENTITY, token::NO_HASH, "");
        for (own, cure) in [
            (DiscoveryForm::SinceIron, "no message passes between it and this process; set"),
            (DiscoveryForm::Humble, "it gets no message of this process; keep"),
        ] {
            let graph = Graph::new("ff", own);
            let lines = feros_test_support::log_lines(|| {
                let keys = humble.iter().chain(&since_iron).chain([&of_feros]);
                keys.for_each(|key| graph.token_appeared(key));
            });
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert!(lines[0].contains(cure), "{lines:?}");
        }
    }
}
