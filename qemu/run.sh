#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Usage: [VARIABLE=...] run.sh
#
# Boots a kernel under QEMU with the module. Standard output is what the command in the guest
# prints; the exit status is that of the command, 124 after a timeout, or 125 if the guest died.
# The environment has the settings:
#   ARCH, KERNEL  what to boot (x86_64, debian)
#   CMD           the command, a shell script; without it, an interactive shell is started
#   TIMEOUT       run time of the guest in seconds, with the boot (120; a shell has no limit)
#   MODULE        the module (build/KERNEL-ARCH/ferrotrace.ko)
#   LOAD          0: do not load the module
#   EXTRA         a directory whose files are copied to /extra
#   OUT           a directory that gets the files in /out of the guest when the command has ended
#                 (only Debian's kernels have the driver)
#   CLIENTS       1: with trace-cmd, perf and bpftrace in the guest; trace-cmd: with this one only
#   SMP, MEM      processors (2) and memory in MiB
#   ICOUNT        1: a nanosecond of the guest is an instruction, whatever the host does. If there
#                 are several processors, the instructions of all busy ones count
#   LOG           the file for the kernel's console (build/KERNEL-ARCH/console.log)
#   APPEND        additional words for the kernel command line
#   REBOOT        1: a guest that reboots keeps its memory; otherwise, a reboot ends the run

# shellcheck source=scripts/lib.sh
. "$(dirname -- "$0")/../scripts/lib.sh"
arch=${ARCH:-x86_64} kernel=${KERNEL:-debian}
out=$top/build/$kernel-$arch
MODULE=${MODULE:-$out/ferrotrace.ko}

if [ -n "${EXTRA:-}" ] && [ ! -d "$EXTRA" ]; then
	die "EXTRA=$EXTRA: no such folder"
fi
case ${SMP:-2} in
*[!0-9]* | '' | 0*) die "SMP=$SMP: not a number of processors" ;;
esac
case ${TIMEOUT:-1} in
*[!0-9]* | '' | 0*) die "TIMEOUT=$TIMEOUT: not a number of seconds" ;;
esac
case ${LOAD:=1} in
0 | 1) ;;
*) die "LOAD=$LOAD: neither 0 nor 1" ;;
esac
case ${CLIENTS:=0} in
0 | 1 | trace-cmd) ;;
*) die "CLIENTS=$CLIENTS: neither 0, 1 nor trace-cmd" ;;
esac
case ${REBOOT:=0} in
0 | 1) ;;
*) die "REBOOT=$REBOOT: neither 0 nor 1" ;;
esac
case ${ICOUNT:=0} in
0 | 1) ;;
*) die "ICOUNT=$ICOUNT: neither 0 nor 1" ;;
esac
if [ "$LOAD" = 1 ] && [ ! -e "$MODULE" ]; then
	die "there is no module $MODULE: build it (make), or say LOAD=0"
fi
if [ -z "${CMD:-}" ] && [ ! -t 0 ]; then
	die 'a shell needs a terminal; give a command in CMD'
fi

dir=$("$top/scripts/kernel.sh" -q "$kernel" "$arch")
base=$("$top/qemu/base.sh" "$arch")
clients=/dev/null
case $CLIENTS in
1) clients=$("$top/qemu/clients.sh" "$arch" all) ;;
trace-cmd) clients=$("$top/qemu/clients.sh" "$arch" trace-cmd) ;;
esac
mkdir -p "$out"
work=$(mktemp -d "${TMPDIR:-/tmp}/ferrotrace.XXXXXX")
log=${LOG:-$out/console.log}
# Another run may use the same log file: it is moved there at the end.
trap 'mv -f "$work/console" "$log" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The files of this run: a last archive of the initramfs, which the kernel unpacks over the others.
root=$work/root
mkdir -p "$root/lib" "$root/extra"
if [ -e "$MODULE" ]; then
	cp "$MODULE" "$root/lib/ferrotrace.ko"
fi
if [ -n "${EXTRA:-}" ]; then
	cp -RL "$EXTRA/." "$root/extra"
fi
if [ -n "${CMD:-}" ]; then
	printf '%s\n' "$CMD" >"$root/command"
