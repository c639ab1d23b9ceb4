// SPDX-License-Identifier: GPL-2.0
/*
 * PROGRAM_CREATE: the security boundary. Descriptors are copied, checked and
 * compiled in kernel memory and never looked at again in the user's.
 *
 * Control data are the part of a program that the device reads. They are
 * copied and checked in kernel memory, and end in a buffer that has no handle,
 * so nobody can map it: what was checked is what the device will find.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_program.h"
#include "nvdla_user.h"

static void nvdla_program_release(struct kref *ref)
{
	struct nvdla_kernel_program *program =
		container_of(ref, struct nvdla_kernel_program, ref);

	if (program->control)
		drm_gem_object_put(&program->control->base);
	kvfree(program->memory);
	nvdla_uncharge(program->user, NVDLA_RESOURCE_PROGRAM_BYTES,
		       program->charged);
	nvdla_user_put(program->user);
	kfree(program);
}

/**
 * nvdla_program_put() - drop a reference
 * @program: program
 */
void nvdla_program_put(struct nvdla_kernel_program *program)
{
	kref_put(&program->ref, nvdla_program_release);
}

/**
 * nvdla_program_get() - program by its id
 * @nfile: file that the id belongs to
 * @id: id
 *
 * Return: a reference, or NULL.
 */
struct nvdla_kernel_program *nvdla_program_get(struct nvdla_file *nfile, u32 id)
{
	struct nvdla_kernel_program *program;

	xa_lock(&nfile->programs);
	program = xa_load(&nfile->programs, id);
	if (program)
		kref_get(&program->ref);
	xa_unlock(&nfile->programs);
	return program;
}

void nvdla_program_close_all(struct nvdla_file *nfile)
{
	struct nvdla_kernel_program *program;
	unsigned long id;

	xa_for_each(&nfile->programs, id, program)
		nvdla_program_put(program);
	xa_destroy(&nfile->programs);
}

/* Copies one element as copy_struct_from_user() does for a whole struct. */
static int nvdla_copy_element(void *to, const struct drm_nvdla_array *array,
			      u32 index, size_t size)
{
	u64 from = array->pointer + (u64)index * array->stride;

	return copy_struct_from_user(to, size, u64_to_user_ptr(from),
				     array->stride);
}

static int nvdla_check_array(const struct drm_nvdla_array *array, u32 max,
			     size_t size)
{
	if (!array->count)
		return array->pointer || array->stride ? -EINVAL : 0;
	/* All structures are in their first version: none may be shorter. */
	if (array->stride < size || array->stride > PAGE_SIZE ||
	    array->stride % sizeof(u64))
		return -EINVAL;
	return array->count > max ? -E2BIG : 0;
}

/**
 * nvdla_copy_array() - elements out of user memory
 * @array: where they are
 * @max: greatest count
 * @size: bytes of an element as the kernel knows it
 *
 * Return: packed elements to kvfree(), NULL for none, or an ERR_PTR.
 */
void *nvdla_copy_array(const struct drm_nvdla_array *array, u32 max,
		       size_t size)
{
	void *elements;
	u32 i;
	int ret;

	ret = nvdla_check_array(array, max, size);
	if (ret)
		return ERR_PTR(ret);
	if (!array->count)
		return NULL;
	elements = kvmalloc_array(array->count, size, GFP_KERNEL_ACCOUNT);
	if (!elements)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < array->count && !ret; i++) {
		cond_resched();
		ret = fatal_signal_pending(current) ?
			      -EINTR :
			      nvdla_copy_element(elements + i * size, array, i,
						 size);
	}
	if (ret) {
		kvfree(elements);
		return ERR_PTR(ret);
	}
	return elements;
}

/**
 * nvdla_check_room() - check where an error would be reported
 * @user: pointer to a struct nvdla_error, or 0
 * @room: bytes there
 *
 * Return: 0, or -EINVAL or -E2BIG as the contract has it.
 */
int nvdla_check_room(u64 user, u32 room)
{
	if (!user != !room || room % sizeof(u64))
		return -EINVAL;
	return room > PAGE_SIZE ? -E2BIG : 0;
}

