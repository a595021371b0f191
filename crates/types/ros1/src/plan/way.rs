//! Applies a plan to one message: reads the bytes of the source step by step, checks them, and
//! appends to the destination.

use super::{Body, ConvertError, Form, Step};

/// The limit on elements that take no bytes.
pub(super) const MOST_EMPTY_ELEMENTS: usize = 1 << 16;

/// The state of one conversion.
pub(super) struct Way<'a> {
    bytes: &'a [u8],
    position: usize,
    out: &'a mut Vec<u8>,
    /// The offset at which the body begins in `out`.
    base: usize,
    to_ros2: bool,
    /// The size limit of the destination, in bytes.
    most: usize,
}

impl<'a> Way<'a> {
    /// Converts `bytes`, and appends the result to `out`, which may grow by `most` bytes. In ROS 2,
    /// the body comes after `before` bytes.
    pub(super) fn convert(
        bytes: &'a [u8],
        out: &'a mut Vec<u8>,
        to_ros2: bool,
        most: usize,
        before: usize,
        body: &Body,
    ) -> Result<(), ConvertError> {
        let base = out.len();
        let mut way = Self { bytes, position: 0, out, base, to_ros2, most };
        if to_ros2 {
            way.out.resize(base + before, 0);
        } else {
            way.take(1, before)?;
        }
        way.body(body)?;
        let left = way.bytes.len() - way.position;
        if to_ros2 && left > 0 {
            return Err(ConvertError::Trailing { left });
        }
        Ok(())
    }

    fn body(&mut self, body: &Body) -> Result<(), ConvertError> {
        if body.index.is_empty() {
            return body.steps.iter().try_for_each(|step| self.step(step, &[]));
        }
        let mut places = Vec::with_capacity(body.index.len() + 1);
        for form in &body.index {
            places.push(self.position);
            self.skip(form)?;
        }
        places.push(self.position);
        body.steps.iter().try_for_each(|step| self.step(step, &places))?;
        self.position = places.last().copied().unwrap_or(self.position);
        Ok(())
    }

    fn step(&mut self, step: &Step, places: &[usize]) -> Result<(), ConvertError> {
        match step {
            Step::Seek(field) => {
                self.position = places.get(*field).copied().unwrap_or(self.position)
            }
            Step::Skip(form) => self.skip(form)?,
            Step::Fill(form) => self.fill(form)?,
            Step::Run { width, count } => self.run(*width, *count)?,
            Step::Bool { count } => self.bools(*count)?,
            Step::Text { most } => self.text(*most)?,
            Step::Level => self.level()?,
            Step::RunSequence { width, each, most } => {
                let count = self.count(*most, width * each)?;
                self.run(*width, count.saturating_mul(*each))?;
            }
            Step::BoolSequence { most } => {
                let count = self.count(*most, 1)?;
                self.bools(count)?;
            }
            Step::Sequence { most, element } => {
                let count = self.count(*most, 0)?;
                for _ in 0..count {
                    let before = self.position;
                    self.body(element)?;
                    if self.position == before && count > MOST_EMPTY_ELEMENTS {
                        return Err(ConvertError::Count { offset: before, count });
                    }
                }
            }
            Step::Repeat { count, element } => {
                if !element.steps.is_empty() {
                    (0..*count).try_for_each(|_| self.body(element))?;
                }
            }
            Step::Struct(body) => self.body(body)?,
        }
        Ok(())
    }

