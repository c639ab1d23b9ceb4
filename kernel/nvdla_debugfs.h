/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of a device in debugfs.
 */
#ifndef NVDLA_DEBUGFS_H
#define NVDLA_DEBUGFS_H

struct drm_minor;
struct nvdla_device;

#ifdef NVDLA_HAVE_DEBUGFS_ADD_FILES
void nvdla_debugfs_init(struct nvdla_device *ndev);
#else
void nvdla_debugfs_init_minor(struct drm_minor *minor);
static inline void nvdla_debugfs_init(struct nvdla_device *ndev) {}
#endif

#endif /* NVDLA_DEBUGFS_H */
