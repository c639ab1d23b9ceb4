/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs: checked and copied once, immutable afterwards.
 */
#ifndef NVDLA_PROGRAM_H
#define NVDLA_PROGRAM_H

#include <linux/kref.h>
#include <linux/sizes.h>

#include "../firmware/compile/nvdla_compile.h"
#include "../uapi/drm/nvdla_accel.h"

struct nvdla_bo;
struct nvdla_file;
struct nvdla_user;

#define NVDLA_PROGRAM_BYTES_MAX	SZ_16M

/** struct nvdla_kernel_program - a program of user space */
struct nvdla_kernel_program {
	/** @ref: one for the file's table, one for each submission */
	struct kref ref;
	/** @serial: names the program to the engine, never reused */
	u64 serial;
	/** @program: what the compiler made */
	struct nvdla_program program;
	/** @user: whom @charged is charged to */
	struct nvdla_user *user;
	/** @charged: bytes of @memory and @control */
	u64 charged;
	/** @memory: that @program lives in */
	void *memory;
	/** @control: contents of the control slot, NULL without one */
	struct nvdla_bo *control;
};

struct nvdla_kernel_program *nvdla_program_get(struct nvdla_file *nfile,
					       u32 id);
void nvdla_program_put(struct nvdla_kernel_program *program);
void nvdla_program_close_all(struct nvdla_file *nfile);

void *nvdla_copy_array(const struct drm_nvdla_array *array, u32 max,
		       size_t size);
int nvdla_check_room(u64 user, u32 room);
int nvdla_report(u64 user, u32 room, const struct nvdla_error *error);

#endif /* NVDLA_PROGRAM_H */
