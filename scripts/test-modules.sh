#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: test-modules.sh CASES ARCH KERNEL-DIRECTORY OUTPUT DIRECTORY
#
# Makes the files that tests need in the guest in addition to OUTPUT/ferrotrace.ko. CASES is one of
# cases, clients, lockdown, oops, reboot, upstream, soak and rounds. For lockdown, makes signed.ko,
# with the signature of a kernel that was built here. For cases, clients and upstream, makes
# ktrace_test.ko (tests/module/); for cases, oops and upstream, ktrace_failcall.ko; for cases and
# upstream, further test modules, the module of samples/, modules that must be refused, and a copy
# of the kernel's own tests of ftrace; for clients, makes the plugin of libtraceevent and the
# command, and extracts the commands of documents. Run in the build environment.

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/lib.sh"
cases=$1 arch=$2 kernel=$3 out=$4 dir=$5

cross=$(cross_compile "$arch")
good=$dir/good
"${cross#*=}strip" --strip-debug -o "$good" "$out/ferrotrace.ko"
case $cases in
cases | clients | record | upstream)
	"${cross#*=}strip" --strip-debug -o "$dir/ktrace_test.ko" "$out/ktrace_test.ko" ;;
lockdown)
	key=$kernel/tree/certs/signing_key
	if [ -e "$key.pem" ]; then
		hash=$(sed -n 's/^CONFIG_MODULE_SIG_HASH="\(.*\)"$/\1/p' "$kernel/tree/.config")
		"$kernel/tree/scripts/sign-file" "$hash" "$key.pem" "$key.x509" "$good" \
			"$dir/signed.ko"
	fi ;;
esac
case $cases in
cases | oops | upstream)
	"${cross#*=}strip" --strip-debug -o "$dir/ktrace_failcall.ko" "$out/ktrace_failcall.ko" ;;
esac
if [ "$cases" = cases ] || [ "$cases" = upstream ]; then
	"${cross#*=}strip" --strip-debug -o "$dir/thermal_sample.ko" \
		"$out/samples/thermal/thermal_sample.ko"
	"${cross#*=}strip" --strip-debug -o "$dir/ktrace_slowname.ko" "$out/ktrace_slowname.ko"
	[ ! -e "$out/ktrace_kunit.ko" ] ||
		"${cross#*=}strip" --strip-debug -o "$dir/ktrace_kunit.ko" "$out/ktrace_kunit.ko"
	"$top/scripts/broken-modules.py" "$good" "$out/generated/fingerprints.rs" "$dir"
	cp -r "$(readlink -f "$kernel/tree/source")/tools/testing/selftests/ftrace" "$dir/selftests"
fi
if [ "$cases" = clients ] || [ "$cases" = record ]; then
	"${cross#*=}strip" --strip-debug -o "$dir/thermal_sample.ko" \
		"$out/samples/thermal/thermal_sample.ko"
	"$top/scripts/commands.py" extract "$dir/docs"
	# Two kernels may be tested at the same time.
	(
		flock 9
		ARCH=$arch "$top/scripts/tools.sh"
		cd "$top/build/tools-$arch"
		cp plugin_ferrotrace.so ferrotrace "$dir/"
	) 9>"$top/build/tools-$arch.lock"
fi
rm "$good"
