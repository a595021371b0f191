//! The control of access: the token, the Host header and the Origin header of a request.
//!
//! A page from another site that is open in the user's browser can reach this server. The server
//! refuses such a page by its origin, and by the host name that it used: another site's name that
//! points to this machine (DNS rebinding) is not among the names of this machine.

use std::net::IpAddr;
use std::str::FromStr as _;

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri};
use subtle::ConstantTimeEq as _;

/// A secret in the address of the page: letters, digits, `-`, `_`, `.` and `~`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// The error for a text that cannot be a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token has 8 to 128 characters: letters, digits and any of -_.~, so \
     that addresses can carry it"
)]
pub struct TokenError;

/// The error for a variable whose text cannot be a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {0}", variable = Token::VARIABLE)]
pub struct TokenVariableError(TokenError);

/// The shortest token that a user may choose.
const SHORTEST: usize = 8;
const LONGEST: usize = 128;

impl Token {
    /// The environment variable with the token. Other users cannot read it.
    pub const VARIABLE: &str = "FEROS_VIEW_TOKEN";

    /// Returns the token in [`Token::VARIABLE`]; an empty variable counts as unset.
    ///
    /// # Errors
    /// When the text of the variable cannot be a token.
    pub fn from_environment() -> Result<Option<Self>, TokenVariableError> {
        let text = std::env::var_os(Self::VARIABLE).filter(|text| !text.is_empty());
        let token = text.map(|text| Self::new(&text.to_string_lossy())).transpose();
        token.map_err(TokenVariableError)
    }

    /// Creates a token that the user chose.
    ///
    /// # Errors
    /// When the text is too short, too long, or has characters that an address cannot contain.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        let is_token = (SHORTEST..=LONGEST).contains(&text.len()) && text.bytes().all(fits);
        if is_token { Ok(Self(text.to_owned())) } else { Err(TokenError) }
    }

    /// Creates a random token of 128 bits.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::from)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The token.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares the texts in a time that does not depend on the position of the first difference.
    fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// Hides the token, since it must not reach logs.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// The rules of access to one server.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) token: Option<Token>,
    /// The address that the server listens at.
    pub(crate) address: IpAddr,
    /// The names of this machine.
    pub(crate) names: Vec<String>,
    pub(crate) allowed_origins: Vec<String>,
}

/// The reason why the server refuses a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the address does not contain the token: open the link that `feros view` printed")]
    Token,
    #[error(
        "the Host header `{host}` does not name this machine: use the address that `feros view` \
         printed"
    )]
    Host { host: String },
    #[error(
        "pages of {origin} are not allowed to connect: if you trust them, start the server with \
         --allow-origin {origin}"
    )]
    Origin { origin: String },
    #[error(
        "a page without an origin of its own, such as a file or a sandboxed frame, is not allowed \
         to connect: serve the page over HTTP, and name its address with --allow-origin"
    )]
    NullOrigin,
}

impl Refusal {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Host { .. } => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin { .. } | Self::NullOrigin => StatusCode::FORBIDDEN,
        }
    }
}

impl Access {
    /// Checks that a request uses a name of this machine, and comes from an allowed page.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?").to_owned());
        let host = text(HOST).unwrap_or_default();
        let authority = Authority::from_str(&host).ok().filter(|host| self.is_here(host.host()));
        let Some(authority) = authority else { return Err(Refusal::Host { host: short(&host) }) };
        let Some(origin) = text(ORIGIN) else { return Ok(()) };
        let is_allowed = self.allowed_origins.iter().any(|allowed| same(allowed, &origin));
        if is_allowed || is_of_page(&origin, &authority) {
            Ok(())
        } else if origin == "null" {
            Err(Refusal::NullOrigin)
        } else {
            Err(Refusal::Origin { origin: short(&origin) })
        }
    }

    /// Checks that an address has the token, if the server needs a token.
    pub(crate) fn check_token(&self, uri: &Uri) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let mut pairs = uri.query().unwrap_or_default().split('&');
        let given = pairs.find_map(|pair| pair.strip_prefix("token="));
        if given.is_some_and(|given| token.is(given)) { Ok(()) } else { Err(Refusal::Token) }
    }

    /// Whether a host is this machine. Another site can make a name point to this machine, but not
    /// an address. So every address is accepted if other machines may connect.
    fn is_here(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = host.parse::<IpAddr>() {
            return address.is_loopback() || address == self.address || !self.address.is_loopback();
        }
        let is_name = |name: &String| name.eq_ignore_ascii_case(host);
        host.eq_ignore_ascii_case("localhost")
            || (!self.address.is_loopback() && self.names.iter().any(is_name))
    }
}

