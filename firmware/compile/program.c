// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A program: its memory, its slots, and layers one after the other.
 */
#include "compile.h"

#define SLOT_FIELD(member) ((u32)offsetof(struct nvdla_slot, member))

#define DEFAULT_CLOCK_KHZ	1000000

static int counts_valid(const struct nvdla_program_desc *desc)
{
	return desc->num_layers && desc->num_layers <= NVDLA_MAX_LAYERS &&
	       desc->num_slots <= NVDLA_MAX_SLOTS &&
	       desc->num_luts <= NVDLA_MAX_LUTS &&
	       desc->num_transfers <= NVDLA_MAX_TRANSFERS;
}

/*
 * Every array holds structs whose size is a multiple of 8. With the limits on
 * counts this is less than NVDLA_MAX_PROGRAM_BYTES.
 */
size_t nvdla_program_bytes(const struct nvdla_program_desc *desc)
{
	const size_t layer =
		sizeof(struct nvdla_layer_image) +
		NVDLA_LAYER_MAX_WRITES * sizeof(struct nvdla_reg_write) +
		NVDLA_LAYER_MAX_RELOCS * sizeof(struct nvdla_reloc) +
		NVDLA_LAYER_MAX_ACCESSES * sizeof(struct nvdla_access);

	if (!counts_valid(desc))
		return 0;
	return desc->num_layers * layer +
	       desc->num_slots * sizeof(struct nvdla_slot) +
	       desc->num_luts * sizeof(struct nvdla_lut) +
	       desc->num_transfers * sizeof(struct nvdla_transfer);
}

static int check_limit(struct nvdla_compile *c, u32 field, u32 count, u32 max)
{
	if (count > max)
		return nvdla_refuse(c, NVDLA_RULE_LIMIT, field, count, 0, max);
	return 0;
}

static int check_desc(struct nvdla_compile *c,
		      const struct nvdla_program_desc *desc)
{
	if (!desc->num_layers)
		return nvdla_refuse(c, NVDLA_RULE_RANGE, NVDLA_PART_LAYERS, 0,
				    1, NVDLA_MAX_LAYERS);
	if (check_limit(c, NVDLA_PART_LAYERS, desc->num_layers,
			NVDLA_MAX_LAYERS) ||
	    check_limit(c, NVDLA_PART_SLOTS, desc->num_slots,
			desc->slots ? NVDLA_MAX_SLOTS : 0) ||
	    check_limit(c, NVDLA_PART_LUTS, desc->num_luts,
			desc->luts ? NVDLA_MAX_LUTS : 0) ||
	    check_limit(c, NVDLA_PART_TRANSFERS, desc->num_transfers,
			desc->transfers ? NVDLA_MAX_TRANSFERS : 0) ||
	    check_limit(c, NVDLA_PART_CONTROL, desc->control_bytes,
			desc->control ? NVDLA_MAX_CONTROL_BYTES : 0))
		return -1;
	return nvdla_check_flags(c, NVDLA_PART_FLAGS, desc->flags,
				 NVDLA_PROGRAM_STATS);
}

/* The address space is 2^32 or 2^64 bytes. */
static u64 last_address(const struct nvdla_hw *hw)
{
	return hw->address_bits < 64 ? 0xffffffffu : ~(u64)0;
}

static int check_slot(struct nvdla_compile *c, const struct nvdla_slot *slot)
{
	const u32 access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE;

	if (!slot->size)
		return nvdla_refuse(c, NVDLA_RULE_RANGE, SLOT_FIELD(size), 0, 1,
				    nvdla_clamp(last_address(c->hw)));
	if (slot->size - 1 > last_address(c->hw))
		return nvdla_refuse(c, NVDLA_RULE_ADDRESS, SLOT_FIELD(size),
				    nvdla_clamp(slot->size - 1), 0,
				    c->hw->address_bits);
	if (slot->alignment < c->hw->atom ||
	    (slot->alignment & (slot->alignment - 1)))
		return nvdla_refuse(c, NVDLA_RULE_SLOT_ALIGNMENT,
				    SLOT_FIELD(alignment), slot->alignment,
				    c->hw->atom, 0);
	if (nvdla_check_choice(c, SLOT_FIELD(memory), slot->memory,
			       NVDLA_MEMORY_SRAM))
		return -1;
	if (slot->memory == NVDLA_MEMORY_SRAM &&
	    !(c->hw->features & NVDLA_HW_SRAM))
		return nvdla_refuse_feature(c, SLOT_FIELD(memory),
					    NVDLA_FEATURE_SRAM);
	if (slot->access != NVDLA_SLOT_CONTROL &&
	    nvdla_check_flags(c, SLOT_FIELD(access), slot->access, access))
		return -1;
	if (!slot->access)
		return nvdla_refuse(c, NVDLA_RULE_CHOICE, SLOT_FIELD(access), 0,
				    NVDLA_SLOT_READ, access);
	return nvdla_check_zero(c, SLOT_FIELD(pad), slot->pad);
}

