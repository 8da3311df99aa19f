// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads fields of records whose places are known.

use super::event::Comm;
use crate::sys::{
    EventFormat,
    Field, //
};

/// A numeric field.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    field: Field,
    /// The number of bits that the field lacks to 64.
    unused: u32,
    big_endian: bool,
}

impl Number {
    /// Returns the field of this name; `None` if there is none, or if it is not a number.
    pub fn new(format: &EventFormat<'_>, name: &std::ffi::CStr, big_endian: bool) -> Option<Self> {
        Self::of(format.field(name)?, big_endian)
    }

    /// Wraps a field; `None` if it is not a number.
    pub fn of(field: Field, big_endian: bool) -> Option<Self> {
        let is_number = matches!(field.size, 1 | 2 | 4 | 8) && !field.array && !field.string;
        is_number.then_some(Self::with(field, big_endian))
    }

    /// Creates a number at a fixed place.
    pub fn at(offset: usize, size: usize, signed: bool, big_endian: bool) -> Self {
        let field = Field {
            offset,
            size,
            signed,
            ..Field::default()
        };
        Self::with(field, big_endian)
    }

    /// Wraps a field of 1, 2, 4 or 8 bytes.
    fn with(field: Field, big_endian: bool) -> Self {
        let bits = u32::try_from(field.size * 8).unwrap_or(64);
        Self {
            field,
            unused: 64u32.saturating_sub(bits),
            big_endian,
        }
    }

    /// Returns the offset after the field.
    pub fn end(&self) -> usize {
        self.field.offset.saturating_add(self.field.size)
    }

    /// Returns the value; a signed one is extended to 64 bits.
    #[inline]
    pub fn get(&self, data: &[u8]) -> Option<u64> {
        let data = data.get(self.field.offset..)?;
        // One load, without branches, unless the field is at the end of the record.
        if let (Some(word), false) = (data.first_chunk(), self.big_endian) {
            let value = u64::from_le_bytes(*word) << self.unused;
            return Some(match self.field.signed {
                true => ((value as i64) >> self.unused) as u64,
                false => value >> self.unused,
            });
        }
        let value = match self.field.size {
            1 => u64::from(*data.first()?),
            2 => {
                u64::from(self.order(*data.first_chunk()?, u16::from_le_bytes, u16::from_be_bytes))
            }
            4 => {
                u64::from(self.order(*data.first_chunk()?, u32::from_le_bytes, u32::from_be_bytes))
            }
            _ => self.order(*data.first_chunk()?, u64::from_le_bytes, u64::from_be_bytes),
        };
        if !self.field.signed {
            return Some(value);
        }
        Some((((value << self.unused) as i64) >> self.unused) as u64)
    }

    fn order<const N: usize, T>(
        &self,
        bytes: [u8; N],
        little: impl Fn([u8; N]) -> T,
        big: impl Fn([u8; N]) -> T,
    ) -> T {
        match self.big_endian {
            true => big(bytes),
            false => little(bytes),
        }
    }

    /// Returns the value as a signed number.
    #[inline]
    pub fn signed(&self, data: &[u8]) -> Option<i64> {
        Some(self.get(data)? as i64)
    }

    /// Returns the lower 32 bits of the value.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lower half is what is asked for"
    )]
    pub fn u32(&self, data: &[u8]) -> Option<u32> {
        Some(self.get(data)? as u32)
    }

    /// Returns the lower 32 bits of the value as a signed number.
    #[inline]
    pub fn i32(&self, data: &[u8]) -> Option<i32> {
        Some(self.u32(data)? as i32)
    }
}

/// A field with bytes: an array, or data elsewhere in the record.
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    field: Field,
    big_endian: bool,
}

impl Bytes {
    /// Returns the field of this name.
    pub fn new(format: &EventFormat<'_>, name: &std::ffi::CStr, big_endian: bool) -> Option<Self> {
        Some(Self::of(format.field(name)?, big_endian))
    }

    /// Wraps a field.
    pub fn of(field: Field, big_endian: bool) -> Self {
        Self { field, big_endian }
    }

    /// Returns the bytes of the field, without those after a NUL.
    pub fn text<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]> {
        self.all(data)?.split(|byte| *byte == 0).next()
    }

    /// Returns the name of a task.
    #[inline]
    pub fn comm(&self, data: &[u8]) -> Option<Comm> {
        if self.field.size >= Comm::SIZE && !self.field.dynamic {
            return Some(Comm::of_chunk(
                data.get(self.field.offset..)?.first_chunk()?,
            ));
        }
        Some(Comm::new(self.all(data)?))
    }

    /// Returns all bytes of the field.
    #[inline]
    pub fn all<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]> {
        let Field { offset, size, .. } = self.field;
        if self.field.dynamic {
            let place = Number::at(offset, 4, false, self.big_endian).u32(data)?;
            let (start, len) = (place & 0xffff, place >> 16);
            data.get(usize::try_from(start).ok()?..)?
                .get(..usize::try_from(len).ok()?)
        } else if size == 0 {
            data.get(offset..)
        } else {
            data.get(offset..)?.get(..size)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the bytes up one by one.
    fn naive(bytes: &[u8], signed: bool, big_endian: bool) -> u64 {
        let mut bytes = bytes.to_vec();
        if !big_endian {
            bytes.reverse();
        }
        let negative = signed && bytes[0] >= 0x80;
        let start = if negative { u64::MAX } else { 0 };
        bytes
            .iter()
            .fold(start, |value, byte| (value << 8) | u64::from(*byte))
    }

    #[test]
    fn numbers_are_read_anywhere_in_a_record() {
        let data: Vec<u8> = (0..24_u8).map(|n| n.wrapping_mul(0x35) ^ 0x81).collect();
        for size in [1, 2, 4, 8] {
            for offset in 0..=data.len() {
                for (signed, big_endian) in
                    [(false, false), (true, false), (false, true), (true, true)]
                {
                    let number = Number::at(offset, size, signed, big_endian);
                    let bytes = data.get(offset..offset + size);
                    assert_eq!(
                        number.get(&data),
                        bytes.map(|bytes| naive(bytes, signed, big_endian)),
                        "{size} bytes at {offset}"
                    );
                }
            }
        }
    }
}
