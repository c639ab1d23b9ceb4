#!/bin/sh
# SPDX-License-Identifier: MIT
#
# All that is tested in a guest, for one kernel of get-kernel.sh: builds the driver,
# boots once for each machine that it has to work on. With a CONFIGURATION only
# what is to be right on any: one boot with that device. Suites of different series
# may run at a time.
#
#   suite.sh SERIES [BUILD-DIRECTORY [CONFIGURATION | SUITE]]
#
# A SUITE is one of
#   essential one boot: the ioctls, networks, golden cases, a device that misbehaves, and
#             users that try to break the driver, on a function with messages
#   machines  the other boots of the suite without a name
#   acpi      two processors and a device that an ACPI table describes; with a series for
#             arm64 the suite without a name has a device tree instead
#   hostile   users that try to break the driver
#   line      some of them on a device with INTx
#   turns     the table of fairness, and thousands of contexts: longest waits against the promise
#   liars     devices that lie, and one that does not see the processor's caches
#   traced    hostile users, hangs, sleep and resets, with every memory access of the device
#             held against what its layers may reach
#   kunit     the KUnit suites of the driver (series sanitizer and uml only)
#   short     one boot of uml
#   resets    200 resets beside jobs
#   graphs    2,000 random graphs of layers
#   mmio      the device from user space, without the driver
#   board     a board without the driver, as docs/bring-up.md has it (series for arm64 only)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
series=$1
build=${2:-$here/../../build}
configuration=${3-}
programs=$build
case $series in
*-arm64)
	# As the preset has it.
	source=$here/../..
	programs=$source/build/arm64/build
	sh "$here/get-arm64.sh" "$source/build/arm64"
	mkdir -p "$build/emulate"
	(cd "$source" && cmake --preset arm64 && cmake --build "$programs" --target guest_programs) \
		>"$build/emulate/arm64-programs.log" 2>&1 || {
		cat "$build/emulate/arm64-programs.log"
		exit 1
	}
	;;
esac
tests=$programs/tests
failed=
# Seconds for a boot and its programs. Sanitizers look at each access.
case $series in
sanitizer | uml) patience=1200 ;;
*) patience=600 ;;
esac

mkdir -p "$build/emulate"
sh "$here/build-module.sh" "$series" "$build" >"$build/emulate/$series-module.log" 2>&1 || {
	cat "$build/emulate/$series-module.log"
	exit 1
}

# boot NAME OPTION...
boot() {
	name=$series-$1
	shift
	echo "=== $name"
	"$here/emulate.sh" "$series" --build "$build" --name "$name" "$@" || failed="$failed $name"
	"$here/skipped.sh" "$build/emulate/$name.log" "$build/kernels/$series/headers/.config" ||
		failed="$failed $name-skipped"
}

# join NAME [--cut]: of a boot whose programs were traced.
join() {
	name=$series-$1
	shift
	"$here/join_dma_log.py" --skip 1 "$@" "$build/emulate/$name.dma" "$build/emulate/$name.log" ||
		failed="$failed $name-dma"
}

# guide NAME: what guide.sh takes for a guest of that name.
guide() {
	python3 "$here/../frontdoor/guide_commands.py" --guest "$1" >"$build/emulate/$series-$1.guide"
	echo "$build/emulate/$series-$1.guide"
}

# drivers NAME: for user space, which Debian's kernels do not have.
drivers() {
	sh "$here/build-driver.sh" "$series" "$build" "$1" >"$build/emulate/$series-$1.log" 2>&1 || {
		cat "$build/emulate/$series-$1.log"
		exit 1
	}
}

# The digit network as a file.
network() {
	"$build/bin/digits" --device model:nv_small --save "$build/emulate/$series-digits.nvdla" >/dev/null
	echo "$build/emulate/$series-digits.nvdla"
}

