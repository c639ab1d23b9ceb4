// SPDX-License-Identifier: MIT
//
// The convolution buffer as two rings that are filled and emptied by pointers, an entry and a line
// at a time: which bytes CSC finds where it reads, and where one of the two waits for ever.
// Written from the description of the hardware; the model takes no part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "common/layers/model_layer.hpp"

namespace nvdla::test {

class RefCbuf {
 public:
  // `gated`: CDMA's clock stands while it has nothing to fetch.
  explicit RefCbuf(const nvdla_hw& hw, bool gated = false) : hw_(hw), gated_(gated) {}

  // The input (lines from the first to the last that CSC works on) and the kernels that the layer
  // computes with, in place of its own; false if it never ends. `fetched` are the lines in memory,
  // `fetch_first`: CDMA was enabled before CSC, `ahead`: before the last layer had ended.
  bool run(TestLayer& layer, const std::vector<std::vector<std::int32_t>>& fetched,
           bool fetch_first = true, bool ahead = false);

  // For who makes up chains.
  std::size_t lines() const { return lines_.size(); }
  unsigned kept_lines() const { return kept_lines_; }
  bool keeps_all_lines() const { return keeps_all_lines_; }
  bool keeps_weights() const { return kept_entries_.has_value(); }

 private:
  bool run_data(TestLayer& layer, const std::vector<std::vector<std::int32_t>>& fetched);
  bool run_weights(TestLayer& layer, bool reuses);
  void free_weights(std::uint64_t entries, bool seen);

  const nvdla_hw& hw_;
  const bool gated_;
  unsigned data_banks_ = 0, weight_banks_ = 0;

  std::deque<std::vector<std::int32_t>> lines_;
  unsigned kept_lines_ = 0;
  bool keeps_all_lines_ = false;

  std::vector<std::byte> ring_;
  std::uint64_t write_ = 0, read_ = 0;  // entries since the banks changed
  std::uint64_t counted_ = 0;           // by CDMA
  std::optional<std::uint64_t> kept_entries_;
};

}  // namespace nvdla::test
