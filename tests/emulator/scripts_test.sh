#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the scripts say to wrong arguments. Needs neither QEMU nor a kernel.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# refuses MESSAGE COMMAND...: it fails and says exactly that.
refuses() {
	message=$1
	shift
	if said=$("$@" 2>&1); then
		echo "accepted: $*"
		failed=1
	elif [ "$said" != "$message" ]; then
		echo "$*"
		echo "  said:     $said"
		echo "  expected: $message"
		failed=1
	fi
}

refuses "build-driver.sh: 'pci' is not vfio or uio" "$here/build-driver.sh" 6.12 "$work" pci
refuses "build-driver.sh: no /usr/src/linux-source-0.1.tar.xz: install linux-source-0.1" \
	"$here/build-driver.sh" 0.1-arm64 "$work" uio
emulate=$here/emulate.sh
refuses "emulate.sh: which series of kernels? For example: emulate.sh 6.12" "$emulate"
refuses "emulate.sh: 'new' is not a series of kernels such as 6.12, nor newest, sanitizer, uml" "$emulate" new
refuses "emulate.sh: unknown option --fast" "$emulate" 6.12 --fast yes
refuses "emulate.sh: --device: value missing, or unknown option" "$emulate" 6.12 --device
refuses "emulate.sh: 'usb' is not a route: pci, acpi, dt, uml" "$emulate" 6.12 --route usb
refuses "emulate.sh: a kernel for arm64 has the route dt" "$emulate" 6.12-arm64 --route acpi
refuses "emulate.sh: the route dt has kernels for arm64, such as 6.12-arm64" \
	"$emulate" 6.12 --route dt
refuses "emulate.sh: User-mode Linux has the route uml" "$emulate" uml --route pci
refuses "emulate.sh: the route uml has User-mode Linux: emulate.sh uml" \
	"$emulate" 6.12 --route uml
# Two at once would build in one tree: who looks for the source has the lock.
mkdir "$work/fake"
cat >"$work/fake/apt-cache" <<-EOF
	#!/bin/sh
	if flock -n "$work/kernels/uml.lock" true; then echo free; else echo held; fi >"$work/lock"
EOF
chmod +x "$work/fake/apt-cache"
refuses "build-kernel.sh: no Debian package linux-source-6.12: run apt-get update" \
	env PATH="$work/fake:$PATH" "$here/build-kernel.sh" uml "$work/kernels"
[ "$(cat "$work/lock")" = held ] || {
	echo "build-kernel.sh builds without a lock"
	failed=1
}
refuses "build-kernel.sh: 'small' is not a kernel that is built here: sanitizer, uml" \
	"$here/build-kernel.sh" small "$work"
refuses "emulate.sh: --dt is for the route dt" "$emulate" 6.12 --route acpi --dt sram.dts
refuses "emulate.sh: no $work/bin/nvdla-device-server: build it first" \
	"$emulate" 6.12 --build "$work"

# Of a boot: what may be skipped, and what may not.
cat >"$work/guest.log" <<-EOF
	[       OK ] Fuzz.Ioctls (12 ms)
	[ RUN      ] FailNth.Open
	[  SKIPPED ] FailNth.Open (0 ms)
	[  SKIPPED ] FailNth.Probe (1 ms)
	[  SKIPPED ] 2 tests, listed below:
	[  SKIPPED ] FailNth.Open
	[  SKIPPED ] FailNth.Probe
EOF
echo "# CONFIG_FAULT_INJECTION is not set" >"$work/plain.config"
echo CONFIG_FAULT_INJECTION=y >"$work/failing.config"
[ "$("$here/skipped.sh" "$work/guest.log" "$work/plain.config")" = \
	"skipped, as the kernel is not built for them: FailNth.Open FailNth.Probe" ] || {
	echo "skipped.sh does not know what may be skipped"
	failed=1
}
refuses "skipped.sh: skipped, though they are to run here: FailNth.Open FailNth.Probe" \
	"$here/skipped.sh" "$work/guest.log" "$work/failing.config"
echo "[  SKIPPED ] Fuzz.Ioctls (3 ms)" >>"$work/guest.log"
refuses "skipped.sh: skipped, though they are to run here: Fuzz.Ioctls" \
	"$here/skipped.sh" "$work/guest.log" "$work/plain.config"
sed -i /SKIPPED/d "$work/guest.log"
[ -z "$("$here/skipped.sh" "$work/guest.log" "$work/failing.config")" ] || {
	echo "skipped.sh finds what was not skipped"
	failed=1
}

