// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Counters of a layer that has ended, from the groups that it ran in. They
 * are there until the group is enabled again.
 */
#include "internal.h"

/* BDMA has a register for each group instead of a pointer. */
#define BDMA_GROUP_STEP \
	(NVDLA_BDMA_STATUS_GRP1_READ_STALL - NVDLA_BDMA_STATUS_GRP0_READ_STALL)

void nvdla_stats_read(struct nvdla_engine *engine,
		      const struct nvdla_layer_image *image,
		      const struct nvdla_inflight *inflight,
		      struct nvdla_layer_stats *stats)
{
	u64 valid = 0;
	u32 i;

	for (i = 0; i < NVDLA_COUNTER_MAX; i++) {
		u32 unit, group, reg;

		stats->counter[i] = 0;
		if (i >= NVDLA_COUNTER_COUNT || !(image->counters >> i & 1))
			continue;
		if (nvdla_hw_counts(engine->hw, i) == NVDLA_COUNTS_INVALID)
			continue;
		nvdla_hw_counter(i, &unit, &reg);
		if (!(inflight->units >> unit & 1))
			continue;
		group = nvdla_group(inflight, unit);
		if (unit == NVDLA_UNIT_BDMA)
			reg += group * BDMA_GROUP_STEP;
		else
			nvdla_group_select(engine, unit, group);
		stats->counter[i] = nvdla_reg_read(engine, unit, reg);
		valid |= 1ull << i;
	}
	stats->valid = valid;
}
