/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the files of buffers; all others use nvdla_gem.h.
 */
#ifndef NVDLA_BO_H
#define NVDLA_BO_H

#include <linux/types.h>

struct drm_gem_object;
struct iosys_map;
struct nvdla_bo;
struct nvdla_device;
struct nvdla_region;
struct vm_area_struct;

/* nvdla_bo_memory.c */
struct nvdla_region *nvdla_bo_region(struct nvdla_device *ndev, u32 memory);
int nvdla_bo_back(struct nvdla_device *ndev, struct nvdla_bo *bo, size_t size,
		  u32 flags);
void nvdla_bo_release(struct nvdla_bo *bo);

/* nvdla_bo_mmap.c: members of struct drm_gem_object_funcs */
extern const struct vm_operations_struct nvdla_bo_vm_ops;
int nvdla_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma);
int nvdla_bo_pin(struct drm_gem_object *obj);
void nvdla_bo_unpin(struct drm_gem_object *obj);
int nvdla_bo_vmap(struct drm_gem_object *obj, struct iosys_map *map);
void nvdla_bo_vunmap(struct drm_gem_object *obj, struct iosys_map *map);

#endif /* NVDLA_BO_H */
