/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace points: where a layer may reach, told when it is enabled. Beside a log
 * of what the device did reach this shows whether the proofs hold.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvdla

#if !defined(NVDLA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVDLA_TRACE_H

#include <linux/tracepoint.h>

/* One for each DMA client, plane and transfer of a layer, numbered from 0. */
TRACE_EVENT(nvdla_layer_start,
	    TP_PROTO(u64 program, u32 layer, u32 kind, u32 index, u32 dma,
		     bool write, u32 memory, u64 address, u64 bytes),
	    TP_ARGS(program, layer, kind, index, dma, write, memory, address,
		    bytes),
	    TP_STRUCT__entry(__field(u64, program)
			     __field(u64, address)
			     __field(u64, bytes)
			     __field(u32, layer)
			     __field(u32, kind)
			     __field(u32, index)
			     __field(u32, dma)
			     __field(u32, memory)
			     __field(bool, write)),
	    TP_fast_assign(__entry->program = program;
			   __entry->address = address;
			   __entry->bytes = bytes;
			   __entry->layer = layer;
			   __entry->kind = kind;
			   __entry->index = index;
			   __entry->dma = dma;
			   __entry->memory = memory;
			   __entry->write = write;),
	    TP_printk("program=%llu layer=%u kind=%u %u: dma=%u %c %s 0x%llx %llu",
		      __entry->program, __entry->layer, __entry->kind,
		      __entry->index, __entry->dma, __entry->write ? 'W' : 'R',
		      __entry->memory ? "SRAM" : "DRAM", __entry->address,
		      __entry->bytes)
);

#endif /* NVDLA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nvdla_trace
#include <trace/define_trace.h>
