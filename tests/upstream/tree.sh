# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A kernel's source, and small kernels of its own in which the driver is compiled. Sourced, with
# $build, the folder for it, and $here.

fail() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# With a log that is shown if it fails.
quietly() {
	"$@" >"$build/command.log" 2>&1 || {
		tail -n 40 "$build/command.log" >&2
		fail "failed: $*"
	}
}

# unpack: the newest source that is installed, as $tree.
unpack() {
	local archive
	archive=$(ls /usr/src/linux-source-*.tar.xz 2>/dev/null | sort -V | tail -n 1)
	[[ -n $archive ]] || fail "no /usr/src/linux-source-*.tar.xz (package linux-source-6.12)"
	tree=$build/$(basename "$archive" .tar.xz)
	mkdir -p "$build"
	if [[ ! -e $tree/.complete || $archive -nt $tree/.complete ]]; then
		rm -rf "$tree"
		tar -C "$build" -xf "$archive"
		mkdir "$tree/.applied"
		touch "$tree/.complete"
	fi
}

# kernel_make OUT ARGUMENT...
kernel_make() {
	local out=$build/$1
	shift
	quietly make CC="ccache gcc" -C "$tree" O="$out" -j "$(nproc)" "$@"
}

# configure OUT CONFIG-LINE...: a small kernel of its own.
configure() {
	local out=$1 line
	shift
	mkdir -p "$build/$out"
	{
		cat "$here/kernel.config"
		printf '%s\n' "$@"
	} >"$build/$out/all.config"
	kernel_make "$out" KCONFIG_ALLCONFIG="$build/$out/all.config" allnoconfig
	for line in "$@"; do
		case $line in
		*=n) ! grep -q "^${line%=n}=" "$build/$out/.config" || fail "$line is not to be had" ;;
		*) grep -qx "$line" "$build/$out/.config" || fail "$line is not to be had" ;;
		esac
	done
}
