/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * User-space API of the NVDLA driver. The layers themselves are described by
 * structures of nvdla_layer.h, which needs no DRM header.
 *
 * DOC: Rules
 *
 * - Fixed-width types, naturally aligned, explicit padding. Padding and what
 *   is not used must be zero; unknown flags are refused with -EINVAL.
 * - New fields come at the end; zero in them means the old behaviour.
 * - An array is {pointer, count, stride}: the stride is the size of an element
 *   as user space knows it. It may be larger than the kernel's if the rest is
 *   zero, and smaller down to the size that this version introduced.
 * - What the kernel writes grows in the same way: user space says how much room
 *   there is. A report of an error (error, error_bytes) is written as far as it
 *   fits, and the rest of the room is zeroed. Room of 0 with a pointer, a
 *   pointer of 0 with room, and room that is no multiple of 8 is -EINVAL; more
 *   than a page is -E2BIG. Both are refused before anything is done. Statistics
 *   of layers have a stride, which is at least the size that version 1.0 of
 *   struct nvdla_layer_stats has and a multiple of 8 (-EINVAL); bytes that
 *   the kernel does not know are left alone.
 * - Handles, contexts and programs belong to the file and die with it.
 * - A program is checked and copied when it is created and never read from
 *   user memory again. SUBMIT checks buffers against the program's slots.
 * - The check may become stricter. A later kernel may refuse a program that an
 *   earlier one accepted, where it turns out that the program cannot be proven
 *   to end, or to stay within its memory. No other program is refused that
 *   was accepted before.
 * - Times are absolute, on CLOCK_MONOTONIC, in nanoseconds.
 * - Of the DRM core's ioctls the node takes VERSION, GET_CAP, GEM_CLOSE, PRIME
 *   and sync objects; any other fails with -EINVAL, as an unknown number does.
 *
 * DOC: Limits of a user
 *
 * Memory of the kernel, and buffers in ordinary memory, are charged to the
 * memory control group of the process. What no control group counts the driver
 * charges to the user who opened the file, whatever process uses it: contexts,
 * until their last job has ended; jobs, until they have ended; programs and
 * memory of the device's own (a carve-out, SRAM), until nothing holds them any
 * more. It charges the owner of each user namespace above that user, too, so
 * more namespaces give nobody more. What would be more than a limit allows is
 * refused with -EDQUOT. The limits are parameters of the module (user_contexts,
 * user_jobs, user_program_mib, user_region_mib) and no part of this interface.
 *
 * DOC: Sharing
 *
 * Buffers are exported and imported with DRM_IOCTL_PRIME_HANDLE_TO_FD and
 * DRM_IOCTL_PRIME_FD_TO_HANDLE. One in SRAM or in memory reserved for the
 * device cannot be exported (-EOPNOTSUPP). What is imported has to be one range
 * for the device (-EINVAL), no larger than a buffer may be (-E2BIG). Jobs wait
 * for the fences of a buffer and add theirs, whoever uses it.
 *
 * DOC: Fence errors
 *
 * -ETIME	a layer missed its deadline; the context is guilty
 * -ECANCELED	the context was dead, or its file closed, before the job started;
 *		the job was stopped as its file closed; or it was reset with the
 *		device
 * -ENODEV	the device is gone or wedged
 *
 * DOC: Contexts
 *
 * Jobs of one context run in the order of their submission, and its fences
 * signal in that order: a job that is cancelled ends behind the one that runs.
 * A fence signals after the device has stopped touching the job's buffers, also
 * where a layer hung. A context whose job hung is guilty: everything that waits
 * in it ends with -ECANCELED and nothing more can be submitted; make a new one.
 * Other contexts go on.
 *
 * DOC: Sharing time
 *
 * Users share the time of the device, the contexts of a user share its part. A
 * user is the user id of the process that opened the file, in the initial user
 * namespace; of a process in another user namespace it is the id, there, of who
 * owns that namespace. Where that is root, the control group of the process
 * tells users apart.
 *
 * A turn is one layer (layers tied by what the convolution buffer keeps count as
 * one), or shorter layers for 5 ms together; a layer enabled ahead belongs to
 * the turn. A user who has had no more than its share of the last second starts
 * its next layer after at most one turn of each other user that has work, plus
 * 10 ms, however many contexts, processes and jobs anyone has, creates or
 * destroys.
 */
#ifndef NVDLA_ACCEL_H
#define NVDLA_ACCEL_H