/* Every byte of a control slot was brought by the program. */
static int check_control(struct nvdla_compile *c, u32 control_bytes)
{
	const struct nvdla_program *p = c->program;
	u32 found = p->num_slots;
	u32 i;

	for (i = 0; i < p->num_slots; i++) {
		if (p->slots[i].access != NVDLA_SLOT_CONTROL)
			continue;
		c->index = i;
		if (found < p->num_slots)
			return nvdla_refuse(c, NVDLA_RULE_CONTROL_SLOT,
					    SLOT_FIELD(access), i, found,
					    found);
		if (p->slots[i].size != control_bytes)
			return nvdla_refuse(c, NVDLA_RULE_CONTROL_SIZE,
					    SLOT_FIELD(size),
					    nvdla_clamp(p->slots[i].size),
					    control_bytes, control_bytes);
		found = i;
	}
	if (found == p->num_slots && control_bytes) {
		c->object = NVDLA_OBJECT_PROGRAM;
		c->index = 0;
		return nvdla_refuse(c, NVDLA_RULE_CONTROL_SIZE,
				    NVDLA_PART_CONTROL, 0, control_bytes,
				    control_bytes);
	}
	return 0;
}

static int check_slots(struct nvdla_compile *c, u32 control_bytes)
{
	u32 i;

	c->object = NVDLA_OBJECT_SLOT;
	for (i = 0; i < c->program->num_slots; i++) {
		c->index = i;
		if (check_slot(c, &c->program->slots[i]))
			return -1;
	}
	return check_control(c, control_bytes);
}

static int check_luts(struct nvdla_compile *c)
{
	u32 i;

	c->object = NVDLA_OBJECT_LUT;
	for (i = 0; i < c->program->num_luts; i++) {
		c->index = i;
		if (nvdla_lut_check(c, &c->program->luts[i]))
			return -1;
	}
	return 0;
}

static int check_transfers(struct nvdla_compile *c)
{
	u32 i;

	c->object = NVDLA_OBJECT_TRANSFER;
	c->index = 0;
	if (c->program->num_transfers && !(c->hw->features & NVDLA_HW_BDMA))
		return nvdla_refuse_feature(c, 0, NVDLA_FEATURE_BDMA);
	for (i = 0; i < c->program->num_transfers; i++) {
		c->index = i;
		if (nvdla_transfer_check(c, &c->program->transfers[i]))
			return -1;
	}
	return 0;
}

static void *take(u8 **memory, size_t bytes)
{
	void *taken = *memory;

	*memory += bytes;
	return taken;
}

/* The caller checked the counts, and that @memory is nvdla_program_bytes(). */
static void lay_out(struct nvdla_program *p,
		    const struct nvdla_program_desc *desc, u8 *memory)
{
	u32 i;

	p->max_layers = desc->num_layers;
	p->max_writes = desc->num_layers * NVDLA_LAYER_MAX_WRITES;
	p->max_relocs = desc->num_layers * NVDLA_LAYER_MAX_RELOCS;
	p->max_accesses = desc->num_layers * NVDLA_LAYER_MAX_ACCESSES;
	p->layers = take(&memory, p->max_layers * sizeof(*p->layers));
	p->writes = take(&memory, p->max_writes * sizeof(*p->writes));
	p->relocs = take(&memory, p->max_relocs * sizeof(*p->relocs));
	p->accesses = take(&memory, p->max_accesses * sizeof(*p->accesses));
	p->slots = take(&memory, desc->num_slots * sizeof(*p->slots));
	p->luts = take(&memory, desc->num_luts * sizeof(*p->luts));
	p->transfers =
		take(&memory, desc->num_transfers * sizeof(*p->transfers));

	for (i = 0; i < desc->num_slots; i++)
		p->slots[i] = desc->slots[i];
	p->num_slots = desc->num_slots;
	for (i = 0; i < desc->num_luts; i++)
		p->luts[i] = desc->luts[i];
	p->num_luts = desc->num_luts;
	for (i = 0; i < desc->num_transfers; i++)
		p->transfers[i] = desc->transfers[i];
	p->num_transfers = desc->num_transfers;
}

