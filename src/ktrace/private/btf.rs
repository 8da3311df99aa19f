// SPDX-License-Identifier: GPL-2.0

//! Fingerprints of kernel types, read from BTF.
//!
//! The module is compiled against the types in the BTF of one kernel. When it is loaded, it first
//! computes the same fingerprints from the BTF of the running kernel and compares them. The build
//! uses this file too to compute the expected fingerprints (`scripts/btf_fingerprint.rs`), so both
//! use the same algorithm.
//!
//! A fingerprint covers what the module's code depends on. For a struct, these are its size and the
//! name, offset and type of each member; for an enum, its names and values; for a function, its
//! prototype. A struct that is only accessed through a pointer is represented by its name, because
//! the module does not depend on its layout. If it does, the struct has its own line in `abi.list`.
//!
//! Format: `Documentation/bpf/btf.rst`, `include/uapi/linux/btf.h`.

const MAGIC: u16 = 0xeb9f;
const HEADER_MIN: usize = 24;

/// The maximum depth to which a type is followed. Prototypes of callbacks with callback arguments
/// are the deepest.
const MAX_DEPTH: u32 = 8;

mod kind {
    pub(super) const INT: u32 = 1;
    pub(super) const PTR: u32 = 2;
    pub(super) const ARRAY: u32 = 3;
    pub(super) const STRUCT: u32 = 4;
    pub(super) const UNION: u32 = 5;
    pub(super) const ENUM: u32 = 6;
    pub(super) const FWD: u32 = 7;
    pub(super) const TYPEDEF: u32 = 8;
    pub(super) const VOLATILE: u32 = 9;
    pub(super) const CONST: u32 = 10;
    pub(super) const RESTRICT: u32 = 11;
    pub(super) const FUNC: u32 = 12;
    pub(super) const FUNC_PROTO: u32 = 13;
    pub(super) const VAR: u32 = 14;
    pub(super) const DATASEC: u32 = 15;
    pub(super) const FLOAT: u32 = 16;
    pub(super) const DECL_TAG: u32 = 17;
    pub(super) const TYPE_TAG: u32 = 18;
    pub(super) const ENUM64: u32 = 19;
}

/// The reason why BTF could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BtfError {
    /// The data is not BTF, or is truncated.
    Malformed,
    /// The data has a kind of type that this file does not know.
    UnknownKind(u32),
    /// The memory that the caller provided for the index is too short.
    IndexFull,
}

/// The kind of item that a fingerprint is computed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BtfItem {
    /// A struct, by name.
    Struct,
    /// An enum, by name.
    Enum,
    /// A function, by name.
    Func,
}

/// A view of one BTF blob.
pub struct Btf<'a> {
    types: &'a [u8],
    strings: &'a [u8],
}

/// The fixed part at the start of each type.
#[derive(Clone, Copy)]
struct Type {
    name: u32,
    kind: u32,
    vlen: u32,
    kind_flag: bool,
    /// The size in bytes, or the ID of another type, depending on the kind.
    size_or_type: u32,
    /// The offset of the part that is specific to the kind, in the type section.
    tail: usize,
}

fn u16_at(b: &[u8], at: usize) -> Option<u16> {
    let b = b.get(at..at.checked_add(2)?)?;
    Some(u16::from_ne_bytes(b.try_into().ok()?))
}

fn u32_at(b: &[u8], at: usize) -> Option<u32> {
    let b = b.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(b.try_into().ok()?))
}

/// A 64-bit FNV-1a hash: simple, and sufficient to distinguish layouts.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        // A separator, so that "ab" + "c" differs from "a" + "bc".
        self.0 = (self.0 ^ 0x1ff).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn num(&mut self, n: u32) {
        self.bytes(&n.to_le_bytes());
    }
}

impl<'a> Btf<'a> {
    /// Parses the header of `raw`, the contents of a `.BTF` section in this machine's byte order.
    pub fn new(raw: &'a [u8]) -> Result<Self, BtfError> {
        Self::sections(raw).ok_or(BtfError::Malformed)
    }

