// SPDX-License-Identifier: MIT
//
// What header_c11.c saw of nvdla_regs.h as C, for comparison with C++.
#ifndef NVDLA_TESTS_REGISTERS_HEADER_C11_H
#define NVDLA_TESTS_REGISTERS_HEADER_C11_H

#ifdef __cplusplus
extern "C" {
#endif

unsigned int c11_unit_base(unsigned int map, unsigned int unit);
unsigned int c11_op_enable(unsigned int unit);

#ifdef __cplusplus
}
#endif

#endif  // NVDLA_TESTS_REGISTERS_HEADER_C11_H
