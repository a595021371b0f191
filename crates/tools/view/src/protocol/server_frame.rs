//! Binary frames of the server: messages, time, responses and files.

/// The number of bytes in a frame before the message itself.
pub const MESSAGE_HEADER_BYTES: usize = 13;

const MESSAGE: u8 = 0x01;
const TIME: u8 = 0x02;
const SERVICE_RESPONSE: u8 = 0x03;
const ASSET: u8 = 0x04;

/// Writes the bytes before a message: the number that the client gave the subscription, and the
/// time of reception, in nanoseconds since 1970.
pub fn begin_message(frame: &mut Vec<u8>, subscription: u32, received_nanos: u64) {
    frame.push(MESSAGE);
    frame.extend_from_slice(&subscription.to_le_bytes());
    frame.extend_from_slice(&received_nanos.to_le_bytes());
}

/// Writes the time of the observed system.
pub fn time(nanos: u64) -> Vec<u8> {
    let mut frame = vec![TIME];
    frame.extend_from_slice(&nanos.to_le_bytes());
    frame
}

/// Writes the response to a call, in the encoding of its request.
pub fn service_response(service: u32, call: u32, encoding: &str, data: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(13 + encoding.len() + data.len());
    frame.push(SERVICE_RESPONSE);
    frame.extend_from_slice(&service.to_le_bytes());
    frame.extend_from_slice(&call.to_le_bytes());
    frame.extend_from_slice(&u32::try_from(encoding.len()).unwrap_or(0).to_le_bytes());
    frame.extend_from_slice(encoding.as_bytes());
    frame.extend_from_slice(data);
    frame
}

/// Writes the requested file.
pub fn asset_found(request: u32, data: &[u8]) -> Vec<u8> {
    asset(request, 0, "", data)
}

/// Writes the reason why the requested file is not sent.
pub fn asset_missing(request: u32, reason: &str) -> Vec<u8> {
    asset(request, 1, reason, &[])
}

fn asset(request: u32, status: u8, reason: &str, data: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(10 + reason.len() + data.len());
    frame.push(ASSET);
    frame.extend_from_slice(&request.to_le_bytes());
    frame.push(status);
    frame.extend_from_slice(&u32::try_from(reason.len()).unwrap_or(0).to_le_bytes());
    frame.extend_from_slice(reason.as_bytes());
    frame.extend_from_slice(data);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_those_of_the_specification() {
        let mut frame = Vec::new();
        begin_message(&mut frame, 0x0102, 3);
        assert_eq!(frame, [1, 2, 1, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(frame.len(), MESSAGE_HEADER_BYTES);
        assert_eq!(time(258), [2, 2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(
            service_response(1, 2, "cdr", &[9]),
            [3, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, b'c', b'd', b'r', 9]
        );
        assert_eq!(asset_found(5, &[7]), [4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(asset_missing(5, "no"), [4, 5, 0, 0, 0, 1, 2, 0, 0, 0, b'n', b'o']);
    }
}
