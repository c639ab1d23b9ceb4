// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The state machine: which layer is programmed, enabled and ended when. Why it
 * cannot deadlock is argued in nvdla_engine.h.
 *
 * Layers before head have ended, those from head + window on were not looked
 * at; three masks say how far each in between has come.
 */
#include "internal.h"

static const u32 unit_bases[NVDLA_REGMAP_COUNT][NVDLA_UNIT_COUNT] =
	NVDLA_UNIT_BASES;

void nvdla_engine_init(struct nvdla_engine *engine, const struct nvdla_hw *hw,
		       const struct nvdla_hw_ops *ops, void *context)
{
	/* Field by field: a struct literal may become a call of memset(). */
	engine->hw = hw;
	engine->ops = ops;
	engine->context = context;
	engine->bases = unit_bases[hw->regmap];
	engine->job = NULL;
	engine->ended_job = NULL;
	engine->next_deadline = NVDLA_NO_DEADLINE;
	engine->clock_khz = 0;
	engine->cycle_ns = 0;
	engine->event_ns = 0;
	engine->bits = 0;
	engine->started = false;
	engine->counts_cycles = false;
	engine->head = 0;
	engine->taken = 0;
	engine->enabled = 0;
	engine->ended = 0;
	engine->late = 0;
	engine->stop = NVDLA_NO_STOP;
	engine->intr_mask = 0;
	nvdla_groups_reset(engine, 0, 0);
	nvdla_lut_forget(engine);
	engine->debug.spurious = 0;
	engine->debug.lost = 0;
	engine->debug.unsettled = 0;
	engine->debug.lut_loads = 0;
}

static struct nvdla_inflight *inflight_layer(struct nvdla_engine *engine,
					     u32 layer)
{
	return &engine->inflight[layer & (NVDLA_ENGINE_WINDOW - 1)];
}

static void end_job(struct nvdla_engine *engine, u32 result, u32 layer)
{
	struct nvdla_job *job = engine->job;

	job->first = 0;
	job->ended = 0;
	job->result = result;
	job->layer = layer;
	engine->job = NULL;
	engine->ended_job = job;
	engine->next_deadline = NVDLA_NO_DEADLINE;
	/* Something may still run in a device that failed. */
	if (result != NVDLA_JOB_OK && result != NVDLA_JOB_YIELDED)
		engine->started = false;
}

/* @layer is not beyond the window: it comes before one that is in it. */
static bool has_ended(const struct nvdla_engine *engine, u32 layer)
{
	return layer < engine->head ||
	       (engine->ended >> (layer - engine->head) & 1);
}

/* Units in which a layer is enabled only when the one before has ended. */
static u32 exclusive_units(const struct nvdla_engine *engine)
{
	u32 units = UNIT(BDMA);

	/*
	 * Enabled earlier, CDMA may have fetched everything and be idle again
	 * when CSC starts and frees the weights that were kept.
	 */
	if (engine->hw->features & NVDLA_HW_WEIGHT_GATING)
		units |= UNITS_CONV;
	return units;
}

/* May the layer be enabled behind one that still runs in the same unit? */
static bool is_short(const struct nvdla_engine *engine,
		     const struct nvdla_layer_image *image)
{
	if (engine->counts_cycles)
		return image->cycles <= NVDLA_MAX_PENDING_CYCLES;
	return nvdla_estimate_ns(engine, image->cycles) <= NVDLA_MAX_PENDING_NS;
}

/* @active: units of earlier layers that are enabled and have not ended */
static bool can_enable(const struct nvdla_engine *engine,
		       const struct nvdla_layer_image *image, u32 active)
{
	u32 i;

	for (i = 0; i < image->num_waits; i++)
		if (!has_ended(engine, image->waits[i]))
			return false;
	if (nvdla_lut_missing(engine, image) & active)
		return false;
	if ((image->units & active) && !is_short(engine, image))
		return false;
	return !(image->units & exclusive_units(engine) & active);
}

static void enable(struct nvdla_engine *engine, u32 layer,
		   struct nvdla_inflight *inflight)
{
	const struct nvdla_job *job = engine->job;
	const struct nvdla_layer_image *image = &job->program->layers[layer];

