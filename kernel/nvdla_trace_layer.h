/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between the engine's port and the trace points.
 */
#ifndef NVDLA_TRACE_LAYER_H
#define NVDLA_TRACE_LAYER_H

#include "../firmware/engine/nvdla_engine.h"

void nvdla_trace_layer(void *context, const struct nvdla_job *job, u32 layer);

#endif /* NVDLA_TRACE_LAYER_H */