digits=$here/../../runtime/examples/digits
# Memory of the machine as on-chip SRAM: kept free, named to the driver, and put
# behind the second memory interface by the device server.
sram=1M@0x14000000
sram_append="memmap=${sram%@*}\$${sram#*@} nvdla.cvsram=$sram"
machine=$build/modules/$series/machine/nvdla_machine.ko
# Not what the configuration, the kernel or the machine has to have for it.
udmabuf=
grep -q '^CONFIG_UDMABUF=y' "$build/kernels/$series/headers/.config" || udmabuf=:WithUdmabuf.*
# What another device has attached when ours goes outlives it (nvdla_prime.c), and so does what a
# device may write to that is never reset. On PCI the DMA API's debugging takes that for a leak;
# `hostile`, `wedged` and `kept` have these tests on another bus.
held=
wedged=WithoutReset.*
kept=:SharedLineWithoutReset.*
! grep -q '^CONFIG_DMA_API_DEBUG=y' "$build/kernels/$series/headers/.config" || {
	held=:ExportUnplug.*
	wedged=
	kept=
}
# ACPI has a method for it, which no kernel calls that has no reset controllers.
controllers=
! grep -q '^CONFIG_RESET_CONTROLLER=y' "$build/kernels/$series/headers/.config" || controllers=1
others=$udmabuf:WithoutExport.*:ManyGraphs.*
without_sram="--gtest_filter=-WithSram.*:WithBdma.*$others"
without_bdma="--gtest_filter=-WithoutSram.*:WithBdma.*$others"
with_all="--gtest_filter=-WithoutSram.*$others"
# Of a system on chip alone.
soc=Domain.*:Alarm.*
without_pages="--gtest_filter=-WithSram.*:WithBdma.*$udmabuf:Export*.*:Pages*.*"
kunit="$here/kunit.sh nvdla_fence nvdla_power nvdla_prime nvdla_program nvdla_sched nvdla_submit nvdla_user"

# All that can be done behind a driver, but what is about time: an emulated device has none.
selftest="$programs/bin/nvdla selftest --device kernel"
for step in identify copy address conv sdp pdp cdp bdma rubik left-over gating; do
	selftest="$selftest --step $step"
done

# A second-generation device with MSI and a function that can be reset. What the driver shows goes
# first: there is no older dump. Most of the time goes by while a device hangs.
essential() {
	set --
	[ ! -x "$tests/nvdla-lift" ] || set -- --file "$here/../golden/nv_small:/golden/nv_small" \
		--run "$here/lifted.sh 5 nvdla-lift --device kernel /golden" \
		--file "$tests/nvdla-lift:/bin/nvdla-lift"
	boot msi --device nv_small --time-out $patience --with vgem --file "$digits:/digits" \
		--with fuse --module "$build/modules/$series/machine/nvdla_waits.ko" \
		--module "$build/modules/$series/nvdla.ko" \
		--file "$(guide seeing):/guide" --file "$(network):/tmp/digits.nvdla" \
		--run "$programs/bin/nvdla info" --run "$here/guide.sh /guide" \
		--run "$selftest" \
		--run "$tests/test_ioctl $without_sram$held" --run "$tests/test_backend $without_sram" \
		--run "$tests/test_misbehaviour --gtest_filter=WithReset.*" \
		--run "$tests/test_seeing --gtest_filter=-Spoiled.*" \
		--run "$here/recorded.sh test_backend --gtest_filter=Kernel.DigitsAreThoseOfTheModel" "$@" \
		--run "$tests/test_hostile --gtest_filter=$brief" \
		--run "$tests/test_hostile --gtest_filter=Lifetimes.RemovalFromTheBus*"
}
# What hostile users do within a second or two, where one processor is enough for it.
brief=CoreIoctl.*:Timeline.*:TimelineWithReset.*:Reservation*:SyncWaits.*:JobLimit.*:InTheMiddle.*

