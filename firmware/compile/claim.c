// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The proof of where a layer touches memory: every DMA client claims the bytes
 * that it can touch, at most, and the claim must lie in a slot.
 *
 * Claims are made of whole atoms: over-fetched lanes and padded channels are
 * in them. What is not in them is the other half of a 64-byte bus beat that
 * the memory interface of the first generation may read along with an atom at
 * an odd multiple of 32 bytes. The unit drops those bytes, nothing is written
 * that way, and a 64-byte block never leaves the page in which the atom lies,
 * so no buffer that is made of pages can be left. Whoever binds smaller pieces
 * of memory than pages rounds the ends of readable buffers out to 64 bytes.
 */
#include "compile.h"

static int is_write(u32 dma)
{
	switch (dma) {
	case NVDLA_DMA_SDP_WDMA:
	case NVDLA_DMA_PDP_WDMA:
	case NVDLA_DMA_CDP_WDMA:
	case NVDLA_DMA_RUBIK_WRITE:
	case NVDLA_DMA_BDMA_WRITE:
		return 1;
	default:
		return 0;
	}
}

static void record(struct nvdla_compile *c, u32 slot, u64 begin, u64 end,
		   u32 dma)
{
	struct nvdla_program *p = c->program;
	struct nvdla_access *access;

	if (p->num_accesses >= p->max_accesses) {
		c->full = 1;
		return;
	}
	access = &p->accesses[p->num_accesses++];
	access->begin = begin;
	access->end = end;
	access->slot = slot;
	access->dma = (u16)dma;
	access->write = (u16)is_write(dma);
	c->image->num_accesses++;
}

/* Control data are for those who were to be proven by them, and nobody else. */
static u32 needed_access(u32 dma)
{
	if (dma == NVDLA_DMA_CDMA_WGS || dma == NVDLA_DMA_CDMA_WMB)
		return NVDLA_SLOT_CONTROL;
	return is_write(dma) ? NVDLA_SLOT_WRITE : NVDLA_SLOT_READ;
}

/*
 * @field is that of a struct nvdla_surface or nvdla_span: both begin with
 * offset and slot.
 */
static int claim(struct nvdla_compile *c, u32 field, u32 slot, u64 offset,
		 u64 length, u32 dma)
{
	const u32 slot_field = field + offsetof(struct nvdla_surface, slot);
	struct nvdla_program *p = c->program;
	u32 need = needed_access(dma);
	u64 last, size;

	if (slot >= p->num_slots)
		return nvdla_refuse_memory(c, NVDLA_RULE_SLOT_INDEX, slot_field,
					   dma, slot, slot, 0,
					   (s64)p->num_slots - 1);
	if (!(p->slots[slot].access & need))
		return nvdla_refuse_memory(c, NVDLA_RULE_SLOT_ACCESS,
					   slot_field, dma, slot, need, 0, 0);
	/* Atoms are powers of two. */
	if ((u32)offset & (c->hw->atom - 1)) {
		nvdla_refuse_multiple(c, field, nvdla_clamp(offset),
				      c->hw->atom);
		c->error->dma = dma;
		c->error->slot = slot;
		return -1;
	}
	/* Nobody claims nothing. */
	size = p->slots[slot].size;
	if (check_add_overflow(offset, length - 1, &last))
		last = ~(u64)0;
	/* The last byte of 2^64 is in no slot: a size cannot say so. */
	if (last >= size)
		return nvdla_refuse_memory(c, NVDLA_RULE_EXTENT, field, dma,
					   slot, nvdla_clamp(last),
					   nvdla_clamp(offset),
					   nvdla_clamp(size));
	record(c, slot, offset, last + 1, dma);
	return 0;
}

/*
 * Cycles in which @runs of @bytes pass, in beats of the memory interface. Where
 * those are wider than an atom a run may begin inside of one.
 */
static void account(struct nvdla_compile *c, u64 runs, u32 bytes)
{
	const u32 bus = c->hw->bus_bytes;
	const u32 atoms = nvdla_div_up(bytes, c->hw->atom);
	const u32 before = bus / c->hw->atom - 1;

	c->image->cycles += runs *
			    nvdla_div_up(atoms + before, bus / c->hw->atom) *
			    NVDLA_CYCLES_PER_BEAT;
}

int nvdla_claim_run(struct nvdla_compile *c, u32 field, u32 slot, u64 offset,
		    u64 bytes, u32 dma)
{
	if (claim(c, field, slot, offset, bytes, dma))
		return -1;
	/* Less than 2^32 bytes: a 32-bit division. */
	account(c, 1, (u32)bytes);
	return 0;
}

/*
 * An address beyond the atom's alignment, which takes a slot that promises it.
 * The slot exists: something was claimed in it.
 */
int nvdla_check_placed(struct nvdla_compile *c, u32 field, u32 slot, u64 offset,
		       u32 alignment, u32 dma)
{
	const u32 slot_field = field + offsetof(struct nvdla_surface, slot);
	const u32 found = c->program->slots[slot].alignment;

	if ((u32)offset & (alignment - 1))
		return nvdla_refuse_multiple(c, field, nvdla_clamp(offset),
					     alignment);
	if (found < alignment)
		return nvdla_refuse_memory(c, NVDLA_RULE_SLOT_ALIGNMENT,
					   slot_field, dma, slot, found,
					   alignment, 0);
	return 0;
}

