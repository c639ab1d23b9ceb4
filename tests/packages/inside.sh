#!/bin/bash
# SPDX-License-Identifier: MIT
#
# inside.sh VERSION HIGHER: the life of the packages in /test/old and /test/new, of these
# versions, in the bare root that this is run in.
set -euo pipefail
version=$1 higher=$2
export DEBIAN_FRONTEND=noninteractive
fail() {
	echo "inside.sh: $*" >&2
	exit 1
}
# quietly COMMAND...: what it says is shown only if it fails.
quietly() {
	"$@" > /test/log 2>&1 || { tail -n 40 /test/log; fail "failed: $*"; }
}
packages=(libnvdla0 libnvdla-import0 libnvdla-dev nvdla-tools nvdla-dkms)
# of FOLDER: the packages in it, without those of debug symbols.
of() {
	printf "/test/$1/%s_*.deb\n" "${packages[@]}"
}
install() {
	# shellcheck disable=SC2046 # patterns
	quietly apt-get -y --no-install-recommends install $(of "$1")
}

# All files but logs, caches, what dpkg and apt keep of packages as such, and /run, which a
# running system has in memory: udev notes devices there.
snapshot() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /test -o -path /tmp \
		-o -path /run \
		-o -path /var/log -o -path /var/cache -o -path /var/lib/apt \
		-o -path '/var/lib/dpkg/*' -o -path /etc/ld.so.cache \) -prune -o -print |
		LC_ALL=C sort
}

# used VERSION: everything does what it is for.
used() {
	echo "== used: $1"
	[[ $(nvdla --version) == "nvdla $1" ]] || fail "nvdla is $(nvdla --version), expected $1"
	[[ $(nvdla-device-server --version) == "nvdla-device-server $1" ]] || fail "nvdla-device-server"
	nvdla info | grep -q '^model:nv_full ' || fail "nvdla info lists no model"
	readelf -d /usr/bin/nvdla | grep -E 'RPATH|RUNPATH' && fail "nvdla has a path of libraries"
	quietly test -f /usr/share/man/man1/nvdla.1.gz
	bash -c '. /usr/share/bash-completion/completions/nvdla && complete -p nvdla' > /dev/null

	rm -rf /tmp/consumer
	(/test/package/use.sh /tmp/consumer c++) > /test/log 2>&1 || { cat /test/log; fail "no consumer"; }
	[[ $(pkg-config --modversion libnvdla) == "$1" ]] || fail "pkg-config says another version"

	[[ $(dkms status nvdla/"$1" -k "$kernel") == "nvdla/$1, $kernel, x86_64: installed"* ]] ||
		fail "DKMS says: $(dkms status)"
	[[ $(dkms status | wc -l) == 1 ]] || fail "DKMS has others, too: $(dkms status)"
	vermagic=$(modinfo -F vermagic -k "$kernel" nvdla)
	[[ $vermagic == "$kernel "* ]] || fail "the module is for $vermagic"

	# A rule that it cannot read it tells of.
	udevadm test /devices/virtual/mem/null > /test/log 2>&1
	grep -q 'Reading rules file: .*/60-nvdla.rules' /test/log || fail "udev does not read the rule"
	grep 60-nvdla.rules: /test/log && fail "udev does not understand the rule"
	return 0
}

# What the packages need comes first, so that all that is new afterwards is theirs.
quietly apt-get update
depends=$(for package in $(of old); do dpkg-deb -f "$package" Depends; done |
	tr ',' '\n' | sed 's/^ *//' | grep -v '^libnvdla' | sort -u | paste -sd,)
quietly apt-get -y --no-install-recommends satisfy "$depends"
quietly apt-get -y --no-install-recommends install linux-headers-amd64 g++ cmake ninja-build \
	pkg-config udev
kernel=$(basename "$(dirname "$(echo /lib/modules/*/build)")")
# DKMS calls it; what it writes about a kernel stays with that.
depmod "$kernel" 2> /dev/null
snapshot > /test/before

install old
used "$version"
install new
used "$higher"

echo "== removed"
quietly apt-get -y remove "${packages[@]}"
! command -v nvdla > /dev/null || fail "nvdla is still there"
modinfo -k "$kernel" nvdla > /test/log 2>&1 && fail "the module is still there"
echo "== purged"
# apt does not know what left no configuration; dpkg does not mind.
quietly dpkg --purge "${packages[@]}"
dpkg-query -W -f='${Package} ${Status}\n' '*nvdla*' 2> /dev/null | grep nvdla && fail "dpkg knows them"
snapshot > /test/after
diff /test/before /test/after || fail "that is left behind, or gone"