machines() {
	# The first generation with INTx, with SRAM, on a function that cannot be reset. The
	# trace goes first: before it the device has done nothing but be confirmed.
	boot intx --device nv_full --append "pci=nomsi $sram_append" --server --no-reset \
		--server --sram --server "$sram" --time-out $patience --with vgem \
		--server --dma-log --server "$build/emulate/$series-intx.dma" \
		--file "$digits:/digits" --run "$here/traced.sh test_backend $with_all" \
		--run "$programs/bin/nvdla info" --run "$selftest" --run "$tests/test_ioctl $with_all$held" \
		${wedged:+--run "$tests/test_misbehaviour --gtest_filter=$wedged"} \
		--file "$tests/test_backend:/bin/test_backend"
	join intx
	[ -n "$wedged" ] || boot wedged --route acpi --device nv_full --append "$sram_append" \
		${controllers:+--server --no-reset} --server --sram --server "$sram" \
		--time-out $patience \
		--run "$tests/test_misbehaviour --gtest_filter=WithoutReset.*"
	# Buffers from memory that was kept free for them.
	boot carveout --device nv_small --append 'memmap=64M$0x10000000 nvdla.carveout=64M@0x10000000' \
		--time-out $patience --with vgem --run "$tests/test_ioctl $without_pages"
	# A device that sleeps, and that others reset.
	boot power --device nv_small --time-out $patience --run "$tests/test_power --gtest_filter=-LongStorm.*:Clocks.*:$soc"
	# An nv_small that is bound as an nv_large: the driver must find out and leave it alone.
	boot wrong --device nv_small --append nvdla.pci_configuration=nv_large --time-out $patience \
		--run "$here/refused.sh" --run "$here/binding.sh 7"
	# The commands of docs/bring-up.md, on a function that nobody has.
	boot binding --device nv_small --offer "$build/modules/$series/nvdla.ko" \
		--file "$(guide binding):/guide" --time-out $patience --run "$here/guide.sh /guide"
}

# hostile_boot NAME APPEND OPTION...: with what users and tests need of the guest. An oops ends
# the boot at once: nobody waits for what it has left locked.
hostile_boot() {
	hostile_name=$1
	hostile_append=$2
	shift 2
	boot "$hostile_name" --device nv_small --append "oops=panic $hostile_append" --with vgem \
		--with fuse --module "$build/modules/$series/machine/nvdla_waits.ko" \
		--module "$build/modules/$series/nvdla.ko" "$@"
}
# A device that ACPI describes cannot be reset where the kernel has no reset controllers.
without_reset=
[ -n "$controllers" ] || without_reset=:*WithReset.*

# Users that try to break the driver, on two processors; preempted anywhere, they meet in
# more places.
hostile() {
	hostile_boot hostile preempt=full --route acpi --cpus 2 --time-out $((2 * patience)) \
		--run "$tests/test_ioctl $without_sram" \
		--run "$tests/test_hostile --gtest_filter=-Lifetimes.RemovalFromTheBus*:FairnessTable.*$without_reset"
}

# Tests of order and waiting with INTx instead of messages.
line() {
	hostile_boot hostile-line "pci=nomsi preempt=full" --time-out $patience \
		--run "$here/line.sh" \
		--run "$tests/test_hostile --gtest_filter=Abandoned.*:CoreIoctl.*:KillStorm.*:Reservation*:SlowPages.*:Timeline*"
}

# A system that goes down while a layer runs: the next one finds memory to which nothing writes.
going_down() {
	boot shutdown --route acpi --cpus 2 --device nv_small --time-out $patience \
		--file "$tests/test_misbehaviour:/bin/test_misbehaviour" --run "$here/shutdown.sh"
	sed '1,/^NVDLA-GUEST-STATUS 0/d' "$build/emulate/$series-shutdown.log" |
		grep 'reset line asserted' || {
		echo "suite.sh: the device was not stopped when the system went down"
		failed="$failed $series-shutdown"
	}
}

# Fairness in its long form, in a boot that allows a user thousands of contexts.
turns() {
	hostile_boot turns "preempt=full NVDLA_HOSTILE_LONG=1 nvdla.user_contexts=4096 nvdla.user_jobs=8192" \
		--route acpi --cpus 2 --time-out $((3 * patience)) \
		--run "$tests/test_hostile --gtest_filter=Fairness*"
}

# Without the tests that remove the module, with which its traces go.
traced() {
	set -- --time-out $((2 * patience)) --with vgem --file "$tests/test_ioctl:/bin/test_ioctl"
	boot traced "$@" --device nv_small --server --dma-log --server "$build/emulate/$series-traced.dma" \
		--run "$here/traced.sh test_ioctl $without_sram$held" \
		--run "$here/traced.sh test_misbehaviour --gtest_filter=WithReset.*" \
		--run "$here/traced.sh test_power --gtest_filter=-LongStorm.*:Clocks.*:$soc" \
		--file "$tests/test_misbehaviour:/bin/test_misbehaviour" \
		--file "$tests/test_power:/bin/test_power"
	join traced --cut
	hostile_boot traced-hostile preempt=full "$@" --route acpi --cpus 2 \
		--server --dma-log --server "$build/emulate/$series-traced-hostile.dma" \
		--run "$here/traced.sh test_ioctl $without_sram" \
		--run "$here/traced.sh test_hostile --gtest_filter=-Lifetimes.*:Abandoned.TheModule*:FairnessTable.*$without_reset" \
		--file "$tests/test_hostile:/bin/test_hostile"
	join traced-hostile --cut
}

