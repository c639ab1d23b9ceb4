/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The files of the engine share this: register access, units as bits, and the
 * steps that the state machine in engine.c puts in order. Nothing outside of
 * this folder includes it.
 */
#ifndef NVDLA_ENGINE_INTERNAL_H
#define NVDLA_ENGINE_INTERNAL_H

#include "nvdla_engine.h"

/* Commands that BDMA has room for. */
#define BDMA_SLOTS	20u

/* A register read of a device that is not there. */
#define NVDLA_ALL_ONES	0xffffffffu

#define UNIT(name)	(1u << NVDLA_UNIT_##name)

/* Units of the convolution pipeline; they are only used together. */
#define UNITS_CONV \
	(UNIT(CDMA) | UNIT(CSC) | UNIT(CMAC_A) | UNIT(CMAC_B) | UNIT(CACC))

/* Units with two register groups; BDMA has groups of another sort. */
#define UNITS_GROUPED \
	(UNITS_CONV | UNIT(SDP_RDMA) | UNIT(SDP) | UNIT(PDP_RDMA) | UNIT(PDP) | \
	 UNIT(CDP_RDMA) | UNIT(CDP) | UNIT(RBK))

/* Units that a layer can end in. */
#define UNITS_LAST \
	(UNIT(SDP) | UNIT(PDP) | UNIT(CDP) | UNIT(RBK) | UNIT(BDMA))

static inline u32 nvdla_reg_read(const struct nvdla_engine *engine, u32 unit,
				 u32 offset)
{
	return engine->ops->reg_read(engine->context,
				     engine->bases[unit] + offset);
}

static inline void nvdla_reg_write(const struct nvdla_engine *engine, u32 unit,
				   u32 offset, u32 value)
{
	engine->ops->reg_write(engine->context, engine->bases[unit] + offset,
			       value);
}

static inline u64 nvdla_now(const struct nvdla_engine *engine)
{
	return engine->ops->now_ns(engine->context);
}

/* Group of @unit that a layer holds, 0 or 1. */
static inline u32 nvdla_group(const struct nvdla_inflight *inflight, u32 unit)
{
	return inflight->groups >> unit & 1;
}

/* irq.c */
u32 nvdla_irq_last_unit(u32 kind);
u32 nvdla_irq_bits(u32 units, u32 groups);
u32 nvdla_irq_units(u32 bits);
u32 nvdla_irq_take(const struct nvdla_engine *engine);
void nvdla_irq_set_mask(struct nvdla_engine *engine, u32 mask);

/* groups.c */
bool nvdla_layer_valid(const struct nvdla_engine *engine,
		       const struct nvdla_program *program, u32 index);
void nvdla_groups_reset(struct nvdla_engine *engine, u32 next_group,
			u32 producer);
bool nvdla_groups_free(const struct nvdla_engine *engine, u32 units);
void nvdla_groups_take(struct nvdla_engine *engine,
		       struct nvdla_inflight *inflight,
		       const struct nvdla_layer_image *image);
void nvdla_groups_release(struct nvdla_engine *engine,
			  const struct nvdla_inflight *inflight);
void nvdla_groups_give_back(struct nvdla_engine *engine,
			    const struct nvdla_inflight *inflight);
void nvdla_group_select(struct nvdla_engine *engine, u32 unit, u32 group);
int nvdla_groups_settle(struct nvdla_engine *engine,
			const struct nvdla_inflight *inflight);

/* image.c */
int nvdla_image_write(struct nvdla_engine *engine,
		      const struct nvdla_layer_image *image,
		      const struct nvdla_inflight *inflight);
void nvdla_image_enable(struct nvdla_engine *engine,
			const struct nvdla_inflight *inflight);

/* bdma.c */
void nvdla_bdma_launch(struct nvdla_engine *engine,
		       const struct nvdla_layer_image *image, u32 group);

/* lut.c */
void nvdla_lut_forget(struct nvdla_engine *engine);
u32 nvdla_lut_missing(const struct nvdla_engine *engine,
		      const struct nvdla_layer_image *image);
void nvdla_lut_load(struct nvdla_engine *engine,
		    const struct nvdla_layer_image *image);

/* stats.c */
void nvdla_stats_read(struct nvdla_engine *engine,
		      const struct nvdla_layer_image *image,
		      const struct nvdla_inflight *inflight,
		      struct nvdla_layer_stats *stats);

/* deadline.c */
/** struct nvdla_reg_wait - looking at a register until it moves */
struct nvdla_reg_wait {
	/** @left: ns to go on looking */
	u64 left;
	/** @most: of them one look may use up */
	u64 most;
	/** @last: when it was looked before */
	u64 last;
};

u32 nvdla_cycle_ns(u32 clock_khz);
u64 nvdla_estimate_ns(const struct nvdla_engine *engine, u64 cycles);
u64 nvdla_deadline_ns(const struct nvdla_engine *engine, u64 cycles);
u32 nvdla_layer_progress(const struct nvdla_engine *engine,
			 const struct nvdla_inflight *inflight);
void nvdla_reg_wait_begin(const struct nvdla_engine *engine,
			  struct nvdla_reg_wait *wait);
bool nvdla_reg_wait_last(const struct nvdla_engine *engine,
			 struct nvdla_reg_wait *wait);

#endif /* NVDLA_ENGINE_INTERNAL_H */