static void clear_error(struct nvdla_error *error)
{
	static const struct nvdla_error none;

	*error = none;
}

int nvdla_program_begin(struct nvdla_program *program,
			const struct nvdla_hw *hw,
			const struct nvdla_program_desc *desc, void *memory,
			size_t size, struct nvdla_error *error)
{
	static const struct nvdla_program empty;
	struct nvdla_compile c = {
		.program = program,
		.hw = hw,
		.error = error,
		.object = NVDLA_OBJECT_PROGRAM,
	};
	size_t need;

	clear_error(error);
	*program = empty;
	program->hw = hw;
	if (check_desc(&c, desc))
		return -1;
	program->flags = desc->flags;
	program->clock_khz = desc->clock_khz ? desc->clock_khz :
					       DEFAULT_CLOCK_KHZ;

	need = nvdla_program_bytes(desc);
	if (!memory || size < need)
		return nvdla_refuse(&c, NVDLA_RULE_PROGRAM_SIZE,
				    NVDLA_PART_MEMORY, (s64)need, 0,
				    memory ? nvdla_clamp(size) : 0);
	lay_out(program, desc, memory);
	program->control = desc->control;
	if (check_slots(&c, desc->control_bytes) || check_luts(&c) ||
	    check_transfers(&c))
		return -1;
	return 0;
}

static void start_image(struct nvdla_compile *c)
{
	static const struct nvdla_layer_image empty;
	struct nvdla_program *p = c->program;
	struct nvdla_layer_image *image = &p->layers[c->index];

	*image = empty;
	image->first_write = p->num_writes;
	image->first_reloc = p->num_relocs;
	image->first_access = p->num_accesses;
	c->image = image;
}

int nvdla_program_add(struct nvdla_program *program,
		      const struct nvdla_layer *layer,
		      struct nvdla_error *error)
{
	struct nvdla_compile c = {
		.program = program,
		.hw = program->hw,
		.layer = layer,
		.error = error,
		.object = NVDLA_OBJECT_PROGRAM,
		.index = program->num_layers,
	};

	clear_error(error);
	if (program->num_layers >= program->max_layers)
		return nvdla_refuse(&c, NVDLA_RULE_LIMIT, NVDLA_PART_LAYERS,
				    (s64)program->num_layers + 1, 0,
				    program->max_layers);
	c.object = NVDLA_OBJECT_LAYER;
	start_image(&c);
	if (nvdla_layer_compile(&c))
		return -1;
	/* Cannot happen while NVDLA_LAYER_MAX_* hold. */
	if (c.full)
		return nvdla_refuse(&c, NVDLA_RULE_PROGRAM_SIZE, 0,
				    c.image->num_writes, 0,
				    NVDLA_LAYER_MAX_WRITES);
	program->kept.cycles += c.image->cycles;
	program->num_layers++;
	return 0;
}

/* Counts for each tied layer how many are tied from it on. */
static void count_tied(const struct nvdla_program *program)
{
	struct nvdla_layer_image *layers = program->layers;
	u32 i = program->num_layers, count = 0;

	while (i--) {
		count = layers[i].tied ? count + 1 : 0;
		layers[i].tied = count;
	}
}

int nvdla_program_end(struct nvdla_program *program, struct nvdla_error *error)
{
	struct nvdla_compile c = {
		.program = program,
		.hw = program->hw,
		.error = error,
		.object = NVDLA_OBJECT_PROGRAM,
	};

	clear_error(error);
	if (program->num_layers != program->max_layers)
		return nvdla_refuse(&c, NVDLA_RULE_RANGE, NVDLA_PART_LAYERS,
				    program->num_layers, program->max_layers,
				    program->max_layers);
	count_tied(program);
	/* Whose they are may do with them what he likes. */
	program->control = NULL;
	return 0;
}
