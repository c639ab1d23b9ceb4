# SPDX-License-Identifier: MIT
#
# Debian's packages, for scripts that fetch some. A registry that does not answer is
# noticed within seconds, and said together with what was wanted.

# as_root COMMAND...: by sudo where it has to be.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# update_lists PACKAGES: fails if no registry answers. One of several may be away.
update_lists() {
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null || {
		echo "Neither root nor sudo: install these packages first: $1" >&2
		return 1
	}
	said=$(as_root apt-get -q -o Acquire::Retries=0 -o Acquire::http::Timeout=5 \
		-o Acquire::https::Timeout=5 update 2>&1) || said="$said
E: apt-get update failed"
	# Lists that were fetched, or had not changed.
	if printf '%s\n' "$said" | grep -Eq '^(Get|Hit):' ||
		! printf '%s\n' "$said" | grep -Eq '^(E|W|Err):'; then
		return 0
	fi
	echo "No package registry answers (offline?), but these packages are needed: $1" >&2
	printf '%s\n' "$said" | grep -E '^[EW]:' | sort -u | head -n 5 >&2
	return 1
}