	if (nvdla_lut_missing(engine, image))
		nvdla_lut_load(engine, image);
	/* A unit in the middle of this layer was the last of another. */
	nvdla_irq_set_mask(engine, (engine->intr_mask | inflight->side) &
					   ~inflight->done);
	if (engine->ops->layer_start)
		engine->ops->layer_start(engine->context, job, layer);
	if (image->kind == NVDLA_LAYER_BDMA)
		nvdla_bdma_launch(engine, image,
				  nvdla_group(inflight, NVDLA_UNIT_BDMA));
	else
		nvdla_image_enable(engine, inflight);
}

/* Takes groups and writes the image; BDMA has nothing to write ahead. */
static int program(struct nvdla_engine *engine,
		   const struct nvdla_layer_image *image,
		   struct nvdla_inflight *inflight)
{
	int ret;

	nvdla_groups_take(engine, inflight, image);
	ret = nvdla_groups_settle(engine, inflight);
	if (ret != NVDLA_JOB_OK)
		return ret;
	if (image->kind == NVDLA_LAYER_BDMA)
		return NVDLA_JOB_OK;
	return nvdla_image_write(engine, image, inflight) ? NVDLA_JOB_BROKEN :
							  NVDLA_JOB_OK;
}

/* Half of a layer's time: it is looked at twice before it is called hung. */
static void set_deadline(struct nvdla_engine *engine, u32 layer)
{
	u64 cycles = engine->job->program->layers[layer].cycles;

	inflight_layer(engine, layer)->deadline =
		nvdla_now(engine) + (nvdla_deadline_ns(engine, cycles) >> 1);
}

/* The cycle of a job: of the device if that is known, else of the program. */
static u32 job_cycle_ns(const struct nvdla_engine *engine,
			const struct nvdla_program *program)
{
	return nvdla_cycle_ns(engine->clock_khz ? engine->clock_khz :
						  program->clock_khz);
}

/* The earliest deadline of all layers that run. */
static void find_next_deadline(struct nvdla_engine *engine)
{
	u64 next = NVDLA_NO_DEADLINE;
	u32 i;

	for (i = 0; i < NVDLA_ENGINE_WINDOW; i++) {
		u64 deadline = inflight_layer(engine,
					      engine->head + i)->deadline;

		if (((engine->enabled & ~engine->ended) >> i & 1) && deadline &&
		    deadline < next)
			next = deadline;
	}
	engine->next_deadline = next;
}

/* Layers that run have half of their time from now on, at the slower clock. */
static void slow_down(struct nvdla_engine *engine, u32 cycle_ns)
{
	u32 i;

	engine->cycle_ns = cycle_ns;
	for (i = 0; i < NVDLA_ENGINE_WINDOW; i++) {
		u32 layer = engine->head + i;

		if (((engine->enabled & ~engine->ended) >> i & 1) &&
		    inflight_layer(engine, layer)->deadline)
			set_deadline(engine, layer);
	}
	find_next_deadline(engine);
}

void nvdla_engine_set_clock(struct nvdla_engine *engine, u32 clock_khz)
{
	u32 cycle_ns;

	engine->clock_khz = clock_khz;
	if (!engine->job)
		return;
	cycle_ns = job_cycle_ns(engine, engine->job->program);
	if (cycle_ns > engine->cycle_ns)
		slow_down(engine, cycle_ns);
}

void nvdla_engine_count_cycles(struct nvdla_engine *engine)
{
	engine->counts_cycles = true;
}

/*
 * Does all that can be done now, oldest layer first: what is programmed and
 * waited for is enabled before anything new is programmed.
 */