    /// Returns the next `len` bytes of the source, which are aligned if the source is CDR.
    fn take(&mut self, align: usize, len: usize) -> Result<&'a [u8], ConvertError> {
        let start =
            if self.to_ros2 { self.position } else { self.position.next_multiple_of(align) };
        let fault = ConvertError::Truncated { offset: self.position, needed: len };
        let end = start.checked_add(len).ok_or(fault)?;
        let taken = self.bytes.get(start..end).ok_or(fault)?;
        self.position = end;
        Ok(taken)
    }

    /// Pads the destination with zeros to the alignment, and checks that it has room for `len` more
    /// bytes.
    fn align(&mut self, align: usize, len: usize) -> Result<(), ConvertError> {
        let mut at = self.out.len() - self.base;
        if self.to_ros2 {
            at = at.next_multiple_of(align);
        }
        if len > self.most || at > self.most - len {
            return Err(ConvertError::TooLarge { len: self.bytes.len(), most: self.most });
        }
        self.out.resize(self.base + at, 0);
        Ok(())
    }

    fn run(&mut self, width: usize, count: usize) -> Result<(), ConvertError> {
        if count == 0 {
            return Ok(());
        }
        let bytes = self.take(width, width.saturating_mul(count))?;
        self.align(width, bytes.len())?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn bools(&mut self, count: usize) -> Result<(), ConvertError> {
        let bytes = self.take(1, count)?;
        self.align(1, count)?;
        self.out.extend(bytes.iter().map(|byte| u8::from(*byte != 0)));
        Ok(())
    }

    fn level(&mut self) -> Result<(), ConvertError> {
        let level = self.take(1, 1)?[0];
        self.align(1, 1)?;
        self.out.push(if self.to_ros2 { level_of_ros1(level) } else { level_of_ros2(level) });
        Ok(())
    }

    /// Reads a count from the source and checks that as many elements fit in the remaining bytes.
    fn read_count(&mut self, least_bytes: usize) -> Result<usize, ConvertError> {
        let bytes = self.take(4, 4)?;
        let count = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        let needed = count.saturating_mul(least_bytes);
        if needed > self.bytes.len() - self.position {
            return Err(ConvertError::Truncated { offset: self.position, needed });
        }
        Ok(count)
    }

    fn write_count(&mut self, count: usize) -> Result<(), ConvertError> {
        self.align(4, 4)?;
        let count = u32::try_from(count).map_err(|_| ConvertError::TooLarge {
            len: self.bytes.len(),
            most: u32::MAX as usize,
        })?;
        self.out.extend_from_slice(&count.to_le_bytes());
        Ok(())
    }

    /// Copies a count from the source to the destination.
    fn count(&mut self, most: Option<u32>, least_bytes: usize) -> Result<usize, ConvertError> {
        let offset = self.position;
        let count = self.read_count(least_bytes)?;
        check(offset, count, most)?;
        self.write_count(count)?;
        Ok(count)
    }

    fn read_text(&mut self) -> Result<&'a [u8], ConvertError> {
        let offset = self.position;
        let len = self.read_count(1)?;
        let bytes = self.take(1, len)?;
        // A string in CDR ends with a zero byte, but some senders omit this byte in an empty
        // string.
        let text = match (self.to_ros2, bytes) {
            (true, text) | (false, text @ []) => text,
            (false, [text @ .., 0]) => text,
            (false, _) => return Err(ConvertError::Text { offset }),
        };
        if text.contains(&0) { Err(ConvertError::Text { offset }) } else { Ok(text) }
    }

    fn text(&mut self, most: Option<u32>) -> Result<(), ConvertError> {
        let offset = self.position;
        let text = self.read_text()?;
        check(offset, text.len(), most)?;
        self.write_count(text.len() + usize::from(self.to_ros2))?;
        self.align(1, text.len() + 1)?;
        self.out.extend_from_slice(text);
        if self.to_ros2 {
            self.out.push(0);
        }
        Ok(())
    }

    fn skip(&mut self, form: &Form) -> Result<(), ConvertError> {
        match form {
            Form::Run { count: 0, .. } => {}
            Form::Run { width, count } => {
                self.take(*width, width.saturating_mul(*count))?;
            }
            Form::Text => {
                let len = self.read_count(1)?;
                self.take(1, len)?;
            }
            Form::Sequence(element) => match &**element {
                Form::Run { width, count } => {
                    let number = self.read_count(width * count)?;
                    if number > 0 {
                        self.take(*width, width.saturating_mul(*count).saturating_mul(number))?;
                    }
                }
                element => {
                    let count = self.read_count(0)?;
                    for _ in 0..count {
                        let before = self.position;
                        self.skip(element)?;
                        if self.position == before && count > MOST_EMPTY_ELEMENTS {
                            return Err(ConvertError::Count { offset: before, count });
                        }
                    }
                }
            },
            Form::Repeat(count, element) => {
                for _ in 0..*count {
                    let before = self.position;
                    self.skip(element)?;
                    if self.position == before {
                        break;
                    }
                }
            }
            Form::Struct(fields) => fields.iter().try_for_each(|field| self.skip(field))?,
        }
        Ok(())
    }

    /// Writes zeros, empty strings and empty sequences.
    fn fill(&mut self, form: &Form) -> Result<(), ConvertError> {
        match form {
            Form::Run { count: 0, .. } => {}
            Form::Run { width, count } => {
                let len = width.saturating_mul(*count);
                self.align(*width, len)?;
                self.out.resize(self.out.len() + len, 0);
            }
            Form::Text => {
                self.write_count(usize::from(self.to_ros2))?;
                if self.to_ros2 {
                    self.align(1, 1)?;
                    self.out.push(0);
                }
            }
            Form::Sequence(_) => self.write_count(0)?,
            Form::Repeat(count, element) => {
                for _ in 0..*count {
                    let before = self.out.len();
                    self.fill(element)?;
                    if self.out.len() == before {
                        break;
                    }
                }
            }
            Form::Struct(fields) => fields.iter().try_for_each(|field| self.fill(field))?,
        }
        Ok(())
    }
}

fn check(offset: usize, len: usize, most: Option<u32>) -> Result<(), ConvertError> {
    match most {
        Some(most) if len > most as usize => Err(ConvertError::Bound { offset, len, most }),
        _ => Ok(()),
    }
}

/// Converts a log level: 1, 2, 4, 8, 16 in `rosgraph_msgs/Log` are 10, 20, 30, 40, 50 in
/// `rcl_interfaces/Log`.
fn level_of_ros1(level: u8) -> u8 {
    match level {
        0 => 0,
        1 => 10,
        2 | 3 => 20,
        4..8 => 30,
        8..16 => 40,
        _ => 50,
    }
}

fn level_of_ros2(level: u8) -> u8 {
    match level {
        0 => 0,
        1..20 => 1,
        20..30 => 2,
        30..40 => 4,
        40..50 => 8,
        _ => 16,
    }
}
