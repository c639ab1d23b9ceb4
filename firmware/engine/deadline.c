// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * This file limits how long a layer, or a register, may take. Freestanding
 * 32-bit code has no 64-bit division, so the length of a clock cycle is found
 * once a job, in 1/4096 ns, and each layer only multiplies.
 */
#include "internal.h"

#define CYCLE_BITS	12
/* One cycle at 1 kHz; fits 32 bits. */
#define CYCLE_1KHZ	(1000000u << CYCLE_BITS)
#define DEFAULT_KHZ	1000000u
/* Keeps the sum of the clock and a deadline far from wrapping. */
#define MAX_NS		(1ull << 60)
/*
 * Cycles in which hardware moves a register without being asked: the longest
 * is the flush of the convolution buffer, some 8,300.
 */
#define WAIT_CYCLES	8300u
/* A wait ends after 2^n looks at the earliest. */
#define WAIT_LOOKS_BITS	6

/* A cycle in 1/4096 ns, rounded up; 0 kHz is 1 GHz. */
u32 nvdla_cycle_ns(u32 clock_khz)
{
	u32 khz = clock_khz ? clock_khz : DEFAULT_KHZ;
	u32 cycle = CYCLE_1KHZ / khz;

	return cycle + (cycle * khz != CYCLE_1KHZ);
}

static u64 multiply(u64 ns, u32 factor)
{
	u64 low = (u64)(u32)ns * factor;
	u64 high = (ns >> 32) * factor + (low >> 32);

	if (high >= MAX_NS >> 32)
		return MAX_NS;
	return high << 32 | (u32)low;
}

static u64 cycles_ns(u64 cycles, u32 cycle_ns)
{
	u64 low = (u64)(u32)cycles * cycle_ns;
	u64 high = (cycles >> 32) * cycle_ns + (low >> 32);

	if (high >> (32 + CYCLE_BITS - 4))
		return MAX_NS;
	return high << (32 - CYCLE_BITS) | (u32)low >> CYCLE_BITS;
}

/* Time for @cycles, generously, and @least at least. */
static u64 limit_ns(u64 cycles, u32 cycle_ns, u64 least)
{
	u64 ns = multiply(cycles_ns(cycles, cycle_ns), NVDLA_DEADLINE_FACTOR);

	return ns < least ? least : ns;
}

/* Time that a layer of the job is estimated to take. */
u64 nvdla_estimate_ns(const struct nvdla_engine *engine, u64 cycles)
{
	return cycles_ns(cycles, engine->cycle_ns);
}

u64 nvdla_deadline_ns(const struct nvdla_engine *engine, u64 cycles)
{
	return limit_ns(cycles, engine->cycle_ns, NVDLA_MIN_DEADLINE_NS);
}

/* Has @unit done its part of the layer that is in @group? */
static u32 unit_progress(const struct nvdla_engine *engine, u32 unit, u32 group)
{
	u32 status;

	if (unit == NVDLA_UNIT_BDMA) {
		status = nvdla_reg_read(engine, unit, NVDLA_BDMA_STATUS);
		if (status == NVDLA_ALL_ONES)
			return NVDLA_ALL_ONES;
		status &= NVDLA_BDMA_STATUS_FREE_SLOT_MASK;
		/* More than there are would be another kind of lie. */
		return status < BDMA_SLOTS ? status : BDMA_SLOTS;
	}
	status = nvdla_reg_read(engine, unit, NVDLA_REG_S_STATUS);
	if (status == NVDLA_ALL_ONES)
		return NVDLA_ALL_ONES;
	return !(status & (group ? NVDLA_REG_S_STATUS_STATUS_1_MASK :
				   NVDLA_REG_S_STATUS_STATUS_0_MASK));
}

/*
 * Tells how far a layer has come by its registers: counters are loaded at
 * its end, but units that are done are idle, and BDMA frees a place for each
 * command that it takes.
 *
 * Return: a number that grows, or NVDLA_ALL_ONES if the device is gone.
 */
u32 nvdla_layer_progress(const struct nvdla_engine *engine,
			 const struct nvdla_inflight *inflight)
{
	u32 progress = 0, unit;

	for (unit = 0; inflight->units >> unit; unit++) {
		u32 more;

		if (!(inflight->units >> unit & 1))
			continue;
		more = unit_progress(engine, unit, nvdla_group(inflight, unit));
		if (more == NVDLA_ALL_ONES)
			return NVDLA_ALL_ONES;
		progress += more;
	}
	return progress;
}

/* Before the first look at a register that hardware moves on its own. */
void nvdla_reg_wait_begin(const struct nvdla_engine *engine,
			  struct nvdla_reg_wait *wait)
{
	wait->left = limit_ns(WAIT_CYCLES, engine->cycle_ns, NVDLA_POLL_NS);
	wait->most = wait->left >> WAIT_LOOKS_BITS;
	wait->last = nvdla_now(engine);
}

/*
 * Before each look: is it to be the last? Time in which nobody looked counts
 * for little, however long it was: whoever was not scheduled has not waited,
 * and a device that goes on with nvdla_hw_ops.relax has not either.
 */
bool nvdla_reg_wait_last(const struct nvdla_engine *engine,
			 struct nvdla_reg_wait *wait)
{
	u64 now = nvdla_now(engine);
	u64 passed = now - wait->last;

	if (passed > wait->most)
		passed = wait->most;
	wait->last = now;
	if (passed >= wait->left)
		return true;
	wait->left -= passed;
	return false;
}
