#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# The first process of an emulator run: loads the modules, runs the programs,
# prints one line that the host looks for, powers off.
#
#   /etc/nvdla/modules      to load, in order
#   /etc/nvdla/own-modules  those of them that are removed at the end
#   /etc/nvdla/programs     command lines
#   nvdla.interactive       on the kernel's command line: a shell instead

/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp TERM=linux
# Before the places on the host that programs were linked for.
export LD_LIBRARY_PATH=/lib

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /dev/shm /dev/pts
# Tests have other users, too.
chmod 1777 /tmp
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
# The boot was quiet; from here on drivers are heard.
dmesg -n 7

status=0
uptime() {
	cut -d' ' -f1 /proc/uptime
}
say() {
	echo "nvdla-guest: $*"
}
bad() {
	say "$*"
	status=1
}

# Where the kernel looks for memory that nobody knows any more.
leaks=/sys/kernel/debug/kmemleak
[ ! -w $leaks ] || echo clear >$leaks

# The driver claims no PCI id: functions of the device server are bound to it by name.
for function in /sys/bus/pci/devices/*; do
	case $(cat "$function/vendor" "$function/device" 2>/dev/null | tr '\n' ' ') in
	'0x1234 0xd1a'*) echo nvdla >"$function/driver_override" ;;
	esac
done

say "Linux $(uname -r), up after $(uptime) s"
while read -r module; do
	# As modprobe does: module.parameter=value of the kernel's command line.
	parameters=$(tr ' ' '\n' </proc/cmdline | sed -n "s/^$module\.//p" | tr '\n' ' ')
	# shellcheck disable=SC2086 # several parameters
	insmod "/modules/$module.ko" $parameters || bad "insmod $module failed"
done </etc/nvdla/modules

if grep -q nvdla.interactive /proc/cmdline; then
	say "a shell; leave it to power off. Programs: $(cut -d' ' -f1 /etc/nvdla/programs | sort -u | tr '\n' ' ')fault"
	cd /tmp || true
	setsid cttyhack sh -l
else
	# Standard input stays free for the programs.
	while read -r command <&3; do
		say "run: $command"
		began=$(uptime)
		(cd /tmp && sh -c "$command" 3<&-)
		result=$?
		say "status $result after $(awk "BEGIN { print $(uptime) - $began }") s: $command"
		[ $result -eq 0 ] || status=$result
	done 3</etc/nvdla/programs

	tac /etc/nvdla/own-modules >/tmp/remove
	while read -r module; do
		if [ -d "/sys/module/$module" ]; then
			# kmemleak has no names for what is gone.
			[ ! -w $leaks ] || say ".text of $module is at $(cat "/sys/module/$module/sections/.text")"
			# Fences and contexts hold it until a worker has freed them. What an
			# oops has left behind nobody frees.
			tries=120
			[ $(($(cat /proc/sys/kernel/tainted) & 128)) -eq 0 ] || tries=1
			until rmmod "$module"; do
				tries=$((tries - 1))
				[ $tries -gt 0 ] || break
				sleep 1
			done
			[ ! -d "/sys/module/$module" ] || bad "rmmod $module failed"
		fi
	done </tmp/remove
	if [ -w $leaks ]; then
		# It holds back what is younger than 5 s, or was changed since the last scan.
		sleep 6
		echo scan >$leaks
		echo scan >$leaks
		cat $leaks >/tmp/leaks
		if [ -s /tmp/leaks ]; then
			cat /tmp/leaks
			bad "memory is lost, see above"
		fi
	fi
	# Bits of an oops, a warning and a lockup.
	tainted=$(cat /proc/sys/kernel/tainted)
	if [ $((tainted & (128 | 512 | 16384))) -ne 0 ]; then
		bad "the kernel complained, see above (tainted: $tainted)"
	fi
fi

say "up $(uptime) s"
# What the host looks for.
echo "NVDLA-GUEST-STATUS $status"
# Nothing more is of interest.
dmesg -n 1
poweroff -f
