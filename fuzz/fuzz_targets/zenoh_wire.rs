//! Reads any bytes as untrusted input from a network of `rmw_zenoh`: liveliness tokens,
//! announcements and attachments. Valid input is written in the form in which it was read, except
//! for additions of newer versions.

// The target uses these sources without the rest of the crate, and so without Zenoh.
#[path = "../../crates/engines/zenoh/src/wire"]
#[allow(dead_code)]
mod wire {
    pub(crate) mod announcement;
    pub(crate) mod attachment;
    mod chunk;
    mod percent;
    pub(crate) mod qos;
    pub(crate) mod token;
}

use wire::announcement::AnnouncementToken;
use wire::attachment::Attachment;
use wire::token::{EndpointToken, Token, names_no_hash, opposite};

/// Runs one input: as an attachment and, if it is text, as a token and an announcement.
pub(crate) fn run(bytes: &[u8]) {
    if let Some(attachment) = Attachment::decode(bytes) {
        assert_eq!(attachment.encode(), *bytes);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(token) = AnnouncementToken::decode(text) {
        assert_eq!(AnnouncementToken::decode(&token.encode()), Some(token));
    }
    let again = |text: &str| Token::decode(text);
    match Token::decode(text) {
        Some(Token::Node(node)) => assert_eq!(again(&node.encode()), Some(Token::Node(node))),
        Some(Token::Endpoint(endpoint)) => {
            let key = endpoint.data_key();
            assert!(key.len() < 2 * text.len() + 200);
            let other = EndpointToken { kind: opposite(endpoint.kind), ..(*endpoint).clone() };
            assert!(endpoint.matches(&other));
            assert!(!names_no_hash(text) || endpoint.type_hash.is_none());
            let written = endpoint.encode();
            assert_eq!(again(&written), Some(Token::Endpoint(endpoint)), "{written}");
        }
        None => {}
    }
}