fi
cp "$dir/tree/.config" "$root/kernel.config"
is_checked=0
! contains "$checked" "$kernel" || is_checked=1
window=$(stty size 2>/dev/null) || window='24 80'
cat >"$root/run.conf" <<-EOF2
	load=$LOAD
	kernel=$kernel
	checked=$is_checked
	arch=$arch
	icount=$ICOUNT
	out=${OUT:+1}
	brief=${BRIEF:-0}
	rows=${window% *}
	cols=${window#* }
EOF2

mem=1024
[ "$is_checked" = 0 ] || mem=2048
mem=${MEM:-$((mem + 3 * $(du -cm "$root" "$clients" | tail -n 1 | cut -f1)))}

case $arch in
x86_64)
	cpu=max
	# If there is one CPU, AMD code of the kernel reads cache information with preemption on,
	# where it must be off.
	[ "$kernel" != up ] || cpu=max,vendor=GenuineIntel
	set -- qemu-system-x86_64 -cpu $cpu
	# On a loaded host, the clocks of the guest drift apart, which the kernel would attribute to
	# a broken TSC.
	console='ttyS0 tsc=nowatchdog'
	# If the host pauses the guest while the kernel calibrates the TSC, the guest's clock is
	# wrong: it was seen to run 17 times too fast.
	[ "$ICOUNT" = 1 ] || console="$console tsc_early_khz=$("$top/qemu/tsc-khz.sh")" ;;
arm64)
	set -- qemu-system-aarch64 -M virt,gic-version=3 -cpu max,pauth-impdef=on
	# Enable NMIs in kernels that were built for them.
	console='ttyAMA0 irqchip.gicv3_pseudo_nmi=1' ;;
esac
# With a thread for each CPU, x86_64 kernels died occasionally from a breakpoint (Oops: int3) in
# code that was being patched; on arm64, an event that was enabled did not fire, once in thirty
# times. With one thread for all CPUs, neither was seen. The cost: on arm64, each patch of the
# kernel's text waits until every other CPU has had its turn, which takes 100 ms for a CPU that is
# always busy.
case $ICOUNT in
0) set -- "$@" -accel tcg,thread=single ;;
1) set -- "$@" -accel tcg -icount shift=0,sleep=off ;;
esac
set -- "$@" -smp "${SMP:-2}" -m "${mem}M" -nodefaults -display none \
	-monitor none -net none \
	-kernel "$dir/image" -initrd "$work/initrd" \
	-append "console=$console panic=-1 loglevel=7 printk.devkmsg=on ${APPEND:-}" \
	-chardev "file,id=console,path=$work/console" -serial chardev:console \
	-chardev stdio,id=command,signal=off -serial chardev:command
[ "$REBOOT" = 1 ] || set -- "$@" -no-reboot
[ -z "${OUT:-}" ] || set -- "$@" -device virtio-serial-pci -device virtserialport,chardev=files \
	-chardev "file,id=files,path=$work/files"
: >"$work/console"

# Debug information is not needed in the guest, and loading it takes time.
cross=$(cross_compile "$arch")
# shellcheck disable=SC2016 # for the shell inside
pack='cd "$1/root" && { [ ! -e lib/ferrotrace.ko ] || "$4" --strip-debug lib/ferrotrace.ko; } &&
	find . | cpio --quiet -o -H newc --owner 0:0 | cat "$2" "$3" - >"$1/initrd" || exit
	shift 4; exec "$@"'
set -- "$top/scripts/env.sh" sh -c "$pack" sh "$work" "$base" "$clients" "${cross#*=}strip" "$@"
status=0
if [ -n "${CMD:-}" ]; then
	# --foreground: in a process group of its own, the command would not get Ctrl-C.
	timeout --foreground --kill-after=10 "${TIMEOUT:-120}" "$@" </dev/null || status=$?
else
	say "console log: $work/console, later $log; leave with 'exit' or Ctrl-D"
	"$@" || status=$?
fi

guest() {
	sed -n "s/^.*ferrotrace-guest: $1 //p" "$work/console" | tr -d '\r' | tail -n 1
}
error=$(guest error:)
if [ "$status" = 124 ] || [ "$status" = 137 ]; then
	say "the guest was stopped after TIMEOUT=${TIMEOUT:-120} seconds; its console: $log"
	exit 124
elif [ "$status" != 0 ]; then
	die "QEMU failed (status $status)"
fi
status=$(guest status)
if [ -n "$error" ] || [ -z "$status" ]; then
	tail -n 30 "$work/console" >&2
	say "the guest ${error:-died}; all of its console: $log"
	exit 125
fi
if [ -n "${OUT:-}" ]; then
	mkdir -p "$OUT"
	tar -x -f "$work/files" -C "$OUT" --no-same-owner ||
		die "OUT=$OUT: the files of the guest are damaged"
fi
exit "$status"