# Devices that lie, and one that does not see the processor's caches.
liars() {
	# By messages, and on a line that it shares.
	boot lies --device nv_small --time-out $patience \
		--run "$tests/test_misbehaviour --gtest_filter=Lies.*"
	boot line --device nv_small --append 'pci=nomsi nvdla_machine.neighbour=20' \
		--module "$machine" --module "$build/modules/$series/nvdla.ko" --time-out $patience \
		--run "$tests/test_misbehaviour --gtest_filter=SharedLine.*:Lies.A*$kept"
	[ -n "$kept" ] || boot kept --route acpi --device nv_small --server --no-reset \
		--append nvdla_machine.neighbour=17 --module "$machine" \
		--module "$build/modules/$series/nvdla.ko" --time-out $patience \
		--run "$tests/test_misbehaviour --gtest_filter=SharedLineWithoutReset.*"
	# Buffers of others are synced by their exporters, and vgem does not.
	boot stale --device nv_small --server --stale --append nvdla_machine.noncoherent=1 \
		--module "$machine" --module "$build/modules/$series/nvdla.ko" --time-out $patience \
		--with vgem --file "$digits:/digits" --run "$programs/bin/nvdla info" \
		--run "$tests/test_ioctl $without_sram$held:WithVgem.*:WithUdmabuf.*" --run "$tests/test_backend $without_sram" \
		--run "$tests/test_misbehaviour --gtest_filter=Noncoherent.*:WithReset.*"
}

# User-mode Linux: one processor, never preempted, no memory that is kept free, and an
# interrupt for each time the line rises. Users that have the processor only when others leave
# it do not come to submit their share.
user_mode() {
	boot msi --device nv_small --time-out $patience --with vgem --append kunit.enable=1 \
		--file "$digits:/digits" --run "$kunit" --run "$programs/bin/nvdla info" \
		--run "$tests/test_ioctl $without_sram$held" --run "$tests/test_backend $without_sram" \
		--run "$tests/test_misbehaviour --gtest_filter=WithReset.*" \
		--run "$tests/test_seeing --gtest_filter=-Spoiled.*"
	boot intx --device nv_full --append pci=nomsi --server --no-reset --time-out $patience \
		--with vgem --file "$digits:/digits" --run "$programs/bin/nvdla info" \
		--run "$tests/test_ioctl $without_sram$held" --run "$tests/test_backend $without_sram"
	boot power --device nv_small --time-out $patience --run "$tests/test_power --gtest_filter=-LongStorm.*:Clocks.*:$soc"
	hostile_boot hostile '' --time-out $((2 * patience)) \
		--run "$tests/test_hostile --gtest_filter=-Fairness.*Share*:FairnessTable.*:FailNth.Probe"
	boot wrong --device nv_small --append nvdla.pci_configuration=nv_large --time-out $patience \
		--run "$here/refused.sh" --run "$here/binding.sh 7"
}

# Of that, what a minute has room for: every allocation of each ioctl fails once. Those of a probe
# do not: its register accesses want memory here, and the bus panics without.
user_mode_short() {
	hostile_boot short kunit.enable=1 --time-out $patience \
		--run "$kunit" --run "$tests/test_ioctl $without_sram$held" \
		--run "$tests/test_hostile --gtest_filter=CoreIoctl.*:FailNth.*:Reservation*:Timeline*-FailNth.Probe"
}

