// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * This file checks that the buffers of a submission fit the slots of a program.
 * Everything inside of a slot was proven when the program was compiled.
 */
#include "compile.h"

#define FIELD(member) ((u32)offsetof(struct nvdla_binding, member))

static int check_binding(struct nvdla_compile *c, const struct nvdla_slot *slot,
			 const struct nvdla_binding *binding)
{
	const u64 max = c->hw->address_bits < 64 ? 0xffffffffu : ~(u64)0;
	const u32 index = c->index;
	u64 last;

	if (slot->access == NVDLA_SLOT_CONTROL &&
	    binding->access != NVDLA_SLOT_CONTROL)
		return nvdla_refuse_memory(c, NVDLA_RULE_BINDING_CONTROL, 0, 0,
					   index, 0, 0, 0);
	if (binding->size < slot->size)
		return nvdla_refuse_memory(c, NVDLA_RULE_BINDING_SIZE,
					   FIELD(size), 0, index,
					   nvdla_clamp(binding->size),
					   nvdla_clamp(slot->size), 0);
	if (binding->memory != slot->memory)
		return nvdla_refuse_memory(c, NVDLA_RULE_BINDING_MEMORY,
					   FIELD(memory), 0, index,
					   binding->memory, slot->memory,
					   slot->memory);
	if (slot->access & ~binding->access)
		return nvdla_refuse_memory(c, NVDLA_RULE_SLOT_ACCESS,
					   FIELD(access), 0, index,
					   slot->access, 0, binding->access);
	if ((u32)binding->address & (slot->alignment - 1)) {
		nvdla_refuse_memory(c, NVDLA_RULE_BINDING_ALIGNMENT,
				    FIELD(address), 0, index,
				    nvdla_clamp(binding->address), 0, 0);
		c->error->multiple = slot->alignment;
		return -1;
	}
	if (check_add_overflow(binding->address, slot->size - 1, &last))
		last = ~(u64)0;
	else if (last <= max)
		return 0;
	return nvdla_refuse_memory(c, NVDLA_RULE_ADDRESS, FIELD(address), 0,
				   index, nvdla_clamp(last), 0,
				   c->hw->address_bits);
}

/*
 * Two slots may share bytes only if neither is written: the proofs inside of a
 * layer compare bytes of the same slot.
 */
static int check_apart(struct nvdla_compile *c,
		       const struct nvdla_binding *bindings, u32 index)
{
	const struct nvdla_slot *slots = c->program->slots;
	const u64 begin = bindings[index].address;
	const u64 last = begin + (slots[index].size - 1);
	u32 i;

	for (i = 0; i < index; i++) {
		const u64 other = bindings[i].address;

		if (slots[i].memory != slots[index].memory ||
		    !((slots[i].access | slots[index].access) &
		      NVDLA_SLOT_WRITE))
			continue;
		if (last < other || other + (slots[i].size - 1) < begin)
			continue;
		return nvdla_refuse_memory(c, NVDLA_RULE_BINDING_OVERLAP,
					   FIELD(address), 0, i,
					   nvdla_clamp(begin),
					   nvdla_clamp(other),
					   nvdla_clamp(other +
						       (slots[i].size - 1)));
	}
	return 0;
}

int nvdla_program_check_bindings(const struct nvdla_program *program,
				 const struct nvdla_binding *bindings,
				 u32 count, struct nvdla_error *error)
{
	static const struct nvdla_error none;
	struct nvdla_compile c = {
		/* Only read from here on. */
		.program = (struct nvdla_program *)program,
		.hw = program->hw,
		.error = error,
		.object = NVDLA_OBJECT_BINDING,
	};
	u32 i;

	*error = none;
	c.index = count < program->num_slots ? count : program->num_slots;
	if (count != program->num_slots)
		return nvdla_refuse_memory(&c, NVDLA_RULE_BINDING_MISSING, 0, 0,
					   c.index, count, program->num_slots,
					   program->num_slots);
	for (i = 0; i < count; i++) {
		c.index = i;
		if (check_binding(&c, &program->slots[i], &bindings[i]) ||
		    check_apart(&c, bindings, i))
			return -1;
	}
	return 0;
}