/// Whether an origin is the page of this server, with the same host and port.
fn is_of_page(origin: &str, host: &Authority) -> bool {
    let Ok(origin) = Uri::from_str(origin) else { return false };
    let default_port = match origin.scheme_str() {
        Some("http") => 80,
        Some("https") => 443,
        _ => return false,
    };
    let Some(authority) = origin.authority() else { return false };
    let port = |of: &Authority| of.port_u16().unwrap_or(default_port);
    authority.host().eq_ignore_ascii_case(host.host()) && port(authority) == port(host)
}

/// Compares origins; `https://app.foxglove.dev` and `https://app.foxglove.dev/` are equal.
fn same(allowed: &str, origin: &str) -> bool {
    allowed.trim_end_matches('/').eq_ignore_ascii_case(origin)
}

/// Returns the beginning of a text, to send it back to its author.
fn short(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(200).collect()
}

/// The names of this machine in its own network.
pub(crate) fn names_of_machine() -> Vec<String> {
    let name = host_name();
    if name.is_empty() { Vec::new() } else { vec![format!("{name}.local"), name] }
}

/// The name of this machine.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn access(address: &str) -> Access {
        Access {
            token: Some(Token::new("0123456789").unwrap()),
            address: address.parse().unwrap(),
            names: vec!["robot".into(), "robot.local".into()],
            allowed_origins: vec!["https://app.foxglove.dev/".into()],
        }
    }

    fn check(access: &Access, host: &str, origin: Option<&str>) -> Result<(), Refusal> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        access.check(&headers)
    }

    #[test]
    fn only_names_of_this_machine_are_accepted() {
        let local = access("127.0.0.1");
        for host in ["localhost:8765", "LOCALHOST", "127.0.0.1:1", "[::1]:8765", "127.1.2.3"] {
            assert_eq!(check(&local, host, None), Ok(()), "{host}");
        }
        for host in ["evil.example:8765", "robot", "192.168.0.5", "a b", "localhost.evil.example"] {
            assert!(matches!(check(&local, host, None), Err(Refusal::Host { .. })), "{host}");
        }
        assert!(local.check(&HeaderMap::new()).is_err(), "no Host at all");
        let remote = access("0.0.0.0");
        for host in ["192.168.0.5:8765", "robot.local", "Robot:8765", "localhost"] {
            assert_eq!(check(&remote, host, None), Ok(()), "{host}");
        }
        assert!(check(&remote, "evil.example", None).is_err());
    }

    #[test]
    fn foreign_pages_are_refused() {
        let access = access("127.0.0.1");
        for origin in [
            "http://localhost:8765",
            "https://app.foxglove.dev",
            "HTTPS://APP.FOXGLOVE.DEV",
            "http://LOCALHOST:8765",
        ] {
            assert_eq!(check(&access, "localhost:8765", Some(origin)), Ok(()), "{origin}");
        }
        for origin in [
            "http://localhost:3000",
            "http://127.0.0.1:8765",
            "https://app.foxglove.dev.evil.example",
            "file://",
            "http://evil.example",
            "",
        ] {
            let checked = check(&access, "localhost:8765", Some(origin));
            assert!(matches!(checked, Err(Refusal::Origin { .. })), "{origin}");
        }
        let refused = check(&access, "localhost:8765", Some("null")).unwrap_err();
        assert_eq!(refused, Refusal::NullOrigin);
        assert!(!refused.to_string().contains("null"), "the message suggests `null`: {refused}");
        assert_eq!(check(&access, "localhost", Some("http://localhost:80")), Ok(()));
    }

    #[test]
    fn the_address_must_contain_the_token() {
        let access = access("0.0.0.0");
        let token = |uri: &str| access.check_token(&uri.parse().unwrap());
        assert_eq!(token("/?token=0123456789"), Ok(()));
        assert_eq!(token("/any?a=b&token=0123456789"), Ok(()));
        for uri in
            ["/", "/?token=", "/?token=012345678", "/?token=01234567890", "/?xtoken=0123456789"]
        {
            assert_eq!(token(uri), Err(Refusal::Token), "{uri}");
        }
        assert_eq!(format!("{:?}", access.token.unwrap()), "Token(..)");
    }

    #[test]
    fn tokens_fit_into_addresses() {
        let random = [Token::random().unwrap(), Token::random().unwrap()];
        assert_ne!(random[0], random[1]);
        assert!(Token::new(random[0].as_str()).is_ok());
        let long = "a".repeat(129);
        for text in ["", "short", "with space", "a&b=cdefgh", "übermäßig", &long] {
            assert_eq!(Token::new(text), Err(TokenError), "{text}");
        }
    }
}
