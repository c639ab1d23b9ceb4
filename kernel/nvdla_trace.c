// SPDX-License-Identifier: GPL-2.0
/*
 * Trace points, and what the engine tells for them.
 */
#include "nvdla_debug.h"
#include "nvdla_device.h"
#include "nvdla_job.h"
#include "nvdla_program.h"

#define CREATE_TRACE_POINTS
#include "nvdla_trace.h"

/* Gets the fence of the engine's job: 0 and 0 unless a user submitted it. */
static void nvdla_trace_job(const struct nvdla_job *job, u64 *context,
			    u64 *seqno)
{
	const struct nvdla_submission *submission = job->cookie;

	*context = submission ? submission->fence->context : 0;
	*seqno = submission ? submission->fence->seqno : 0;
}

/**
 * nvdla_trace_layer() - the engine is about to enable a layer
 * @context: device
 * @job: what runs
 * @layer: which of its layers
 */
void nvdla_trace_layer(void *context, const struct nvdla_job *job, u32 layer)
{
	const struct nvdla_program *program = job->program;
	const struct nvdla_layer_image *image = &program->layers[layer];
	const struct nvdla_device *ndev = context;
	u64 fence_context, seqno;
	u32 i;

	if (!trace_nvdla_layer_start_enabled())
		return;
	nvdla_trace_job(job, &fence_context, &seqno);
	for (i = 0; i < image->num_accesses; i++) {
		const struct nvdla_access *access =
			&program->accesses[image->first_access + i];

		trace_nvdla_layer_start(dev_name(ndev->drm.dev), job->serial,
					layer, image->kind, i, access->dma,
					access->write,
					program->slots[access->slot].memory,
					job->bases[access->slot] +
						access->begin,
					access->end - access->begin,
					fence_context, seqno);
	}
}

/**
 * nvdla_trace_layer_end() - the engine has seen a layer end
 * @context: device
 * @job: what runs
 * @layer: which of its layers
 * @start_ns: when it could run
 * @end_ns: when it was seen to have ended
 */
void nvdla_trace_layer_end(void *context, const struct nvdla_job *job,
			   u32 layer, u64 start_ns, u64 end_ns)
{
	const struct nvdla_device *ndev = context;
	u64 fence_context, seqno;

	if (!trace_nvdla_layer_end_enabled())
		return;
	nvdla_trace_job(job, &fence_context, &seqno);
	trace_nvdla_layer_end(dev_name(ndev->drm.dev), fence_context, seqno,
			      job->serial, layer,
			      job->program->layers[layer].kind, start_ns,
			      end_ns);
}

/**
 * nvdla_trace_reset() - the device was reset, or could not be
 * @ndev: device
 * @ret: 0 or an errno
 */
void nvdla_trace_reset(const struct nvdla_device *ndev, int ret)
{
	trace_nvdla_reset(dev_name(ndev->drm.dev), ret);
}
