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

u32 nvdla_hw_interrupts(const struct nvdla_hw *hw)
{
	u32 bits = NVDLA_GLB_S_INTR_STATUS_SDP_DONE_STATUS0_MASK |
		   NVDLA_GLB_S_INTR_STATUS_SDP_DONE_STATUS1_MASK |
		   NVDLA_GLB_S_INTR_STATUS_CDP_DONE_STATUS0_MASK |
		   NVDLA_GLB_S_INTR_STATUS_CDP_DONE_STATUS1_MASK |
		   NVDLA_GLB_S_INTR_STATUS_PDP_DONE_STATUS0_MASK |
		   NVDLA_GLB_S_INTR_STATUS_PDP_DONE_STATUS1_MASK |
		   NVDLA_GLB_S_INTR_STATUS_CDMA_DAT_DONE_STATUS0_MASK |
		   NVDLA_GLB_S_INTR_STATUS_CDMA_DAT_DONE_STATUS1_MASK |
		   NVDLA_GLB_S_INTR_STATUS_CDMA_WT_DONE_STATUS0_MASK |
		   NVDLA_GLB_S_INTR_STATUS_CDMA_WT_DONE_STATUS1_MASK |
		   NVDLA_GLB_S_INTR_STATUS_CACC_DONE_STATUS0_MASK |
		   NVDLA_GLB_S_INTR_STATUS_CACC_DONE_STATUS1_MASK;

	if (hw->features & NVDLA_HW_BDMA)
		bits |= NVDLA_GLB_S_INTR_STATUS_BDMA_DONE_STATUS0_MASK |
			NVDLA_GLB_S_INTR_STATUS_BDMA_DONE_STATUS1_MASK;
	if (hw->features & NVDLA_HW_RUBIK)
		bits |= NVDLA_GLB_S_INTR_STATUS_RUBIK_DONE_STATUS0_MASK |
			NVDLA_GLB_S_INTR_STATUS_RUBIK_DONE_STATUS1_MASK;
	return bits;
}

/*
 * The table has for each counter its register, what the value is worth in each
 * register map, and the feature without which nothing counts there.
 */
