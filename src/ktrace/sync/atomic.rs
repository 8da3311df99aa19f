// SPDX-License-Identifier: GPL-2.0

//! Atomic pointers and booleans.
//!
//! In LTS kernels, the kernel's own [`Atomic`] supports only integers.

use core::marker::PhantomData;

use kernel::sync::atomic::{
    ordering::{
        AcquireOrRelaxed,
        Ordering,
        ReleaseOrRelaxed, //
    },
    Atomic, //
};

use super::read_once::ReadOnce;

/// A pointer that is read and written as a whole. It has the layout of a C pointer.
#[repr(transparent)]
pub struct AtomicPtr<T> {
    address: Atomic<usize>,
    _type: PhantomData<*mut T>,
}

// SAFETY: This is only an address. Code that dereferences it needs its own proof that it may.
unsafe impl<T> Send for AtomicPtr<T> {}
// SAFETY: This is only an address, and each access to it is atomic.
unsafe impl<T> Sync for AtomicPtr<T> {}

impl<T> AtomicPtr<T> {
    /// Creates a null pointer.
    pub const fn null() -> Self {
        Self {
            address: Atomic::new(0),
            _type: PhantomData,
        }
    }

    /// Returns the pointer.
    #[inline(always)]
    pub fn load<O: AcquireOrRelaxed>(&self, ordering: O) -> *mut T {
        self.address.load(ordering) as *mut T
    }

    /// Stores a new pointer.
    #[inline(always)]
    pub fn store<O: ReleaseOrRelaxed>(&self, value: *mut T, ordering: O) {
        self.address.store(value as usize, ordering);
    }

    /// Stores `new` if the pointer is `old`. Otherwise returns the present pointer as the error.
    #[inline(always)]
    pub fn cmpxchg<O: Ordering>(
        &self,
        old: *mut T,
        new: *mut T,
        ordering: O,
    ) -> Result<*mut T, *mut T> {
        match self.address.cmpxchg(old as usize, new as usize, ordering) {
            Ok(was) => Ok(was as *mut T),
            Err(is) => Err(is as *mut T),
        }
    }
}

impl<T> ReadOnce for AtomicPtr<T> {
    type Value = *mut T;

    #[inline(always)]
    fn read_once(&self) -> *mut T {
        self.address.read_once() as *mut T
    }

    #[inline(always)]
    fn write_once(&self, value: *mut T) {
        self.address.write_once(value as usize);
    }
}

/// A boolean that is read and written as a whole. It has the layout of a `u32` in C.
#[repr(transparent)]
pub struct AtomicBool(Atomic<u32>);

impl AtomicBool {
    /// Creates a boolean with this value.
    pub const fn new(value: bool) -> Self {
        Self(Atomic::new(value as u32))
    }

    /// Returns the value.
    #[inline(always)]
    pub fn load<O: AcquireOrRelaxed>(&self, ordering: O) -> bool {
        self.0.load(ordering) != 0
    }

    /// Stores a new value.
    #[inline(always)]
    pub fn store<O: ReleaseOrRelaxed>(&self, value: bool, ordering: O) {
        self.0.store(u32::from(value), ordering);
    }
}

impl ReadOnce for AtomicBool {
    type Value = bool;

    #[inline(always)]
    fn read_once(&self) -> bool {
        self.0.read_once() != 0
    }

    #[inline(always)]
    fn write_once(&self, value: bool) {
        self.0.write_once(u32::from(value));
    }
}
