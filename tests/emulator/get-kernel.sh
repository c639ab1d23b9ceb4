#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Unpacks a Debian kernel and its headers below a directory, without installing
# either: module builds and the emulator need their files only, not their
# maintainer scripts.
#
#   get-kernel.sh SERIES DIRECTORY      prints nothing, leaves DIRECTORY/SERIES:
#     release        the kernel release, as in uname -r
#     headers        what to pass to make -C
#     vmlinuz        the kernel image
#     modules        lib/modules/RELEASE of the image
#     tools          the compiler that these headers ask for, if it is not the machine's
#
# A SERIES is 6.1 or 6.12, of which the machine's own apt has the newest kernel;
# `newest`, the newest of Debian's unstable, with its compiler; or `sanitizer` or `uml`,
# which build-kernel.sh builds.
#
# 6.12-arm64 is the same for that architecture; its headers come with programs of
# kbuild that run here.
#
# Packages are kept in DIRECTORY/archives, so a second call is quick.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../.ci/apt.sh
. "$here/../../.ci/apt.sh"

series=$1
directory=$2
arch=amd64
version=$series
# Of apt for the kernel's architecture, where that is not the machine's.
config=

fail() {
	echo "get-kernel.sh: $*" >&2
	exit 1
}

case $series in
sanitizer | uml) exec sh "$here/build-kernel.sh" "$series" "$directory" ;;
esac
mkdir -p "$directory/archives"
directory=$(cd "$directory" && pwd -P)

# unstable COMMAND...: one of apt's about Debian's unstable, beside the machine's own lists
# and what is installed here: nothing, so that every package counts as missing. apt checks
# the signature with Debian's keys.
unstable() {
	command=$1
	shift
	"$command" -o Dir::State="$unstable/state" -o Dir::State::status="$unstable/installed" \
		-o Dir::Cache="$unstable/cache" -o Dir::Cache::archives="$directory/archives/unstable" \
		-o Dir::Etc::SourceList="$unstable/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
		-o APT::Architecture=$arch -o APT::Architectures=$arch -o APT::Sandbox::User=root \
		-o Acquire::Languages=none -o Acquire::Retries=1 -o Acquire::http::Timeout=10 \
		-o Acquire::https::Timeout=10 "$@"
}

# Lists that were fetched before will do where no registry answers.
update_unstable() {
	unstable=$directory/archives/unstable-lists
	mkdir -p "$unstable/state/lists/partial" "$unstable/cache" "$directory/archives/unstable/partial"
	: >"$unstable/installed"
	# Where this machine has Debian from.
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)
	if [ -n "$mirror" ]; then
		echo "deb [signed-by=$keys] $mirror sid main" >"$unstable/sources.list"
	fi
	[ -f "$unstable/sources.list" ] ||
		fail "the machine's apt knows no mirror of Debian: run apt-get update"
	unstable apt-get -q update >"$unstable/update.log" 2>&1 || true
}

case $series in
*-arm64)
	arch=arm64
	version=${series%-arm64}
	# shellcheck source=arm64-apt.sh
	. "$here/arm64-apt.sh"
	arm64_apt "$directory/arm64-apt"
	config=$arm64_config
	;;
esac

newest() {
	case $series in
	newest) set -- '[0-9]+\.[0-9]+' unstable ;;
	*) set -- "$(echo "$version" | sed 's/\./\\./')" command ;;
	esac
	APT_CONFIG=$config "$2" apt-cache search --names-only "^linux-image-$1\.[0-9]+(-[0-9]+|\+deb[0-9]+)-$arch\$" |
		cut -d' ' -f1 | sed 's/^linux-image-//' | sort -V | tail -n 1
}

# What was unpacked before will do where no registry answers.
if [ "$series" = newest ]; then
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -f $keys ] || fail "no $keys: install debian-archive-keyring"
	update_unstable
fi
release=$(newest)
if [ -z "$release" ] && [ ! -f "$directory/$series/release" ]; then
	if [ "$series" = newest ]; then
		grep -E '^[EW]:' "$unstable/update.log" >&2 || true
		fail "no kernel of Debian's unstable (offline?)"
	fi
	update_lists "linux-image-$series.*-$arch and its headers" || fail "no kernel of the series $series"
	release=$(newest)
fi
[ -n "$release" ] || release=$(cat "$directory/$series/release" 2>/dev/null) ||
	fail "no Debian package linux-image-$series.*-$arch"

root=$directory/$series
# What was unpacked elsewhere and then moved names that place.
if [ "$(cat "$root/release" 2>/dev/null)" = "$release" ] &&
	[ "$(cat "$root/place" 2>/dev/null || echo "$root")" = "$root" ]; then
	exit 0
fi

common=$(echo "$release" | sed "s/-$arch\$/-common/")