static const struct {
	u8 unit;
	u8 reg;
	u8 counts;
	u32 needs;
} counters[NVDLA_COUNTER_COUNT] = {
#define COUNTER(counter, unit_name, reg_name, feature)             \
	[NVDLA_COUNTER_##counter] = {                              \
		NVDLA_UNIT_##unit_name,                            \
		NVDLA_##unit_name##_##reg_name,                    \
		NVDLA_##unit_name##_##reg_name##_COUNTS, feature }
	COUNTER(CDMA_NAN_DATA, CDMA, D_NAN_INPUT_DATA_NUM, NVDLA_HW_FP16),
	COUNTER(CDMA_NAN_WEIGHT, CDMA, D_NAN_INPUT_WEIGHT_NUM, NVDLA_HW_FP16),
	COUNTER(CDMA_INF_DATA, CDMA, D_INF_INPUT_DATA_NUM, NVDLA_HW_FP16),
	COUNTER(CDMA_INF_WEIGHT, CDMA, D_INF_INPUT_WEIGHT_NUM, NVDLA_HW_FP16),
	COUNTER(CDMA_DATA_STALL, CDMA, D_PERF_DAT_READ_STALL, 0),
	COUNTER(CDMA_WEIGHT_STALL, CDMA, D_PERF_WT_READ_STALL, 0),
	COUNTER(CDMA_DATA_LATENCY, CDMA, D_PERF_DAT_READ_LATENCY, 0),
	COUNTER(CDMA_WEIGHT_LATENCY, CDMA, D_PERF_WT_READ_LATENCY, 0),
	COUNTER(CACC_SATURATION, CACC, D_OUT_SATURATION, 0),
	COUNTER(SDP_RDMA_NAN, SDP_RDMA, D_STATUS_NAN_INPUT_NUM, NVDLA_HW_FP16),
	COUNTER(SDP_RDMA_INF, SDP_RDMA, D_STATUS_INF_INPUT_NUM, NVDLA_HW_FP16),
	COUNTER(SDP_MRDMA_STALL, SDP_RDMA, D_PERF_MRDMA_READ_STALL, 0),
	COUNTER(SDP_BRDMA_STALL, SDP_RDMA, D_PERF_BRDMA_READ_STALL, 0),
	COUNTER(SDP_NRDMA_STALL, SDP_RDMA, D_PERF_NRDMA_READ_STALL, 0),
	COUNTER(SDP_ERDMA_STALL, SDP_RDMA, D_PERF_ERDMA_READ_STALL, NVDLA_HW_SDP_Y),
	COUNTER(SDP_UNEQUAL, SDP, D_STATUS, NVDLA_HW_SDP_Y),
	COUNTER(SDP_NAN_OUT, SDP, D_STATUS_NAN_OUTPUT_NUM, NVDLA_HW_FP16),
	COUNTER(SDP_WRITE_STALL, SDP, D_PERF_WDMA_WRITE_STALL, 0),
	COUNTER(SDP_SATURATION, SDP, D_PERF_OUT_SATURATION, 0),
	COUNTER(SDP_LUT_UNDERFLOW, SDP, D_PERF_LUT_UFLOW, NVDLA_HW_LUT),
	COUNTER(SDP_LUT_OVERFLOW, SDP, D_PERF_LUT_OFLOW, NVDLA_HW_LUT),
	COUNTER(SDP_LUT_HYBRID, SDP, D_PERF_LUT_HYBRID, NVDLA_HW_LUT),
	COUNTER(SDP_LUT_LE_HIT, SDP, D_PERF_LUT_LE_HIT, NVDLA_HW_LUT),
	COUNTER(SDP_LUT_LO_HIT, SDP, D_PERF_LUT_LO_HIT, NVDLA_HW_LUT),
	COUNTER(PDP_RDMA_STALL, PDP_RDMA, D_PERF_READ_STALL, 0),
	COUNTER(PDP_NAN_IN, PDP, D_NAN_INPUT_NUM, NVDLA_HW_FP16),
	COUNTER(PDP_INF_IN, PDP, D_INF_INPUT_NUM, NVDLA_HW_FP16),
	COUNTER(PDP_NAN_OUT, PDP, D_NAN_OUTPUT_NUM, NVDLA_HW_FP16),
	COUNTER(PDP_WRITE_STALL, PDP, D_PERF_WRITE_STALL, 0),
	COUNTER(CDP_RDMA_STALL, CDP_RDMA, D_PERF_READ_STALL, 0),
	COUNTER(CDP_NAN_IN, CDP, D_NAN_INPUT_NUM, NVDLA_HW_FP16),
	COUNTER(CDP_INF_IN, CDP, D_INF_INPUT_NUM, NVDLA_HW_FP16),
	COUNTER(CDP_NAN_OUT, CDP, D_NAN_OUTPUT_NUM, NVDLA_HW_FP16),
	COUNTER(CDP_SATURATION, CDP, D_OUT_SATURATION, 0),
	COUNTER(CDP_WRITE_STALL, CDP, D_PERF_WRITE_STALL, 0),
	COUNTER(CDP_LUT_UNDERFLOW, CDP, D_PERF_LUT_UFLOW, 0),
	COUNTER(CDP_LUT_OVERFLOW, CDP, D_PERF_LUT_OFLOW, 0),
	COUNTER(CDP_LUT_HYBRID, CDP, D_PERF_LUT_HYBRID, 0),
	COUNTER(CDP_LUT_LE_HIT, CDP, D_PERF_LUT_LE_HIT, 0),
	COUNTER(CDP_LUT_LO_HIT, CDP, D_PERF_LUT_LO_HIT, 0),
	COUNTER(RUBIK_READ_STALL, RBK, D_PERF_READ_STALL, NVDLA_HW_RUBIK),
	COUNTER(RUBIK_WRITE_STALL, RBK, D_PERF_WRITE_STALL, NVDLA_HW_RUBIK),
	COUNTER(BDMA_READ_STALL, BDMA, STATUS_GRP0_READ_STALL, NVDLA_HW_BDMA),
	COUNTER(BDMA_WRITE_STALL, BDMA, STATUS_GRP0_WRITE_STALL,
		NVDLA_HW_BDMA),
#undef COUNTER
};

void nvdla_hw_counter(u32 counter, u32 *unit, u32 *reg)
{
	*unit = counters[counter].unit;
	*reg = counters[counter].reg;
}

u32 nvdla_hw_counts(const struct nvdla_hw *hw, u32 counter)
{
	const u32 needs = counters[counter].needs;

	if ((hw->features & needs) != needs)
		return NVDLA_COUNTS_INVALID;
	return counters[counter].counts >> 4 * hw->regmap & 0xf;
}
