#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# In the guest: the device from user space. suite.sh boots for each.
#
#   mmio.sh pci CONFIGURATION          the function by sysfs, without a driver: huge pages, polled
#   mmio.sh uio CONFIGURATION          beside uio_pci_generic, which hears the interrupt
#   mmio.sh vfio CONFIGURATION         beside vfio-pci without an IOMMU, which hears it, too
#   mmio.sh address CONFIGURATION      by its address alone, with memory that memmap= kept free
#   mmio.sh platform CONFIGURATION     a device of UIO, with such memory
#   mmio.sh golden CONFIGURATION [OPTION]      golden cases only, as uio
#
# nvdla, digits and nvdla-lift are in /bin, golden cases in /golden.
form=$1
configuration=$2
failed=0
bad() {
	echo "mmio.sh: $*"
	failed=1
}

function=
for folder in /sys/bus/pci/devices/*; do
	case $(cat "$folder/vendor"):$(cat "$folder/device") in
	0x1234:0xd1a*) function=${folder##*/} ;;
	esac
done
sysfs=/sys/bus/pci/devices/$function

# refused DEVICE STATUS TEXT: opening it ends with that status, and says that.
refused() {
	nvdla info --device "$1" >/tmp/said 2>&1
	result=$?
	[ $result -eq "$2" ] || bad "$1: status $result instead of $2"
	grep -F -- "$3" /tmp/said >/dev/null || bad "$1 should say \"$3\", says: $(cat /tmp/said)"
}

# Of the command register of configuration space.
command_register() {
	dd if="$sysfs/config" bs=2 skip=2 count=1 2>/dev/null | od -An -tu2 | tr -d ' '
}
masters() {
	[ $(($(command_register) & 4)) -ne 0 ]
}
set_command() {
	# shellcheck disable=SC2059
	printf "$(printf '\\%03o\\%03o' $(($1 & 255)) $(($1 >> 8)))" |
		dd of="$sysfs/config" bs=2 seek=2 count=1 conv=notrunc 2>/dev/null
}

unbind() {
	[ ! -e "$sysfs/driver" ] || echo "$function" >"$sysfs/driver/unbind"
}
bind_to() {
	echo "$1" >"$sysfs/driver_override"
	echo "$function" >/sys/bus/pci/drivers_probe
	[ "$(basename "$(readlink "$sysfs/driver")")" = "$1" ] || bad "$1 does not take the function"
}
huge_pages() {
	echo "$1" >/proc/sys/vm/nr_hugepages
	grep -q "^HugePages_Free: *$1$" /proc/meminfo || bad "no $1 huge pages"
}

# All but what is about time: an emulated device has none.
steps=
for step in identify reset reset-values write-masks groups interrupt copy address conv sdp pdp cdp \
	left-over gating; do
	steps="$steps --step $step"
done

# What has to be right however the device is reached. The model computes the same.
works() {
	echo "--- $1"
	# shellcheck disable=SC2086 # several options
	nvdla selftest --device "$1" $steps || bad "selftest of $1"
	nvdla-lift --device "$1" /golden || bad "golden layers on $1"
	nvdla run /tmp/digits.nvdla --device "$1" --compare model >/tmp/said || {
		cat /tmp/said
		bad "digits on $1"
	}
	digits --data /digits --device "$1" >/tmp/digits.device || bad "digits on $1"
	# Times are the device's own.
	for side in device model; do
		grep '\.png ' /tmp/digits.$side >/tmp/classes.$side
	done
	cmp /tmp/classes.device /tmp/classes.model || bad "digits on $device are others"
	[ -s /tmp/classes.device ] || bad "no digits"
}

# The same cases as registers, which have their memory at addresses of their own.
replays() {
	nvdla replay --device "$1,memory=64M@0x80000000" /golden | tee /tmp/said
	grep -qE '^[1-9][0-9]* passed, 0 failed, 0 skipped$' /tmp/said || bad "replay on $1"
	nvdla replay --device "$1" /golden >/tmp/said
	result=$?
	[ $result -eq 1 ] || bad "replay without the memory of a case: status $result"
	grep -q 'has no memory of [0-9]* bytes at 0x8.* where the trace needs it' /tmp/said ||
		bad "replay without the memory of a case says: $(cat /tmp/said)"
}

# interrupts DRIVER: there were many.
interrupts() {
	count=$(awk "/$1\$/ { for (i = 2; \$i ~ /^[0-9]+\$/; i++) sum += \$i } END { print sum + 0 }" /proc/interrupts)
	echo "$1: $count interrupts"
	[ "$count" -gt 100 ] || bad "$1: interrupts did not come"
}

