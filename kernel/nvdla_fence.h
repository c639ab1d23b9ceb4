/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fences: what user space and other drivers see of a job.
 */
#ifndef NVDLA_FENCE_H
#define NVDLA_FENCE_H

#include <linux/dma-fence.h>

struct dma_fence *nvdla_fence_alloc(void);
void nvdla_fence_discard(struct dma_fence *fence);
void nvdla_fence_init(struct dma_fence *fence, u64 context, u64 seqno);
u64 nvdla_fence_order(struct dma_fence *fence);
void nvdla_fence_end(struct dma_fence *fence, int error);
void nvdla_fence_settle(struct dma_fence *fence);

#endif /* NVDLA_FENCE_H */
