#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Packs the initial file system of an emulator run: busybox, kernel modules with
# all that they depend on, programs with the shared libraries that they need.
#
#   make-initrd.sh --kernel DIRECTORY --output FILE [option...]
#     --kernel DIRECTORY   of one series, as get-kernel.sh leaves it
#     --arm64 DIRECTORY    before the others: a guest for arm64, of what get-arm64.sh left there
#     --module FILE        own module; loaded in the order given, after its dependencies
#     --with NAME          a module of the kernel that is loaded before them
#     --offer MODULE       not loaded, but there for modprobe: an own file, or a name of the kernel's
#     --run COMMAND        in the guest, several in their order; the first word is a file here
#     --file FROM[:TO]     a file or directory for the guest, at the same place unless TO is given
#
# Programs are in /bin and their libraries in /lib, wherever they are here: the guest
# mounts file systems of its own, which would hide some places.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
kernel=
arm64=
strip=strip
output=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/bin" "$root/lib" "$root/etc/nvdla" "$root/modules" "$root/proc" "$root/sys" "$root/dev" "$root/tmp"
: >"$root/etc/nvdla/modules"
: >"$root/etc/nvdla/own-modules"
: >"$root/etc/nvdla/programs"
: >"$work/loaded"

fail() {
	echo "make-initrd.sh: $*" >&2
	exit 1
}

# place FILE FOLDER: copies it, following links. Two of one name must be the same.
place() {
	target=$root$2/$(basename "$1")
	if [ -e "$target" ]; then
		cmp -s "$1" "$target" || fail "two files are called $(basename "$1"); one is $1"
	else
		mkdir -p "$root$2"
		cp -L "$1" "$target"
	fi
}

# What a dynamic program loads; static programs and scripts need nothing. Lines of ldd
# are "NAME => FILE (ADDRESS)", or "FILE (ADDRESS)" for the loader, which programs name
# by its path.
place_libraries() {
	if [ -n "$arm64" ]; then
		place_arm64_libraries "$1"
		return
	fi
	libraries=$(ldd "$1" 2>/dev/null) || return 0
	case $libraries in
	*'not found'*) fail "$1: $(echo "$libraries" | grep 'not found' | tr -s '\t ' ' ')" ;;
	esac
	echo "$libraries" | sed -n 's/.* => \(\/.*\) (0x.*/\1/p' | while IFS= read -r library; do
		place "$library" /lib
	done
	echo "$libraries" | sed -n 's/^[[:space:]]*\(\/.*\) (0x.*/\1/p' | while IFS= read -r loader; do
		place "$loader" "$(dirname "$loader")"
	done
}

# The same without a loader that could run here: what is needed is beside the program's
# build, among the unpacked packages or the cross compiler's.
place_arm64_libraries() {
	dynamic=$(readelf -d "$1" 2>/dev/null) || return 0
	folders=$(echo "$dynamic" | sed -n 's/.*(RUNPATH).*\[\(.*\)\]/\1/p' | tr ':' ' ')
	for library in $(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[ ! -e "$root/lib/$library" ] || continue
		found=
		for folder in $folders "$arm64/usr/lib/aarch64-linux-gnu" \
			"$arm64/lib/aarch64-linux-gnu" /usr/aarch64-linux-gnu/lib; do
			[ ! -e "$folder/$library" ] || { found=$folder/$library && break; }
		done
		[ -n "$found" ] || fail "$1: $library not found"
		place "$found" /lib
		# A function that calls itself has no other own variables in sh.
		(place_arm64_libraries "$found")
	done
	place /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1 /lib
}

# Modules are named with - or _ at will.
canonical() {
	basename "$1" | sed 's/\.ko\(\.xz\)\?$//; s/-/_/g'
}

# add_module FILE: after what it depends on.
add_module() {
	[ -f "$1" ] || fail "no module $1"
	# Positional, because a function that calls itself has no other own variables in sh.
	set -- "$1" "$(canonical "$1")"
	! grep -qx "$2" "$work/loaded" || return 0
	echo "$2" >>"$work/loaded"
	for dependency in $(modinfo -F depends "$1" | tr ',' ' '); do
		add_kernel_module "$dependency"
	done
	unpack "$1" "$root/modules/$2.ko"
	echo "$2" >>"$root/etc/nvdla/modules"
}

# unpack FILE TO: without what a debugger wants.
unpack() {
	case $1 in
	*.xz) xz -dc "$1" >"$2" ;;
	*) cp "$1" "$2" ;;
	esac
	$strip -g "$2"
}

