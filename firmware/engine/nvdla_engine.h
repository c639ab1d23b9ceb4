/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine: compiled programs in, running hardware out. An event-driven
 * state machine over the registers, the same in the kernel driver, in the
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
 * Two readers of S_INTR_STATUS must not race: one bit would be seen twice, or
 * cleared unseen. The engine itself reads it now and then, so a caller with an
 * interrupt handler gives it nvdla_hw_ops.take_irq, which reads under the lock
 * that also guards pending.
 *
 * Rules, and why they cannot deadlock:
 * - Each unit serves layers in program order: groups are taken, and enabled,
 *   in that order. A layer takes its groups in all its units at once. A layer
 *   may be programmed into idle groups before what it waits for is done; it is
 *   enabled only afterwards. So whoever holds a group that a layer needs is
 *   earlier in the program, and so is whatever the layer waits for: the
 *   earliest layer that has not ended always has its groups, is enabled, and
 *   is first in all its units. Something can always run.
 * - A short layer (NVDLA_MAX_PENDING_NS, NVDLA_MAX_PENDING_CYCLES) may be
 *   enabled behind one that still runs in the same unit; it pends in hardware.
 *   Waits alone say that one needs the memory of another. A long one is enabled
 *   when its units are done with all that came before; the earliest layer that
 *   has not ended finds them so.
 * - Where CDMA's clock is gated (NVDLA_HW_WEIGHT_GATING) the weights that a
 *   convolution keeps are released when the next one's CSC starts, and CDMA has
 *   to run by then. So CDMA is enabled before CSC, and a convolution only when
 *   the one before it has ended, though it is programmed earlier. BDMA, too,
 *   takes one layer at a time. The earliest layer that has not ended has no
 *   enabled one before it, so neither holds it back. Nothing of this can be
 *   left over from another job: one at a time is here, and the next begins
 *   when all layers of the last that were enabled have ended, or after a reset.
 * - A job that yields enables no more layers, but those up to the last one
 *   that is tied to what a convolution left in the buffer (nvdla_layer_image.
 *   tied). These are all layers before some point of the program, so the
 *   earliest of them that has not ended can always run, as above; the others
 *   hold no group that one of them needs, for groups are taken in order. Then
 *   all that is enabled ends. What is programmed and not enabled gives its
 *   groups back: the hardware has not moved on to them, and the next job takes
 *   the same ones. Nothing else outlives the job but tables, which have names.
 * - Completion is a unit's bit in S_INTR_STATUS and nothing else: OP_ENABLE
 *   falls before the last write has landed.
 * - A bit is believed only if its layer is enabled and no earlier layer can be
 *   in the way. Others are dropped and counted: to miss a completion costs a
 *   time-out, to invent one would hand out memory that the device still writes.
 * - A group may be written when its OP_ENABLE is 0, and enabled again only
 *   when the bit of its previous layer was consumed and its statistics read.
 * - The engine remembers PRODUCER of each unit. Who moves one (a dump) puts
 *   it back before the next call.
 *
 * Time: no verdict hangs on when the caller is scheduled. A layer that is late
 * gets a second look, half of its time after the first, so one stall of any
 * length, wherever it comes, takes no more than half from it; and further looks
 * while it moves, see nvdla_engine_poll(). What hardware
 * moves on its own - OP_EN behind the last bit, the flush of the convolution
 * buffer after reset - is waited for in cycles of the device, some 8,300 being
 * the longest, times NVDLA_DEADLINE_FACTOR, but at least for NVDLA_POLL_NS; of
 * that each look uses up a 64th at most, and the last comes after the time.
 */
#ifndef NVDLA_ENGINE_H
#define NVDLA_ENGINE_H

#include "../compile/nvdla_compile.h"
#include "../registers/nvdla_regs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nvdla_job;

