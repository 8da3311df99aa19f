// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks of the module: whether it is loaded, and whether a file of it was built for the kernel
//! that runs.

use std::{
    fs, io,
    path::{
        Path,
        PathBuf, //
    },
};

use super::{
    facts::Facts, //
    Line,
};

/// Where `make modules_install` and the README put modules that are not part of the kernel.
const DIRECTORIES: &[&str] = &["updates", "updates/dkms", "extra"];

const LOAD: &str = "sudo modprobe ferrotrace";
const BUILD: &str =
    "build it for this kernel: make, or make KDIR=TREE (README, Install it on your machine)";

/// Returns whether the module is loaded.
pub fn is_loaded(facts: &Facts) -> bool {
    facts.path("/sys/module/ferrotrace").exists()
}

/// Checks that the module is loaded. If it is not, checks whether modprobe would load it.
pub fn loaded(facts: &Facts) -> Line {
    if !is_loaded(facts) {
        return Line::missing("module", format!("not loaded{}", remedy(facts)));
    }
    let version = facts
        .read("/sys/module/ferrotrace/version")
        .unwrap_or_default();
    let own = env!("CARGO_PKG_VERSION");
    if version == own {
        Line::ok("module", format!("version {version}"))
    } else {
        Line::warning(
            "module",
            format!("version {version}, but this program has version {own}"),
        )
    }
}

/// Checks that a file of the module was built for the kernel that runs.
pub fn file(facts: &Facts, path: &Path) -> Line {
    let name = path.display();
    let release = facts.release();
    match fit(path, &release) {
        Ok(Fit::Yes) => Line::ok("module file", format!("{name}, built for this kernel")),
        Ok(Fit::No(other)) => Line::missing(
            "module file",
            format!("{name}: not built for this kernel: {release} (it is for {other}); {BUILD}"),
        ),
        Ok(Fit::Unknown(reason)) => Line::warning("module file", format!("{name}: {reason}")),
        Err(error) => Line::missing("module file", format!("{name}: {error}")),
    }
}

/// Whether a file of the module was built for a kernel.
enum Fit {
    Yes,
    /// It was built for another kernel, of this release.
    No(String),
    /// It is not known, for this reason.
    Unknown(&'static str),
}

/// Reads for which kernel a file of the module was built.
fn fit(path: &Path, release: &str) -> io::Result<Fit> {
    let content = fs::read(path)?;
    if path.extension().is_some_and(|extension| extension != "ko") {
        return Ok(Fit::Unknown(
            "compressed, so not checked whether it was built for this kernel",
        ));
    }
    Ok(match built_for(&content) {
        None => Fit::Unknown("not a kernel module (no vermagic)"),
        Some(built) if built == release => Fit::Yes,
        Some(built) => Fit::No(built),
    })
}

/// Returns the release of the kernel for which a module was built: the first word of `vermagic` in
/// its section `.modinfo`, whose strings end with NUL.
fn built_for(module: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"\0vermagic=";
    let start = module.windows(KEY.len()).position(|bytes| bytes == KEY)? + KEY.len();
    let value = module[start..].split(|&byte| byte == 0).next()?;
    let text = String::from_utf8_lossy(value);
    text.split_whitespace().next().map(str::to_owned)
}

/// Says how to load the module.
fn remedy(facts: &Facts) -> String {
    let release = facts.release();
    let modules = PathBuf::from("/lib/modules");
    let own = modules.join(&release);
    if let Some(name) = listed(facts, &own) {
        let shown = name.display();
        return match fit(&facts.path(&name), &release) {
            Ok(Fit::Yes) => format!(": {LOAD}"),
            Ok(Fit::No(other)) => format!(
                "; {shown} is not built for this kernel: {release} (it is for {other}); {BUILD}"
            ),
            Ok(Fit::Unknown(reason)) => format!(": {LOAD} ({shown}: {reason})"),
            Err(error) => format!("; {shown}: {error}; sudo depmod"),
        };
    }
    if let Some(name) = in_directories(facts, &own) {
        return format!(": sudo depmod && {LOAD} ({})", name.display());
    }
    let others = other_releases(facts, &modules, &release);
    if others.is_empty() {
        format!(
            ", and not installed for this kernel: {release}; load the file that make has built: \
             sudo insmod ferrotrace.ko"
        )
    } else {
        let others = others.join(", ");
        format!(", and not installed for this kernel: {release} (only for {others}); {BUILD}")
    }
}

/// Returns the file that modprobe would load: that in the list of depmod.
fn listed(facts: &Facts, directory: &Path) -> Option<PathBuf> {
    let list = facts.read(directory.join("modules.dep")).ok()?;
    let name = list
        .lines()
        .filter_map(|line| line.split(':').next())
        .find(|name| name.rsplit('/').next().is_some_and(is_module))?;
    Some(directory.join(name))
}

/// Returns a file of the module that depmod may not have listed.
fn in_directories(facts: &Facts, directory: &Path) -> Option<PathBuf> {
    DIRECTORIES.iter().find_map(|part| {
        let directory = directory.join(part);
        let mut entries = fs::read_dir(facts.path(&directory)).ok()?;
        let entry = entries.find_map(|entry| {
            let name = entry.ok()?.file_name();
            is_module(name.to_str()?).then_some(name)
        })?;
        Some(directory.join(entry))
    })
}

/// Returns the other kernels for which the module is installed.
fn other_releases(facts: &Facts, modules: &Path, release: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(facts.path(modules)) else {
        return Vec::new();
    };
    let mut others: Vec<_> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name != release)
        .filter(|name| in_directories(facts, &modules.join(name)).is_some())
        .collect();
    others.sort();
    others
}

