#!/bin/sh
# SPDX-License-Identifier: MIT
#
# In the guest: which PCI functions the driver takes, and as what configuration.
#
#   binding.sh NUMBER     of the device's configuration, as new_id takes it
number=$1
failed=0
drivers=/sys/bus/pci/drivers/nvdla

function=
for folder in /sys/bus/pci/devices/*; do
	case $(cat "$folder/vendor" "$folder/device" | tr '\n' ' ') in
	'0x1234 0xd1a'*) function=$folder ;;
	esac
done
id="$(sed 's/^0x//' "$function/vendor") $(sed 's/^0x//' "$function/device")"

bad() {
	echo "binding.sh: $*"
	cat /tmp/said
	failed=1
}

# load PARAMETER...: nobody but this script binds the function from now on.
load() {
	rmmod nvdla
	echo >"$function/driver_override"
	dmesg -c >/dev/null
	insmod /modules/nvdla.ko "$@" || bad "insmod $*"
	[ ! -e "$function/driver" ] || bad "the driver took $id, which nobody gave to it"
}

# refuses TEXT NUMBER...: the driver says that, names the configurations, and takes nothing.
refuses() {
	text=$1
	shift
	dmesg -c >/dev/null
	# A driver that refuses a device is no error of new_id.
	echo "$id $*" >"$drivers/new_id" || bad "new_id refused '$id $*'"
	dmesg >/tmp/said
	grep -F -- "$text" /tmp/said || bad "nothing said \"$text\""
	grep -F "configuration $number is " /tmp/said || bad "the configurations are not named"
	[ ! -e "$function/driver" ] || bad "the driver took the function"
	echo "$id" >"$drivers/remove_id"
}

# takes NUMBER...
takes() {
	dmesg -c >/dev/null
	echo "$id $*" >"$drivers/new_id"
	dmesg >/tmp/said
	[ "$(readlink "$function/driver")" ] || bad "the driver does not take '$id $*'"
}

any="ffffffff ffffffff 0 0"
load
refuses "no configuration in pci_configuration= or as new_id's last number"
refuses "no configuration in pci_configuration= or as new_id's last number" "$any 0"
# new_id takes hexadecimal numbers.
refuses 'configuration 0x63 of new_id is not in 1..' "$any 63"
# The number is a configuration, but not the device's.
echo "$id $any 2" >"$drivers/new_id"
[ ! -e "$function/driver" ] || bad "a device of another configuration was taken"
echo "$id" >"$drivers/remove_id"
takes "$any $number"
load pci_configuration=nv_smal
refuses 'pci_configuration=nv_smal is no configuration'
# The number comes first: there may be functions of several configurations.
takes "$any $number"
exit $failed