/** struct nvdla_hw_ops - how the engine reaches its device */
struct nvdla_hw_ops {
	/** @reg_read: of the register at a byte offset */
	u32 (*reg_read)(void *context, u32 offset);
	/** @reg_write: may be posted */
	void (*reg_write)(void *context, u32 offset, u32 value);
	/** @dma_barrier: memory written before is visible to DMA started after */
	void (*dma_barrier)(void *context);
	/** @relax: between two looks at a register; a model may go on here */
	void (*relax)(void *context);
	/** @now_ns: monotonic clock */
	u64 (*now_ns)(void *context);
	/**
	 * @take_irq: nvdla_engine_read_irq() together with the bits that the
	 * interrupt handler holds, which are then the engine's; NULL where
	 * nothing else reads the interrupt status
	 */
	u32 (*take_irq)(void *context);
	/**
	 * @layer_start: the layer of the job is about to be enabled; may be
	 * NULL. What it may touch is in the program's accesses.
	 */
	void (*layer_start)(void *context, const struct nvdla_job *job,
			    u32 layer);
	/**
	 * @layer_end: the layer of the job has ended, with the times of struct
	 * nvdla_layer_stats; may be NULL
	 */
	void (*layer_end)(void *context, const struct nvdla_job *job, u32 layer,
			  u64 start_ns, u64 end_ns);
	/**
	 * @reg_writes: @reg_write of each of @count registers of one unit's
	 * window, in order; NULL where that is all it would do
	 */
	void (*reg_writes)(void *context, const struct nvdla_reg_write *writes,
			   u32 count);
};

/** enum nvdla_job_result - how a job ended */
enum nvdla_job_result {
	NVDLA_JOB_RUNNING = 0,
	NVDLA_JOB_OK = 1,
	NVDLA_JOB_HANG = 2,	/* a layer missed its deadline */
	NVDLA_JOB_GONE = 3,	/* the device answers all ones */
	NVDLA_JOB_CANCELED = 4,	/* nvdla_engine_abort() */
	NVDLA_JOB_BROKEN = 5,	/* an image writes outside the layer's units */
	NVDLA_JOB_YIELDED = 6,	/* nvdla_engine_yield(): submit it again */
};

/** struct nvdla_job - one run of a program; owned by the caller */
struct nvdla_job {
	/** @program: must live until the job is done */
	const struct nvdla_program *program;
	/** @bases: device address of each slot, checked by the caller */
	const u64 *bases;
	/**
	 * @stats: one per layer when the program has NVDLA_PROGRAM_STATS;
	 * of a job that failed, only layers that ended are written
	 */
	struct nvdla_layer_stats *stats;
	/**
	 * @stats_stride: bytes from the statistics of a layer to those of the
	 * next: at least their size, a multiple of 8; of no use without @stats
	 */
	u32 stats_stride;
	/** @serial: of the program; names its LUTs; never reused, not 0 */
	u64 serial;
	/** @cookie: the caller's */
	void *cookie;
	/**
	 * @first: layer to begin with; 0, or what the engine left there when
	 * the job yielded
	 */
	u32 first;
	/**
	 * @ended: bit n set: layer @first + n has ended; 0, or what the engine
	 * left there when the job yielded
	 */
	u32 ended;
	/** @result: enum nvdla_job_result, by the engine */
	u32 result;
	/** @layer: on failure the layer, by the engine; @first if it yielded */
	u32 layer;
	/**
	 * @checked: nvdla_engine_check() was right about the program, and it
	 * has not changed since: nvdla_engine_submit() does not look again
	 */
	bool checked;
};

/* Groups of one unit. */
#define NVDLA_GROUPS		2
/* Layers looked at from the oldest that has not ended; a power of two. */
#define NVDLA_ENGINE_WINDOW	16
/* A register that hardware moves on its own is waited for this long at least */
#define NVDLA_POLL_NS		100000000ull
/* A layer's time is at least this. */
#define NVDLA_MIN_DEADLINE_NS	2000000000ull
/* Time over estimate. */
#define NVDLA_DEADLINE_FACTOR	8
/*
 * A layer that is estimated to take longer is not enabled behind another one.
 * Pending in hardware hides the microseconds between an interrupt and the next
 * enable; but what pends cannot be taken back, and whoever waits for the job to
 * yield would wait for a second long layer.
 */
#define NVDLA_MAX_PENDING_NS	2000000ull
/* The same where now_ns() counts the cycles of a simulation. */
#define NVDLA_MAX_PENDING_CYCLES	2000000ull
/* nvdla_engine_read_irq() returns this when the device is gone. */
#define NVDLA_IRQ_GONE		0xffffffffu

/* Bits of S_INTR_STATUS that a layer can end with. */
#define NVDLA_IRQ_LAST		0x000003ffu
/* All bits of S_INTR_STATUS; the others read 0. */
#define NVDLA_IRQ_ALL		0x003f03ffu
/* nvdla_engine_next_deadline() returns this without one. */
#define NVDLA_NO_DEADLINE	0xffffffffffffffffull
/* nvdla_engine.stop while nobody asked the job to yield. */
#define NVDLA_NO_STOP		0xffffffffu
/* Tables of look-up: enum nvdla_lut_unit. */
#define NVDLA_LUT_UNITS		2

