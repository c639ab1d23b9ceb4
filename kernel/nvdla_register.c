// SPDX-License-Identifier: GPL-2.0
/*
 * All registers by name, from the table that is generated from the description
 * of the registers.
 *
 * Reading must change nothing: ports, where each access moves an index on, are
 * left out, and so is what can only be written. The registers of a group are
 * seen through PRODUCER of the unit, which is the engine's and put back.
 */
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>

#include "nvdla_debug.h"
#include "nvdla_device.h"

enum { NVDLA_SCOPE_SINGLE, NVDLA_SCOPE_GROUP };

/* 1 where a read gives something and has no effect. */
enum {
	NVDLA_READS_RO = 1,
	NVDLA_READS_RW = 1,
	NVDLA_READS_WO = 0,
	NVDLA_READS_RW1C = 1,
	NVDLA_READS_W1S = 0,
	NVDLA_READS_RW_TRIGGER = 1,
	NVDLA_READS_RW_PORT = 0,
	NVDLA_READS_MIXED = 1,
};

static const struct nvdla_register registers[] = {
#define NVDLA_REG_ROW(unit_name, reg_name, reg_offset, scope, access, ...) \
	{								\
		.name = reg_name,					\
		.offset = reg_offset,					\
		.unit = NVDLA_UNIT_##unit_name,				\
		.grouped = NVDLA_SCOPE_##scope == NVDLA_SCOPE_GROUP,	\
		.readable = NVDLA_READS_##access,			\
	},
#include "../firmware/registers/nvdla_reg_table.inc"
};

static const char * const unit_names[] = {
#define NVDLA_UNIT_ROW(unit, name, ...)					\
	[NVDLA_UNIT_##unit] = name,
#include "../firmware/registers/nvdla_reg_table.inc"
};

static const u32 unit_bases[][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;

/**
 * nvdla_register_unit_name() - what a unit is called
 * @unit: enum nvdla_unit
 *
 * Return: its name.
 */
const char *nvdla_register_unit_name(u32 unit)
{
	return unit_names[unit];
}

/* Windows of units that are not built may not answer. */
static bool nvdla_unit_built(const struct nvdla_hw *hw, u32 unit)
{
	if (unit_bases[hw->regmap][unit] == NVDLA_NO_REG)
		return false;
	switch (unit) {
	case NVDLA_UNIT_BDMA:
		return hw->features & NVDLA_HW_BDMA;
	case NVDLA_UNIT_RBK:
		return hw->features & NVDLA_HW_RUBIK;
	case NVDLA_UNIT_CVIF:
		return hw->features & NVDLA_HW_SRAM;
	case NVDLA_UNIT_GEC:
		return false;
	default:
		return true;
	}
}

static bool nvdla_register_shown(const struct nvdla_hw *hw,
				 const struct nvdla_register *reg)
{
	return reg->readable && nvdla_unit_built(hw, reg->unit);
}

/**
 * nvdla_register_count() - how many nvdla_register_read_all() reads
 * @ndev: device
 *
 * Return: registers, those of both groups counted twice.
 */
u32 nvdla_register_count(const struct nvdla_device *ndev)
{
	u32 count = 0, i;

	for (i = 0; i < ARRAY_SIZE(registers); i++)
		if (nvdla_register_shown(ndev->hw, &registers[i]))
			count += registers[i].grouped ? NVDLA_GROUPS : 1;
	return count;
}

static u32 nvdla_register_offset(const struct nvdla_hw *hw, u32 unit,
				 u32 offset)
{
	return unit_bases[hw->regmap][unit] + offset;
}

static void nvdla_register_select(struct nvdla_device *ndev, u32 unit,
				  u32 group)
{
	writel(group << NVDLA_REG_S_POINTER_PRODUCER_SHIFT,
	       ndev->regs + nvdla_register_offset(ndev->hw, unit,
						  NVDLA_REG_S_POINTER));
}

/* The registers of a unit of which there is one, or those of a group. */
static bool nvdla_register_read_unit(struct nvdla_device *ndev, u32 first,
				     bool grouped, u32 group,
				     nvdla_register_fn fn, void *data)
{
	u32 unit = registers[first].unit;
	bool found = false;
	u32 i;

	for (i = first; i < ARRAY_SIZE(registers) && registers[i].unit == unit;
	     i++) {
		const struct nvdla_register *reg = &registers[i];
		u32 offset;

		if (reg->grouped != grouped ||
		    !nvdla_register_shown(ndev->hw, reg))
			continue;
		if (grouped && !found)
			nvdla_register_select(ndev, unit, group);
		found = true;
		offset = nvdla_register_offset(ndev->hw, unit, reg->offset);
		fn(data, reg, offset, group, readl(ndev->regs + offset));
	}
	return found;
}

/**
 * nvdla_register_read_all() - read what can be read without consequences
 * @ndev: device that can be reached, hw_lock held
 * @fn: is told each register, unit by unit, group by group; must not sleep
 * @data: for @fn
 *
 * Return: 0, or -ENODEV if the device answers all ones.
 */
int nvdla_register_read_all(struct nvdla_device *ndev, nvdla_register_fn fn,
			    void *data)
{
	u32 version = nvdla_register_offset(ndev->hw, NVDLA_UNIT_GLB,
					    NVDLA_GLB_S_NVDLA_HW_VERSION);
	u32 i, group, unit = NVDLA_UNIT_COUNT;

	lockdep_assert_held(&ndev->hw_lock);
	if (readl(ndev->regs + version) == ~0u)
		return -ENODEV;
	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		bool grouped = false;

		if (registers[i].unit == unit)
			continue;
		unit = registers[i].unit;
		nvdla_register_read_unit(ndev, i, false, 0, fn, data);
		for (group = 0; group < NVDLA_GROUPS; group++)
			grouped |= nvdla_register_read_unit(ndev, i, true,
							    group, fn, data);
		if (grouped)
			nvdla_register_select(ndev, unit,
					      ndev->engine.producer >> unit &
						      1);
	}
	return 0;
}
