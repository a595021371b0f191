//! Reads any two lines as the announcements of a match's endpoints about their transports. Valid
//! announcements stay the same when they are encoded and read again, and every pair has a
//! transport, or a reason for not having a transport.
//!
//! The target puts the version of the format before lines that begin with a comma, so that the
//! seeds remain valid when the version changes.

use feros_engine::announcement::check_announcement;
use feros_shm::{Announced, Reason, Transport, classify, format_version};

/// Runs one input: two lines, or one line for both sides.
pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let text = text.strip_suffix('\n').unwrap_or(text);
    let (first, second) = text.split_once('\n').unwrap_or((text, text));
    let [first, second] = [first, second].map(|line| match line.strip_prefix(',') {
        Some(fields) => Announced::read(Some(&format!("{:x},{fields}", format_version()))),
        None => Announced::read(Some(line)),
    });
    for announced in [&first, &second] {
        let Some(announcement) = announced.feros() else { continue };
        let text = announcement.encode();
        assert_eq!(check_announcement(&text), Ok(()));
        assert_eq!(&Announced::read(Some(&text)), announced);
    }
    let nothing = Announced::Nothing;
    for (publisher, subscription) in
        [(&first, &second), (&second, &first), (&first, &nothing), (&nothing, &first)]
    {
        let choice = classify(publisher, subscription);
        match choice.transport {
            Some(Transport::IntraProcess) => assert_eq!(choice.reason, None),
            Some(Transport::SharedMemory) => {}
            Some(Transport::Network) => assert!(choice.reason.is_some()),
            None => assert!(matches!(choice.reason, Some(Reason::NoTransport { .. }))),
        }
        if let Some(reason) = choice.reason {
            assert!(!reason.to_string().is_empty());
        }
        // If the receiver forgets the transports that it has declined, the chosen transport is at
        // least as short as before.
        let (Some(sender), mut receiver) = (publisher.feros(), subscription.clone()) else {
            continue;
        };
        while receiver.forget_declined(sender.endpoint).is_some() {}
        let otherwise = classify(publisher, &receiver).transport;
        assert!(otherwise <= choice.transport || choice.transport.is_none());
    }
}