# From user space, by each road that there is: docs/mmio.md.
mmio() {
	set -- --time-out 1200 --file "$programs/bin/nvdla:/bin/nvdla" \
		--file "$programs/bin/digits:/bin/digits" --file "$tests/nvdla-lift:/bin/nvdla-lift" \
		--file "$digits:/digits" --with uio_pci_generic
	# Golden cases have their memory from 2 GiB on.
	boot mmio "$@" --device nv_small --server --memory --server 2304M \
		--append 'memmap=48M$0x10000000,64M$0x80000000' \
		--file "$here/../golden/nv_small:/golden/nv_small" --run "$here/mmio.sh pci nv_small" \
		--run "$here/mmio.sh uio nv_small" --run "$here/mmio.sh address nv_small"
	drivers vfio
	vfio=$build/modules/$series/vfio
	boot mmio-vfio "$@" --device nv_small --append vfio.enable_unsafe_noiommu_mode=1 \
		--module "$vfio/vfio.ko" --module "$vfio/pci/vfio-pci-core.ko" \
		--module "$vfio/pci/vfio-pci.ko" --file "$here/../golden/nv_small:/golden/nv_small" \
		--run "$here/mmio.sh vfio nv_small"
	boot mmio-uio "$@" --route acpi --cpus 2 --device nv_small --append 'memmap=48M$0x10000000' \
		--module "$build/modules/$series/machine/nvdla_uio.ko" \
		--file "$here/../golden/nv_small:/golden/nv_small" --run "$here/mmio.sh platform nv_small"
}

# What docs/mmio.md says of PCI.
mmio_guide() {
	boot mmio-guide --time-out 1200 --device nv_small --module "$build/modules/$series/nvdla.ko" \
		--offer uio_pci_generic --offer "$vfio/vfio.ko" --offer "$vfio/pci/vfio-pci-core.ko" \
		--offer "$vfio/pci/vfio-pci.ko" --file "$(guide pci):/guide" \
		--file "$(network):/tmp/digits.nvdla" --run "$programs/bin/nvdla info" \
		--run "$here/guide.sh /guide"
}

# A board with memory that the kernel leaves alone, and with no driver until the guide loads it.
board() {
	drivers uio
	trees=$here/device-tree
	boot board --route dt --cpus 2 --device nv_small --dt "$trees/carveout.dts" \
		--dt "$trees/clock.dts" --offer "$build/modules/$series/nvdla.ko" \
		--offer "$build/modules/$series/uio/uio_pdrv_genirq.ko" --time-out 300 \
		--file "$(guide board):/guide" --file "$(network):/tmp/digits.nvdla" \
		--file "$programs/bin/nvdla:/bin/nvdla" --run "$here/guide.sh /guide"
}

# The tests find out by what they are told whether the driver sees the SRAM.
one_configuration() {
	case $1 in
	nv_full) tested=$with_all ;;
	nv_large | nv_medium_1024_full | nv_small_256_full) tested=$without_bdma ;;
	*) tested=$without_sram ;;
	esac
	boot "$1" --device "$1" --append "$sram_append" --server --sram --server "$sram" \
		--time-out $patience --with vgem --file "$digits:/digits" --run "$programs/bin/nvdla info" \
		--run "$tests/test_ioctl $tested" --run "$tests/test_backend $tested"
}

# Without PCI, and with two processors, which the PCI route cannot have.
platform() {
	route=$1
	shift
	boot "$route" --route "$route" --cpus 2 --device nv_small --time-out $patience --with vgem \
		--file "$digits:/digits" \
		--run "$here/processors.sh 2" --run "$programs/bin/nvdla info" \
		--run "$tests/test_ioctl $without_sram" --run "$tests/test_backend $without_sram" "$@"
}
# A layer that hangs.
recovers="$here/recovers.sh test_ioctl --gtest_filter=Control.OnlyAnEmptyBindingStandsForIt"

