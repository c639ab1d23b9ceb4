// SPDX-License-Identifier: MIT
//
// Weights that are drawn, packed and compressed, for tests of the bytes and of layers that use
// them.
#ifndef NVDLA_TESTS_UNIT_PACKING_COMPRESSED_HPP
#define NVDLA_TESTS_UNIT_PACKING_COMPRESSED_HPP

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "nvdla/lowlevel/compression.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::test {

using Bytes = std::vector<std::byte>;

struct Compressed {
  CompressedSizes sizes;
  Bytes weights, wgs, wmb;
};

// What lies behind the parts must not be touched.
inline constexpr std::byte kGuard{0x5a};

inline Compressed compress(const DeviceInfo& info, const WeightsDesc& desc, const Bytes& stream) {
  Compressed c;
  c.sizes = compressed_sizes(info, desc, stream);
  c.weights.assign(c.sizes.weights + 1, kGuard);
  c.wgs.assign(c.sizes.wgs + 1, kGuard);
  c.wmb.assign(c.sizes.wmb + 1, kGuard);
  compress_weights(info, desc, stream, c.weights, c.wgs, c.wmb);
  for (Bytes* part : {&c.weights, &c.wgs, &c.wmb}) {
    EXPECT_EQ(part->back(), kGuard);
    part->pop_back();
  }
  return c;
}

// `zeros` of a hundred are zero.
template <typename T>
std::vector<T> random_weights(const WeightsDesc& desc, unsigned zeros, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<T> weights(desc.elements());
  for (T& w : weights)
    if (random() % 100 >= zeros) w = static_cast<T>(random() % 50 + 1);
  return weights;
}

template <typename T>
Bytes packed(const DeviceInfo& info, const WeightsDesc& desc, const std::vector<T>& kcrs) {
  Bytes stream(weights_bytes(desc));
  pack_weights(info, desc, kcrs, stream);
  return stream;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_UNIT_PACKING_COMPRESSED_HPP
