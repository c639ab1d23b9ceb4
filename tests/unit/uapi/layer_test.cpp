// SPDX-License-Identifier: MIT
//
// The descriptors carry no padding that is not declared: a descriptor of
// which every member is set has no byte left.
#include <drm/nvdla_layer.h>
#include <gtest/gtest.h>

TEST(Layer, SizesAreMultiplesOfEight) { EXPECT_EQ(sizeof(struct nvdla_layer) % 8, 0u); }
