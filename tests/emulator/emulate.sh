#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Boots Debian's kernel in QEMU on a machine with an NVDLA, runs programs in it
# and ends with their status. Nothing needs to be installed on the machine but
# packages.txt; KVM is not used.
#
#   emulate.sh SERIES [option...] [-- PROGRAM ARGUMENT...]     SERIES: as in get-kernel.sh, or
#                                                              6.12-arm64; uml needs no QEMU
#     --interactive        a prompt in the guest instead
#     --build DIRECTORY    build directory (default: build)
#     --device NAME        configuration (default: nv_small)
#     --module FILE        module to load (default: BUILD/modules/SERIES/nvdla.ko), may be repeated
#     --with NAME          module of the kernel to load before, may be repeated
#     --offer MODULE       in the place of the module: a file or a name, for modprobe in the
#                          guest, may be repeated
#     --run COMMAND        like -- PROGRAM ARGUMENT..., may be repeated
#     --file FROM[:TO]     file or directory for the guest, may be repeated
#     --route ROUTE        how the driver finds the device: pci (the default), acpi, or dt, the
#                          only one of arm64; these two allow more than one processor. The
#                          only one of the series uml is uml, its default
#     --dt FILE            for dt: a device tree overlay on the device's, may be repeated
#     --cpus NUMBER        of processors (default: 1)
#     --append TEXT        for the kernel's command line, such as pci=nomsi
#     --server OPTION      for the device server, such as --server --no-reset; may be repeated
#     --name NAME          of the log (default: SERIES)
#     --time-out SECONDS   for everything (default: 120; with --interactive: none)
#
# The log is BUILD/emulate/NAME.log.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
fail() {
	echo "emulate.sh: $*" >&2
	exit 1
}

[ $# -ge 1 ] || fail "which series of kernels? For example: emulate.sh 6.12"
series=$1
shift
case $series in
[0-9]*.[0-9]* | newest | sanitizer | uml) ;;
*) fail "'$series' is not a series of kernels such as 6.12, nor newest, sanitizer, uml" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=$here/../../build
device=nv_small
interactive=
route=$([ "$series" = uml ] && echo uml || echo pci)
cpus=1
append=
name=$series
time_out=
modules=
# Options of make-initrd.sh and of the server, a line each: values may hold blanks.
: >"$work/initrd-options"
: >"$work/server-options"
: >"$work/overlays"

while [ $# -gt 0 ]; do
	option=$1
	shift
	case $option in
	--interactive)
		interactive=nvdla.interactive
		continue
		;;
	--) break ;;
	esac
	[ $# -gt 0 ] || fail "$option: value missing, or unknown option"
	case $option in
	--build) build=$1 ;;
	--device) device=$1 ;;
	--module)
		modules=given
		printf '%s\n%s\n' --module "$1" >>"$work/initrd-options"
		;;
	--offer)
		modules=given
		printf '%s\n%s\n' --offer "$1" >>"$work/initrd-options"
		;;
	--with | --run | --file) printf '%s\n%s\n' "$option" "$1" >>"$work/initrd-options" ;;
	--route) route=$1 ;;
	--cpus) cpus=$1 ;;
	--dt) printf '%s\n' "$1" >>"$work/overlays" ;;
	--append) append=$1 ;;
	--server) printf '%s\n' "$1" >>"$work/server-options" ;;
	--name) name=$1 ;;
	--time-out) time_out=$1 ;;
	*) fail "unknown option $option" ;;
	esac
	shift
done
if [ $# -gt 0 ]; then
	command=$1
	shift
	for argument in "$@"; do
		command="$command '$(printf '%s' "$argument" | sed "s/'/'\\\\''/g")'"
	done
	printf '%s\n%s\n' --run "$command" >>"$work/initrd-options"
fi
case $route:$series in
pci:*-arm64 | acpi:*-arm64) fail "a kernel for arm64 has the route dt" ;;
pci:uml | acpi:uml | dt:uml) fail "User-mode Linux has the route uml" ;;
uml:uml | pci:* | acpi:*) [ ! -s "$work/overlays" ] || fail "--dt is for the route dt" ;;
uml:*) fail "the route uml has User-mode Linux: emulate.sh uml" ;;
esac
qemu=qemu-system-x86_64
console=ttyS0
tools=busybox
case $route in
pci) ;;
uml) qemu= ;;
acpi) tools="$tools iasl" ;;
dt)
	case $series in
	*-arm64) ;;
	*) fail "the route dt has kernels for arm64, such as 6.12-arm64" ;;
	esac
	qemu=qemu-system-aarch64
	console=ttyAMA0
	tools="dtc fdtoverlay aarch64-linux-gnu-strip readelf"
	;;
*) fail "'$route' is not a route: pci, acpi, dt, uml" ;;
esac
[ -n "$time_out" ] || time_out=$([ -n "$interactive" ] && echo 0 || echo 120)

mkdir -p "$build/emulate"
build=$(cd "$build" && pwd)
server=$build/bin/nvdla-device-server
log=$build/emulate/$name.log
[ -x "$server" ] || fail "no $server: build it first"
if [ -z "$modules" ]; then
	printf '%s\n%s\n' --module "$build/modules/$series/nvdla.ko" >>"$work/initrd-options"
fi
for program in $qemu $tools cpio modinfo xz; do
	command -v $program >/dev/null || fail "no $program: install what packages.txt lists"
