// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Build parameters of the published configurations of NVDLA.
 */
#include "nvdla_hw.h"
#include "registers/nvdla_regs.h"

static const struct nvdla_hw configurations[] = {
	{
		.name = "nv_full",
		.regmap = NVDLA_REGMAP_NV_FULL,
		.features = NVDLA_HW_INT16 | NVDLA_HW_FP16 | NVDLA_HW_WINOGRAD |
			    NVDLA_HW_BATCH | NVDLA_HW_COMPRESSION |
			    NVDLA_HW_SRAM | NVDLA_HW_BDMA | NVDLA_HW_RUBIK |
			    NVDLA_HW_SDP_Y | NVDLA_HW_LUT | NVDLA_HW_PIXEL_16,
		.atom = 32,
		.atomic_c = 64,
		.atomic_k = 32,
		.cbuf_banks = 16,
		.cbuf_entries = 256,
		.cbuf_entry_bytes = 128,
		.weight_align = 128,
		.address_bits = 64,
		.bus_bytes = 64,
		.burst = 1,
		.sram_burst = 4,
		.sdp_x_throughput = 16,
		.sdp_throughput = 4,
		.pdp_throughput = 8,
		.cdp_throughput = 8,
	},
	{
		.name = "nv_large",
		.regmap = NVDLA_REGMAP_NV_SMALL,
		.features = NVDLA_HW_SRAM | NVDLA_HW_SDP_Y | NVDLA_HW_LUT |
			    NVDLA_HW_WEIGHT_GATING,
		.atom = 32,
		.atomic_c = 64,
		.atomic_k = 32,
		.cbuf_banks = 16,
		.cbuf_entries = 512,
		.cbuf_entry_bytes = 64,
		.weight_align = 64,
		.address_bits = 64,
		.bus_bytes = 32,
		.burst = 1,
		.sram_burst = 1,
		.sdp_x_throughput = 16,
		.sdp_throughput = 4,
		.pdp_throughput = 8,
		.cdp_throughput = 8,
	},
	{
		.name = "nv_medium_1024_full",
		.regmap = NVDLA_REGMAP_NV_SMALL,
		.features = NVDLA_HW_SRAM | NVDLA_HW_SDP_Y | NVDLA_HW_LUT |
			    NVDLA_HW_WEIGHT_GATING,
		.atom = 32,
		.atomic_c = 32,
		.atomic_k = 32,
		.cbuf_banks = 32,
		.cbuf_entries = 512,
		.cbuf_entry_bytes = 32,
		.weight_align = 32,
		.address_bits = 64,
		.bus_bytes = 32,
		.burst = 4,
		.sram_burst = 4,
		.sdp_x_throughput = 8,
		.sdp_throughput = 2,
		.pdp_throughput = 4,
		.cdp_throughput = 4,
	},
	{
		.name = "nv_medium_512",
		.regmap = NVDLA_REGMAP_NV_SMALL,
		.features = NVDLA_HW_WEIGHT_GATING,
		.atom = 16,
		.atomic_c = 32,
		.atomic_k = 16,
		.cbuf_banks = 32,
		.cbuf_entries = 512,
		.cbuf_entry_bytes = 32,
		.weight_align = 32,
		.address_bits = 64,
		.bus_bytes = 16,
		.burst = 4,
		.sdp_x_throughput = 4,
		.sdp_throughput = 4,
		.pdp_throughput = 2,
		.cdp_throughput = 2,
	},
	{
		.name = "nv_small_256_full",
		.regmap = NVDLA_REGMAP_NV_SMALL,
		.features = NVDLA_HW_SRAM | NVDLA_HW_SDP_Y | NVDLA_HW_LUT |
			    NVDLA_HW_WEIGHT_GATING,
		.atom = 8,
		.atomic_c = 32,
		.atomic_k = 8,
		.cbuf_banks = 32,
		.cbuf_entries = 128,
		.cbuf_entry_bytes = 32,
		.weight_align = 32,
		.address_bits = 32,
		.bus_bytes = 8,
		.burst = 4,
		.sram_burst = 4,
		.sdp_x_throughput = 2,
		.sdp_throughput = 1,
		.pdp_throughput = 1,
		.cdp_throughput = 1,
	},
	{
		.name = "nv_small_256",
		.regmap = NVDLA_REGMAP_NV_SMALL,
		.features = NVDLA_HW_WEIGHT_GATING,
		.atom = 8,
		.atomic_c = 32,
		.atomic_k = 8,
		.cbuf_banks = 32,
		.cbuf_entries = 128,
		.cbuf_entry_bytes = 32,
		.weight_align = 32,
		.address_bits = 32,
		.bus_bytes = 8,
		.burst = 1,
		.sdp_x_throughput = 1,
		.sdp_throughput = 1,
		.pdp_throughput = 1,
		.cdp_throughput = 1,
	},
	{
		.name = "nv_small",
		.regmap = NVDLA_REGMAP_NV_SMALL,
		.features = NVDLA_HW_WEIGHT_GATING,
		.atom = 8,
		.atomic_c = 8,
		.atomic_k = 8,
		.cbuf_banks = 32,
		.cbuf_entries = 512,
		.cbuf_entry_bytes = 8,
		.weight_align = 8,
		.address_bits = 32,
		.bus_bytes = 8,
		.burst = 1,
		.sdp_x_throughput = 1,
		.sdp_throughput = 1,
		.pdp_throughput = 1,
		.cdp_throughput = 1,
	},
};

u32 nvdla_hw_count(void)
{
	return ARRAY_SIZE(configurations);
}

const struct nvdla_hw *nvdla_hw_get(u32 index)
{
	return index < ARRAY_SIZE(configurations) ? &configurations[index] :
						    NULL;
}

const struct nvdla_hw *nvdla_hw_find(const char *name)
{
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(configurations); i++) {
		const char *known = configurations[i].name;

		for (j = 0; known[j] && known[j] == name[j]; j++)
			;
		if (!known[j] && !name[j])
			return &configurations[i];
	}
	return NULL;
}