initrd=$here/make-initrd.sh
kernel=$work/kernel
mkdir -p "$kernel/modules/kernel"
: >"$work/data"
refuses "make-initrd.sh: --kernel is missing" "$initrd"
refuses "make-initrd.sh: --output is missing" "$initrd" --kernel "$kernel"
refuses "make-initrd.sh: --output: value missing" "$initrd" --output
refuses "make-initrd.sh: unknown option --fast" "$initrd" --fast yes
refuses "make-initrd.sh: --kernel comes before modules" "$initrd" --module a.ko
refuses "make-initrd.sh: $kernel holds no kernel: run get-kernel.sh" \
	"$initrd" --kernel "$kernel" --module a.ko
echo 6.12.0 >"$kernel/release"
refuses "make-initrd.sh: $kernel has lost its modules: remove it and run get-kernel.sh again" \
	"$initrd" --kernel "$kernel" --module a.ko
: >"$kernel/modules/kernel/drm.ko"
: >"$kernel/modules/modules.builtin"
refuses "make-initrd.sh: no module a.ko" "$initrd" --kernel "$kernel" --module a.ko
refuses "make-initrd.sh: the kernel in $kernel has no module gpu-sched" \
	"$initrd" --kernel "$kernel" --with gpu-sched
refuses "make-initrd.sh: no program $work/none" "$initrd" --run "$work/none -v"
refuses "make-initrd.sh: $work/data is not executable" "$initrd" --run "$work/data"
refuses "make-initrd.sh: no file $work/none" "$initrd" --file "$work/none:/tmp/none"

# In the guest no place of this machine matters: a program, and a library that it looks for
# in a folder that the guest would hide.
mkdir -p "$work/here"
echo 'int answer(void) { return 42; }' >"$work/here/answer.c"
echo 'int answer(void); int main(void) { return answer() != 42; }' >"$work/here/ask.c"
cc -shared -fPIC -Wl,-soname,libanswer.so -o "$work/here/libanswer.so" "$work/here/answer.c"
cc -o "$work/here/ask" "$work/here/ask.c" "$work/here/libanswer.so" -Wl,-rpath,"$work/here"
"$initrd" --kernel "$kernel" --output "$work/initrd" --run "$work/here/ask"
packed=$(cpio --quiet -it <"$work/initrd")
for file in bin/ask lib/libanswer.so lib/libc.so.6; do
	echo "$packed" | grep -qx "$file" || {
		echo "the guest has no $file"
		failed=1
	}
done
if echo "$packed" | grep "^${work#/}"; then
	echo "the guest has files at places of this machine"
	failed=1
fi
refuses "make-initrd.sh: --file $work/data:/dev/data: the guest hides /dev/data; another place is FROM:TO" \
	"$initrd" --file "$work/data:/dev/data"
refuses "make-initrd.sh: --file $work/data:data: data is no absolute path in the guest" \
	"$initrd" --file "$work/data:data"
# Another file of the same name would be taken for it.
mkdir "$work/there"
cp "$work/here/answer.c" "$work/there/ask"
chmod +x "$work/there/ask"
refuses "make-initrd.sh: two files are called ask; one is $work/there/ask" \
	"$initrd" --run "$work/here/ask" --run "$work/there/ask"

# What kernels say is told from what they complain about.
complaints=$here/complaints.sh
quiet='[    0.371200] DMA-API: preallocated 65536 debug entries
[    0.371300] DMA-API: debugging enabled by kernel config
[    3.100000] nvdla 0000:00:04.0: [drm] reset after a hang
[    5.200000] FAULT_INJECTION: forcing a failure.
[    5.200100] Call Trace:
WARNING: a program says that'
echo "$quiet" >"$work/console"
"$complaints" "$work/console" || failed=1
while read -r line; do
	printf '%s\n%s\n' "$quiet" "$line" >"$work/console"
	refuses "$line" "$complaints" "$work/console"
