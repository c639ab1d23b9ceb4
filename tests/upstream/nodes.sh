#!/bin/bash
# SPDX-License-Identifier: MIT
#
# nodes.sh BUILD NVDLA: hold what `nvdla dt node` prints to all bindings of the kernel that
# check.sh has in BUILD: those of the device, of on-chip and of reserved memory.
set -euo pipefail
schema=$1/upstream/out/Documentation/devicetree/bindings/processed-schema.json
nvdla=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "nodes.sh: $*" >&2
	exit 1
}
[[ -f $schema ]] || fail "no $schema; tests/upstream/check.sh makes it"

# judged FILTER OPTION...: what dt-validate says of the nodes, changed by a filter, in a board
# whose own nodes are no more than dtc needs, so that there is something to say of these.
judged() {
	local filter=$1
	shift
	{
		cat <<-EOF
			/dts-v1/;
			/ {
				#address-cells = <2>;
				#size-cells = <2>;
				plic: interrupt-controller {
					interrupt-controller;
					#address-cells = <0>;
					#interrupt-cells = <1>;
				};
				crg: clock-controller {
					#clock-cells = <1>;
					#reset-cells = <1>;
				};
			};
		EOF
		"$nvdla" dt node --address 0x10040000 --interrupt 7 --interrupt-parent plic "$@" |
			sed "$filter"
	} | dtc -q -I dts -O dtb -o "$work/board.dtb"
	dt-validate -s "$schema" "$work/board.dtb" 2>&1 |
		grep -E '(accelerator|sram|nvdla)@|reserved-memory' || true
}

declare -i nodes=0
configurations=$("$nvdla" info | sed -n 's/^model:\([^ ]*\).*/\1/p')
[[ -n $configurations ]] || fail "nvdla info lists no model"
for configuration in $configurations; do
	if ! "$nvdla" info --device "model:$configuration" | grep -q 'secondary memory'; then
		said=$(judged "" --config "$configuration" --clock-rate 75MHz)
		[[ -z $said ]] || fail "$configuration: $said"
		nodes+=1
		continue
	fi
	for options in "" "--soc starfive,jh7100-nvdla" "--coherent --clock-rate 600MHz" \
		"--sram 512K@0x20000000 --memory-region 128M@0x80000000" \
		"--clock crg,3 --clock crg,4 --reset crg,17"; do
		# The options are words.
		# shellcheck disable=SC2086
		said=$(judged "" --config "$configuration" $options)
		[[ -z $said ]] || fail "$configuration $options: $said"
		nodes+=1
	done
done
# It would say so.
for filter in 's/interrupts/interupts/' 's/clock-names = "core"/clock-names = "csb"/' \
	's/mmio-sram";/&\n\t\tclocks = "core";/' 's/nvidia,nvdla-nv-full/nvidia,nv_full/' \
	's/compatible = "nvidia.*/compatible = "nvidia,nvdla-nv-full", "acme,npu";/'; do
	said=$(judged "$filter" --config nv_full --clock crg,3 --sram 512K@0x20000000)
	[[ -n $said ]] || fail "dt-validate takes what '$filter' makes"
done
echo "$nodes nodes are as the bindings want them"