/*
 * Cubes of a batch lie apart as surfaces do: each takes its surfaces with all
 * that is between them. At most 32 of them, 2^32 bytes apart.
 */
static int check_batch(struct nvdla_compile *c, u32 field,
		       const struct nvdla_surface *surface,
		       const struct nvdla_cube *cube, u32 dma, u64 *length)
{
	const u32 batch_field =
		field + offsetof(struct nvdla_surface, batch_stride);
	u64 least = (u64)cube->surfaces * surface->surface_stride;

	if (cube->batch <= 1)
		return nvdla_check_zero(c, batch_field, surface->batch_stride);
	if (least < *length)
		least = *length;
	if (nvdla_check_multiple(c, batch_field, surface->batch_stride,
				 c->hw->atom))
		return -1;
	if (surface->batch_stride < least)
		return nvdla_refuse_memory(c, NVDLA_RULE_STRIDE, batch_field,
					   dma, surface->slot,
					   surface->batch_stride,
					   nvdla_clamp(least), 0);
	*length += (u64)(cube->batch - 1) * surface->batch_stride;
	return 0;
}

/* True if @stride steps over @least bytes, or stays where it is allowed to. */
static int is_apart(const struct nvdla_cube *cube, u32 stride, u64 least)
{
	return stride >= least || (cube->repeats && !stride);
}

/*
 * Strides are checked where they are stepped over; a stride that is not may be
 * any multiple of the atom. A packed cube is one run whatever the strides say,
 * so they must say that.
 */
int nvdla_claim_cube(struct nvdla_compile *c, u32 field,
		     const struct nvdla_surface *surface,
		     const struct nvdla_cube *cube, u32 dma)
{
	const u32 line_field =
		field + offsetof(struct nvdla_surface, line_stride);
	const u32 surface_field =
		field + offsetof(struct nvdla_surface, surface_stride);
	const u32 atom = c->hw->atom;
	u64 plane, least, length;

	if (nvdla_check_multiple(c, line_field, surface->line_stride, atom) ||
	    nvdla_check_multiple(c, surface_field, surface->surface_stride,
				 atom))
		return -1;

	if (cube->lines > 1 &&
	    !is_apart(cube, surface->line_stride, cube->line_bytes))
		return nvdla_refuse_memory(c, NVDLA_RULE_STRIDE, line_field,
					   dma, surface->slot,
					   surface->line_stride,
					   cube->line_bytes, 0);
	/* At most 2^13 lines of 2^32 bytes in at most 2^14 surfaces. */
	plane = (u64)(cube->lines - 1) * surface->line_stride +
		cube->line_bytes;
	/*
	 * A surface takes its lines with all that is between them. Lines that
	 * repeat are one.
	 */
	least = cube->lines > 1 && surface->line_stride ?
			(u64)cube->lines * surface->line_stride :
			cube->line_bytes;
	if (cube->surfaces > 1 && cube->packed) {
		if (surface->surface_stride != cube->line_bytes)
			return nvdla_refuse(c, NVDLA_RULE_RANGE, surface_field,
					    surface->surface_stride,
					    cube->line_bytes, cube->line_bytes);
	} else if (cube->surfaces > 1 &&
		   !is_apart(cube, surface->surface_stride, least)) {
		return nvdla_refuse_memory(c, NVDLA_RULE_STRIDE, surface_field,
					   dma, surface->slot,
					   surface->surface_stride,
					   nvdla_clamp(least), 0);
	}
	length = (u64)(cube->surfaces - 1) * surface->surface_stride + plane;
	if (check_batch(c, field, surface, cube, dma, &length))
		return -1;

	if (claim(c, field, surface->slot, surface->offset, length, dma))
		return -1;
	account(c,
		(u64)cube->surfaces * cube->lines * nvdla_max(cube->batch, 1),
		cube->line_bytes);
	return 0;
}

/*
 * A layer must not write what it reads elsewhere. @in_place has a
 * bit per enum nvdla_dma that reads each atom just before it is written.
 * Extents are compared as intervals: two cubes that interleave count as
 * overlapping.
 */
int nvdla_check_overlap(struct nvdla_compile *c, u32 field, u32 in_place)
{
	const struct nvdla_access *access =
		&c->program->accesses[c->image->first_access];
	u32 i, j;

	if (c->full)
		return 0;
	for (i = 0; i < c->image->num_accesses; i++) {
		const struct nvdla_access *w = &access[i];

		if (!w->write)
			continue;
		for (j = 0; j < c->image->num_accesses; j++) {
			const struct nvdla_access *r = &access[j];

			if (r->write || r->slot != w->slot ||
			    (in_place & 1u << r->dma) || r->end <= w->begin ||
			    w->end <= r->begin)
				continue;
			return nvdla_refuse_memory(c, NVDLA_RULE_OVERLAP, field,
						   w->dma, w->slot,
						   nvdla_clamp(w->begin),
						   nvdla_clamp(r->begin),
						   nvdla_clamp(r->end - 1));
		}
	}
	return 0;
}