/** struct nvdla_inflight - a layer in flight: it holds register groups */
struct nvdla_inflight {
	/** @deadline: when to check its progress, 0 while it cannot run */
	u64 deadline;
	/** @start_ns: when it could start; undefined while @deadline is 0 */
	u64 start_ns;
	/** @units: units whose group it holds, bit per enum nvdla_unit */
	u32 units;
	/** @groups: those of @units whose group 1 it holds */
	u32 groups;
	/** @done: the bit of S_INTR_STATUS that ends it */
	u32 done;
	/** @side: bits that precede @done and end no layer */
	u32 side;
	/** @seen: those of @side that have been raised */
	u32 seen;
	/** @progress: progress of the layer and the job at the last check */
	u32 progress;
};

/** struct nvdla_lut_owner - the program whose tables a unit holds */
struct nvdla_lut_owner {
	/** @serial: serial number of the program, 0 while unknown */
	u64 serial;
	/** @index: index of the LUT in the program */
	u32 index;
};

/** struct nvdla_engine_debug - counts of unexpected events */
struct nvdla_engine_debug {
	/** @spurious: interrupt bits that belong to no layer */
	u32 spurious;
	/** @lost: completions that only a poll found */
	u32 lost;
	/** @unsettled: units not yet seen idle when their layer ended */
	u32 unsettled;
	/** @lut_loads: tables written */
	u32 lut_loads;
};

/** struct nvdla_engine - all fields except @debug are private */
struct nvdla_engine {
	/* constant after nvdla_engine_init() */
	const struct nvdla_hw *hw;
	const struct nvdla_hw_ops *ops;
	void *context;
	const u32 *bases;	/* of units, by enum nvdla_unit */

	/* the job */
	struct nvdla_job *job;		/* the running one */
	struct nvdla_job *ended_job;	/* waits for nvdla_engine_done() */
	u64 next_deadline;
	u64 event_ns;			/* time of the event being handled */
	u32 clock_khz;			/* of the device, 0 if not known */
	u32 cycle_ns;			/* fraction with 12 bits */
	u32 bits;			/* interrupt bits not consumed yet */
	bool started;
	bool counts_cycles;		/* now_ns() counts those of a simulation */

	/* layers head .. head + window; bit n of a mask is layer head + n */
	u32 head;			/* the oldest that has not ended */
	u32 taken;			/* programmed; hold groups */
	u32 enabled;
	u32 ended;
	u32 late;			/* checked at their deadline */
	u32 stop;			/* no layer from here on is enabled */
	/* by layer modulo the window */
	struct nvdla_inflight inflight[NVDLA_ENGINE_WINDOW];

	/* the device; masks with a bit per enum nvdla_unit */
	u32 next_group;			/* the next layer takes group 1 */
	u32 busy[NVDLA_GROUPS];		/* held by a layer */
	u32 unsettled[NVDLA_GROUPS];	/* not seen idle yet */
	u32 producer;			/* PRODUCER as last written */
	u32 intr_mask;			/* S_INTR_MASK as last written */
	struct nvdla_lut_owner luts[NVDLA_LUT_UNITS];

	/** @debug: to be read by anyone */
	struct nvdla_engine_debug debug;
};

/**
 * nvdla_engine_init() - forget everything; touches no register
 */
void nvdla_engine_init(struct nvdla_engine *engine, const struct nvdla_hw *hw,
		       const struct nvdla_hw_ops *ops, void *context);

/**
 * nvdla_engine_set_clock() - how fast the device is
 * @clock_khz: 0, the default, is 1 GHz
 *
 * nvdla_engine_start() waits in its cycles: what takes microseconds on silicon
 * takes seconds in a simulation. Layers take what they do at this clock or, if
 * it is not known, at the one that their program was compiled for.
 *
 * It may change at any time between two calls. A job that runs gets no less
 * time for that: with a slower clock its layers have more from now on, with a
 * faster one what they had.
 */
void nvdla_engine_set_clock(struct nvdla_engine *engine, u32 clock_khz);

/**
 * nvdla_engine_count_cycles() - now_ns() counts cycles of a simulation
 * @engine: the engine
 *
 * Such a clock stands still unless somebody simulates, so nobody waits by it for
 * a turn. What may pend is bounded in cycles then, however long now_ns() makes
 * one. Comes behind nvdla_engine_init(), before any job.
 */