# killed DEVICE: one who is killed while the device works.
killed() {
	nvdla selftest --device "$1" >/dev/null 2>&1 &
	victim=$!
	tries=0
	until masters; do
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || break
		usleep 10000
	done
	refused "$1" 3 "$1: somebody else uses it now"
	kill -9 $victim
	wait $victim 2>/dev/null
}

if [ "$form" != golden ]; then
	digits --data /digits --device "model:$configuration" --save /tmp/digits.nvdla ||
		bad "no digits.nvdla"
	digits --data /digits --device "model:$configuration" >/tmp/digits.model ||
		bad "digits on the model"
fi

case $form in
pci)
	device=mmio:$function
	refused "$device" 3 "the driver 'nvdla' has it, which the device 'kernel' uses: unbind it"
	unbind
	refused mmio:0000:00:1f.7 3 "there is no PCI function 0000:00:1f.7"
	refused "$device" 3 "0 huge pages of 2048 KiB are free, 1 needed"
	! masters || bad "the bus is mastered without memory"
	huge_pages 16
	# Without rights.
	echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd
	su nobody -c "nvdla info --device $device" >/tmp/said 2>&1
	[ $? -eq 3 ] || bad "a user without rights"
	grep -F "config cannot be opened: Permission denied: only root may" /tmp/said || bad "says $(cat /tmp/said)"
	# Nothing answers.
	fault gone 1
	refused "$device" 3 "read as 0xffffffff and 0xffffffff"
	fault gone 0
	# Another one than it says.
	refused "$device,config=nv_large" 3 "is $configuration, not nv_large"
	works "$device"
	! masters || bad "the bus is still mastered"
	replays "$device"
	killed "$device"
	# Nobody tells the device; the next one does.
	masters || bad "a process that was killed took bus mastering along"
	works "$device"
	! masters || bad "the bus is still mastered"
	;;
uio)
	unbind
	huge_pages 16
	bind_to uio_pci_generic
	device=mmio:$function
	works "$device"
	works mmio:/dev/uio0
	interrupts uio_pci_generic
	works "$device,interrupt=poll"
	killed "$device"
	! masters || bad "uio_pci_generic left the bus mastered behind a killed process"
	unbind
	;;
golden)
	unbind
	huge_pages 32
	bind_to uio_pci_generic
	nvdla-lift --device "mmio:$function${3:+,$3}" /golden || bad "golden cases"
	;;
vfio)
	unbind
	huge_pages 16
	bind_to vfio-pci
	device=mmio:$function
	works "$device"
	# VFIO has the interrupt while somebody has the function.
	nvdla selftest --device "$device" >/dev/null 2>&1 &
	tries=0
	until grep -q vfio-intx /proc/interrupts; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || break
		usleep 100000
	done
	[ $tries -lt 600 ] || bad "VFIO does not hear the interrupt"
	wait
	works "$device,interrupt=poll"
	killed "$device"
	! masters || bad "vfio-pci left the bus mastered behind a killed process"
	unbind
	;;
address)
	unbind
	read -r bar rest <"$sysfs/resource"
	echo "registers at $bar, $rest"
	set_command 6
	memory=memory=48M@0x10000000
	device=mmio:$bar,$memory,config=$configuration
	refused "mmio:$bar" 2 "needs 'memory=<size>@<address>'"
	refused "mmio:$bar,memory=1M@0x4000000,config=$configuration" 3 "memory at 0x4000000-0x40fffff is in use, it is the kernel's System RAM"
	refused "mmio:0x4000000,$memory" 3 "registers at 0x4000000-0x403ffff would be in memory"
	# Behind all that there is.
	refused "mmio:0xd0000000,$memory,config=$configuration" 3 "mmio:0xd0000000: no NVDLA: offsets 0x0 and 0x1000 read as"
	works "$device"
	;;
platform)
	memory=memory=48M@0x10000000
	device=mmio:/dev/uio0,$memory,config=$configuration
	refused mmio:/dev/uio0 3 "needs 'memory=<size>@<address>'"
	refused "mmio:/dev/uio1,$memory" 3 "there is no /sys/class/uio/uio1: is its UIO driver loaded"
	refused "mmio:/dev/uio0,$memory" 3 "whose configurations registers do not tell apart: add ',config="
	works "$device"
	interrupts nvdla_uio
	works "$device,interrupt=poll"
	;;
*) bad "pci, uio, vfio, golden, address or platform?" ;;
esac
exit $failed
