//! The two message types of the contract, with the payload in each form that Feros has.

use feros::message::Message;
use feros::msgs::std_msgs::msg::{
    MultiArrayLayoutShape, String as Text, StringShape, UInt8MultiArray, UInt8MultiArrayShape,
};
use feros::{PublishError, Publisher, View};
use feros_lab_contract::{Arguments, now_nanos};

/// A message type of the contract.
pub(crate) trait Carrier: Message {
    /// The number of bytes after the payload in a serialized message.
    const BEHIND: usize;

    fn filled(arguments: &Arguments) -> Self;

    /// Fills the payload if the arguments ask for it, writes the stamp and returns its time.
    fn stamp(&mut self, arguments: &Arguments, number: u64) -> u64;

    fn payload(&self) -> &[u8];

    /// Calls `read` with the payload, without copying it.
    fn in_place<T>(view: &View<Self>, read: impl FnOnce(&[u8]) -> T) -> T;

    /// Builds a message in lent memory, publishes it and returns the time of its stamp. `text` is
    /// the payload of a string, which must exist beforehand.
    fn publish_built(
        publisher: &Publisher<Self>,
        arguments: &Arguments,
        text: &mut String,
        number: u64,
    ) -> Result<u64, PublishError>;
}

impl Carrier for UInt8MultiArray {
    const BEHIND: usize = 0;

    fn filled(arguments: &Arguments) -> Self {
        Self { data: arguments.payload(), ..Self::default() }
    }

    fn stamp(&mut self, arguments: &Arguments, number: u64) -> u64 {
        arguments.stamp(&mut self.data, number)
    }

    fn payload(&self) -> &[u8] {
        &self.data
    }

    fn in_place<T>(view: &View<Self>, read: impl FnOnce(&[u8]) -> T) -> T {
        read(view.get().data)
    }

    fn publish_built(
        publisher: &Publisher<Self>,
        arguments: &Arguments,
        _text: &mut String,
        number: u64,
    ) -> Result<u64, PublishError> {
        let layout = MultiArrayLayoutShape { dim: &[] };
        let asked = now_nanos();
        let mut loan =
            publisher.loan(&UInt8MultiArrayShape { layout, data: arguments.size_bytes })?;
        let at = arguments.stamp_loan(loan.fields()?.data, number, asked);
        loan.publish()?;
        Ok(at)
    }
}

impl Carrier for Text {
    /// The NUL that ends a string.
    const BEHIND: usize = 1;

    fn filled(arguments: &Arguments) -> Self {
        Self { data: arguments.text_payload() }
    }

    fn stamp(&mut self, arguments: &Arguments, number: u64) -> u64 {
        arguments.stamp_text(&mut self.data, number)
    }

    fn payload(&self) -> &[u8] {
        self.data.as_bytes()
    }

    fn in_place<T>(view: &View<Self>, read: impl FnOnce(&[u8]) -> T) -> T {
        read(view.get().data.as_bytes())
    }

    fn publish_built(
        publisher: &Publisher<Self>,
        arguments: &Arguments,
        text: &mut String,
        number: u64,
    ) -> Result<u64, PublishError> {
        let at = arguments.stamp_text(text, number);
        publisher.loan(&StringShape { data: text })?.publish()?;
        Ok(at)
    }
}
