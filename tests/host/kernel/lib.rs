// SPDX-License-Identifier: GPL-2.0

//! A substitute for the kernel crate, with the items that the host tests need.

/// Substitute for `kernel::bindings`.
pub mod bindings {
    /// Constants of `include/uapi/asm-generic/errno.h`.
    pub const ENAMETOOLONG: u32 = 36;
    pub const EOPNOTSUPP: u32 = 95;
}

/// Substitute for `kernel::alloc`.
pub mod alloc {
    use core::cell::Cell;
    use core::ops::Deref;

    /// The error of an allocation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AllocError;

    /// Allocation flags.
    #[derive(Clone, Copy)]
    pub struct Flags(());

    /// The allocation flags that are used.
    pub mod flags {
        /// The allocation may sleep.
        pub const GFP_KERNEL: super::Flags = super::Flags(());
    }

    std::thread_local! {
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Lets `left` more allocations of this thread succeed, or all of them if `None`.
    pub fn limit_allocations(left: Option<usize>) {
        LEFT.set(left);
    }

    fn allocate() -> Result<(), AllocError> {
        match LEFT.get() {
            Some(0) => Err(AllocError),
            Some(left) => {
                LEFT.set(Some(left - 1));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The error of an insertion.
    #[derive(Debug)]
    pub struct InsertError;

    /// Substitute for `kernel::alloc::KVec`. It counts its capacity, which grows as in the kernel.
    #[derive(Debug, PartialEq, Eq)]
    pub struct KVec<T> {
        elements: Vec<T>,
        capacity: usize,
    }

    impl<T> KVec<T> {
        /// Creates an empty vector without memory.
        pub const fn new() -> Self {
            Self {
                elements: Vec::new(),
                capacity: 0,
            }
        }

        /// Creates an empty vector with space for `capacity` elements.
        pub fn with_capacity(capacity: usize, flags: Flags) -> Result<Self, AllocError> {
            let mut new = Self::new();
            new.reserve(capacity, flags)?;
            Ok(new)
        }

        /// Reserves space.
        pub fn reserve(&mut self, additional: usize, _flags: Flags) -> Result<(), AllocError> {
            if self.capacity - self.elements.len() < additional {
                allocate()?;
                self.capacity = (self.capacity * 2).max(self.elements.len() + additional);
            }
            Ok(())
        }

        /// Adds an element at the end.
        pub fn push(&mut self, element: T, flags: Flags) -> Result<(), AllocError> {
            self.reserve(1, flags)?;
            self.elements.push(element);
            Ok(())
        }

        /// Removes all elements, and keeps the memory.
        pub fn clear(&mut self) {
            self.elements.clear();
        }

        /// Inserts an element anywhere, if there is space.
        pub fn insert_within_capacity(
            &mut self,
            index: usize,
            element: T,
        ) -> Result<(), InsertError> {
            if index > self.elements.len() || self.elements.len() >= self.capacity {
                return Err(InsertError);
            }
            self.elements.insert(index, element);
            Ok(())
        }
    }

    impl<T: Clone> KVec<T> {
        /// Adds copies of elements at the end.
        pub fn extend_from_slice(&mut self, other: &[T], flags: Flags) -> Result<(), AllocError> {
            self.reserve(other.len(), flags)?;
            self.elements.extend_from_slice(other);
            Ok(())
        }
    }

    impl<T> Default for KVec<T> {
        fn default() -> Self {
            Self::new()
        }
    }

    impl<T> Deref for KVec<T> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            &self.elements
        }
    }
}

/// Substitute for `kernel::error`.
pub mod error {
    use core::ffi::c_int;
    use core::num::NonZeroI32;

    /// A negative errno.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Error(NonZeroI32);

    impl Error {
        /// Creates an error from a negative errno.
        pub const fn from_errno(errno: c_int) -> Self {
            match NonZeroI32::new(errno) {
                Some(errno) if errno.get() < 0 => Self(errno),
                _ => panic!("not an errno"),
            }
        }

        /// Returns the negative errno.
        pub fn to_errno(self) -> c_int {
            self.0.get()
        }
    }

    impl From<super::alloc::AllocError> for Error {
        fn from(_: super::alloc::AllocError) -> Self {
            code::ENOMEM
        }
    }

    /// A result with the kernel's error.
    pub type Result<T = (), E = Error> = core::result::Result<T, E>;

    /// The error codes, as in `include/uapi/asm-generic/errno-base.h`.
    pub mod code {
        use super::Error;

        /// Out of memory.
        pub const ENOMEM: Error = Error::from_errno(-12);
        /// No such file or directory.
        pub const ENOENT: Error = Error::from_errno(-2);
        /// No such process.
        pub const ESRCH: Error = Error::from_errno(-3);
        /// Invalid argument.
        pub const EINVAL: Error = Error::from_errno(-22);
        /// No space left.
        pub const ENOSPC: Error = Error::from_errno(-28);
        /// Out of range.
        pub const ERANGE: Error = Error::from_errno(-34);
    }
}

/// Substitute for `kernel::prelude`.
pub mod prelude {
    pub use super::alloc::flags::GFP_KERNEL;
    pub use super::alloc::KVec;
    pub use super::error::code::EINVAL;
    pub use super::error::code::ENOENT;
    pub use super::error::code::ENOMEM;
    pub use super::error::code::ENOSPC;
    pub use super::error::code::ERANGE;
    pub use super::error::code::ESRCH;
    pub use super::error::Error;
    pub use super::error::Result;
    pub use core::ffi::c_int;
    pub use core::ffi::CStr;
    pub use zeroable::Zeroable;

    /// Substitute for `pin_init::Zeroable`: all zeros are a value of the type.
    pub trait Zeroable {}
}

/// Substitute for `pin_init::zeroed()`.
pub fn zeroed<T: prelude::Zeroable>() -> T {
    // SAFETY: By the meaning of the trait.
    unsafe { core::mem::zeroed() }
}

/// Substitute for `kernel::sync`.
pub mod sync {
    /// Substitute for the part of `kernel::sync::atomic` that is used.
    pub mod atomic {
        use core::ops::AddAssign;
        use std::sync::Mutex;

        /// The relaxed memory ordering.
        #[derive(Clone, Copy)]
        pub struct Relaxed;

        /// An atomic number.
        pub struct Atomic<T>(Mutex<T>);

        impl<T> Atomic<T> {
            /// Creates a number with this value.
            pub const fn new(value: T) -> Self {
                Self(Mutex::new(value))
            }
        }

        impl<T: Copy + PartialEq + AddAssign> Atomic<T> {
            /// Returns the value.
            pub fn load(&self, _: Relaxed) -> T {
                *self.0.lock().unwrap()
            }

            /// Stores a value.
            pub fn store(&self, value: T, _: Relaxed) {
                *self.0.lock().unwrap() = value;
            }

            /// Adds `value`.
            pub fn add(&self, value: T, _: Relaxed) {
                *self.0.lock().unwrap() += value;
            }

            /// Stores `new` and returns `old` if the value is `old`, otherwise returns the value as
            /// an error.
            pub fn cmpxchg(&self, old: T, new: T, _: Relaxed) -> Result<T, T> {
                let mut value = self.0.lock().unwrap();
                if *value != old {
                    return Err(*value);
                }
                *value = new;
                Ok(old)
            }
        }
    }
}
