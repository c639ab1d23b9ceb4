#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# In the guest: runs commands of the documentation as they are written there, one after the
# other in this shell, and says what each took.
#
#   guide.sh FILE      of tests/frontdoor/guide_commands.py: of each command four lines: as it is
#                      written, as it is run, its status, and what its output has to be like
#
# The total is the time from the first command to the last.
failed=0
count=0
uptime() {
	cut -d' ' -f1 /proc/uptime
}
since() {
	awk "BEGIN { printf \"%.1f\", $(uptime) - $1 }"
}

start=$(uptime)
# Standard input stays free for the commands.
while read -r written <&3 && read -r command <&3 && read -r status <&3 && read -r like <&3; do
	count=$((count + 1))
	began=$(uptime)
	eval "$command" >/tmp/said 2>&1 3<&-
	result=$?
	echo "guide: $(since "$began") s: $written"
	cat /tmp/said
	[ $result -eq "$status" ] || {
		echo "guide.sh: status $result, expected $status: $written"
		failed=1
	}
	[ -z "$like" ] || grep -qE -- "$like" /tmp/said || {
		echo "guide.sh: no line of its output is like $like: $written"
		failed=1
	}
done 3<"$1"
echo "guide: $(since "$start") s for all $count commands"
[ $count -gt 0 ] || failed=1
exit $failed
