/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The KUnit suites share a program that copies.
 */
#ifndef NVDLA_TEST_H
#define NVDLA_TEST_H

#include <kunit/test.h>

#include "../../firmware/compile/nvdla_compile.h"

const struct nvdla_hw *nvdla_test_hw(struct kunit *test);
struct nvdla_layer *nvdla_test_copy_layer(struct kunit *test);
int nvdla_test_compile(struct kunit *test, const struct nvdla_layer *layer,
		       u32 num_layers, struct nvdla_program *program,
		       struct nvdla_error *error);

#endif /* NVDLA_TEST_H */
