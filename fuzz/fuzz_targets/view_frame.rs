//! Reads any bytes as a frame from a client of `feros view`, and any text as an operation: valid
//! input is read, all other input gives an error with a short message.

use feros_view::protocol::{ClientFrame, ClientOp, full_name, split_name};

/// Runs one input: as a frame and, if it is text, as an operation.
pub(crate) fn run(bytes: &[u8]) {
    match ClientFrame::parse(bytes) {
        Ok(ClientFrame::Message { data, .. }) => assert!(bytes.ends_with(data)),
        Ok(ClientFrame::ServiceRequest { encoding, data, .. }) => {
            assert_eq!(13 + encoding.len() + data.len(), bytes.len());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match ClientOp::parse(text) {
        Ok(ClientOp::SetParameters { parameters, .. }) => {
            for parameter in parameters {
                if let Ok((node, name)) = split_name(&parameter.name) {
                    assert_eq!(full_name(node, name), parameter.name);
                }
                let _ = parameter.value.into_value();
            }
        }
        Ok(_) => {}
        Err(error) => assert!(error.to_string().len() < 2000),
    }
}