static void advance(struct nvdla_engine *engine)
{
	const struct nvdla_program *prog = engine->job->program;
	u32 blocked = 0;	/* units that an earlier layer is yet to take */
	u32 held_back = 0;	/* units of earlier layers not enabled */
	u32 active = 0;		/* units of earlier layers enabled */
	u32 i;

	for (i = 0; i < NVDLA_ENGINE_WINDOW; i++) {
		u32 layer = engine->head + i, bit = 1u << i;
		struct nvdla_inflight *inflight = inflight_layer(engine, layer);
		const struct nvdla_layer_image *image;
		u32 units;

		if (layer >= prog->num_layers)
			break;
		if (engine->ended & bit)
			continue;
		/* Asked to yield. */
		if (layer >= engine->stop && !(engine->enabled & bit))
			continue;
		image = &prog->layers[layer];
		units = image->units;

		if (!(engine->taken & bit)) {
			int ret;

			if ((units & blocked) ||
			    !nvdla_groups_free(engine, units)) {
				blocked |= units;
				continue;
			}
			ret = program(engine, image, inflight);
			if (ret != NVDLA_JOB_OK) {
				end_job(engine, ret, layer);
				return;
			}
			engine->taken |= bit;
		}

		if (!(engine->enabled & bit)) {
			if ((units & held_back) ||
			    !can_enable(engine, image, active)) {
				held_back |= units;
				continue;
			}
			enable(engine, layer, inflight);
			engine->enabled |= bit;
		}

		/* The clock of a layer starts when no other is in its way. */
		if (!inflight->deadline && !(units & active)) {
			inflight->start_ns = engine->event_ns;
			set_deadline(engine, layer);
		}
		active |= units;
	}
	find_next_deadline(engine);
}

static struct nvdla_layer_stats *stats_of(const struct nvdla_job *job,
					  u32 layer)
{
	u8 *first = (u8 *)job->stats;

	return (void *)(first + (size_t)layer * job->stats_stride);
}

static bool stats_valid(const struct nvdla_job *job)
{
	if (!(job->program->flags & NVDLA_PROGRAM_STATS))
		return true;
	return job->stats && job->stats_stride % sizeof(u64) == 0 &&
	       job->stats_stride >= sizeof(*job->stats);
}

static void end_layer(struct nvdla_engine *engine, u32 layer,
		      struct nvdla_inflight *inflight)
{
	struct nvdla_job *job = engine->job;
	u64 start_ns = inflight->deadline ? inflight->start_ns :
					    engine->event_ns;

	if (engine->ops->layer_end)
		engine->ops->layer_end(engine->context, job, layer, start_ns,
				       engine->event_ns);
	if (job->program->flags & NVDLA_PROGRAM_STATS) {
		struct nvdla_layer_stats *stats = stats_of(job, layer);

		stats->start_ns = start_ns;
		stats->end_ns = engine->event_ns;
		nvdla_stats_read(engine, &job->program->layers[layer], inflight,
				 stats);
	}
	nvdla_groups_release(engine, inflight);
	engine->ended |= 1u << (layer - engine->head);
}

/*
 * Returns the units that @inflight was not seen to be finished with: fewer than
 * it holds, because SDP may be done with a layer that PDP still works on.
 */
static u32 unfinished(const struct nvdla_inflight *inflight)
{
	return nvdla_irq_units(inflight->done |
			       (inflight->side & ~inflight->seen)) &
	       UNITS_LAST;
}

/*
 * Side bits came before the one that ends the layer. None may be left for the
 * next layer in the group. Bits of others stay for the next round.
 *
 * Return: false if the device is gone.
 */
static bool collect_side(struct nvdla_engine *engine,
			 struct nvdla_inflight *inflight)
{
	if (inflight->side & ~inflight->seen) {
		engine->bits |= nvdla_irq_take(engine);
		if (engine->bits == NVDLA_IRQ_GONE)
			return false;
	}
	inflight->seen |= engine->bits & inflight->side;
	engine->bits &= ~inflight->side;
	return true;
}

/*
 * Can the bit that ends @inflight be true? @occupied are units that earlier
 * layers were not seen to be finished with. Units serve layers in order, so
 * it cannot, unless the layer is known to be past them: PDP may finish what
 * SDP passed on while a response to SDP for the layer before is still out.
 */
static bool believable(const struct nvdla_inflight *inflight, u32 occupied)
{
	u32 last = nvdla_irq_units(inflight->done);
	u32 ahead = unfinished(inflight) & ~last;

	return !(inflight->units & occupied) || (!(last & occupied) && !ahead);
}

static bool completes(struct nvdla_engine *engine,
		      struct nvdla_inflight *inflight,
		      u32 occupied)
{
	if (!(engine->bits & inflight->done))
		return false;
	engine->bits &= ~inflight->done;
	if (believable(inflight, occupied))
		return true;
	engine->debug.spurious++;
	return false;
}

/*
 * Gives each bit to the layer that it belongs to, oldest first.
 *
 * Return: whether a layer ended.
 */