#if defined(__KERNEL__)
#include <drm/drm.h>
#else
#include "drm.h"
#endif
#include "nvdla_layer.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_NVDLA_QUERY			0x00
#define DRM_NVDLA_CONTEXT_CREATE	0x01
#define DRM_NVDLA_CONTEXT_DESTROY	0x02
#define DRM_NVDLA_CONTEXT_QUERY		0x03
#define DRM_NVDLA_BO_CREATE		0x04
#define DRM_NVDLA_BO_MMAP_OFFSET	0x05
#define DRM_NVDLA_BO_SYNC		0x06
#define DRM_NVDLA_BO_WAIT		0x07
#define DRM_NVDLA_PROGRAM_CREATE	0x08
#define DRM_NVDLA_PROGRAM_DESTROY	0x09
#define DRM_NVDLA_SUBMIT		0x0a

/** struct drm_nvdla_array - elements in user memory */
struct drm_nvdla_array {
	/** @pointer: to the first element; zero if @count is */
	__u64 pointer;
	/** @count: of elements */
	__u32 count;
	/** @stride: bytes from element to element */
	__u32 stride;
};

/** enum drm_nvdla_query_type - what to ask for */
enum drm_nvdla_query_type {
	/** @DRM_NVDLA_QUERY_DEVICE: struct drm_nvdla_device_info */
	DRM_NVDLA_QUERY_DEVICE = 0,
	/** @DRM_NVDLA_QUERY_LIMITS: struct drm_nvdla_limits */
	DRM_NVDLA_QUERY_LIMITS = 1,
};

/** struct drm_nvdla_device_info - the configuration */
struct drm_nvdla_device_info {
	/** @name: "nv_full", "nv_small", ...; NUL terminated */
	__u8 name[32];
	/** @generation: 1 nv_full, 2 the nv_small family */
	__u32 generation;
	/** @atom_bytes: memory atom */
	__u32 atom_bytes;
	/** @clock_khz: of the core; 0 if not known */
	__u32 clock_khz;
	/** @flags: DRM_NVDLA_DEVICE_* */
	__u32 flags;
};

/* Caches need DRM_NVDLA_BO_SYNC around accesses of the CPU. */
#define DRM_NVDLA_DEVICE_NONCOHERENT	(1u << 0)
/* After a hang the device can be reset; otherwise it would be wedged. */
#define DRM_NVDLA_DEVICE_CAN_RESET	(1u << 1)
/* DRM_NVDLA_BO_CREATE with NVDLA_MEMORY_SRAM works. */
#define DRM_NVDLA_DEVICE_SRAM		(1u << 2)
/*
 * The device loses weights that are freed at the end of a convolution, so all
 * weights of a layer have to fit the banks (NVDLA_RULE_RESIDENT_WEIGHTS).
 */
#define DRM_NVDLA_DEVICE_WEIGHT_GATING	(1u << 3)

/** struct drm_nvdla_limits - bounds of programs and submissions */
struct drm_nvdla_limits {
	/** @layers: in a program */
	__u32 layers;
	/** @slots: in a program */
	__u32 slots;
	/** @luts: in a program */
	__u32 luts;
	/** @transfers: in a program */
	__u32 transfers;
	/** @waits: of a layer */
	__u32 waits;
	/** @syncs: in a submission */
	__u32 syncs;
	/** @program_bytes: of one program in the kernel */
	__u64 program_bytes;
	/** @bo_bytes: of one buffer */
	__u64 bo_bytes;
	/** @control_bytes: of the control data of a program */
	__u64 control_bytes;
};

/** struct drm_nvdla_query - ask for a structure */
struct drm_nvdla_query {
	/** @pointer: where to write; 0 asks for the size only */
	__u64 pointer;
	/**
	 * @size: in: room at @pointer, -E2BIG beyond a page; out: size of the
	 * structure
	 */
	__u32 size;
	/** @type: enum drm_nvdla_query_type */
	__u32 type;
};

/** struct drm_nvdla_context_create - a queue of its own */
struct drm_nvdla_context_create {
	/** @flags: zero */
	__u32 flags;
	/** @context: out: id, never 0 */
	__u32 context;
};

/**
 * struct drm_nvdla_context_destroy - no more jobs
 *
 * Jobs that were submitted still run; the context's charge lasts until the last
 * has ended. Closing the file cancels what has not begun (-ECANCELED) and stops
 * what runs at the next layer.
 */
struct drm_nvdla_context_destroy {
	/** @context: id */
	__u32 context;
	/** @pad: zero */
	__u32 pad;
};

