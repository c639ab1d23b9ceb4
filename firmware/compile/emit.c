// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Appending to the register image of a layer.
 */
#include "compile.h"

static const u32 unit_bases[NVDLA_REGMAP_COUNT][NVDLA_UNIT_COUNT] =
	NVDLA_UNIT_BASES;

/* Registers emitted from here on belong to @unit, which the layer enables. */
void nvdla_emit_unit(struct nvdla_compile *c, u32 unit)
{
	c->unit_base = unit_bases[c->hw->regmap][unit];
	c->image->units |= 1u << unit;
}

void nvdla_emit(struct nvdla_compile *c, u32 reg, u32 value)
{
	struct nvdla_program *p = c->program;
	struct nvdla_reg_write *write;

	if (p->num_writes >= p->max_writes) {
		c->full = 1;
		return;
	}
	write = &p->writes[p->num_writes++];
	write->offset = c->unit_base + reg;
	write->value = value;
	c->image->num_writes++;
}

/* @high is NVDLA_NO_REG where a unit takes the low word only. */
void nvdla_emit_address(struct nvdla_compile *c, u32 low, u32 high, u32 slot,
			u64 offset)
{
	struct nvdla_program *p = c->program;
	struct nvdla_reloc *reloc;

	if (p->num_relocs >= p->max_relocs) {
		c->full = 1;
		return;
	}
	reloc = &p->relocs[p->num_relocs++];
	c->image->num_relocs++;
	reloc->offset = offset;
	reloc->slot = slot;
	reloc->low = (u16)c->image->num_writes;
	nvdla_emit(c, low, 0);
	reloc->high = NVDLA_RELOC_NONE;
	if (high != NVDLA_NO_REG) {
		reloc->high = (u16)c->image->num_writes;
		nvdla_emit(c, high, 0);
	}
}

/* The same bit in every unit: 1 is the primary interface. */
u32 nvdla_ram_type(const struct nvdla_compile *c, u32 slot)
{
	return c->program->slots[slot].memory == NVDLA_MEMORY_DRAM;
}