# What device trees say, and module parameters in their place.
device_trees() {
	trees=$here/device-tree
	# Scripts here use the programs that ran before them.
	set -- --route dt --cpus 2 --time-out $patience --with vgem --run "$programs/bin/nvdla info"
	# Clocks, a reset line.
	boot soc "$@" --device nv_small --dt "$trees/soc.dts" --run "$programs/bin/nvdla dt check" \
		--run "$tests/test_ioctl $without_sram" --run "$here/clock.sh '600 MHz'" \
		--run "$recovers"
	# The same with a power domain, and an alarm that ends the sleep of the system.
	boot sleep "$@" --device nv_small --dt "$trees/soc.dts" --dt "$trees/domain.dts" \
		--module "$build/modules/$series/machine/nvdla_domain.ko" \
		--module "$build/modules/$series/nvdla.ko" --run "$tests/test_power --gtest_filter=$soc"
	boot sram "$@" --device nv_full --dt "$trees/sram.dts" --run "$programs/bin/nvdla dt check" \
		--server --sram --server 1M@0x54000000 --file "$digits:/digits" \
		--run "$tests/test_ioctl $with_all" --run "$tests/test_backend $with_all" \
		--run "$here/clock.sh '800 MHz'"
	boot parameters "$@" --device nv_small --append nvdla.clock_khz=7000 \
		--run "$tests/test_ioctl $without_sram" --run "$here/clock.sh '7 MHz'" \
		--run "$here/refusals.sh parameter carveout carveout=1M@0x100000000"
	boot parameters-sram "$@" --device nv_full --run "$here/refusals.sh parameter cvsram"
	# Buffers from a region: the device reaches for nothing else.
	boot region "$@" --device nv_small --dt "$trees/carveout.dts" \
		--run "$programs/bin/nvdla dt check" \
		--server --dma-log --server "$build/emulate/$series-region.dma" \
		--run "$tests/test_ioctl --gtest_filter=Control*:Ioctl*-*Sram*"
	if grep '^[0-9]' "$build/emulate/$series-region.dma" | grep -v ' DRAM 0x5[0-3]'; then
		failed="$failed $series-region-dma"
	fi
	boot bad-region "$@" --device nv_small --dt "$trees/bad-memory-region.dts" \
		--run "$here/refusals.sh tree 'memory-region: not reserved'"
	boot bad-sram "$@" --device nv_full --dt "$trees/bad-sram.dts" \
		--run "$here/refusals.sh tree 'its SRAM is not there yet' 'error -ENXIO: IRQ index 0'"
}

case $series:$configuration in
uml:) user_mode ;;
uml:short) user_mode_short ;;
*-arm64:)
	platform dt
	device_trees
	;;
*:essential) essential ;;
*:machines) machines ;;
*:hostile) hostile ;;
*:line) line ;;
*:turns) turns ;;
*:acpi)
	set -- --run "$here/clock.sh '500 MHz'"
	[ -z "$controllers" ] || set -- "$@" --run "$recovers"
	# Clocks that fail, and programs that are changed, where the kernel has return probes.
	clocks=$build/modules/$series/machine/nvdla_clocks.ko
	[ -z "$controllers" ] || [ ! -e "$clocks" ] || set -- "$@" --module "$clocks" --module "$build/modules/$series/nvdla.ko" \
		--module "$build/modules/$series/machine/nvdla_spoil.ko" \
		--run "$tests/test_power --gtest_filter=Clocks.*" \
		--run "$tests/test_seeing --gtest_filter=Spoiled.*"
	platform acpi "$@"
	[ -z "$controllers" ] || going_down
	;;
*:liars) liars ;;
*:traced) traced ;;
*:kunit)
	boot kunit --append kunit.enable=1 --time-out $patience \
		--run "$kunit"
	;;
*:resets)
	boot resets --device nv_small --time-out $((2 * patience)) --run "$tests/test_power --gtest_filter=LongStorm.*"
	;;
*:graphs)
	boot graphs-small --device nv_small --time-out $((4 * patience)) \
		--run "$tests/test_backend --gtest_filter=ManyGraphs.*"
	boot graphs-full --device nv_full --time-out $((4 * patience)) \
		--run "$tests/test_backend --gtest_filter=ManyGraphs.*"
	;;
*:mmio)
	mmio
	mmio_guide
	;;
*-arm64:board) board ;;
*:)
	essential
	machines
	;;
*) one_configuration "$configuration" ;;
esac

# Last, where whoever sees only the end of a long log finds it: what failed, and why.
[ -z "$failed" ] || {
	for name in $failed; do
		log=$build/emulate/$name.log
		[ -f "$log" ] || continue
		said=$(grep -aE -A4 ': Failure$' "$log" | head -n 12)
		echo "--- $name"
		echo "${said:-$(tail -n 5 "$log")}"
	done >&2
	echo "suite.sh: failed:$failed; logs are in $build/emulate" >&2
	exit 1
}