# unpack ARCHIVE...
unpack() {
	for archive in "$@"; do
		dpkg -x "$archive" "$root/tree"
	done
}

# The machine's own packages.
unpack_series() {
	depends=$(APT_CONFIG=$config apt-cache depends "linux-headers-$release" | sed -n 's/^ *Depends: \(linux-kbuild-.*\)/\1/p')
	[ -n "$depends" ] || fail "linux-headers-$release names no linux-kbuild package"
	for package in "linux-image-$release" "linux-headers-$release" "linux-headers-$common" $depends; do
		set -- "$directory/archives/$package"_*.deb
		if [ ! -f "$1" ]; then
			# What runs here is the machine's.
			case $package in linux-kbuild-*) config= ;; esac
			said=$(cd "$directory/archives" && APT_CONFIG=$config apt-get download -qq -o Acquire::http::Timeout=10 \
				-o Acquire::https::Timeout=10 -o Acquire::Retries=1 "$package" 2>&1) || {
				echo "$said" >&2
				fail "cannot download $package (offline?); it can be put into $directory/archives by hand"
			}
			set -- "$directory/archives/$package"_*.deb
		fi
		unpack "$1"
	done
}

# The headers with all that they need, compiler and C library too. Of the image only what
# holds files of the kernel: what it needs besides would make it boot a real machine.
# Debian 12's sparse is too old for these headers; only its C library is needed with it.
unpack_newest() {
	parts=$(unstable apt-cache depends "linux-image-$release" |
		sed -n "s/^ *Depends: \(linux-.*-$release\)\$/\1/p")
	# What unstable has no more.
	unstable apt-get -qq autoclean
	# shellcheck disable=SC2086 # several packages
	said=$(unstable apt-get -qq --yes --no-install-recommends --download-only install \
		"linux-headers-$release" $parts 2>&1 &&
		cd "$directory/archives/unstable" && unstable apt-get -qq download "linux-image-$release" sparse 2>&1) || {
		echo "$said" >&2
		fail "cannot download linux-image-$release and linux-headers-$release (offline?)"
	}
	unpack "$directory"/archives/unstable/*.deb
}

# The C library of these programs is newer than the machine's: each is started by its own
# loader, under its own name.
wrap_programs() {
	libraries=$root/tree/usr/lib/x86_64-linux-gnu
	find "$root/tree/usr/bin" "$root/tree/usr/libexec" "$root/tree/usr/lib/linux-kbuild-"* \
		-type f -perm -u=x ! -name '*.so*' | while read -r program; do
		[ "$(head -c 4 "$program" | tail -c 3)" = ELF ] || continue
		mv "$program" "$program.elf"
		cat >"$program" <<-EOF
			#!/bin/sh
			exec $libraries/ld-linux-x86-64.so.2 --library-path $libraries --argv0 "\$0" $program.elf "\$@"
		EOF
		chmod 755 "$program"
	done
}

rm -rf "$root"
mkdir -p "$root/tree"
case $series in
newest)
	unpack_newest
	wrap_programs
	# The headers lack what makefiles ask whether sparse can be used.
	checker=$root/tree/usr/src/linux-headers-$common/scripts/checker-valid.sh
	if [ ! -f "$checker" ]; then
		echo 'command -v "$1" >/dev/null && echo 1' >"$checker"
		chmod 755 "$checker"
	fi
	ln -sfn tree/usr/bin "$root/tools"
	;;
*) unpack_series ;;
esac

# The headers' makefile names its parts by absolute paths.
grep -rlI --include=Makefile --include=.kernelvariables -e /usr/src/ -e /usr/lib/linux-kbuild "$root/tree/usr/src" |
	while read -r file; do
		sed -i "s#/usr/src/#$root/tree/usr/src/#g; s#/usr/lib/linux-kbuild#$root/tree/usr/lib/linux-kbuild#g" "$file"
	done
for link in scripts tools; do
	for headers in "$root/tree/usr/src/linux-headers-$common" "$root/tree/usr/src/linux-headers-$release"; do
		if [ -L "$headers/$link" ]; then
			target=$(readlink "$headers/$link")
			case $target in
			/*) ln -sfn "$root/tree$target" "$headers/$link" ;;
			esac
		fi
	done
done

ln -sfn "tree/usr/src/linux-headers-$release" "$root/headers"
# Newer packages have all of it below /usr.
for image in "boot/vmlinuz-$release" "usr/lib/modules/$release/vmlinuz"; do
	[ ! -f "$root/tree/$image" ] || ln -sfn "tree/$image" "$root/vmlinuz"
done
for modules in "lib/modules/$release" "usr/lib/modules/$release"; do
	[ ! -d "$root/tree/$modules/kernel" ] || ln -sfn "tree/$modules" "$root/modules"
done
echo "$root" >"$root/place"
echo "$release" >"$root/release"
