/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The driver shows a device by registers with their names, by files in debugfs,
 * by dumps of jobs that failed, and by trace points.
 */
#ifndef NVDLA_DEBUG_H
#define NVDLA_DEBUG_H

#include <linux/types.h>

struct drm_minor;
struct nvdla_device;
struct nvdla_job;
struct nvdla_submission;

/** struct nvdla_register - a register */
struct nvdla_register {
	/** @name: without that of its unit */
	const char *name;
	/** @offset: in the window of its unit */
	u16 offset;
	/** @unit: enum nvdla_unit */
	u8 unit;
	/** @grouped: there is one in each register group */
	bool grouped;
	/** @readable: and reading it changes nothing */
	bool readable;
};

/**
 * typedef nvdla_register_fn - takes a register that was read
 * @data: the caller's
 * @reg: register
 * @offset: from the start of the register space
 * @group: 0 or 1, 0 for a register of which there is one
 * @value: as read
 */
typedef void (*nvdla_register_fn)(void *data, const struct nvdla_register *reg,
				  u32 offset, u32 group, u32 value);

/* nvdla_register.c: all registers, for people and dumps */
const char *nvdla_register_unit_name(u32 unit);
u32 nvdla_register_count(const struct nvdla_device *ndev);
int nvdla_register_read_all(struct nvdla_device *ndev, nvdla_register_fn fn,
			    void *data);

/* nvdla_debugfs.c */
#ifdef NVDLA_HAVE_DEBUGFS_ADD_FILES
void nvdla_debugfs_init(struct nvdla_device *ndev);
#else
void nvdla_debugfs_init_minor(struct drm_minor *minor);
static inline void nvdla_debugfs_init(struct nvdla_device *ndev) {}
#endif

/*
 * nvdla_dump.c: dumps of jobs that failed; firmware/nvdla_dump_format.h has
 * their format
 */
int nvdla_dump_init(struct nvdla_device *ndev);
void nvdla_dump_fini(struct nvdla_device *ndev);
void nvdla_dump_take(struct nvdla_device *ndev,
		     struct nvdla_submission *submission);

/* nvdla_trace.c: between the driver and its trace points */
void nvdla_trace_layer(void *context, const struct nvdla_job *job, u32 layer);
void nvdla_trace_layer_end(void *context, const struct nvdla_job *job,
			   u32 layer, u64 start_ns, u64 end_ns);
void nvdla_trace_reset(const struct nvdla_device *ndev, int ret);

#endif /* NVDLA_DEBUG_H */
