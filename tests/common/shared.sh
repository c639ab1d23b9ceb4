# SPDX-License-Identifier: MIT
#
# needs_shared FOLDER PLACE: ends the script if FOLDER/PLACE is absent: skipped, or failed
# with NVDLA_REQUIRE_SHARED=1. The words are those of shared.hpp.
needs_shared() {
	[ ! -e "$1/$2" ] || return 0
	shared=$(readlink -m "$1")
	what="folder $shared"
	[ ! -d "$1" ] || what="$2 in $shared"
	missing="no $what: data from outside; docs/testing.md says what they are and where to get them"
	case ${NVDLA_REQUIRE_SHARED:-0} in
	0)
		echo "skipped: $missing"
		exit 77
		;;
	*)
		echo "$missing (NVDLA_REQUIRE_SHARED)"
		exit 1
		;;
	esac
}