    fn sections(raw: &'a [u8]) -> Option<Self> {
        let header_len = u32_at(raw, 4)? as usize;
        if u16_at(raw, 0)? != MAGIC || header_len < HEADER_MIN {
            return None;
        }
        let body = raw.get(header_len..)?;
        let section = |off: usize, len: usize| -> Option<&'a [u8]> {
            let (off, len) = (u32_at(raw, off)? as usize, u32_at(raw, len)? as usize);
            body.get(off..off.checked_add(len)?)
        };
        Some(Self {
            types: section(8, 12)?,
            strings: section(16, 20)?,
        })
    }

    /// Returns the name at `offset` in the string section.
    fn name(&self, offset: u32) -> &'a [u8] {
        let rest = self.strings.get(offset as usize..).unwrap_or(&[]);
        let end = rest.iter().position(|&b| b == 0).unwrap_or(rest.len());
        rest.get(..end).unwrap_or(&[])
    }

    fn parse(&self, at: usize) -> Option<Type> {
        let info = u32_at(self.types, at.checked_add(4)?)?;
        Some(Type {
            name: u32_at(self.types, at)?,
            kind: (info >> 24) & 0x1f,
            vlen: info & 0xffff,
            kind_flag: info >> 31 != 0,
            size_or_type: u32_at(self.types, at.checked_add(8)?)?,
            tail: at.checked_add(12)?,
        })
    }

    /// Returns the length in bytes of the part that follows the fixed part.
    fn tail_len(t: &Type) -> Result<usize, BtfError> {
        let n = t.vlen as usize;
        Ok(match t.kind {
            kind::INT | kind::VAR | kind::DECL_TAG => 4,
            kind::ARRAY => 12,
            kind::STRUCT | kind::UNION | kind::DATASEC | kind::ENUM64 => n.wrapping_mul(12),
            kind::ENUM | kind::FUNC_PROTO => n.wrapping_mul(8),
            kind::PTR
            | kind::FWD
            | kind::TYPEDEF
            | kind::VOLATILE
            | kind::CONST
            | kind::RESTRICT
            | kind::FUNC
            | kind::FLOAT
            | kind::TYPE_TAG => 0,
            other => return Err(BtfError::UnknownKind(other)),
        })
    }

    /// Calls `visit` with the offset of each type, in the order of their IDs, which start at 1.
    fn walk(&self, mut visit: impl FnMut(usize) -> Result<(), BtfError>) -> Result<(), BtfError> {
        let mut at = 0;
        while at < self.types.len() {
            let t = self.parse(at).ok_or(BtfError::Malformed)?;
            visit(at)?;
            at = t.tail.wrapping_add(Self::tail_len(&t)?);
        }
        Ok(())
    }

    /// Returns the number of types: the length that the index for [`Btf::index`] must have.
    pub fn count(&self) -> Result<usize, BtfError> {
        let mut n = 0usize;
        self.walk(|_| {
            n = n.wrapping_add(1);
            Ok(())
        })?;
        Ok(n)
    }

    /// Builds an index from type IDs to types. `memory` must have [`Btf::count`] elements, which
    /// can take 600 KiB for a distribution's kernel.
    pub fn index<'i>(&'i self, memory: &'i mut [u32]) -> Result<Indexed<'i>, BtfError> {
        let mut slots = memory.iter_mut();
        self.walk(|at| {
            let slot = slots.next().ok_or(BtfError::IndexFull)?;
            *slot = u32::try_from(at).map_err(|_| BtfError::Malformed)?;
            Ok(())
        })?;
        Ok(Indexed {
            btf: self,
            index: memory,
        })
    }
}

/// BTF with an index by type ID.
pub struct Indexed<'a> {
    btf: &'a Btf<'a>,
    index: &'a [u32],
}