static bool consume(struct nvdla_engine *engine)
{
	u32 occupied = 0, i;
	bool ended = false;

	for (i = 0; i < NVDLA_ENGINE_WINDOW; i++) {
		u32 layer = engine->head + i;
		struct nvdla_inflight *inflight = inflight_layer(engine, layer);

		if (!((engine->enabled & ~engine->ended) >> i & 1))
			continue;
		inflight->seen |= engine->bits & inflight->side;
		engine->bits &= ~inflight->side;
		if (!completes(engine, inflight, occupied)) {
			occupied |= unfinished(inflight);
			continue;
		}
		if (!collect_side(engine, inflight))
			return false;
		end_layer(engine, layer, inflight);
		ended = true;
	}
	return ended;
}

/*
 * The convolution buffer keeps something for layers that are tied to the ones
 * before them. Of @program, layers before @head have begun, and those from
 * there on that @begun says.
 *
 * Return: the layer up to which others are to follow before anything else may
 * use the device; 0 if none has to.
 */
static u32 must_follow(const struct nvdla_program *program, u32 head, u32 begun)
{
	u32 first = head, i;

	for (i = 0; i < NVDLA_ENGINE_WINDOW; i++) {
		if ((begun >> i & 1) &&
		    (program->layers[head + i].units & UNITS_CONV))
			first = head + i + 1;
	}
	if (first == program->num_layers || !program->layers[first].tied)
		return 0;
	return first + program->layers[first].tied;
}

/* Ends a job of which nothing runs, and undoes the programming ahead. */
static void cut_job(struct nvdla_engine *engine)
{
	struct nvdla_job *job = engine->job;
	u32 unused = engine->taken & ~engine->enabled;
	u32 i;

	for (i = 0; i < NVDLA_ENGINE_WINDOW; i++) {
		u32 layer = engine->head + i;

		if (unused >> i & 1)
			nvdla_groups_give_back(engine,
					       inflight_layer(engine, layer));
	}
	end_job(engine, NVDLA_JOB_YIELDED, engine->head);
	job->first = engine->head;
	job->ended = engine->ended;
}

static u32 count_bits(u32 bits)
{
	u32 n = 0;

	for (; bits; bits &= bits - 1)
		n++;
	return n;
}

void nvdla_engine_interrupt(struct nvdla_engine *engine, u32 bits)
{
	if (!engine->job) {
		if (bits != NVDLA_IRQ_GONE)
			engine->debug.spurious += count_bits(bits);
		return;
	}

	engine->event_ns = nvdla_now(engine);
	engine->bits = bits;
	while (engine->bits != NVDLA_IRQ_GONE && consume(engine))
		;
	if (engine->bits == NVDLA_IRQ_GONE) {
		end_job(engine, NVDLA_JOB_GONE, engine->head);
		return;
	}
	engine->debug.spurious += count_bits(engine->bits);

	while (engine->ended & 1) {
		engine->ended >>= 1;
		engine->enabled >>= 1;
		engine->taken >>= 1;
		engine->late >>= 1;
		engine->head++;
	}
	if (engine->head == engine->job->program->num_layers)
		end_job(engine, NVDLA_JOB_OK, 0);
	else if (engine->head >= engine->stop &&
		 !(engine->enabled & ~engine->ended))
		cut_job(engine);
	else
		advance(engine);
}

/*
 * The caller may have a copy of the table of configurations, and of one name
 * there is logic with a fault that programs go around and logic without.
 */
static bool same_hw(const struct nvdla_hw *one, const struct nvdla_hw *other)
{
	const char *a = one->name, *b = other->name;

	for (; *a && *a == *b; a++, b++)
		;
	return *a == *b && one->features == other->features;
}

/* Can the job begin where it says: nowhere else, or where it yielded? */
static bool begins_right(const struct nvdla_job *job)
{
	const struct nvdla_program *program = job->program;
	u32 left;

	if (!job->first && !job->ended)
		return true;
	if (job->first >= program->num_layers || (job->ended & 1))
		return false;
	left = program->num_layers - job->first;
	if (left > NVDLA_ENGINE_WINDOW)
		left = NVDLA_ENGINE_WINDOW;
	return !(job->ended >> left) &&
	       !must_follow(program, job->first, job->ended);
}

