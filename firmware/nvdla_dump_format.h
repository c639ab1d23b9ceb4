/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The driver leaves this in /sys/class/devcoredump when a job fails: the
 * registers as they were found, and the job with its memory, so that it can be
 * run again elsewhere.
 *
 * A header, then sections: a struct nvdla_dump_section each, its payload,
 * and zeros up to a multiple of 8 bytes. Numbers are in the byte order of the
 * kernel that wrote them; the magic number shows which that was. A reader skips
 * sections whose type it does not know. Elements may grow at their end: a
 * reader takes the bytes that it knows of each and steps by the stride.
 */
#ifndef NVDLA_DUMP_FORMAT_H
#define NVDLA_DUMP_FORMAT_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* "NVDLADMP" */
#define NVDLA_DUMP_MAGIC	0x504d44414c44564eull
/* Only what an older reader would misunderstand makes a new version. */
#define NVDLA_DUMP_VERSION	1

/* nvdla_dump_header.flags */
/* Counters were enabled: the program has statistics. */
#define NVDLA_DUMP_STATS		(1u << 0)
/* DRM_NVDLA_DEVICE_WEIGHT_GATING was set: the driver worked around it. */
#define NVDLA_DUMP_WEIGHT_GATING	(1u << 1)

/** struct nvdla_dump_header - the start of a dump */
struct nvdla_dump_header {
	/** @magic: NVDLA_DUMP_MAGIC */
	u64 magic;
	/** @version: NVDLA_DUMP_VERSION */
	u32 version;
	/** @header_bytes: of this structure, where the first section starts */
	u32 header_bytes;
	/** @bytes: of the whole dump */
	u64 bytes;
	/** @time_ns: when the job was found, on CLOCK_MONOTONIC */
	u64 time_ns;
	/** @program: serial number of the program, as trace points call it */
	u64 program;
	/**
	 * @result: how the job ended; 2: a layer missed its deadline, 3: the
	 * device answered all ones (its registers are not in the dump), 5: a
	 * layer would have written registers of none of its units
	 */
	u32 result;
	/** @layer: which layer */
	u32 layer;
	/** @num_sections: sections that follow */
	u32 num_sections;
	/** @clock_khz: core clock, 0 if not known */
	u32 clock_khz;
	/** @flags: NVDLA_DUMP_* */
	u32 flags;
	/** @pad: zero */
	u32 pad;
	/** @configuration: "nv_full", "nv_small", ..., ends with a zero */
	char configuration[32];
	/** @driver: name and version of the driver, ends with a zero */
	char driver[32];
	/** @release: of the kernel, ends with a zero */
	char release[64];
};

/** enum nvdla_dump_type - what is in a section */
enum nvdla_dump_type {
	/* struct nvdla_dump_register */
	NVDLA_DUMP_REGISTERS = 1,
	/* struct nvdla_dump_layer, one for each layer of the program */
	NVDLA_DUMP_LAYERS = 2,
	/* struct nvdla_dump_write */
	NVDLA_DUMP_WRITES = 3,
	/* struct nvdla_dump_access */
	NVDLA_DUMP_ACCESSES = 4,
	/* struct nvdla_dump_slot */
	NVDLA_DUMP_SLOTS = 5,
	/* struct nvdla_transfer */
	NVDLA_DUMP_TRANSFERS = 6,
	/* struct nvdla_lut */
	NVDLA_DUMP_LUTS = 7,
	/*
	 * One struct nvdla_dump_buffer and as many of the buffer's bytes as
	 * there was room for; a section for each buffer
	 */
	NVDLA_DUMP_BUFFER = 8,
};

/** struct nvdla_dump_section - the start of a section */
struct nvdla_dump_section {
	/** @type: enum nvdla_dump_type */
	u32 type;
	/** @stride: bytes from element to element; of a BUFFER's structure */
	u32 stride;
	/** @bytes: of the payload, without the zeros after it */
	u64 bytes;
};

/** struct nvdla_dump_register - a register as it was found */
struct nvdla_dump_register {
	/** @offset: bytes from the start of the register space */
	u32 offset;
	/** @group: 0 or 1; 0 for a register of which there is one */
	u32 group;
	/** @value: as read */
	u32 value;
	/** @pad: zero */
	u32 pad;
};

/** enum nvdla_dump_state - how far a layer got */
enum nvdla_dump_state {
	NVDLA_DUMP_WAITING = 0,	/* nothing of it was written */
	NVDLA_DUMP_PROGRAMMED = 1,	/* its registers were written */
	NVDLA_DUMP_ENABLED = 2,	/* it was running, or hung */
	NVDLA_DUMP_ENDED = 3,
};

/** struct nvdla_dump_layer - a layer of the program */
struct nvdla_dump_layer {
	/** @kind: enum nvdla_layer_kind */
	u32 kind;
	/** @state: enum nvdla_dump_state */
	u32 state;
	/** @units: that it takes a register group of, a bit for each */
	u32 units;
	/** @groups: of @units, those where it took group 1; 0 unless in use */
	u32 groups;
	/** @lut: index of the look-up table plus one, 0 without */
	u32 lut;
	/** @first_write: first of its elements in WRITES */
	u32 first_write;
	/** @num_writes: D_ registers without D_OP_ENABLE */
	u32 num_writes;
	/** @first_access: first of its elements in ACCESSES */
	u32 first_access;
	/** @num_accesses: what it may touch */
	u32 num_accesses;
	/** @first_transfer: BDMA: first of its elements in TRANSFERS */
	u32 first_transfer;
	/** @num_transfers: BDMA */
	u32 num_transfers;
	/** @pad: zero */
	u32 pad;
};

/** struct nvdla_dump_write - a register write, addresses put in */
struct nvdla_dump_write {
	/** @offset: bytes from the start of the register space */
	u32 offset;
	/** @value: as written */
	u32 value;
};

/** struct nvdla_dump_access - bytes that one DMA client may touch */
struct nvdla_dump_access {
	/** @address: of the first byte */
	u64 address;
	/** @bytes: from there on */
	u64 bytes;
	/** @memory: enum nvdla_memory */
	u32 memory;
	/** @dma: enum nvdla_dma */
	u32 dma;
	/** @write: 1 if it writes */
	u32 write;
	/** @pad: zero */
	u32 pad;
};

/** struct nvdla_dump_slot - what a slot of the program was bound to */
struct nvdla_dump_slot {
	/** @address: of the first byte */
	u64 address;
	/** @size: bytes that the program may touch */
	u64 size;
	/** @memory: enum nvdla_memory */
	u32 memory;
	/** @access: NVDLA_SLOT_* */
	u32 access;
};

/** struct nvdla_dump_buffer - a buffer of the job */
struct nvdla_dump_buffer {
	/** @address: of the first byte */
	u64 address;
	/** @size: bytes of the buffer, fewer may follow */
	u64 size;
	/** @memory: enum nvdla_memory */
	u32 memory;
	/** @pad: zero */
	u32 pad;
};

#if defined(__cplusplus)
}
#endif

#endif /* NVDLA_DUMP_FORMAT_H */
