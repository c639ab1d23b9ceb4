#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What packages.sh and get-kernel.sh say where packages are missing and no registry
# answers, or lacks one. dpkg and apt are stand-ins that write down how they were called.
set -uo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
export PATH=$work/bin:$PATH CALLS=$work/calls ANSWER=
mkdir "$work/bin"
stand_in() {
	{ echo '#!/bin/bash'; cat; } > "$work/bin/$1"
	chmod +x "$work/bin/$1"
}
stand_in id <<< 'echo 0'
stand_in dpkg-query <<< 'exit 1'
stand_in apt-cache <<< 'exit 0'
stand_in apt-get << 'END'
echo "$*" >> "$CALLS"
case "$* $ANSWER" in
*update*nobody)
	echo "Err:1 http://registry.invalid bookworm InRelease"
	echo "W: Failed to fetch http://registry.invalid: could not resolve"
	;;
*update*) echo "Hit:1 http://registry.invalid bookworm InRelease" ;;
*install*old)
	echo "E: Unable to locate package libdrm-dev"
	exit 100
	;;
esac
END

# says STATUS TEXT...: what the command before left in $status and $said.
says() {
	[[ $status == "$1" ]] || { echo "status $status, expected $1: $said"; failed=1; }
	for text in "${@:2}"; do
		[[ $said == *"$text"* ]] || { echo "'$text' is missing: $said"; failed=1; }
	done
}
run() {
	: > "$CALLS"
	said=$("$@" 2>&1)
	status=$?
}

ANSWER=nobody run "$source/.ci/packages.sh" build
says 1 "No package registry answers (offline?)" cmake libdrm-dev "W: Failed to fetch"
# It may not wait for a minute and try again.
said=$(cat "$CALLS")
says 1 Acquire::Retries=0 Acquire::http::Timeout=5 Acquire::https::Timeout=5
[[ $said != *install* ]] || { echo "it went on: $said"; failed=1; }

ANSWER=old run "$source/.ci/packages.sh" build
says 1 "Not installed: ccache cmake" "E: Unable to locate package libdrm-dev"
run "$source/.ci/packages.sh" build
says 0 "Installing ccache cmake"
said=$(cat "$CALLS")
says 0 "install --no-install-recommends ccache cmake"

# A stage installs what it needs and nothing else; without a name all of them do.
packages_of() {
	said=$("$source/.ci/packages.sh" --list $("$source/.ci/stages.sh" --packages "$@"))
	status=$?
	said=" $(xargs <<< "$said") "
}
lacks() {
	for text in "$@"; do
		[[ $said != *" $text "* ]] || { echo "'$text' is not needed: $said"; failed=1; }
	done
}
packages_of static
says 0 " cmake " " clang-format-14 " " doxygen " " sparse "
lacks qemu-system-x86 linux-source-6.12 clang-14 fish libdnnl-dev
packages_of release
says 0 " libgtest-dev " " fish " " clang-format-14 "
lacks qemu-system-x86 linux-source-6.12 clang-14
packages_of freestanding
says 0 " clang-14 "
lacks qemu-system-x86 doxygen cppcheck
packages_of tsan emulate
says 0 " qemu-system-x86 " " libgtest-dev "
lacks doxygen clang-14 mmdebstrap
packages_of
says 0 " qemu-system-x86 " " clang-14 " " doxygen " " fish " " sparse "
lacks mmdebstrap qemu-user
packages_of --all static
says 0 " linux-source-6.1 " " clang-14 "
# Each stage names what it needs, and the front door asks it.
for stage in $(sed -n 's/^\t*all+*=(\(.*\))$/\1/p' "$source/.ci/stages.sh"); do
	[[ -n $(sed -n "/^sections() {/,/^}/{/$stage/p}" "$source/.ci/stages.sh") ]] ||
		{ echo "stages.sh: sections() does not know the stage $stage"; failed=1; }
done
said=$(make -C "$source" --no-print-directory -n test STAGES="static tsan")
status=$?
says 0 "--packages static tsan"

kernels=$work/kernels
ANSWER=nobody run "$source/tests/emulator/get-kernel.sh" 6.12 "$kernels"
says 1 "No package registry answers (offline?)" "linux-image-6.12.*" "W: Failed to fetch" \
	"no kernel of the series 6.12"
# What was unpacked before is used, without asking anybody.
mkdir -p "$kernels/6.12"
echo 6.12.1-amd64 > "$kernels/6.12/release"
ANSWER=nobody run "$source/tests/emulator/get-kernel.sh" 6.12 "$kernels"
says 0
[[ -z $said && ! -s $CALLS ]] || { echo "it asked: $said$(cat "$CALLS")"; failed=1; }
# But not where it was moved from elsewhere: headers name the place.
pwd -P > "$kernels/6.12/place"
ANSWER=nobody run "$source/tests/emulator/get-kernel.sh" 6.12 "$kernels"
says 1 "linux-headers-6.12.1-amd64"

exit $failed
