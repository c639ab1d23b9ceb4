// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Checks of copies. Transfers belong to the program and are checked when it
 * begins; a layer is a row of them. There is no register image: the engine
 * pushes the transfers as commands.
 */
#include "compile.h"

#define FIELD(member) ((u32)offsetof(struct nvdla_transfer, member))

/* Lines are multiples of this, as what they are apart is of an atom. */
#define COPY_ALIGN	32
#define MAX_LINE	(8192 * COPY_ALIGN)

int nvdla_transfer_check(struct nvdla_compile *c,
			 const struct nvdla_transfer *transfer)
{
	if (nvdla_check_range(c, FIELD(line_bytes), transfer->line_bytes,
			      COPY_ALIGN, MAX_LINE) ||
	    nvdla_check_multiple(c, FIELD(line_bytes), transfer->line_bytes,
				 COPY_ALIGN) ||
	    nvdla_check_range(c, FIELD(lines), transfer->lines, 1, 8192) ||
	    nvdla_check_range(c, FIELD(surfaces), transfer->surfaces, 1, 8192))
		return -1;
	return nvdla_check_zero(c, FIELD(pad), transfer->pad);
}

/*
 * Lines that are written lie apart. Those that are read may repeat: with a
 * stride of 0 the unit reads the same line, or surface, again.
 */
static int claim(struct nvdla_compile *c, const struct nvdla_transfer *t)
{
	struct nvdla_cube cube = {
		.surfaces = t->surfaces,
		.lines = t->lines,
		.line_bytes = t->line_bytes,
		.repeats = 1,
	};

	if (nvdla_claim_cube(c, FIELD(source), &t->source, &cube,
			     NVDLA_DMA_BDMA_READ))
		return -1;
	cube.repeats = 0;
	return nvdla_claim_cube(c, FIELD(destination), &t->destination, &cube,
				NVDLA_DMA_BDMA_WRITE);
}

/*
 * Completion is the answer to the last command's last write, and writes into
 * one memory only are answered in order: so all go into the same one.
 */
static int check_memory(struct nvdla_compile *c,
			const struct nvdla_transfer *first,
			const struct nvdla_transfer *t)
{
	const struct nvdla_slot *slots = c->program->slots;
	const u32 memory = slots[first->destination.slot].memory;
	const u32 other = slots[t->destination.slot].memory;

	if (other == memory)
		return 0;
	return nvdla_refuse_memory(c, NVDLA_RULE_TRANSFER_MEMORY,
				   FIELD(destination.slot),
				   NVDLA_DMA_BDMA_WRITE, t->destination.slot,
				   other, memory, memory);
}

int nvdla_bdma_check(struct nvdla_compile *c)
{
	const struct nvdla_bdma *bdma = &c->layer->bdma;
	const struct nvdla_program *p = c->program;
	const struct nvdla_transfer *first;
	const u32 layer = c->index;
	u32 i;

	if (nvdla_check_range(c, NVDLA_FIELD(bdma.num_transfers),
			      bdma->num_transfers, 1,
			      NVDLA_MAX_LAYER_TRANSFERS) ||
	    nvdla_check_range(c, NVDLA_FIELD(bdma.first_transfer),
			      bdma->first_transfer, 0,
			      (s64)p->num_transfers - bdma->num_transfers))
		return -1;
	first = &p->transfers[bdma->first_transfer];
	c->object = NVDLA_OBJECT_TRANSFER;
	for (i = 0; i < bdma->num_transfers; i++) {
		c->index = bdma->first_transfer + i;
		if (claim(c, &first[i]) || check_memory(c, first, &first[i]))
			return -1;
	}
	c->object = NVDLA_OBJECT_LAYER;
	c->index = layer;
	/* No transfer may read what another writes: they pass one another. */
	if (nvdla_check_overlap(c, NVDLA_FIELD(bdma.first_transfer), 0))
		return -1;
	c->image->first_transfer = bdma->first_transfer;
	c->image->num_transfers = bdma->num_transfers;
	c->image->units = 1u << NVDLA_UNIT_BDMA;
	if (p->flags & NVDLA_PROGRAM_STATS)
		c->image->counters = 1ull << NVDLA_COUNTER_BDMA_READ_STALL |
				     1ull << NVDLA_COUNTER_BDMA_WRITE_STALL;
	return 0;
}
