// SPDX-License-Identifier: GPL-2.0
/*
 * The DRM driver: files, which ioctls they take, and QUERY.
 *
 * Where the kernel has accel nodes the device is /dev/accel/accelN, elsewhere
 * a render node.
 */
#include <linux/module.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

#include "nvdla_bus.h"
#include "nvdla_compat.h"
#include "nvdla_context.h"
#include "nvdla_debug.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_program.h"
#include "nvdla_user.h"

static int nvdla_open(struct drm_device *drm, struct drm_file *file)
{
	struct nvdla_file *nfile = kzalloc(sizeof(*nfile), GFP_KERNEL_ACCOUNT);

	if (!nfile)
		return -ENOMEM;
	nfile->client = nvdla_client_create(to_nvdla_device(drm));
	if (!nfile->client) {
		kfree(nfile);
		return -ENOMEM;
	}
	xa_init_flags(&nfile->contexts, XA_FLAGS_ALLOC1);
	xa_init_flags(&nfile->programs, XA_FLAGS_ALLOC1);
	file->driver_priv = nfile;
	return 0;
}

static void nvdla_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct nvdla_file *nfile = file->driver_priv;

	nvdla_context_close_all(nfile);
	nvdla_program_close_all(nfile);
	nvdla_client_put(nfile->client);
	kfree(nfile);
}

/* The structure that QUERY answers with. */
union nvdla_answer {
	struct drm_nvdla_device_info device;
	struct drm_nvdla_limits limits;
};

static void nvdla_fill_device_info(struct nvdla_device *ndev,
				   struct drm_nvdla_device_info *info)
{
	strscpy((char *)info->name, ndev->hw->name, sizeof(info->name));
	info->generation = ndev->hw->regmap == NVDLA_REGMAP_NV_FULL ? 1 : 2;
	info->atom_bytes = ndev->hw->atom;
	info->clock_khz = ndev->clock_khz;
	if (!nvdla_gem_coherent(ndev))
		info->flags |= DRM_NVDLA_DEVICE_NONCOHERENT;
	if (ndev->bus_ops->can_reset(ndev->drm.dev))
		info->flags |= DRM_NVDLA_DEVICE_CAN_RESET;
	if (ndev->sram.pool)
		info->flags |= DRM_NVDLA_DEVICE_SRAM;
	if (ndev->hw->features & NVDLA_HW_WEIGHT_GATING)
		info->flags |= DRM_NVDLA_DEVICE_WEIGHT_GATING;
}

static void nvdla_fill_limits(struct drm_nvdla_limits *limits)
{
	limits->layers = NVDLA_MAX_LAYERS;
	limits->slots = NVDLA_MAX_SLOTS;
	limits->luts = NVDLA_MAX_LUTS;
	limits->transfers = NVDLA_MAX_TRANSFERS;
	limits->waits = NVDLA_MAX_WAITS;
	limits->syncs = DRM_NVDLA_MAX_SYNCS;
	limits->program_bytes = NVDLA_PROGRAM_BYTES_MAX;
	limits->bo_bytes = NVDLA_BO_BYTES_MAX;
	limits->control_bytes = NVDLA_MAX_CONTROL_BYTES;
}

/* The answer to a query, in kernel memory, where the device may not go yet. */
static int nvdla_fill_answer(struct nvdla_device *ndev, u32 type,
			     union nvdla_answer *answer)
{
	int index;

	if (!drm_dev_enter(&ndev->drm, &index))
		return -ENODEV;
	if (type == DRM_NVDLA_QUERY_DEVICE)
		nvdla_fill_device_info(ndev, &answer->device);
	else
		nvdla_fill_limits(&answer->limits);
	drm_dev_exit(index);
	return 0;
}

int nvdla_ioctl_query(struct drm_device *drm, void *data,
		      struct drm_file *file)
{
	struct drm_nvdla_query *query = data;
	union nvdla_answer answer = {};
	u32 room = query->size;
	u32 size;
	int ret;

