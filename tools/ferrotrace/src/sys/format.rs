// SPDX-License-Identifier: MIT OR Apache-2.0

//! The format of an event: where its fields are in a record.

use std::{
    ffi::CStr,
    marker::PhantomData,
    ptr::NonNull, //
};

use super::{
    bindings,
    formats::Formats, //
};

/// The format of an event.
#[derive(Clone, Copy)]
pub struct EventFormat<'a> {
    event: NonNull<bindings::tep_event>,
    _formats: PhantomData<&'a Formats>,
}

/// A field of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The offset in the record.
    pub offset: usize,
    /// The size in bytes; 0 for an array without fixed size at the end of the record.
    pub size: usize,
    /// Whether the field is a signed number.
    pub signed: bool,
    /// Whether the field is an array.
    pub array: bool,
    /// Whether the field contains text.
    pub string: bool,
    /// Whether the field has the offset and length of data elsewhere in the record.
    pub dynamic: bool,
}

impl<'a> EventFormat<'a> {
    /// Wraps an event of libtraceevent; `None` if it is null.
    ///
    /// # Safety
    ///
    /// The event must be valid and unchanged as long as `'a`.
    pub(super) unsafe fn new(event: *mut bindings::tep_event) -> Option<Self> {
        Some(Self {
            event: NonNull::new(event)?,
            _formats: PhantomData,
        })
    }

    fn get(&self) -> &'a bindings::tep_event {
        // SAFETY: The event is valid and unchanged as long as `'a`.
        unsafe { self.event.as_ref() }
    }

    /// Returns the number with which the records of the event begin.
    pub fn id(&self) -> u16 {
        u16::try_from(self.get().id).unwrap_or(0)
    }

    /// Returns the name of the event.
    pub fn name(&self) -> &'a str {
        self.text(self.get().name)
    }

    /// Returns the name of the group of the event.
    pub fn system(&self) -> &'a str {
        self.text(self.get().system)
    }

    fn text(&self, text: *const std::ffi::c_char) -> &'a str {
        if text.is_null() {
            return "";
        }
        // SAFETY: The names of an event are C strings that live as long as it.
        unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
    }

    /// Returns a field by its name; `common_pid` and the like are fields, too.
    pub fn field(&self, name: &CStr) -> Option<Field> {
        // SAFETY: The event is valid, and the name is a C string.
        let field = unsafe {
            let field = bindings::tep_find_field(self.event.as_ptr(), name.as_ptr());
            match field.is_null() {
                true => bindings::tep_find_common_field(self.event.as_ptr(), name.as_ptr()),
                false => field,
            }
        };
        // SAFETY: A field that is not null lives as long as its event.
        unsafe { field.as_ref() }.and_then(Field::new)
    }

    /// Returns the names and places of the fields of the event, without the common ones.
    pub fn fields(&self) -> impl Iterator<Item = (&'a str, Field)> {
        let event = *self;
        let mut next = self.get().format.fields;
        std::iter::from_fn(move || {
            loop {
                // SAFETY: Fields are a list that lives as long as its event.
                let field = unsafe { next.as_ref() }?;
                next = field.next;
                if let Some(place) = Field::new(field) {
                    return Some((event.text(field.name), place));
                }
            }
        })
    }
}

impl Field {
    fn new(field: &bindings::tep_format_field) -> Option<Self> {
        let flags = u32::try_from(field.flags).unwrap_or(0);
        let has = |flag| flags & flag != 0;
        Some(Self {
            offset: usize::try_from(field.offset).ok()?,
            size: usize::try_from(field.size).ok()?,
            signed: has(bindings::tep_format_flags_TEP_FIELD_IS_SIGNED),
            array: has(bindings::tep_format_flags_TEP_FIELD_IS_ARRAY),
            string: has(bindings::tep_format_flags_TEP_FIELD_IS_STRING),
            dynamic: has(bindings::tep_format_flags_TEP_FIELD_IS_DYNAMIC),
        })
    }
}
