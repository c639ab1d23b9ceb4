// SPDX-License-Identifier: MIT
//
// Convolutions one after the other on one device, at the level of registers, beside the reference
// of the convolution buffer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/layers/cbuf_reference.hpp"
#include "common/layers/model_layer.hpp"

namespace nvdla::test {

std::vector<std::int32_t> random_bytes(Random& random, std::size_t count);

// One position and kernels of one tap; weights and input are for the caller.
TestLayer one_by_one(const nvdla_hw& hw, unsigned channels, unsigned kernels);

struct Chain {
  explicit Chain(const nvdla_hw& config, model::Quirks quirks = model::Quirks::kRtl);

  void start(const TestLayer& layer, bool fetch_first);
  void run();
  // Until one of two convolutions has ended.
  void run_one();
  // Why it does not end; empty if it does.
  std::string reason() const;
  // What the layer has left in memory against what it should; empty if it is that.
  std::string compare(const TestLayer& layer);
  // Brings the lines into memory, runs the layer, and compares it with what it computes by the
  // reference. What is wrong, or nothing; `ends` tells whether more can follow.
  std::string step(TestLayer layer, const std::vector<std::vector<std::int32_t>>& fetched,
                   bool fetch_first);

  const nvdla_hw& hw;
  model::Memory memory;
  model::Device device;
  Registers regs;
  RefCbuf cbuf;
  unsigned group = 0;
  bool ends = true;
};

}  // namespace nvdla::test