int nvdla_engine_check(const struct nvdla_engine *engine,
		       const struct nvdla_program *program)
{
	u32 i;

	if (!same_hw(program->hw, engine->hw))
		return -NVDLA_SUBMIT_INVALID;
	for (i = 0; i < program->num_layers; i++)
		if (!nvdla_layer_valid(engine, program, i))
			return -NVDLA_SUBMIT_INVALID;
	return 0;
}

int nvdla_engine_submit(struct nvdla_engine *engine, struct nvdla_job *job)
{
	const struct nvdla_program *program = job->program;
	u32 bits;

	if (engine->job || engine->ended_job)
		return -NVDLA_SUBMIT_BUSY;
	if (!engine->started)
		return -NVDLA_SUBMIT_STOPPED;
	if (!job->serial || !stats_valid(job))
		return -NVDLA_SUBMIT_INVALID;
	if (!job->checked && nvdla_engine_check(engine, program))
		return -NVDLA_SUBMIT_INVALID;
	if (!begins_right(job))
		return -NVDLA_SUBMIT_INVALID;

	job->result = NVDLA_JOB_RUNNING;
	job->layer = 0;
	engine->job = job;
	engine->head = job->first;
	engine->taken = job->ended;
	engine->enabled = job->ended;
	engine->ended = job->ended;
	engine->late = 0;
	engine->stop = NVDLA_NO_STOP;
	engine->cycle_ns = job_cycle_ns(engine, program);
	engine->event_ns = nvdla_now(engine);

	/* A bit from before the job can mean none of its layers. */
	bits = nvdla_irq_take(engine);
	if (bits == NVDLA_IRQ_GONE) {
		end_job(engine, NVDLA_JOB_GONE, 0);
		return 0;
	}
	engine->debug.spurious += count_bits(bits);
	if (!program->num_layers) {
		end_job(engine, NVDLA_JOB_OK, 0);
		return 0;
	}
	engine->ops->dma_barrier(engine->context);
	advance(engine);
	return 0;
}

/*
 * Checks a layer after half of its time. The layer gets another half if this
 * is the first check, or if anything has moved since the last one.
 *
 * Return: false if this ended the job.
 */
static bool look_at_layer(struct nvdla_engine *engine, u32 layer, u32 bit)
{
	struct nvdla_inflight *inflight = inflight_layer(engine, layer);
	u32 progress = nvdla_layer_progress(engine, inflight);

	if (progress == NVDLA_ALL_ONES) {
		end_job(engine, NVDLA_JOB_GONE, layer);
		return false;
	}
	progress += engine->head + count_bits(engine->ended);
	if ((engine->late & bit) && progress <= inflight->progress) {
		end_job(engine, NVDLA_JOB_HANG, layer);
		return false;
	}
	inflight->progress = progress;
	engine->late |= bit;
	set_deadline(engine, layer);
	return true;
}

void nvdla_engine_poll(struct nvdla_engine *engine)
{
	u64 now = nvdla_now(engine);
	u32 head, ended, i;

	if (now < engine->next_deadline)
		return;
	head = engine->head;
	ended = engine->ended;
	nvdla_engine_interrupt(engine, nvdla_irq_take(engine));
	if (engine->head != head || engine->ended != ended)
		engine->debug.lost++;
	if (now < engine->next_deadline)
		return;

	for (i = 0; i < NVDLA_ENGINE_WINDOW; i++) {
		u32 layer = engine->head + i, bit = 1u << i;
		u64 deadline = inflight_layer(engine, layer)->deadline;

		if (!(engine->enabled & ~engine->ended & bit) || !deadline ||
		    now < deadline)
			continue;
		if (!look_at_layer(engine, layer, bit))
			return;
	}
	find_next_deadline(engine);
}

void nvdla_engine_yield(struct nvdla_engine *engine)
{
	if (engine->job && engine->stop == NVDLA_NO_STOP)
		engine->stop = must_follow(engine->job->program, engine->head,
					   engine->enabled);
}

u64 nvdla_engine_next_deadline(const struct nvdla_engine *engine)
{
	return engine->next_deadline;
}

struct nvdla_job *nvdla_engine_done(struct nvdla_engine *engine)
{
	struct nvdla_job *job = engine->ended_job;

	engine->ended_job = NULL;
	return job;
}

void nvdla_engine_abort(struct nvdla_engine *engine)
{
	if (engine->job)
		end_job(engine, NVDLA_JOB_CANCELED, engine->head);
	engine->started = false;
}
