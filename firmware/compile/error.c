// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Filling struct nvdla_error. Numbers only: whoever shows it to people has the
 * text.
 */
#include "compile.h"

/* Errors are signed: what does not fit reads as the greatest value. */
s64 nvdla_clamp(u64 value)
{
	const u64 max = ~(u64)0 >> 1;

	return (s64)(value < max ? value : max);
}

int nvdla_refuse_memory(struct nvdla_compile *c, u32 rule, u32 field, u32 dma,
			u32 slot, s64 value, s64 min, s64 max)
{
	struct nvdla_error *error = c->error;

	error->rule = rule;
	error->object = c->object;
	error->index = c->index;
	error->field = field;
	error->dma = dma;
	error->slot = slot;
	error->value = value;
	error->min = min;
	error->max = max;
	error->multiple = 0;
	return -1;
}

int nvdla_refuse(struct nvdla_compile *c, u32 rule, u32 field, s64 value,
		 s64 min, s64 max)
{
	return nvdla_refuse_memory(c, rule, field, NVDLA_DMA_NONE, 0, value,
				   min, max);
}

int nvdla_refuse_multiple(struct nvdla_compile *c, u32 field, s64 value,
			  u32 multiple)
{
	nvdla_refuse(c, NVDLA_RULE_MULTIPLE, field, value, 0, 0);
	c->error->multiple = multiple;
	return -1;
}

int nvdla_refuse_feature(struct nvdla_compile *c, u32 field, u32 feature)
{
	return nvdla_refuse(c, NVDLA_RULE_FEATURE, field, feature, 0, 0);
}
