/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace points: jobs and their layers, and where a layer may reach, told when
 * it is enabled. Beside a log of what the device did reach the latter shows
 * whether the proofs hold.
 *
 * Each event says of which device it is. A job is its fence, as in the trace
 * points of dma-fence and the scheduler. 0:0 is the copy with which the driver
 * confirms a device. The user of a job is the one who has turns: an id in the
 * initial namespace, and for root the control group.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvdla

#if !defined(NVDLA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVDLA_TRACE_H

#include <linux/tracepoint.h>

#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_job.h"
#include "nvdla_user.h"

#define NVDLA_TRACE_DEV_BYTES	32

DECLARE_EVENT_CLASS(nvdla_job,
		    TP_PROTO(const struct nvdla_submission *submission),
		    TP_ARGS(submission),
		    TP_STRUCT__entry(__array(char, dev, NVDLA_TRACE_DEV_BYTES)
				     __field(u64, context)
				     __field(u64, seqno)
				     __field(u64, program)
				     __field(u64, cgroup)
				     __field(u32, user)
				     __field(u32, layers)),
		    TP_fast_assign(const struct nvdla_user *user =
					submission->context->top;

				   strscpy(__entry->dev,
					   dev_name(submission->ndev->drm.dev),
					   sizeof(__entry->dev));
				   __entry->user = __kuid_val(user->uid);
				   __entry->cgroup = user->cgroup;
				   __entry->context =
					submission->fence->context;
				   __entry->seqno = submission->fence->seqno;
				   __entry->program = submission->job.serial;
				   __entry->layers =
					submission->job.program->num_layers;),
		    TP_printk("dev=%s user=%u cgroup=%llu fence=%llu:%llu program=%llu layers=%u",
			      __entry->dev, __entry->user, __entry->cgroup,
			      __entry->context, __entry->seqno,
			      __entry->program, __entry->layers)
);

DEFINE_EVENT(nvdla_job, nvdla_job_queue,
	     TP_PROTO(const struct nvdla_submission *submission),
	     TP_ARGS(submission)
);

/* A job that was cut at a layer goes on there: it starts more than once. */
DEFINE_EVENT(nvdla_job, nvdla_job_start,
	     TP_PROTO(const struct nvdla_submission *submission),
	     TP_ARGS(submission)
);

TRACE_EVENT(nvdla_job_end,
	    TP_PROTO(const struct nvdla_submission *submission, u64 busy_ns),
	    TP_ARGS(submission, busy_ns),
	    TP_STRUCT__entry(__array(char, dev, NVDLA_TRACE_DEV_BYTES)
			     __field(u64, context)
			     __field(u64, seqno)
			     __field(u64, program)
			     __field(u64, busy_ns)
			     __field(u32, result)
			     __field(u32, layer)),
	    TP_fast_assign(strscpy(__entry->dev,
				   dev_name(submission->ndev->drm.dev),
				   sizeof(__entry->dev));
			   __entry->context = submission->fence->context;
			   __entry->seqno = submission->fence->seqno;
			   __entry->program = submission->job.serial;
			   __entry->busy_ns = busy_ns;
			   __entry->result = submission->job.result;
			   __entry->layer = submission->job.layer;),
	    TP_printk("dev=%s fence=%llu:%llu program=%llu result=%u layer=%u ns=%llu",
		      __entry->dev, __entry->context, __entry->seqno, __entry->program,
		      __entry->result, __entry->layer, __entry->busy_ns)
);

#define NVDLA_LAYER_START_FORMAT \
	"dev=%s program=%llu layer=%u kind=%u %u: dma=%u %c %s 0x%llx %llu fence=%llu:%llu"

/* One for each DMA client, plane and transfer of a layer, numbered from 0. */
TRACE_EVENT(nvdla_layer_start,
	    TP_PROTO(const char *dev, u64 program, u32 layer, u32 kind,
		     u32 index, u32 dma, bool write, u32 memory, u64 address,
		     u64 bytes, u64 context, u64 seqno),
	    TP_ARGS(dev, program, layer, kind, index, dma, write, memory,
		    address, bytes, context, seqno),
	    TP_STRUCT__entry(__array(char, dev, NVDLA_TRACE_DEV_BYTES)
			     __field(u64, program)
			     __field(u64, address)
			     __field(u64, bytes)
			     __field(u64, context)
			     __field(u64, seqno)
			     __field(u32, layer)
			     __field(u32, kind)
			     __field(u32, index)
			     __field(u32, dma)
			     __field(u32, memory)
			     __field(bool, write)),
	    TP_fast_assign(strscpy(__entry->dev, dev, sizeof(__entry->dev));
			   __entry->program = program;
			   __entry->address = address;
			   __entry->bytes = bytes;
			   __entry->context = context;
			   __entry->seqno = seqno;
			   __entry->layer = layer;
			   __entry->kind = kind;
			   __entry->index = index;
			   __entry->dma = dma;
			   __entry->memory = memory;
			   __entry->write = write;),
	    TP_printk(NVDLA_LAYER_START_FORMAT,
		      __entry->dev, __entry->program, __entry->layer,
		      __entry->kind, __entry->index, __entry->dma,
		      __entry->write ? 'W' : 'R',
		      __entry->memory ? "SRAM" : "DRAM", __entry->address,
		      __entry->bytes, __entry->context, __entry->seqno)
);

TRACE_EVENT(nvdla_layer_end,
	    TP_PROTO(const char *dev, u64 context, u64 seqno, u64 program,
		     u32 layer, u32 kind, u64 start_ns, u64 end_ns),
	    TP_ARGS(dev, context, seqno, program, layer, kind, start_ns,
		    end_ns),
	    TP_STRUCT__entry(__array(char, dev, NVDLA_TRACE_DEV_BYTES)
			     __field(u64, context)
			     __field(u64, seqno)
			     __field(u64, program)
			     __field(u64, start_ns)
			     __field(u64, end_ns)
			     __field(u32, layer)
			     __field(u32, kind)),
	    TP_fast_assign(strscpy(__entry->dev, dev, sizeof(__entry->dev));
			   __entry->context = context;
			   __entry->seqno = seqno;
			   __entry->program = program;
			   __entry->start_ns = start_ns;
			   __entry->end_ns = end_ns;
			   __entry->layer = layer;
			   __entry->kind = kind;),
	    TP_printk("dev=%s program=%llu layer=%u kind=%u start=%llu end=%llu fence=%llu:%llu",
		      __entry->dev, __entry->program, __entry->layer,
		      __entry->kind, __entry->start_ns, __entry->end_ns,
		      __entry->context, __entry->seqno)
);

TRACE_EVENT(nvdla_reset,
	    TP_PROTO(const char *dev, int ret),
	    TP_ARGS(dev, ret),
	    TP_STRUCT__entry(__array(char, dev, NVDLA_TRACE_DEV_BYTES)
			     __field(int, ret)),
	    TP_fast_assign(strscpy(__entry->dev, dev, sizeof(__entry->dev));
			   __entry->ret = ret;),
	    TP_printk("dev=%s ret=%d", __entry->dev, __entry->ret)
);

#endif /* NVDLA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nvdla_trace
#include <trace/define_trace.h>