/**
 * nvdla_report() - report which rule was broken
 * @user: pointer to a struct nvdla_error, or 0
 * @room: bytes there; those that the kernel does not know become zero
 * @error: the error
 *
 * Return: -EINVAL, or -EFAULT when @user cannot be written.
 */
int nvdla_report(u64 user, u32 room, const struct nvdla_error *error)
{
	const u32 size = min_t(u32, room, sizeof(*error));

	if (copy_to_user(u64_to_user_ptr(user), error, size) ||
	    clear_user(u64_to_user_ptr(user + size), room - size))
		return -EFAULT;
	return -EINVAL;
}

/* Returns the memory of the control slot, if there is a right one. */
static u32 nvdla_control_memory(const struct nvdla_slot *slots, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (slots[i].access == NVDLA_SLOT_CONTROL &&
		    slots[i].memory == NVDLA_MEMORY_SRAM)
			return NVDLA_MEMORY_SRAM;
	}
	return NVDLA_MEMORY_DRAM;
}

static void *nvdla_program_copy_control(const struct drm_nvdla_array *array)
{
	if (!array->count)
		return array->pointer || array->stride ? ERR_PTR(-EINVAL) :
							 NULL;
	if (array->stride != 1)
		return ERR_PTR(-EINVAL);
	if (array->count > NVDLA_MAX_CONTROL_BYTES)
		return ERR_PTR(-E2BIG);
	return vmemdup_user(u64_to_user_ptr(array->pointer), array->count);
}

static int nvdla_program_place_control(struct nvdla_device *ndev,
				       struct nvdla_kernel_program *program,
				       const struct nvdla_program_desc *desc)
{
	struct nvdla_bo *bo;
	int cookie;

	if (!desc->control)
		return 0;
	/* The buffer loses its memory when the device goes. */
	if (!drm_dev_enter(&ndev->drm, &cookie))
		return -ENODEV;
	bo = nvdla_bo_create(ndev, desc->control_bytes,
			     nvdla_control_memory(desc->slots,
						  desc->num_slots), 0);
	if (!IS_ERR(bo)) {
		nvdla_bo_write(bo, desc->control, desc->control_bytes);
		program->control = bo;
	}
	drm_dev_exit(cookie);
	return PTR_ERR_OR_ZERO(bo);
}

/* Layers come one at a time: they are large, and checking can be stopped. */
static int nvdla_program_add_layers(struct nvdla_kernel_program *program,
				    const struct drm_nvdla_array *layers,
				    struct nvdla_error *error)
{
	struct nvdla_layer *layer = kmalloc(sizeof(*layer), GFP_KERNEL);
	int ret = 0;
	u32 i;

	if (!layer)
		return -ENOMEM;
	for (i = 0; i < layers->count && !ret; i++) {
		if (fatal_signal_pending(current)) {
			ret = -EINTR;
			break;
		}
		cond_resched();
		ret = nvdla_copy_element(layer, layers, i, sizeof(*layer));
		if (!ret && nvdla_program_add(&program->program, layer, error))
			ret = -EINVAL;
	}
	kfree(layer);
	return ret;
}

static int nvdla_program_charge(struct nvdla_kernel_program *program, u64 bytes)
{
	int ret = nvdla_charge(program->user, NVDLA_RESOURCE_PROGRAM_BYTES,
			       bytes);

	if (!ret)
		program->charged = bytes;
	return ret;
}

/*
 * Reads user memory, so the caller must not be in drm_dev_enter(). It needs
 * nothing of the device but what lasts as long as an open file.
 */
static int nvdla_program_compile(struct nvdla_device *ndev,
				 struct nvdla_kernel_program *program,
				 const struct drm_nvdla_program_create *args,
				 struct nvdla_error *error)
{
	struct nvdla_program_desc desc = {
		.num_layers = args->layers.count,
		.num_slots = args->slots.count,
		.num_luts = args->luts.count,
		.num_transfers = args->transfers.count,
		.control_bytes = args->control.count,
		.flags = args->flags & DRM_NVDLA_PROGRAM_STATS ?
				 NVDLA_PROGRAM_STATS : 0,
		.clock_khz = READ_ONCE(ndev->clock_khz),
	};
	void *slots, *luts = NULL, *transfers = NULL, *control = NULL;
	size_t bytes;
	int ret;

