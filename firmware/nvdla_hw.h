/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A configuration is what is built into NVDLA, chosen at run time by name,
 * compatible or PCI id; the registers only confirm the generation, because the
 * identification ROM of every second-generation build reads as nv_small's.
 */
#ifndef NVDLA_HW_H
#define NVDLA_HW_H

#include "types.h"
#include <drm/nvdla_layer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Features that are built; a set bit of nvdla_hw.features. */
#define NVDLA_HW_INT16		(1u << 0)
#define NVDLA_HW_FP16		(1u << 1)
#define NVDLA_HW_WINOGRAD	(1u << 2)
#define NVDLA_HW_BATCH		(1u << 3)
#define NVDLA_HW_COMPRESSION	(1u << 4)
#define NVDLA_HW_SRAM		(1u << 5)	/* secondary memory interface */
#define NVDLA_HW_BDMA		(1u << 6)
#define NVDLA_HW_RUBIK		(1u << 7)
#define NVDLA_HW_SDP_Y		(1u << 8)
#define NVDLA_HW_LUT		(1u << 9)	/* in SDP; CDP always has one */
#define NVDLA_HW_PIXEL_16	(1u << 10)	/* 16-bit and fp16 pixel formats */
/*
 * CDMA counts weight entries on a clock that is gated while it is idle, and
 * loses what the sequencer frees meanwhile. Not in logic that was mended or
 * whose clock override pin is high.
 */
#define NVDLA_HW_WEIGHT_GATING	(1u << 11)

/** struct nvdla_reg_write - one register write of an image */
struct nvdla_reg_write {
	/** @offset: byte offset from the start of the register space */
	u32 offset;
	/** @value: as written; address words hold 0 until they are bound */
	u32 value;
};

/**
 * struct nvdla_hw - one configuration, constant
 */
struct nvdla_hw {
	/** @name: "nv_full", "nv_small", ... */
	const char *name;
	/** @regmap: enum nvdla_regmap of nvdla_regs.h */
	u32 regmap;
	/** @features: NVDLA_HW_* */
	u32 features;
	/** @atom: memory atom in bytes */
	u32 atom;
	/** @atomic_c: channels of one multiply-accumulate step */
	u32 atomic_c;
	/** @atomic_k: int8 kernels of a kernel group; half in 16 bit */
	u32 atomic_k;
	/** @cbuf_banks: banks of the convolution buffer */
	u32 cbuf_banks;
	/** @cbuf_entries: entries of a bank */
	u32 cbuf_entries;
	/** @cbuf_entry_bytes: bytes of an entry */
	u32 cbuf_entry_bytes;
	/** @weight_align: WEIGHT_BYTES is a multiple of this, or never ends */
	u32 weight_align;
	/** @address_bits: width of the memory address */
	u32 address_bits;
	/** @bus_bytes: bytes a cycle of the primary memory interface */
	u32 bus_bytes;
	/** @burst: most beats of a request there */
	u32 burst;
	/** @sram_burst: and to the secondary memory */
	u32 sram_burst;
	/** @sdp_x_throughput: elements a cycle of SDP's operators X1 and X2 */
	u32 sdp_x_throughput;
	/** @sdp_throughput: elements a cycle of SDP's slowest built operator */
	u32 sdp_throughput;
	/** @pdp_throughput: elements a cycle */
	u32 pdp_throughput;
	/** @cdp_throughput: elements a cycle */
	u32 cdp_throughput;
	/**
	 * @revision: year of the published logic, 0 if nobody said; 2018 and
	 * 2019 of nv_small differ in the depth of the queues behind the read
	 * clients of SDP, PDP and CDP
	 */
	u32 revision;
};

/** nvdla_hw_count() - number of known configurations */
u32 nvdla_hw_count(void);
/** nvdla_hw_get() - configuration @index, NULL past the end */
const struct nvdla_hw *nvdla_hw_get(u32 index);
/** nvdla_hw_find() - configuration called @name, NULL if unknown */
const struct nvdla_hw *nvdla_hw_find(const char *name);
/**
 * nvdla_hw_interrupts() - bits of S_INTR_STATUS
 *
 * Those of units that @hw lacks cannot be set, by S_INTR_SET either. The logic
 * has them in S_INTR_MASK, where they store what is written and do nothing.
 */
u32 nvdla_hw_interrupts(const struct nvdla_hw *hw);
/**
 * nvdla_hw_counter() - unit and register of a counter
 * @counter: enum nvdla_counter, below NVDLA_COUNTER_COUNT
 * @unit: enum nvdla_unit
 * @reg: its offset; of BDMA that of group 0
 */
void nvdla_hw_counter(u32 counter, u32 *unit, u32 *reg);
/**
 * nvdla_hw_counts() - what a counter of @hw is worth, an enum nvdla_counts
 * @counter: enum nvdla_counter, below NVDLA_COUNTER_COUNT
 */
u32 nvdla_hw_counts(const struct nvdla_hw *hw, u32 counter);

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_HW_H */
