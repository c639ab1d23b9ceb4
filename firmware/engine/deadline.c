// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * How long a layer may take. Freestanding 32-bit code has no 64-bit division,
 * so the length of a clock cycle is found once a job, in 1/4096 ns, and each
 * layer only multiplies.
 */
#include "internal.h"

#define CYCLE_BITS	12
/* One cycle at 1 kHz; fits 32 bits. */
#define CYCLE_1KHZ	(1000000u << CYCLE_BITS)
#define DEFAULT_KHZ	1000000u
/* Keeps the sum of the clock and a deadline far from wrapping. */
#define MAX_NS		(1ull << 60)

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

u64 nvdla_deadline_ns(u64 cycles, u32 cycle_ns, u32 patience)
{
	u64 low = (u64)(u32)cycles * cycle_ns;
	u64 high = cycles >> 32;
	u64 ns;

	/* 2^40 cycles are minutes at the fastest clock. */
	if (high >> 8)
		return MAX_NS;
	high = high * cycle_ns + (low >> 32);
	if (high >> (32 + CYCLE_BITS - 4))
		return MAX_NS;
	ns = high << (32 - CYCLE_BITS) | (u32)low >> CYCLE_BITS;

	ns = multiply(ns, NVDLA_DEADLINE_FACTOR);
	if (ns < NVDLA_MIN_DEADLINE_NS)
		ns = NVDLA_MIN_DEADLINE_NS;
	return multiply(ns, patience);
}
