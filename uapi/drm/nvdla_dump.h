/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * What the driver leaves in /sys/class/devcoredump when a job fails: the
 * registers as they were found, and the job with its memory, so that it can be
 * run again elsewhere.
 *
 * A header, then sections: a struct drm_nvdla_dump_section each, its payload,
 * and zeros up to a multiple of 8 bytes. Numbers are in the byte order of the
 * kernel that wrote them; the magic number shows which that was. A reader skips
 * sections whose type it does not know. Elements may grow at their end: a
 * reader takes the bytes that it knows of each and steps by the stride.
 */
#ifndef DRM_NVDLA_DUMP_H
#define DRM_NVDLA_DUMP_H

#include "nvdla_layer.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* "NVDLADMP" */
#define DRM_NVDLA_DUMP_MAGIC	0x504d44414c44564eull
/* Only what an older reader would misunderstand makes a new version. */
#define DRM_NVDLA_DUMP_VERSION	1

/* drm_nvdla_dump_header.flags */
/* Counters were enabled: the program has statistics. */
#define DRM_NVDLA_DUMP_STATS		(1u << 0)
/* As DRM_NVDLA_DEVICE_WEIGHT_GATING: the driver worked around it. */
#define DRM_NVDLA_DUMP_WEIGHT_GATING	(1u << 1)

/** struct drm_nvdla_dump_header - the start of a dump */
struct drm_nvdla_dump_header {
	/** @magic: DRM_NVDLA_DUMP_MAGIC */
	__u64 magic;
	/** @version: DRM_NVDLA_DUMP_VERSION */
	__u32 version;
	/** @header_bytes: of this structure, where the first section starts */
	__u32 header_bytes;
	/** @bytes: of the whole dump */
	__u64 bytes;
	/** @time_ns: when the job was found, on CLOCK_MONOTONIC */
	__u64 time_ns;
	/** @program: serial number of the program, as trace points call it */
	__u64 program;
	/**
	 * @result: how the job ended; 2: a layer missed its deadline, 3: the
	 * device answered all ones (its registers are not in the dump), 5: a
	 * layer would have written registers of none of its units
	 */
	__u32 result;
	/** @layer: which layer */
	__u32 layer;
	/** @num_sections: sections that follow */
	__u32 num_sections;
	/** @clock_khz: core clock, 0 if not known */
	__u32 clock_khz;
	/** @flags: DRM_NVDLA_DUMP_* */
	__u32 flags;
	/** @pad: zero */
	__u32 pad;
	/** @configuration: "nv_full", "nv_small", ..., ends with a zero */
	char configuration[32];
	/** @driver: name and version of the driver, ends with a zero */
	char driver[32];
	/** @release: of the kernel, ends with a zero */
	char release[64];
};

/** enum drm_nvdla_dump_type - what is in a section */
enum drm_nvdla_dump_type {
	/* struct drm_nvdla_dump_register */
	DRM_NVDLA_DUMP_REGISTERS = 1,
	/* struct drm_nvdla_dump_layer, one for each layer of the program */
	DRM_NVDLA_DUMP_LAYERS = 2,
	/* struct drm_nvdla_dump_write */
	DRM_NVDLA_DUMP_WRITES = 3,
	/* struct drm_nvdla_dump_access */
	DRM_NVDLA_DUMP_ACCESSES = 4,
	/* struct drm_nvdla_dump_slot */
	DRM_NVDLA_DUMP_SLOTS = 5,
	/* struct nvdla_transfer */
	DRM_NVDLA_DUMP_TRANSFERS = 6,
	/* struct nvdla_lut */
	DRM_NVDLA_DUMP_LUTS = 7,
	/*
	 * One struct drm_nvdla_dump_buffer and as many of the buffer's bytes as
	 * there was room for; a section for each buffer
	 */
	DRM_NVDLA_DUMP_BUFFER = 8,
};

/** struct drm_nvdla_dump_section - the start of a section */
struct drm_nvdla_dump_section {
	/** @type: enum drm_nvdla_dump_type */
	__u32 type;
	/** @stride: bytes from element to element; of a BUFFER's structure */
	__u32 stride;
	/** @bytes: of the payload, without the zeros after it */
	__u64 bytes;
};

/** struct drm_nvdla_dump_register - a register as it was found */
struct drm_nvdla_dump_register {
	/** @offset: bytes from the start of the register space */
	__u32 offset;
	/** @group: 0 or 1; 0 for a register of which there is one */
	__u32 group;
	/** @value: as read */
	__u32 value;
	/** @pad: zero */
	__u32 pad;
};

/** enum drm_nvdla_dump_state - how far a layer got */
enum drm_nvdla_dump_state {
	DRM_NVDLA_DUMP_WAITING = 0,	/* nothing of it was written */
	DRM_NVDLA_DUMP_PROGRAMMED = 1,	/* its registers were written */
	DRM_NVDLA_DUMP_ENABLED = 2,	/* it was running, or hung */
	DRM_NVDLA_DUMP_ENDED = 3,
};

/** struct drm_nvdla_dump_layer - a layer of the program */
struct drm_nvdla_dump_layer {
	/** @kind: enum nvdla_layer_kind */
	__u32 kind;
	/** @state: enum drm_nvdla_dump_state */
	__u32 state;
	/** @units: that it takes a register group of, a bit for each */
	__u32 units;
	/** @groups: of @units, those where it took group 1; 0 unless in use */
	__u32 groups;
	/** @lut: index of the look-up table plus one, 0 without */
	__u32 lut;
	/** @first_write: first of its elements in WRITES */
	__u32 first_write;
	/** @num_writes: D_ registers without D_OP_ENABLE */
	__u32 num_writes;
	/** @first_access: first of its elements in ACCESSES */
	__u32 first_access;
	/** @num_accesses: what it may touch */
	__u32 num_accesses;
	/** @first_transfer: BDMA: first of its elements in TRANSFERS */
	__u32 first_transfer;
	/** @num_transfers: BDMA */
	__u32 num_transfers;
	/** @pad: zero */
	__u32 pad;
};

/** struct drm_nvdla_dump_write - a register write, addresses put in */
struct drm_nvdla_dump_write {
	/** @offset: bytes from the start of the register space */
	__u32 offset;
	/** @value: as written */
	__u32 value;
};

/** struct drm_nvdla_dump_access - bytes that one DMA client may touch */
struct drm_nvdla_dump_access {
	/** @address: of the first byte */
	__u64 address;
	/** @bytes: from there on */
	__u64 bytes;
	/** @memory: enum nvdla_memory */
	__u32 memory;
	/** @dma: enum nvdla_dma */
	__u32 dma;
	/** @write: 1 if it writes */
	__u32 write;
	/** @pad: zero */
	__u32 pad;
};

/** struct drm_nvdla_dump_slot - what a slot of the program was bound to */
struct drm_nvdla_dump_slot {
	/** @address: of the first byte */
	__u64 address;
	/** @size: bytes that the program may touch */
	__u64 size;
	/** @memory: enum nvdla_memory */
	__u32 memory;
	/** @access: NVDLA_SLOT_* */
	__u32 access;
};

/** struct drm_nvdla_dump_buffer - a buffer of the job */
struct drm_nvdla_dump_buffer {
	/** @address: of the first byte */
	__u64 address;
	/** @size: bytes of the buffer, fewer may follow */
	__u64 size;
	/** @memory: enum nvdla_memory */
	__u32 memory;
	/** @pad: zero */
	__u32 pad;
};

#if defined(__cplusplus)
}
#endif

#endif /* DRM_NVDLA_DUMP_H */