/** enum drm_nvdla_context_state - can it be used? */
enum drm_nvdla_context_state {
	/** @DRM_NVDLA_CONTEXT_GOOD: yes */
	DRM_NVDLA_CONTEXT_GOOD = 0,
	/** @DRM_NVDLA_CONTEXT_GUILTY: no, one of its jobs hung */
	DRM_NVDLA_CONTEXT_GUILTY = 1,
	/**
	 * @DRM_NVDLA_CONTEXT_INNOCENT: yes; the device was reset for the sake
	 * of another context since it was created
	 */
	DRM_NVDLA_CONTEXT_INNOCENT = 2,
};

/** struct drm_nvdla_context_query - what became of a context */
struct drm_nvdla_context_query {
	/** @context: id */
	__u32 context;
	/** @state: out: enum drm_nvdla_context_state */
	__u32 state;
	/** @resets: out: resets of the device since it was created */
	__u32 resets;
	/**
	 * @layer: out: of a guilty context, the layer that hung, as an index in
	 * the program of the one job whose fence has -ETIME; else 0
	 */
	__u32 layer;
};

/* The CPU maps the buffer write-combined instead of cached; not in SRAM. */
#define DRM_NVDLA_BO_WRITE_COMBINED	(1u << 0)

/** struct drm_nvdla_bo_create - zeroed memory that the device reaches */
struct drm_nvdla_bo_create {
	/** @size: bytes, not 0; rounded up to pages */
	__u64 size;
	/** @memory: enum nvdla_memory */
	__u32 memory;
	/** @flags: DRM_NVDLA_BO_* */
	__u32 flags;
	/** @handle: out: GEM handle */
	__u32 handle;
	/** @pad: zero */
	__u32 pad;
};

/** struct drm_nvdla_bo_mmap_offset - what to pass to mmap() */
struct drm_nvdla_bo_mmap_offset {
	/** @handle: GEM handle */
	__u32 handle;
	/** @pad: zero */
	__u32 pad;
	/** @offset: out: file offset for mmap() */
	__u64 offset;
};

/* CPU writes become visible to the device. */
#define DRM_NVDLA_BO_SYNC_TO_DEVICE	(1u << 0)
/* Device writes become visible to the CPU. */
#define DRM_NVDLA_BO_SYNC_FROM_DEVICE	(1u << 1)

/**
 * struct drm_nvdla_bo_sync - cache maintenance; nothing when coherent
 *
 * The caches of an imported buffer are its exporter's: DMA_BUF_IOCTL_SYNC is
 * for it, and here it is refused with -EOPNOTSUPP.
 */
struct drm_nvdla_bo_sync {
	/** @handle: GEM handle */
	__u32 handle;
	/** @flags: exactly one DRM_NVDLA_BO_SYNC_* */
	__u32 flags;
	/** @offset: first byte */
	__u64 offset;
	/** @size: bytes, not 0 */
	__u64 size;
};

/* Wait for writers only: the CPU is going to read. */
#define DRM_NVDLA_BO_WAIT_READ		(1u << 0)

/** struct drm_nvdla_bo_wait - until no job uses a buffer */
struct drm_nvdla_bo_wait {
	/** @handle: GEM handle */
	__u32 handle;
	/** @flags: DRM_NVDLA_BO_WAIT_* */
	__u32 flags;
	/** @timeout_ns: absolute; past times just look. -ETIMEDOUT if busy */
	__s64 timeout_ns;
};

/* Counters are enabled and read for every layer; SUBMIT names their buffer. */
#define DRM_NVDLA_PROGRAM_STATS		(1u << 0)

/**
 * struct drm_nvdla_program_create - check and keep a program
 *
 * When a rule is broken the ioctl fails with -EINVAL and reports which in
 * @error; other errors (-EFAULT, -ENOMEM, -E2BIG for a size beyond the limit,
 * -EDQUOT, -EINTR) leave it untouched.
 */
struct drm_nvdla_program_create {
	/** @layers: of struct nvdla_layer */
	struct drm_nvdla_array layers;
	/** @slots: of struct nvdla_slot */
	struct drm_nvdla_array slots;
	/** @luts: of struct nvdla_lut */
	struct drm_nvdla_array luts;
	/** @transfers: of struct nvdla_transfer */
	struct drm_nvdla_array transfers;
	/**
	 * @control: contents of the slot with NVDLA_SLOT_CONTROL: bytes, of
	 * stride 1
	 */
	struct drm_nvdla_array control;
	/** @error: pointer to a struct nvdla_error, or 0 */
	__u64 error;
	/** @error_bytes: room at @error; 0 without it, see "Rules" */
	__u32 error_bytes;
	/** @flags: DRM_NVDLA_PROGRAM_* */
	__u32 flags;
	/** @program: in: 0; out: id, never 0 */
	__u32 program;
	/** @pad: zero */
	__u32 pad;
};

