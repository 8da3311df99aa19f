// SPDX-License-Identifier: GPL-2.0

//! Host tool. Prints the fingerprints that a module expects of its kernel, as Rust source; or the
//! offsets of struct members and the optional items that this kernel has, as a C header; or these
//! items as arguments of rustc.
//!
//! Usage: `btf_fingerprint LIST BTF [members|cfgs]`. LIST is `src/ktrace/private/abi.list`, BTF the
//! raw contents of the `.BTF` section of the kernel for which the module is built.

#[path = "../src/ktrace/private/btf.rs"]
mod btf;

use btf::Btf;
use btf::BtfItem;
use std::env;
use std::fs;
use std::process::ExitCode;

fn run(list: &str, raw: &str, what: &str) -> Result<String, String> {
    let text = fs::read_to_string(list).map_err(|e| format!("{list}: {e}"))?;
    let raw_bytes = fs::read(raw).map_err(|e| format!("{raw}: {e}"))?;
    let btf = Btf::new(&raw_bytes).map_err(|e| format!("{raw}: {e:?}"))?;
    let mut index = vec![0; btf.count().map_err(|e| format!("{raw}: {e:?}"))?];
    let indexed = btf.index(&mut index).map_err(|e| format!("{raw}: {e:?}"))?;

    let mut out = String::from("pub(super) static FINGERPRINTS: &[super::Fingerprint] = &[\n");
    let mut sizes = String::new();
    let mut header = String::from("/* Made of abi.list by btf_fingerprint. */\n");
    let mut cfgs = String::new();
    for line in text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let mut words = line.split_whitespace();
        let (kind, name) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let item = match kind {
            "struct?" | "enum?" | "func?" => {
                let item = match kind {
                    "enum?" => BtfItem::Enum,
                    "func?" => BtfItem::Func,
                    _ => BtfItem::Struct,
                };
                if indexed.id_of(item, name.as_bytes()).is_none() {
                    continue;
                }
                cfgs += &format!("--cfg=has_{name}\n");
                header += &format!("#define KTRACE_HAS_{name}\n");
                item
            }
            "struct" => BtfItem::Struct,
            "enum" => BtfItem::Enum,
            "func" => BtfItem::Func,
            "member" | "member?" => {
                let member = words.next().unwrap_or("");
                match indexed.member_offset(name.as_bytes(), member.as_bytes()) {
                    Some(_) if kind == "member?" => cfgs += &format!("--cfg=has_{name}_{member}\n"),
                    Some(offset) => header += &format!("#define KTRACE_{name}_{member} {offset}\n"),
                    None if kind == "member?" => {}
                    None => return Err(format!("this kernel's struct {name} has no {member}")),
                }
                continue;
            }
            _ => return Err(format!("{list}: what is a '{kind}'?")),
        };
        let missing = || format!("this kernel's BTF has no {kind} {name}");
        let id = indexed.id_of(item, name.as_bytes()).ok_or_else(missing)?;
        let hash = indexed
            .fingerprint(item, name.as_bytes(), id)
            .ok_or_else(missing)?;
        if let Some(size) = indexed.struct_size(id) {
            sizes += &format!(
                "const _: () = assert!(core::mem::size_of::<super::{name}>() == {size});\n"
            );
        }
        out += &format!(
            "    super::Fingerprint {{ item: BtfItem::{item:?}, name: c\"{name}\", id: {id}, \
             hash: {hash:#018x} }},\n"
        );
    }
    match what {
        "members" => Ok(header),
        "cfgs" => Ok(cfgs),
        // If bindgen's layout of a member were wrong, the size would differ.
        _ => Ok(out + "];\n" + &sizes),
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().collect();
    let (list, raw, what) = match args.as_slice() {
        [_, list, raw] => (list, raw, ""),
        [_, list, raw, what] if ["members", "cfgs"].contains(&what.as_str()) => {
            (list, raw, what.as_str())
        }
        _ => {
            eprintln!("usage: btf_fingerprint LIST BTF [members|cfgs]");
            return ExitCode::FAILURE;
        }
    };
    match run(list, raw, what) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("btf_fingerprint: {why}");
            ExitCode::FAILURE
        }
    }
}