impl Indexed<'_> {
    fn by_id(&self, id: u32) -> Option<Type> {
        let at = *self.index.get((id as usize).checked_sub(1)?)?;
        self.btf.parse(at as usize)
    }

    /// Returns the size in bytes of the struct with the type ID `id`.
    #[allow(dead_code, reason = "for the build alone")]
    pub fn struct_size(&self, id: u32) -> Option<u32> {
        let t = self.by_id(id)?;
        (t.kind == kind::STRUCT).then_some(t.size_or_type)
    }

    /// Returns the offset in bytes of a member of the struct `name`, or `None` if the member is a
    /// bit field or does not start at a byte boundary.
    #[allow(dead_code, reason = "for the build alone")]
    pub fn member_offset(&self, name: &[u8], member: &[u8]) -> Option<u32> {
        let t = self.by_id(self.id_of(BtfItem::Struct, name)?)?;
        let types = self.btf.types;
        (0..t.vlen as usize).find_map(|i| {
            let at = t.tail.checked_add(i.checked_mul(12)?)?;
            let is_it = self.btf.name(u32_at(types, at)?) == member;
            let bits = u32_at(types, at.checked_add(8)?)?;
            // With the kind flag, the upper bits are the size of a bit field.
            (is_it && bits % 8 == 0 && (!t.kind_flag || bits >> 24 == 0)).then_some(bits / 8)
        })
    }

    /// Returns the type with the ID `id` if it is of kind `item` and has the name `name`.
    fn named(&self, id: u32, item: BtfItem, name: &[u8]) -> Option<Type> {
        let t = self.by_id(id)?;
        let fits = match item {
            BtfItem::Struct => t.kind == kind::STRUCT,
            BtfItem::Enum => t.kind == kind::ENUM || t.kind == kind::ENUM64,
            BtfItem::Func => t.kind == kind::FUNC,
        };
        (fits && self.btf.name(t.name) == name).then_some(t)
    }

    /// Returns the ID of the first type of kind `item` with the name `name`. Searches linearly, in
    /// possibly more than 100,000 types.
    pub fn id_of(&self, item: BtfItem, name: &[u8]) -> Option<u32> {
        let end = u32::try_from(self.index.len()).ok()?;
        (1..=end).find(|&id| self.named(id, item, name).is_some())
    }

    /// Returns the fingerprint of the type of kind `item` with the name `name`: the type with the
    /// ID `hint`, or otherwise the first one. Returns `None` if there is none.
    pub fn fingerprint(&self, item: BtfItem, name: &[u8], hint: u32) -> Option<u64> {
        let found = self.named(hint, item, name).or_else(|| {
            let id = self.id_of(item, name)?;
            self.by_id(id)
        })?;
        let mut hash = Hash::new();
        hash.bytes(name);
        match item {
            BtfItem::Struct => self.members(&mut hash, &found, 0)?,
            BtfItem::Enum => self.enumerators(&mut hash, &found)?,
            BtfItem::Func => self.value(&mut hash, found.size_or_type, 0)?,
        }
        Some(hash.0)
    }

    /// Hashes the layout of a struct or union.
    fn members(&self, hash: &mut Hash, t: &Type, depth: u32) -> Option<()> {
        hash.num(t.kind);
        hash.num(t.size_or_type);
        hash.num(u32::from(t.kind_flag));
        for i in 0..t.vlen as usize {
            let at = t.tail.checked_add(i.checked_mul(12)?)?;
            let types = self.btf.types;
            hash.bytes(self.btf.name(u32_at(types, at)?));
            hash.num(u32_at(types, at.checked_add(8)?)?);
            self.value(
                hash,
                u32_at(types, at.checked_add(4)?)?,
                depth.wrapping_add(1),
            )?;
        }
        Some(())
    }

    fn enumerators(&self, hash: &mut Hash, t: &Type) -> Option<()> {
        hash.num(t.size_or_type);
        let step = if t.kind == kind::ENUM { 8 } else { 12 };
        for i in 0..t.vlen as usize {
            let at = t.tail.checked_add(i.checked_mul(step)?)?;
            let types = self.btf.types;
            hash.bytes(self.btf.name(u32_at(types, at)?));
            hash.bytes(types.get(at.checked_add(4)?..at.checked_add(step)?)?);
        }
        Some(())
    }

    /// Hashes a type that is contained by value, so that its size matters.
    fn value(&self, hash: &mut Hash, id: u32, depth: u32) -> Option<()> {
        if id == 0 {
            hash.bytes(b"void");
            return Some(());
        }
        if depth > MAX_DEPTH {
            return Some(());
        }
        let deeper = depth.wrapping_add(1);
        let t = self.by_id(id)?;
        match t.kind {
            // Qualifiers, tags and names of typedefs do not change a layout.
            kind::CONST | kind::VOLATILE | kind::RESTRICT | kind::TYPEDEF | kind::TYPE_TAG => {
                self.value(hash, t.size_or_type, depth)
            }
            kind::PTR => {
                hash.bytes(b"*");
                self.pointee(hash, t.size_or_type, deeper)
            }
            kind::ARRAY => {
                hash.bytes(b"[]");
                hash.num(u32_at(self.btf.types, t.tail.checked_add(8)?)?);
                self.value(hash, u32_at(self.btf.types, t.tail)?, deeper)
            }
            kind::STRUCT | kind::UNION if self.btf.name(t.name).is_empty() => {
                self.members(hash, &t, depth)
            }
            kind::FUNC_PROTO => {
                hash.bytes(b"()");
                self.value(hash, t.size_or_type, deeper)?;
                for i in 0..t.vlen as usize {
                    let at = t.tail.checked_add(i.checked_mul(8)?)?.checked_add(4)?;
                    self.value(hash, u32_at(self.btf.types, at)?, deeper)?;
                }
                Some(())
            }
            _ => {
                hash.num(t.kind);
                hash.bytes(self.btf.name(t.name));
                hash.num(t.size_or_type);
                Some(())
            }
        }
    }

    /// Hashes a type that is only pointed to: for a struct, only the name.
    fn pointee(&self, hash: &mut Hash, id: u32, depth: u32) -> Option<()> {
        let mut id = id;
        loop {
            let Some(t) = (if id == 0 { None } else { self.by_id(id) }) else {
                return self.value(hash, 0, depth);
            };
            match t.kind {
                kind::CONST | kind::VOLATILE | kind::RESTRICT | kind::TYPEDEF | kind::TYPE_TAG => {
                    id = t.size_or_type;
                }
                kind::STRUCT | kind::UNION | kind::FWD | kind::ENUM | kind::ENUM64 => {
                    hash.bytes(self.btf.name(t.name));
                    return Some(());
                }
                _ => return self.value(hash, id, depth),
            }
        }
    }
}