	/* No structure will be larger, and the rest has to be cleared. */
	if (query->pointer && room > PAGE_SIZE)
		return -E2BIG;

	switch (query->type) {
	case DRM_NVDLA_QUERY_DEVICE:
		size = sizeof(answer.device);
		break;
	case DRM_NVDLA_QUERY_LIMITS:
		size = sizeof(answer.limits);
		break;
	default:
		return -EINVAL;
	}
	ret = nvdla_fill_answer(to_nvdla_device(drm), query->type, &answer);
	if (ret)
		return ret;

	query->size = size;
	if (!query->pointer)
		return 0;
	if (copy_to_user(u64_to_user_ptr(query->pointer), &answer,
			 min(room, size)))
		return -EFAULT;
	if (room > size &&
	    clear_user(u64_to_user_ptr(query->pointer + size), room - size))
		return -EFAULT;
	return 0;
}

/*
 * Calls that need the device hold drm_dev_enter(), so it does not go while one
 * is under way. BO_WAIT is none of them, as what it waits for ends when the
 * device goes; what only gives things back works without a device.
 *
 * Whoever has entered delays the removal of the device, and with it all who
 * open or remove others. So nobody who has may touch user memory, which may
 * take as long as the user likes to appear (FUSE, userfaultfd), nor wait for a
 * lock under which somebody may wait for a fence. Calls that read arrays copy
 * them first, and those that report something write it after they left. The
 * same holds for the locks of the driver: no user memory is touched under any.
 */
#define NVDLA_GUARDED(func)						\
static int nvdla_guarded_##func(struct drm_device *drm, void *data,	\
				struct drm_file *file)			\
{									\
	int index, ret;							\
									\
	if (!drm_dev_enter(drm, &index))				\
		return -ENODEV;						\
	ret = nvdla_ioctl_##func(drm, data, file);			\
	drm_dev_exit(index);						\
	return ret;							\
}

/* These touch no user memory. */
NVDLA_GUARDED(context_create)
NVDLA_GUARDED(bo_create)

#define NVDLA_IOCTL(name, func) \
	DRM_IOCTL_DEF_DRV(NVDLA_##name, nvdla_##func, DRM_RENDER_ALLOW)

static const struct drm_ioctl_desc nvdla_ioctls[] = {
	NVDLA_IOCTL(QUERY, ioctl_query),
	NVDLA_IOCTL(CONTEXT_CREATE, guarded_context_create),
	NVDLA_IOCTL(CONTEXT_DESTROY, ioctl_context_destroy),
	NVDLA_IOCTL(CONTEXT_QUERY, ioctl_context_query),
	NVDLA_IOCTL(BO_CREATE, guarded_bo_create),
	NVDLA_IOCTL(BO_MMAP_OFFSET, ioctl_bo_mmap_offset),
	NVDLA_IOCTL(BO_SYNC, ioctl_bo_sync),
	NVDLA_IOCTL(BO_WAIT, ioctl_bo_wait),
	NVDLA_IOCTL(PROGRAM_CREATE, ioctl_program_create),
	NVDLA_IOCTL(PROGRAM_DESTROY, ioctl_program_destroy),
	NVDLA_IOCTL(SUBMIT, ioctl_submit),
};

/*
 * Calls of the core that are part of the contract. The others are about
 * displays, authentication and names that all files share; some of them take
 * for granted that a file has a master, which files of accel nodes do not.
 */
static bool nvdla_core_ioctl_allowed(unsigned int nr)
{
	switch (nr) {
	case DRM_IOCTL_NR(DRM_IOCTL_VERSION):
	case DRM_IOCTL_NR(DRM_IOCTL_GET_CAP):
	case DRM_IOCTL_NR(DRM_IOCTL_GEM_CLOSE):
	case DRM_IOCTL_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD):
	case DRM_IOCTL_NR(DRM_IOCTL_PRIME_FD_TO_HANDLE):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_CREATE):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_DESTROY):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_WAIT):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_RESET):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_SIGNAL):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_QUERY):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_TRANSFER):
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL):
#ifdef NVDLA_HAVE_SYNCOBJ_EVENTFD
	case DRM_IOCTL_NR(DRM_IOCTL_SYNCOBJ_EVENTFD):