# The file of a module of the kernel; nothing if that is built in.
kernel_module() {
	wanted=$(canonical "$1")
	! sed 's#.*/##; s/\.ko$//; s/-/_/g' "$kernel/modules/modules.builtin" | grep -qx "$wanted" || return 0
	found=$(grep -E "/$(echo "$wanted" | sed 's/_/[-_]/g')\.ko(\.xz)?\$" "$work/index" | head -n 1)
	[ -n "$found" ] || fail "the kernel in $kernel has no module $1"
	echo "$found"
}

add_kernel_module() {
	found=$(kernel_module "$1")
	[ -z "$found" ] || add_module "$found"
}

# With all that it depends on, where modprobe looks.
offer() {
	offered=$root/lib/modules/$(cat "$kernel/release")
	mkdir -p "$offered"
	case $1 in
	*/*) found=$1 ;;
	*) found=$(kernel_module "$1") ;;
	esac
	[ -n "$found" ] || return 0
	[ -f "$found" ] || fail "no module $found"
	set -- "$found" "$offered/$(canonical "$found").ko"
	[ ! -e "$2" ] || return 0
	unpack "$1" "$2"
	for dependency in $(modinfo -F depends "$1" | tr ',' ' '); do
		offer "$dependency"
	done
}

# add_program COMMAND: its first word becomes a program in the guest's PATH.
add_program() {
	file=${1%% *}
	[ -f "$file" ] || fail "no program $file"
	[ -x "$file" ] || fail "$file is not executable"
	place "$file" /bin
	place_libraries "$file"
	case $1 in
	*' '*) echo "$(basename "$file") ${1#* }" ;;
	*) basename "$file" ;;
	esac >>"$root/etc/nvdla/programs"
}

add_file() {
	from=${1%%:*}
	case $1 in
	*:*) to=${1#*:} ;;
	*) to=$from ;;
	esac
	[ -e "$from" ] || fail "no file $from"
	# By what init.sh mounts.
	case $to/ in
	/proc/* | /sys/* | /dev/*) fail "--file $1: the guest hides $to; another place is FROM:TO" ;;
	/*) ;;
	*) fail "--file $1: $to is no absolute path in the guest" ;;
	esac
	mkdir -p "$root$(dirname "$to")"
	cp -rL "$from" "$root$to"
	# A program that another one runs.
	if [ -f "$from" ] && [ "$(head -c 4 "$from")" = "$(printf '\177ELF')" ]; then
		place_libraries "$from"
	fi
}

index() {
	[ -n "$kernel" ] || fail "--kernel comes before modules"
	if [ ! -f "$work/index" ]; then
		[ -f "$kernel/release" ] || fail "$kernel holds no kernel: run get-kernel.sh"
		find -L "$kernel/modules/kernel" -name '*.ko' -o -name '*.ko.xz' >"$work/index"
		[ -s "$work/index" ] ||
			fail "$kernel has lost its modules: remove it and run get-kernel.sh again"
	fi
}

while [ $# -gt 1 ]; do
	case $1 in
	--kernel) kernel=$2 ;;
	--arm64)
		arm64=$2
		strip=aarch64-linux-gnu-strip
		;;
	--output) output=$2 ;;
	--module)
		index
		add_module "$2"
		canonical "$2" >>"$root/etc/nvdla/own-modules"
		;;
	--with)
		index
		add_kernel_module "$2"
		;;
	--offer)
		index
		offer "$2"
		;;
	--run) add_program "$2" ;;
	--file) add_file "$2" ;;
	*) fail "unknown option $1" ;;
	esac
	shift 2
done
[ $# -eq 0 ] || fail "$1: value missing"
[ -n "$kernel" ] || fail "--kernel is missing"
[ -n "$output" ] || fail "--output is missing"

if [ -n "$arm64" ]; then
	busybox=$arm64/bin/busybox
else
	busybox=$(command -v busybox) || fail "no busybox: install busybox-static"
fi
cp "$busybox" "$root/bin/busybox"
! ldd "$root/bin/busybox" >/dev/null 2>&1 || fail "$busybox is not static: install busybox-static"
[ ! -d "$root/lib/modules" ] || busybox depmod -b "$root" "$(cat "$kernel/release")"
cp "$here/init.sh" "$root/init"
cp "$here/fault.sh" "$root/bin/fault"
chmod 755 "$root/init" "$root/bin/fault"

mkdir -p "$(dirname "$output")"
(cd "$root" && find . | cpio --quiet -o -H newc) >"$work/initrd"
mv "$work/initrd" "$output"