done <<-EOF
	[    6.446262] WARNING: CPU: 0 PID: 71 at kernel/nvdla_job.c:12 nvdla_job_run+0x1/0x2 [nvdla]
	[    6.446262] WARNING: possible circular locking dependency detected
	[    6.446262] BUG: KASAN: slab-use-after-free in nvdla_job_run+0x1/0x2 [nvdla]
	[ RUN      ] Test.Name [    6.446262] BUG: sleeping function called from invalid context
	[    6.446262] BUG kmalloc-64 (Tainted: G O): Object already free
	[    6.446262] UBSAN: array-index-out-of-bounds in kernel/nvdla_submit.c:3:1
	[    6.446262] ODEBUG: free active (active state 0) object: 00000000a1b2c3d4 object type: work_struct
	[    6.446262] DMA-API: nvdla 0000:00:04.0: device driver has pending DMA allocations
	[    6.446262] INFO: task test_ioctl:71 blocked for more than 120 seconds.
	[    6.446262] rcu: INFO: rcu_preempt self-detected stall on CPU
	[    6.446262] refcount_t: underflow; use-after-free.
EOF

# A layer of SDP from 0x1000 and 0x2000 to SRAM at 0x8000, then a copy by BDMA.
join=$here/join_dma_log.py
trace() {
	echo "[ 1.0] nvdla_layer_start: dev=0000:00:01.0 program=7 layer=$*"
}
{
	trace '0 kind=3 0: dma=6 R DRAM 0x1000 256'
	trace '0 kind=3 1: dma=7 R DRAM 0x2000 64'
	trace '0 kind=3 2: dma=10 W SRAM 0x8000 128'
	trace '0 kind=3 3: dma=10 W SRAM 0x8080 128'
	trace '1 kind=8 0: dma=17 R DRAM 0x4000 512'
	trace '1 kind=8 1: dma=18 W DRAM 0x5000 512'
} >"$work/trace"
log() {
	printf '# a heading\n0 0 sdp_rdma R DRAM 0x900 8 ok\n1 0 sdp_wdma W DRAM 0x980 8 ok\n' >"$work/log"
	for line in "$@"; do
		echo "$line" >>"$work/log"
	done
}
sdp='2 1 sdp_rdma R DRAM 0x1010 240 ok'
bdma='4 2 bdma_read R DRAM 0x4000 512 ok'
log "$sdp" '3 1 sdp_wdma W SRAM 0x8000 256 ok' "$bdma" '5 3 cdp_rdma R DRAM 0x0 8 ok'
[ "$("$join" --skip 1 "$work/log" "$work/trace")" = \
	'join_dma_log.py: 2 layers, 3 accesses, all of them allowed' ] || failed=1
# escapes LINE...: the log has a line, the last one here, that the layer may not.
escapes() {
	log "$@"
	for line in "$@"; do :; done
	refuses "join_dma_log.py: program 7 layer 0 may not: $line" "$join" --skip 1 "$work/log" "$work/trace"
}
escapes "$bdma" "$sdp" '3 1 sdp_wdma W SRAM 0x7ff8 16 ok'
escapes "$bdma" "$sdp" '3 1 sdp_wdma W SRAM 0x8080 129 ok'
escapes "$bdma" "$sdp" '3 1 sdp_wdma W DRAM 0x8000 16 ok'
escapes "$bdma" "$sdp" '3 1 sdp_wdma R SRAM 0x8000 16 ok'
escapes "$bdma" "$sdp" '3 1 sdp_nrdma R DRAM 0x2000 16 ok'
escapes "$bdma" "$sdp" '3 1 sdp_brdma R DRAM 0x2000 64 refused'
log "$sdp"
refuses "join_dma_log.py: 1 of 2 layers started and the device did nothing for them" \
	"$join" --skip 1 "$work/log" "$work/trace"
log '2 1 cdp_rdma R DRAM 0x1010 240 ok'
refuses "join_dma_log.py: step 1: no layer of cdp has started: 2 1 cdp_rdma R DRAM 0x1010 240 ok" \
	"$join" --skip 1 "$work/log" "$work/trace"
refuses "join_dma_log.py: no layer in $work/data" "$join" "$work/log" "$work/data"
# A reset came before the first layer did anything; what was refused is not held against the next.
log "$bdma" '6 2 bdma_write W DRAM 0x9000 512 refused'
[ "$("$join" --skip 1 --cut "$work/log" "$work/trace")" = \
	'join_dma_log.py: 2 layers, 2 accesses, all of them allowed' ] || failed=1
log "$bdma" '6 2 bdma_write W DRAM 0x9000 512 ok'
refuses "join_dma_log.py: program 7 layer 1 may not: 6 2 bdma_write W DRAM 0x9000 512 ok" \
	"$join" --skip 1 --cut "$work/log" "$work/trace"

exit $failed