/** struct drm_nvdla_program_destroy - jobs under way still end */
struct drm_nvdla_program_destroy {
	/** @program: id */
	__u32 program;
	/** @pad: zero */
	__u32 pad;
};

/** struct drm_nvdla_binding - the buffer of a slot */
struct drm_nvdla_binding {
	/** @offset: of the slot's first byte in the buffer */
	__u64 offset;
	/** @handle: GEM handle; 0, as all else, for the control slot */
	__u32 handle;
	/** @pad: zero */
	__u32 pad;
};

/* Wait for the sync object's point before the job starts. */
#define DRM_NVDLA_SYNC_WAIT		(1u << 0)
/* Signal the sync object's point when the job has ended. */
#define DRM_NVDLA_SYNC_SIGNAL		(1u << 1)

/** struct drm_nvdla_sync - a DRM sync object */
struct drm_nvdla_sync {
	/** @handle: of the sync object */
	__u32 handle;
	/** @flags: exactly one DRM_NVDLA_SYNC_* */
	__u32 flags;
	/** @point: of a timeline; 0: binary */
	__u64 point;
};

/* Syncs in one submission. */
#define DRM_NVDLA_MAX_SYNCS		64

/** struct drm_nvdla_submit - run a program */
struct drm_nvdla_submit {
	/** @bindings: of struct drm_nvdla_binding, one per slot in order */
	struct drm_nvdla_array bindings;
	/** @syncs: of struct drm_nvdla_sync */
	struct drm_nvdla_array syncs;
	/** @error: pointer to a struct nvdla_error for bindings, or 0 */
	__u64 error;
	/**
	 * @stats_offset: where in @stats_handle the struct nvdla_layer_stats
	 * of the first layer is written, multiple of 8
	 */
	__u64 stats_offset;
	/**
	 * @stats_handle: GEM handle of a buffer in DRAM, not imported, if, and
	 * only if, the program has DRM_NVDLA_PROGRAM_STATS; else 0. The CPU
	 * writes them: where it has caches that the device does not see, the
	 * device should write nowhere near.
	 */
	__u32 stats_handle;
	/**
	 * @stats_stride: bytes from the statistics of a layer to those of the
	 * next, see "Rules"; 0 without @stats_handle
	 */
	__u32 stats_stride;
	/** @error_bytes: room at @error; 0 without it, see "Rules" */
	__u32 error_bytes;
	/** @context: id */
	__u32 context;
	/** @program: id */
	__u32 program;
	/** @flags: zero */
	__u32 flags;
};

#define DRM_IOCTL_NVDLA_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_QUERY, \
		 struct drm_nvdla_query)
#define DRM_IOCTL_NVDLA_CONTEXT_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_CONTEXT_CREATE, \
		 struct drm_nvdla_context_create)
#define DRM_IOCTL_NVDLA_CONTEXT_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NVDLA_CONTEXT_DESTROY, \
		struct drm_nvdla_context_destroy)
#define DRM_IOCTL_NVDLA_CONTEXT_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_CONTEXT_QUERY, \
		 struct drm_nvdla_context_query)
#define DRM_IOCTL_NVDLA_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_BO_CREATE, \
		 struct drm_nvdla_bo_create)
#define DRM_IOCTL_NVDLA_BO_MMAP_OFFSET \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_BO_MMAP_OFFSET, \
		 struct drm_nvdla_bo_mmap_offset)
#define DRM_IOCTL_NVDLA_BO_SYNC \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NVDLA_BO_SYNC, \
		struct drm_nvdla_bo_sync)
#define DRM_IOCTL_NVDLA_BO_WAIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NVDLA_BO_WAIT, \
		struct drm_nvdla_bo_wait)
#define DRM_IOCTL_NVDLA_PROGRAM_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NVDLA_PROGRAM_CREATE, \
		 struct drm_nvdla_program_create)
#define DRM_IOCTL_NVDLA_PROGRAM_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NVDLA_PROGRAM_DESTROY, \
		struct drm_nvdla_program_destroy)
#define DRM_IOCTL_NVDLA_SUBMIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NVDLA_SUBMIT, \
		struct drm_nvdla_submit)

#if defined(__cplusplus)
}
#endif

#endif /* NVDLA_ACCEL_H */
