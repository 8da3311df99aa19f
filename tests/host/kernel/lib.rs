// SPDX-License-Identifier: GPL-2.0

//! A stand-in for the kernel crate: what the tests on the host need of it.

/// As `kernel::bindings`.
pub mod bindings {
    /// `include/uapi/asm-generic/errno.h`
    pub const ENAMETOOLONG: u32 = 36;
    pub const EOPNOTSUPP: u32 = 95;
}

/// As `kernel::alloc`.
pub mod alloc {
    use core::cell::Cell;
    use core::ops::Deref;

    /// Why an allocation failed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AllocError;

    /// How to allocate.
    #[derive(Clone, Copy)]
    pub struct Flags(());

    /// The usual flags.
    pub mod flags {
        /// May sleep.
        pub const GFP_KERNEL: super::Flags = super::Flags(());
    }

    std::thread_local! {
        static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Lets `left` more allocations of this thread succeed, or all of them.
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

    /// Why an element was not put in.
    #[derive(Debug)]
    pub struct InsertError;

    /// As `kernel::alloc::KVec`; the capacity is counted here, so that it grows as there.
    #[derive(Debug)]
    pub struct KVec<T> {
        elements: Vec<T>,
        capacity: usize,
    }

    impl<T> KVec<T> {
        /// An empty vector, which takes no memory.
        pub const fn new() -> Self {
            Self {
                elements: Vec::new(),
                capacity: 0,
            }
        }

        /// An empty vector with room.
        pub fn with_capacity(capacity: usize, flags: Flags) -> Result<Self, AllocError> {
            let mut new = Self::new();
            new.reserve(capacity, flags)?;
            Ok(new)
        }

        /// Makes room.
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

        /// Adds an element anywhere, if there is room.
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

/// As `kernel::error`.
pub mod error {
    use core::ffi::c_int;
    use core::num::NonZeroI32;

    /// An errno, negative.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Error(NonZeroI32);

    impl Error {
        /// From a negative errno.
        pub const fn from_errno(errno: c_int) -> Self {
            match NonZeroI32::new(errno) {
                Some(errno) if errno.get() < 0 => Self(errno),
                _ => panic!("not an errno"),
            }
        }

        /// The negative errno.
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
        /// Invalid argument.
        pub const EINVAL: Error = Error::from_errno(-22);
        /// No space left.
        pub const ENOSPC: Error = Error::from_errno(-28);
        /// Out of range.
        pub const ERANGE: Error = Error::from_errno(-34);
    }
}

/// As `kernel::prelude`.
pub mod prelude {
    pub use super::alloc::flags::GFP_KERNEL;
    pub use super::alloc::KVec;
    pub use super::error::code::EINVAL;
    pub use super::error::code::ENOMEM;
    pub use super::error::code::ENOSPC;
    pub use super::error::code::ERANGE;
    pub use super::error::Error;
    pub use super::error::Result;
    pub use core::ffi::c_int;
    pub use core::ffi::CStr;
}

/// As `kernel::sync`.
pub mod sync {
    /// As `kernel::sync::atomic`, for what is used of it.
    pub mod atomic {
        use core::ops::AddAssign;
        use std::sync::Mutex;

        /// No ordering.
        #[derive(Clone, Copy)]
        pub struct Relaxed;

        /// An atomic number.
        pub struct Atomic<T>(Mutex<T>);

        impl<T> Atomic<T> {
            /// With that value.
            pub const fn new(value: T) -> Self {
                Self(Mutex::new(value))
            }
        }

        impl<T: Copy + PartialEq + AddAssign> Atomic<T> {
            /// The value.
            pub fn load(&self, _: Relaxed) -> T {
                *self.0.lock().unwrap()
            }

            /// Another value.
            pub fn store(&self, value: T, _: Relaxed) {
                *self.0.lock().unwrap() = value;
            }

            /// So much more.
            pub fn add(&self, value: T, _: Relaxed) {
                *self.0.lock().unwrap() += value;
            }

            /// Another value if it was `old`; else what it was.
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
