// SPDX-License-Identifier: GPL-2.0
/*
 * Trace points, and what the engine tells for them.
 */
#include "nvdla_trace_layer.h"

#define CREATE_TRACE_POINTS
#include "nvdla_trace.h"

/**
 * nvdla_trace_layer() - the engine is about to enable a layer
 * @context: not used
 * @job: what runs
 * @layer: which of its layers
 */
void nvdla_trace_layer(void *context, const struct nvdla_job *job, u32 layer)
{
	const struct nvdla_program *program = job->program;
	const struct nvdla_layer_image *image = &program->layers[layer];
	u32 i;

	if (!trace_nvdla_layer_start_enabled())
		return;
	for (i = 0; i < image->num_accesses; i++) {
		const struct nvdla_access *access =
			&program->accesses[image->first_access + i];

		trace_nvdla_layer_start(job->serial, layer, image->kind, i,
					access->dma, access->write,
					program->slots[access->slot].memory,
					job->bases[access->slot] +
						access->begin,
					access->end - access->begin);
	}
}