#endif
		return true;
	default:
		return false;
	}
}

/*
 * The core chooses the function by the number alone, so nothing else decides
 * here. Return: 0, or what the core answers to a call that nobody has.
 */
static long nvdla_ioctl_check(unsigned int cmd)
{
	unsigned int nr = DRM_IOCTL_NR(cmd);

	if (_IOC_TYPE(cmd) != DRM_IOCTL_BASE)
		return -ENOTTY;
	if (nr >= DRM_COMMAND_BASE && nr < DRM_COMMAND_END)
		return 0;
	return nvdla_core_ioctl_allowed(nr) ? 0 : -EINVAL;
}

static long nvdla_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	long ret = nvdla_ioctl_check(cmd);

	return ret ? ret : drm_ioctl(file, cmd, arg);
}

#ifdef CONFIG_COMPAT
static long nvdla_compat_ioctl(struct file *file, unsigned int cmd,
			       unsigned long arg)
{
	long ret = nvdla_ioctl_check(cmd);

	return ret ? ret : drm_compat_ioctl(file, cmd, arg);
}
#endif

/* DRM_ACCEL_FOPS or DRM_GEM_FOPS but for the ioctls. */
static const struct file_operations nvdla_fops = {
	.owner = THIS_MODULE,
	.open = NVDLA_OPEN,
	.release = drm_release,
	.unlocked_ioctl = nvdla_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = nvdla_compat_ioctl,
#endif
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
#ifdef NVDLA_HAVE_FOP_UNSIGNED_OFFSET
	.fop_flags = FOP_UNSIGNED_OFFSET,
#endif
#ifdef NVDLA_HAVE_SHOW_FDINFO
	.show_fdinfo = drm_show_fdinfo,
#else
	.show_fdinfo = nvdla_show_file,
#endif
};

const struct drm_driver nvdla_drm_driver = {
	.driver_features = NVDLA_NODE | DRIVER_GEM | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = nvdla_open,
	.postclose = nvdla_postclose,
	.ioctls = nvdla_ioctls,
	.num_ioctls = ARRAY_SIZE(nvdla_ioctls),
	.fops = &nvdla_fops,
#ifndef NVDLA_HAVE_DEBUGFS_ADD_FILES
	.debugfs_init = nvdla_debugfs_init_minor,
#endif
#ifdef NVDLA_HAVE_SHOW_FDINFO
	.show_fdinfo = nvdla_show_fdinfo,
#endif
	.prime_handle_to_fd = nvdla_prime_handle_to_fd,
	.prime_fd_to_handle = nvdla_prime_fd_to_handle,
	.gem_prime_import = nvdla_prime_import,
	.gem_prime_import_sg_table = nvdla_prime_import_sg_table,
	.name = "nvdla",
	.desc = "NVIDIA Deep Learning Accelerator",
#ifdef NVDLA_HAVE_DRIVER_DATE
	.date = "20261124",
#endif
	.major = 1,
	.minor = 0,
};

static int __init nvdla_init(void)
{
	int ret = nvdla_release_init();

	if (ret)
		return ret;
	ret = nvdla_platform_register();
	if (ret)
		goto exit_release;
	ret = nvdla_pci_register();
	if (ret)
		goto unregister_platform;
	return 0;

unregister_platform:
	nvdla_platform_unregister();
exit_release:
	nvdla_release_exit();
	return ret;
}
module_init(nvdla_init);

static void __exit nvdla_exit(void)
{
	nvdla_pci_unregister();
	nvdla_platform_unregister();
	nvdla_release_exit();
	/* Fences of this module that are being freed. */
	rcu_barrier();
}
module_exit(nvdla_exit);

MODULE_AUTHOR("NVDLA stack developers");
MODULE_DESCRIPTION("NVIDIA Deep Learning Accelerator (NVDLA)");
MODULE_LICENSE("GPL");
