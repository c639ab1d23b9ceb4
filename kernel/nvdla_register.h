/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All registers by name, for people and dumps.
 */
#ifndef NVDLA_REGISTER_H
#define NVDLA_REGISTER_H

#include <linux/types.h>

struct nvdla_device;

/** struct nvdla_register - a register */
struct nvdla_register {
	/** @name: without that of its unit */
	const char *name;
	/** @offset: in the window of its unit */
	u16 offset;
	/** @unit: enum nvdla_unit */
	u8 unit;
	/** @grouped: there is one in each register group */
	bool grouped;
	/** @readable: and reading it changes nothing */
	bool readable;
};

/**
 * typedef nvdla_register_fn - is told a register
 * @data: the caller's
 * @reg: register
 * @offset: from the start of the register space
 * @group: 0 or 1, 0 for a register of which there is one
 * @value: as read
 */
typedef void (*nvdla_register_fn)(void *data, const struct nvdla_register *reg,
				  u32 offset, u32 group, u32 value);

const char *nvdla_register_unit_name(u32 unit);
u32 nvdla_register_count(const struct nvdla_device *ndev);
int nvdla_register_read_all(struct nvdla_device *ndev, nvdla_register_fn fn,
			    void *data);

#endif /* NVDLA_REGISTER_H */