	ret = nvdla_check_array(&args->layers, NVDLA_MAX_LAYERS,
				sizeof(struct nvdla_layer));
	if (ret)
		return ret;
	slots = nvdla_copy_array(&args->slots, NVDLA_MAX_SLOTS,
				 sizeof(struct nvdla_slot));
	if (IS_ERR(slots))
		return PTR_ERR(slots);
	luts = nvdla_copy_array(&args->luts, NVDLA_MAX_LUTS,
				sizeof(struct nvdla_lut));
	if (IS_ERR(luts)) {
		ret = PTR_ERR(luts);
		luts = NULL;
		goto free;
	}
	transfers = nvdla_copy_array(&args->transfers, NVDLA_MAX_TRANSFERS,
				     sizeof(struct nvdla_transfer));
	if (IS_ERR(transfers)) {
		ret = PTR_ERR(transfers);
		transfers = NULL;
		goto free;
	}
	control = nvdla_program_copy_control(&args->control);
	if (IS_ERR(control)) {
		ret = PTR_ERR(control);
		control = NULL;
		goto free;
	}
	desc.slots = slots;
	desc.luts = luts;
	desc.transfers = transfers;
	desc.control = control;

	bytes = nvdla_program_bytes(&desc);
	if (bytes > NVDLA_PROGRAM_BYTES_MAX) {
		ret = -E2BIG;
		goto free;
	}
	/* 0 is a count out of limits, which begin reports in full. */
	if (bytes) {
		ret = nvdla_program_charge(program, bytes +
					   PAGE_ALIGN(desc.control_bytes));
		if (ret)
			goto free;
		program->memory = kvzalloc(bytes, GFP_KERNEL_ACCOUNT);
		if (!program->memory) {
			ret = -ENOMEM;
			goto free;
		}
	}
	ret = -EINVAL;
	if (nvdla_program_begin(&program->program, ndev->hw, &desc,
				program->memory, bytes, error))
		goto free;
	ret = nvdla_program_add_layers(program, &args->layers, error);
	if (!ret && nvdla_program_end(&program->program, error))
		ret = -EINVAL;
	/* Here and not at each start, where hw_lock is held. */
	if (!ret && nvdla_engine_check(&ndev->engine, &program->program)) {
		drm_err(&ndev->drm, "the engine refuses what was compiled\n");
		ret = -EIO;
	}
	if (!ret)
		ret = nvdla_program_place_control(ndev, program, &desc);

free:
	kvfree(control);
	kvfree(transfers);
	kvfree(luts);
	kvfree(slots);
	return ret;
}

int nvdla_ioctl_program_create(struct drm_device *drm, void *data,
			       struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(drm);
	struct nvdla_file *nfile = file->driver_priv;
	struct drm_nvdla_program_create *args = data;
	struct nvdla_kernel_program *program;
	struct nvdla_error error = {};
	int ret;

	if (args->program || args->pad ||
	    args->flags & ~DRM_NVDLA_PROGRAM_STATS)
		return -EINVAL;
	ret = nvdla_check_room(args->error, args->error_bytes);
	if (ret)
		return ret;
	program = kzalloc(sizeof(*program), GFP_KERNEL_ACCOUNT);
	if (!program)
		return -ENOMEM;
	kref_init(&program->ref);
	program->user = nvdla_user_get(nfile->client->user);
	program->serial = atomic64_inc_return(&ndev->program_serial);

	ret = nvdla_program_compile(ndev, program, args, &error);
	if (!ret)
		ret = xa_alloc(&nfile->programs, &args->program, program,
			       xa_limit_32b, GFP_KERNEL_ACCOUNT);
	if (ret)
		nvdla_program_put(program);
	if (ret == -EINVAL && error.rule)
		ret = nvdla_report(args->error, args->error_bytes, &error);
	return ret;
}

int nvdla_ioctl_program_destroy(struct drm_device *drm, void *data,
				struct drm_file *file)
{
	struct nvdla_file *nfile = file->driver_priv;
	struct drm_nvdla_program_destroy *args = data;
	struct nvdla_kernel_program *program;

	if (args->pad)
		return -EINVAL;
	program = xa_erase(&nfile->programs, args->program);
	if (!program)
		return -ENOENT;
	nvdla_program_put(program);
	return 0;
}
