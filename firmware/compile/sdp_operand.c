// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of the operands that SDP's operators X1, X2 and Y read from memory.
 */
#include "compile.h"

/* Checks and claims the memory that the operands lie in. */
static int claim_operand(struct nvdla_compile *c,
			 const struct nvdla_operand *operand,
			 const struct nvdla_sdp_plan *plan)
{
	/* Channels of one operand column, columns across all channels. */
	const u32 lanes = c->hw->atom / nvdla_bpe(plan->proc);
	const u32 columns = nvdla_div_up(plan->channels, lanes);
	const u32 least = plan->proc == NVDLA_PRECISION_INT8 ? 1 : 2;
	const u32 column_bytes = lanes * operand->parts * operand->bytes;
	const struct nvdla_surface *surface = operand->surface;

	if (nvdla_check_range(c, operand->bytes_field, operand->bytes, least,
			      2))
		return -1;
	if (operand->mode == NVDLA_OPERAND_CHANNEL) {
		const u32 strides =
			operand->surface_field +
			offsetof(struct nvdla_surface, line_stride);

		if (nvdla_check_zero_bytes(c, strides, 3 * sizeof(u32)))
			return -1;
		return nvdla_claim_run(c, operand->surface_field,
				       surface->slot, surface->offset,
				       columns * column_bytes, operand->dma);
	}
	if (plan->width == 1 && plan->height == 1)
		return nvdla_refuse(c, NVDLA_RULE_OPERAND_1X1,
				    operand->mode_field, operand->mode, 0,
				    NVDLA_OPERAND_CHANNEL);
	return nvdla_claim_cube(c, operand->surface_field, surface,
				&(const struct nvdla_cube){
					.surfaces = columns,
					.lines = plan->height,
					.line_bytes =
						plan->width * column_bytes,
				},
				operand->dma);
}

int nvdla_sdp_check_operand(struct nvdla_compile *c,
			    const struct nvdla_operand *operand,
			    const struct nvdla_sdp_plan *plan)
{
	const struct nvdla_surface *surface = operand->surface;

	if (operand->mode == NVDLA_OPERAND_LAYER) {
		if (nvdla_check_zero(c, operand->bytes_field, operand->bytes))
			return -1;
		return nvdla_check_zero_bytes(c, operand->surface_field,
					      sizeof(*surface));
	}
	if (claim_operand(c, operand, plan))
		return -1;
	if (plan->batch == 1)
		return 0;
	return nvdla_check_placed(c, operand->surface_field, surface->slot,
				  surface->offset, NVDLA_SDP_BATCH_ALIGN,
				  operand->dma);
}