void nvdla_engine_count_cycles(struct nvdla_engine *engine);

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

/** enum nvdla_submit_error - why a job cannot be run */
enum nvdla_submit_error {
	NVDLA_SUBMIT_BUSY = 1,		/* a job runs, or was not taken yet */
	NVDLA_SUBMIT_STOPPED = 2,	/* nvdla_engine_start() is needed */
	/* not what the compiler makes, or made for other logic */
	NVDLA_SUBMIT_INVALID = 3,
};

/**
 * nvdla_engine_check() - is a program one that nvdla_engine_submit() takes?
 *
 * It takes time for each layer, and needs nothing of the engine that changes:
 * it may run beside any other call. Whoever runs a program often, or holds a
 * lock when it submits, checks it once and says so by nvdla_job.checked. That
 * no image reaches beyond the units of its layer is not among it: each write
 * is held against their windows when it is made, however often it was checked.
 *
 * Return: 0, or -NVDLA_SUBMIT_INVALID.
 */
int nvdla_engine_check(const struct nvdla_engine *engine,
		       const struct nvdla_program *program);

/**
 * nvdla_engine_submit() - run a job; one at a time
 *
 * The device may be found gone at once: the job is then done on return.
 *
 * Return: 0, or a negative enum nvdla_submit_error; the job is then not taken.
 */
int nvdla_engine_submit(struct nvdla_engine *engine, struct nvdla_job *job);

/**
 * nvdla_engine_yield() - ask the job to make room for another one
 *
 * From now on no layer is enabled or programmed but those that need what an
 * earlier one left in the convolution buffer. When all that are enabled have
 * ended, the job ends with NVDLA_JOB_YIELDED, and @first and @ended of it say
 * where it goes on: submitted again as it is, it runs the layers that are
 * missing, and fills in what is missing of its statistics. Other jobs may have
 * run in between, also others of its program. If no layer is missing, it has
 * ended as ever. Each time that a job is submitted at least one layer runs.
 *
 * Nothing happens without a job, or if it was asked before.
 */
void nvdla_engine_yield(struct nvdla_engine *engine);

/**
 * nvdla_engine_read_irq() - read and clear S_INTR_STATUS
 *
 * Until no bit that can end a layer is left, at most 16 times. For the hard
 * handler.
 *
 * Return: the bits that were set, masked ones included, 0 if none was (not
 * our interrupt), or NVDLA_IRQ_GONE if reserved bits read as one.
 */
u32 nvdla_engine_read_irq(const struct nvdla_engine *engine);

/**
 * nvdla_engine_interrupt() - consume bits of nvdla_engine_read_irq()
 *
 * Ends layers, enables what waited for them and programs what comes next.
 */
void nvdla_engine_interrupt(struct nvdla_engine *engine, u32 bits);

/**
 * nvdla_engine_poll() - look at the clock
 *
 * Past a deadline S_INTR_STATUS is read, as an interrupt may have been lost. A
 * layer that has not ended is late at half of its time, and hung, which ends
 * the job, at the end of a second half that begins with the first look. It
 * gets another half whenever something moved since the look before: a unit is
 * done with its part of the layer, BDMA has taken a command, or a layer of the
 * job has ended. Only what had not been reached before counts. So a device that
 * lies gets no more halves than the layer has units, or BDMA places, and layers
 * end beside it, which are fewer than two windows.
 */
void nvdla_engine_poll(struct nvdla_engine *engine);

/**
 * nvdla_engine_next_deadline() - when nvdla_engine_poll() is to be called
 *
 * Return: time in ns as of now_ns(), or NVDLA_NO_DEADLINE when nothing is
 * enabled.
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
 * nothing can be submitted before nvdla_engine_start() succeeds again. Touches
 * no register.
 */
void nvdla_engine_abort(struct nvdla_engine *engine);

/**
 * nvdla_engine_quiesce() - make the device drive its interrupt line no more
 *
 * Before it is suspended, or left to itself. Masks all interrupts and clears
 * those that were raised, and touches nothing else; reads nothing, so that it
 * needs no lock of whoever reads the interrupt status. No job may be in the
 * engine, but layers of one that was aborted may still run in the device.
 * Nothing can be submitted before nvdla_engine_start() succeeds again.
 */
void nvdla_engine_quiesce(struct nvdla_engine *engine);

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_ENGINE_H */
