/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the driver and the trace points.
 */
#ifndef NVDLA_TRACE_LAYER_H
#define NVDLA_TRACE_LAYER_H

#include "../firmware/engine/nvdla_engine.h"

struct nvdla_device;

void nvdla_trace_layer(void *context, const struct nvdla_job *job, u32 layer);
void nvdla_trace_layer_end(void *context, const struct nvdla_job *job,
			   u32 layer, u64 start_ns, u64 end_ns);
void nvdla_trace_reset(const struct nvdla_device *ndev, int ret);

#endif /* NVDLA_TRACE_LAYER_H */