/// Returns whether this is a name of a file of the module, which may be compressed.
fn is_module(name: &str) -> bool {
    matches!(
        name.strip_prefix("ferrotrace.ko"),
        Some("" | ".gz" | ".xz" | ".zst")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELEASE: &str = "7.2.12+deb13-amd64";
    const MODULE: &str = "\x7fELF\0license=GPL\0vermagic=7.2.12+deb13-amd64 SMP preempt \0name=x\0";
    const OTHER: &str = "\x7fELF\0vermagic=7.3.4 SMP \0";

    /// Returns the message about a module that is not loaded.
    fn message(files: &[(&str, &str)]) -> anyhow::Result<String> {
        let root = tempfile::tempdir()?;
        let release = ("proc/sys/kernel/osrelease", RELEASE);
        for (name, text) in files.iter().chain([&release]) {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap_or(root.path()))?;
            fs::write(path, text)?;
        }
        Ok(loaded(&Facts::new(root.path())).text)
    }

    #[test]
    fn releases() {
        assert_eq!(built_for(MODULE.as_bytes()).as_deref(), Some(RELEASE));
        assert_eq!(built_for(OTHER.as_bytes()).as_deref(), Some("7.3.4"));
        for no_module in ["", "\0vermagic=", "vermagic=7.3.4", "\0vermagi"] {
            assert_eq!(built_for(no_module.as_bytes()), None, "{no_module:?}");
        }
    }

    #[test]
    fn modules_that_are_not_loaded() -> anyhow::Result<()> {
        const LIST: (&str, &str) = (
            "lib/modules/7.2.12+deb13-amd64/modules.dep",
            "kernel/fs/x.ko: kernel/y.ko\nextra/ferrotrace.ko:\n",
        );
        const FILE: &str = "lib/modules/7.2.12+deb13-amd64/extra/ferrotrace.ko";
        assert_eq!(
            message(&[LIST, (FILE, MODULE)])?,
            "not loaded: sudo modprobe ferrotrace"
        );
        let text = message(&[LIST, (FILE, OTHER)])?;
        assert!(
            text.starts_with(&format!(
                "not loaded; /{FILE} is not built for this kernel: {RELEASE} (it is for 7.3.4); \
                 build it"
            )),
            "{text}"
        );
        let text = message(&[(FILE, MODULE)])?;
        assert!(
            text.contains("sudo depmod && sudo modprobe ferrotrace"),
            "{text}"
        );
        // The list of depmod has a file that was removed.
        let text = message(&[LIST])?;
        assert!(text.contains("No such file"), "{text}");
        let list = (LIST.0, "updates/dkms/ferrotrace.ko.xz:\n");
        let file = "lib/modules/7.2.12+deb13-amd64/updates/dkms/ferrotrace.ko.xz";
        let text = message(&[list, (file, "")])?;
        assert!(
            text.starts_with("not loaded: sudo modprobe ferrotrace (/lib")
                && text.contains("compressed, so not checked"),
            "{text}"
        );
        Ok(())
    }

    #[test]
    fn modules_that_are_not_installed() -> anyhow::Result<()> {
        let text = message(&[])?;
        assert!(
            text.contains("not installed for this kernel: 7.2.12+deb13-amd64; load"),
            "{text}"
        );
        let text = message(&[("lib/modules/7.1.0/extra/ferrotrace.ko", OTHER)])?;
        assert!(text.contains("(only for 7.1.0); build it"), "{text}");
        Ok(())
    }

    #[test]
    fn files() -> anyhow::Result<()> {
        let root = tempfile::tempdir()?;
        fs::create_dir_all(root.path().join("proc/sys/kernel"))?;
        fs::write(root.path().join("proc/sys/kernel/osrelease"), RELEASE)?;
        let facts = Facts::new(root.path());
        let path = root.path().join("ferrotrace.ko");
        for (content, expected) in [
            (MODULE, Line::ok as fn(_, String) -> _),
            (OTHER, Line::missing),
            ("text", Line::warning),
        ] {
            fs::write(&path, content)?;
            let line = file(&facts, &path);
            assert_eq!(line.result, expected("", String::new()).result, "{line:?}");
        }
        let missing = file(&facts, &root.path().join("none.ko"));
        assert!(missing.text.contains("No such file"), "{missing:?}");
        Ok(())
    }
}
