/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine: compiled programs in, running hardware out. An event-driven
 * state machine over the register port, the same in the kernel driver, in the
 * runtime's in-process backends and under tests.
 *
 * The caller serialises all calls but nvdla_engine_read_irq(), which touches
 * nothing of the engine that changes and may run in a hard interrupt handler:
 *
 *   interrupt:  bits = nvdla_engine_read_irq(engine); pending |= bits;
 *   thread:     nvdla_engine_interrupt(engine, take pending);
 *   timer:      at nvdla_engine_next_deadline(): nvdla_engine_poll(engine)
 *   after each: nvdla_engine_done() until it returns NULL
 *
 * Rules, and why they cannot deadlock:
 * - Each unit serves layers in program order. A layer takes its groups in all
 *   its units at once. A layer may be programmed into idle groups before what
 *   it waits for is done; it is enabled only afterwards. Waits point to
 *   earlier layers, so the earliest layer that has not ended always has its
 *   groups and nothing to wait for: something can always run.
 * - Completion is a unit's bit in S_INTR_STATUS and nothing else: OP_ENABLE
 *   falls before the last write has landed.
 * - A group may be written when its OP_ENABLE is 0, and enabled again only
 *   when the bit of its previous layer was consumed and its statistics read.
 */
#ifndef NVDLA_ENGINE_H
#define NVDLA_ENGINE_H

#include "../compile/nvdla_compile.h"
#include "../registers/nvdla_regs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** struct nvdla_port - how the engine reaches its device */
struct nvdla_port {
	/** @reg_read: of the register at a byte offset */
	u32 (*reg_read)(void *context, u32 offset);
	/** @reg_write: may be posted */
	void (*reg_write)(void *context, u32 offset, u32 value);
	/** @dma_barrier: memory written before is visible to DMA started after */
	void (*dma_barrier)(void *context);
	/** @relax: between two polls of a register */
	void (*relax)(void *context);
	/** @now_ns: monotonic clock */
	u64 (*now_ns)(void *context);
};

/** enum nvdla_job_result - how a job ended */
enum nvdla_job_result {
	NVDLA_JOB_RUNNING = 0,
	NVDLA_JOB_OK = 1,
	NVDLA_JOB_HANG = 2,	/* a layer missed its deadline */
	NVDLA_JOB_GONE = 3,	/* the device answers all ones */
	NVDLA_JOB_CANCELED = 4,	/* nvdla_engine_reset() */
};

/** struct nvdla_job - one run of a program; owned by the caller */
struct nvdla_job {
	/** @program: must live until the job is done */
	const struct nvdla_program *program;
	/** @bases: device address of each slot, checked by the caller */
	const u64 *bases;
	/** @stats: one per layer when the program has NVDLA_PROGRAM_STATS */
	struct nvdla_layer_stats *stats;
	/** @serial: of the program; names its LUTs; never reused, not 0 */
	u64 serial;
	/** @cookie: the caller's */
	void *cookie;
	/** @result: enum nvdla_job_result, by the engine */
	u32 result;
	/** @layer: on failure the layer, by the engine */
	u32 layer;
};

/* Groups of one unit. */
#define NVDLA_GROUPS		2
/* Layers that can be programmed or running at once: two in each unit kind. */
#define NVDLA_MAX_INFLIGHT	16
/* Poll of a register that hardware sets within microseconds. */
#define NVDLA_POLL_NS		100000000ull
/* A layer's deadline is at least this. */
#define NVDLA_MIN_DEADLINE_NS	2000000000ull
/* Deadline over estimate. */
#define NVDLA_DEADLINE_FACTOR	8
/* What nvdla_engine_read_irq() returns when the device is gone. */
#define NVDLA_IRQ_GONE		0xffffffffu

struct nvdla_engine;	/* laid out below; fields are the engine's own */

/**
 * nvdla_engine_init() - forget everything; touches no register
 */
void nvdla_engine_init(struct nvdla_engine *engine, const struct nvdla_hw *hw,
		       const struct nvdla_port *port, void *context);

/**
 * nvdla_engine_start() - take over an idle device
 *
 * After probe, reset and resume: checks the version register, that no unit is
 * enabled and (where built) that BDMA has 20 free slots, waits for the
 * convolution buffer's flush, clears and unmasks interrupts, reads CONSUMER
 * pointers. All LUT contents count as unknown from then on.
 *
 * Return: 0, or a negative enum nvdla_start_error.
 */
int nvdla_engine_start(struct nvdla_engine *engine);

/** enum nvdla_start_error - why a device cannot be taken over */
enum nvdla_start_error {
	NVDLA_START_GONE = 1,		/* reads all ones */
	NVDLA_START_VERSION = 2,	/* not the generation of the hw */
	NVDLA_START_BUSY = 3,		/* a unit is enabled */
	NVDLA_START_FLUSH = 4,		/* buffer flush does not end */
};

/**
 * nvdla_engine_submit() - run a job; one at a time
 *
 * Return: 0, or -1 if a job is running or the engine was not started.
 */
int nvdla_engine_submit(struct nvdla_engine *engine, struct nvdla_job *job);

/**
 * nvdla_engine_read_irq() - read and clear S_INTR_STATUS
 *
 * Until no unmasked bit is left, at most 16 times. For the hard handler.
 *
 * Return: the bits that were set, 0 if none was (not our interrupt), or
 * NVDLA_IRQ_GONE if reserved bits read as one.
 */
u32 nvdla_engine_read_irq(const struct nvdla_engine *engine);

/** nvdla_engine_interrupt() - consume bits of nvdla_engine_read_irq() */
void nvdla_engine_interrupt(struct nvdla_engine *engine, u32 bits);

/**
 * nvdla_engine_poll() - look at the clock
 *
 * Past a deadline S_INTR_STATUS is read first, as an interrupt may have been
 * lost; only then is the layer called hung and the job ended.
 */
void nvdla_engine_poll(struct nvdla_engine *engine);

/**
 * nvdla_engine_next_deadline() - when nvdla_engine_poll() is to be called
 *
 * Return: time in ns on the port's clock, or ~0 when nothing is enabled.
 */
u64 nvdla_engine_next_deadline(const struct nvdla_engine *engine);

/**
 * nvdla_engine_done() - take the job that ended
 *
 * Return: the job, with its result, or NULL.
 */
struct nvdla_job *nvdla_engine_done(struct nvdla_engine *engine);

/**
 * nvdla_engine_abort() - give the job up; the device is to be reset
 *
 * The job ends with NVDLA_JOB_CANCELED unless it has a result already, and
 * nothing can be submitted before nvdla_engine_start() succeeds again.
 */
void nvdla_engine_abort(struct nvdla_engine *engine);

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_ENGINE_H */
