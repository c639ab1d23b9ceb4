/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the SUBMIT ioctl and the jobs it makes.
 */
#ifndef NVDLA_SUBMIT_H
#define NVDLA_SUBMIT_H

struct dma_fence;

struct dma_fence *nvdla_fence_alloc(void);

#endif /* NVDLA_SUBMIT_H */
