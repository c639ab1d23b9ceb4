// SPDX-License-Identifier: MIT
//
// The header as the kernel takes it: C11, nothing included before it.
#include "firmware/registers/nvdla_regs.h"

#include "header_c11.h"

static const unsigned int bases[NVDLA_REGMAP_COUNT][NVDLA_UNIT_COUNT] = NVDLA_UNIT_BASES;
static const unsigned int op_enables[NVDLA_UNIT_COUNT] = NVDLA_UNIT_OP_ENABLES;

_Static_assert(NVDLA_CDMA_D_BANK == 0x0bc, "offset");
_Static_assert(NVDLA_CDMA_D_BANK_WEIGHT_BANK_SHIFT == 16, "shift");
_Static_assert(NVDLA_SDP_S_POINTER == NVDLA_REG_S_POINTER, "shared register");

unsigned int c11_unit_base(unsigned int map, unsigned int unit)
{
	return bases[map][unit];
}

unsigned int c11_op_enable(unsigned int unit)
{
	return op_enables[unit];
}