done

# The one that modules were built for, even if there is a newer one by now.
kernel=$build/kernels/$series
[ -f "$kernel/release" ] || sh "$here/get-kernel.sh" "$series" "$build/kernels"

# Lines to arguments.
set --
if [ "$route" = dt ]; then
	sh "$here/get-arm64.sh" "$build/arm64"
	set -- --arm64 "$build/arm64/root"
fi
while IFS= read -r line; do
	set -- "$@" "$line"
done <"$work/initrd-options"
sh "$here/make-initrd.sh" --kernel "$kernel" --output "$work/initrd" "$@"

# What tells the kernel of a device that no bus does.
compatible=nvidia,nvdla-$(echo "$device" | tr _ -)
case $route in
acpi)
	sed "s/@compatible@/$compatible/" "$here/nvdla.asl" >"$work/nvdla.asl"
	without=$(grep -qx -e --no-reset "$work/server-options" && echo '-D NO_RESET') || without=
	# shellcheck disable=SC2086 # an option and its value, or neither
	said=$(iasl $without -p "$work/nvdla" "$work/nvdla.asl" 2>&1) || fail "$said"
	printf '%s\n%s\n%s\n%s\n' --plugin "$build/lib/nvdla-window.so" \
		--description "$work/nvdla.aml" >>"$work/server-options"
	;;
dt)
	# As the server starts it, but for the device.
	qemu-system-aarch64 -machine "virt,gic-version=3,dumpdtb=$work/virt.dtb" -cpu cortex-a72 \
		-smp "$cpus" -m 512M -nodefaults -no-user-config -display none 2>"$work/said" ||
		fail "$(cat "$work/said")"
	sed "s/@compatible@/$compatible/" "$here/device-tree/nvdla.dts" >"$work/nvdla.dts"
	number=0
	{
		echo "$work/nvdla.dts"
		cat "$work/overlays"
	} | while IFS= read -r overlay; do
		dtc -q -@ -I dts -O dtb -o "$work/$number.dtbo" "$overlay" ||
			fail "$overlay: not a device tree overlay"
		fdtoverlay -i "$work/virt.dtb" -o "$work/next.dtb" "$work/$number.dtbo" ||
			fail "$overlay: cannot be applied"
		mv "$work/next.dtb" "$work/virt.dtb"
		number=$((number + 1))
	done
	printf '%s\n%s\n%s\n%s\n' --plugin "$build/lib/nvdla-window.so" \
		--description "$work/virt.dtb" >>"$work/server-options"
	;;
esac
printf '%s\n%s\n%s\n%s\n' --route "$route" --cpus "$cpus" >>"$work/server-options"
# The driver reads it where no tree and no table describes the device; --append may name another.
case $route in
pci | uml) append="nvdla.pci_configuration=$device $append" ;;
esac

set -- --device "model:$device" --kernel "$kernel/vmlinuz" --initrd "$work/initrd" --time-out "$time_out"
while IFS= read -r line; do
	set -- "$@" "$line"
done <"$work/server-options"
case $route in
uml) console="con0=$([ -n "$interactive" ] && echo fd:0 || echo null),fd:1 con=null" ;;
# On a busy host the timer may come too late for the kernel's check of it, which panics.
*) console="console=$console no_timer_check" ;;
esac
set -- "$@" --append "$console quiet panic=-1 $interactive $append"

if [ -n "$interactive" ]; then
	# Every key goes to the guest: Ctrl-C too. Its shell's `exit` powers off.
	settings=$(stty -g 2>/dev/null) || fail "--interactive needs a terminal"
	stty raw -echo
	"$server" --quiet "$@" || true
	stty "$settings"
	exit 0
fi

boot_guest() {
	rm -f "$work/server-status"
	{
		"$server" "$@" </dev/null 2>&1 || echo $? >"$work/server-status"
	} | sed -u 's/\r$//; s/\x1b\[[0-9;?]*[a-zA-Z]//g; s/\x1bc//g' | tee "$log"
}

began=$(date +%s%N)
result=0
boot_guest "$@"
# On two emulated processors one may meet the breakpoint with which the other patches the kernel's
# code while it boots. No program of the guest has run then, nor the driver.
if grep -q 'Oops: int3' "$log" && ! grep -q '^nvdla-guest' "$log"; then
	echo "emulate.sh: the kernel met its own breakpoint while it booted: once more"
	boot_guest "$@"
fi
took=$(($(date +%s%N) - began))
took=$((took / 1000000000)).$((took / 100000000 % 10))

status=$(sed -n 's/^NVDLA-GUEST-STATUS \([0-9]*\)$/\1/p' "$log" | tail -n 1)
if [ -f "$work/server-status" ]; then
	result=$(cat "$work/server-status")
	if [ "$result" = 124 ]; then
		fail "time-out: the guest was not done after $time_out s; its last lines are above and in $log"
	fi
	fail "the device server or the machine ended with status $result, see $log"
fi
[ -n "$status" ] || fail "the guest ended without a status (a panic?), see $log"
if ! sh "$here/complaints.sh" "$log" >"$work/complaints"; then
	echo "emulate.sh: the kernel complained:"
	cat "$work/complaints"
	[ "$status" -ne 0 ] || status=1
fi
echo "emulate.sh: Linux $series on $device: status $status, $took s from start to power off, log $log"
exit "$status"
