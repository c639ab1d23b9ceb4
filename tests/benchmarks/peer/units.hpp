// SPDX-License-Identifier: MIT
//
// What oneDNN has beside convolutions. Each takes the type of the numbers if oneDNN computes in
// that by more than a plain loop, else float; name() says which.
#pragma once

#include <cstdint>
#include <vector>

#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "peer/operation.hpp"

namespace nvdla::bench {

// Numbers in the order of NCHW.
struct PeerTensor {
  Shape shape;
  Precision precision = Precision::kInt8;
  std::vector<float> values = {};
};

Operation relu(const PeerTensor& input);
Operation sigmoid(const PeerTensor& input);
// input + scale * other
Operation add(const PeerTensor& input, const PeerTensor& other, float scale);
// scale * input * other
Operation multiply(const PeerTensor& input, const PeerTensor& other, float scale);
// relu(scales[c] * (input + shifts[c]))
Operation batch_norm(const PeerTensor& input, const std::vector<float>& shifts,
                     const std::vector<float>& scales);

struct PeerPooling {
  bool average = false;
  std::uint32_t size = 3, stride = 2, pad = 0;
};
Operation pooling(const PeerTensor& input, const PeerPooling& window);

// input * (k + alpha / size * sum of squares of `size` channels)^-beta
struct PeerNormalization {
  std::uint32_t size = 5;
  float alpha = 1e-4F, beta = 0.75F, k = 1;
};
Operation normalization(const PeerTensor& input, const PeerNormalization& normalization);

// From blocks of `block` channels to planes, and back.
Operation split(const PeerTensor& input, std::uint32_t block);
Operation merge(const PeerTensor& input, std::uint32_t block);
// Channel (ky * stride + kx) * B + c at (y, x) to channel c at (y * stride + ky, x * stride + kx),
// with channels that lie together.
Operation contract(const PeerTensor& input, std::uint32_t stride);

}  // namespace nvdla::bench
