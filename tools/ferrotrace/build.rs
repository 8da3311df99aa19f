// SPDX-License-Identifier: MIT OR Apache-2.0

//! Generates the bindings of libtracecmd, libtracefs and libtraceevent from their headers, with the
//! program `bindgen`, and passes the paths of the libraries to the linker.

use std::{
    env,
    path::PathBuf,
    process::Command, //
};

/// The functions of the libraries that `src/sys/` calls.
const FUNCTIONS: &str = "tracecmd_(open|close|get_tep|iterate_events_multi|set_loglevel|\
    buffer_instances|buffer_instance_name|buffer_instance_handle|get_first_ts|get_uname|\
    record_ref|free_record)|\
    tep_(find_event|find_event_by_name|find_field|find_common_field|find_function_info|\
    data_comm_from_pid|get_cpus|is_file_bigendian|set_loglevel|ref|free|parse_kallsyms)|\
    tep_print_event|trace_seq_(init|destroy)|tracefs_(set_loglevel|local_events_system)";
const TYPES: &str =
    "tep_record|tep_event|tep_format_field|tep_format_flags|tep_loglevel|trace_seq|\
    tracecmd_input|tracecmd_open_flags";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap()).join("tracecmd.rs");
    let mut child = Command::new("bindgen")
        .args(["--no-layout-tests", "--no-doc-comments", "--formatter=none"])
        .args(["--allowlist-function", FUNCTIONS, "--allowlist-type", TYPES])
        .args(["--opaque-type", "timeval", "--default-enum-style=consts"])
        .arg("--output")
        .arg(&out)
        .args([
            "src/libraries.h",
            "--",
            "-I/usr/include/traceevent",
            "-I/usr/include/tracefs",
        ])
        .arg("-I/usr/include/trace-cmd")
        .spawn()
        .expect("bindgen is needed: apt install bindgen");
    assert!(child.wait().unwrap().success(), "bindgen failed");
    println!("cargo:rerun-if-changed=src/libraries.h");

    // Debian has the development files of libtracecmd for the architecture of the machine only. The
    // library itself has the same name everywhere.
    println!("cargo:rustc-link-arg=-l:libtracecmd.so.1");
    println!("cargo:rustc-link-lib=tracefs");
    println!("cargo:rustc-link-lib=traceevent");
}
