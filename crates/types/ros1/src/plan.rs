//! A plan converts messages from ROS 1 to ROS 2, or from ROS 2 to ROS 1. It is created once for a
//! pair of types and then applied to each message.
//!
//! Both formats are little-endian. The body of a ROS 1 message is packed. CDR is aligned, and its
//! strings end with a zero byte. A plan is a list of steps, in the order of the fields of the
//! destination. Values that are adjacent in both formats are copied as one block.

mod way;

use std::sync::Arc;

use self::way::{MOST_EMPTY_ELEMENTS, Way};

/// The layout of a field in one of the two formats. It is used for fields that are skipped or
/// filled with zeros.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// `count` values of `width` bytes each.
    Run { width: usize, count: usize },
    /// A string.
    Text,
    /// A count, and then as many elements.
    Sequence(Box<Form>),
    /// A fixed number of elements.
    Repeat(usize, Box<Form>),
    /// Several fields, one after the other.
    Struct(Vec<Form>),
}

/// One step, which reads at the current position of the source and appends to the destination.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Moves to the field of the source with this index.
    Seek(usize),
    /// Skips a field that the destination does not have.
    Skip(Form),
    /// Fills a field that the source does not have.
    Fill(Form),
    /// Copies values of one width.
    Run { width: usize, count: usize },
    /// Copies booleans. In ROS 1, any nonzero value is true.
    Bool { count: usize },
    /// Copies a string.
    Text { most: Option<u32> },
    /// Converts the level of a log message.
    Level,
    /// Copies a count and, for each element, `each` values of one width.
    RunSequence { width: usize, each: usize, most: Option<u32> },
    /// Copies a count and then as many booleans.
    BoolSequence { most: Option<u32> },
    /// Copies a count and then as many elements.
    Sequence { most: Option<u32>, element: Arc<Body> },
    /// Copies a fixed number of elements.
    Repeat { count: usize, element: Arc<Body> },
    /// Copies a message within the message.
    Struct(Arc<Body>),
}

/// The steps of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Body {
    pub(crate) steps: Vec<Step>,
    /// The layouts of the fields of the source. They are set only if the destination has the fields
    /// in another order.
    pub(crate) index: Vec<Form>,
}

impl Body {
    /// Adds a step. Joins adjacent runs of the same width.
    pub(crate) fn push(&mut self, step: Step) {
        if let (Some(Step::Run { width, count }), Step::Run { width: next, count: more }) =
            (self.steps.last_mut(), &step)
            && *width == *next
        {
            *count += more;
            return;
        }
        match step {
            Step::Struct(body) if body.index.is_empty() => {
                body.steps.iter().cloned().for_each(|step| self.push(step));
            }
            step => self.steps.push(step),
        }
    }

    /// Returns the width and the number of the values if the message consists of a single run.
    pub(crate) fn as_run(&self) -> Option<(usize, usize)> {
        match (&*self.steps, &*self.index) {
            ([Step::Run { width, count }], []) => Some((*width, *count)),
            _ => None,
        }
    }
}

/// The direction in which a plan converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From ROS 1 to ROS 2.
    OneToTwo,
    /// From ROS 2 to ROS 1.
    TwoToOne,
}

/// Converts the messages of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub(crate) body: Arc<Body>,
    pub(crate) direction: Direction,
}

/// The error for a message that cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// The message ends in the middle of a field.
    #[error(
        "the message ends at byte {offset}, but {needed} more bytes are needed: the sender's type \
         differs"
    )]
    Truncated {
        /// The offset.
        offset: usize,
        /// The number of bytes that are needed at this offset.
        needed: usize,
    },
    /// A message of ROS 1 has bytes after its last field.
    #[error("{left} bytes are left after the last field: the sender's type differs")]
    Trailing {
        /// The number of bytes.
        left: usize,
    },
    /// The message is not little-endian CDR.
    #[error("the message does not begin with the header of little-endian CDR")]
    Header,
    /// A string or sequence is longer than the ROS 2 type allows.
    #[error("length {len} at byte {offset}, but the ROS 2 type allows at most {most}")]
    Bound {
        /// The offset.
        offset: usize,
        /// The length.
        len: usize,
        /// The limit.
        most: u32,
    },
    /// A string contains a zero byte or, in CDR, does not end with a zero byte.
    #[error("the string at byte {offset} contains a zero byte, or does not end with one")]
    Text {
        /// The offset.
        offset: usize,
    },
    /// The converted message would be far larger than the original.
    #[error("the message of {len} bytes would become more than {most} bytes")]
    TooLarge {
        /// The length of the message.
        len: usize,
        /// The limit.
        most: usize,
    },
    /// A sequence has too many elements of zero bytes each.
    #[error(
        "{count} elements at byte {offset} take no bytes; at most {MOST_EMPTY_ELEMENTS} such \
         elements are converted"
    )]
    Count {
        /// The offset.
        offset: usize,
        /// The count.
        count: usize,
    },
}

/// The header of little-endian CDR.
const CDR_HEADER: [u8; 4] = [0, 1, 0, 0];
/// The limit on the bytes that may be added to a message for fields that the source does not have.
const MOST_FILLED_BYTES: usize = 16 << 20;
/// In addition to [`MOST_FILLED_BYTES`], a message may grow by this factor. It can grow because,
/// for example, an empty nested message takes one byte in CDR and no byte in ROS 1, and an empty
/// string takes five bytes and up to three bytes of padding in CDR, and four bytes in ROS 1.
const MOST_GROWTH: usize = 64;

impl Plan {
    /// Converts a message and appends the result to `out`. A ROS 1 message is given without its
    /// length, and a ROS 2 message is given as CDR with its header.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a message of the type. `out` then contains a part of
    /// the result.
    pub fn convert(&self, message: &[u8], out: &mut Vec<u8>) -> Result<(), ConvertError> {
        self.convert_last(0, message, out)
    }

    /// Like [`Plan::convert`], for a message that in ROS 2 is the last field of a larger message,
    /// after `before` bytes. A conversion to ROS 2 fills these bytes with zeros, and a conversion
    /// from ROS 2 skips them.
    ///
    /// # Errors
    /// See [`Plan::convert`].
    pub fn convert_last(
        &self,
        before: usize,
        message: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), ConvertError> {
        let to_ros2 = self.direction == Direction::OneToTwo;
        let mut bytes = message;
        if to_ros2 {
            out.extend_from_slice(&CDR_HEADER);
        } else {
            let Some((header, body)) = message.split_at_checked(CDR_HEADER.len()) else {
                return Err(ConvertError::Truncated { offset: 0, needed: CDR_HEADER.len() });
            };
            if header[..2] != CDR_HEADER[..2] {
                return Err(ConvertError::Header);
            }
            bytes = body;
        }
        let most = MOST_FILLED_BYTES.saturating_add(bytes.len().saturating_mul(MOST_GROWTH));
        Way::convert(bytes, out, to_ros2, most, before, &self.body)
    }

    /// The direction of the plan.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }
}
