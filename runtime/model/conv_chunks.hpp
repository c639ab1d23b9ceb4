// SPDX-License-Identifier: MIT
//
// The outputs of a direct convolution in chunks that SDP takes in one go, computed by as many
// threads as it pays, handed to SDP by one.
#ifndef NVDLA_MODEL_CONV_CHUNKS_HPP
#define NVDLA_MODEL_CONV_CHUNKS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/sdp_pass.hpp"
#include "model/team.hpp"

namespace nvdla::model {

// Neighbouring positions, in raster order, of one block of kernels.
struct ConvChunk {
  unsigned block;
  std::uint32_t first;
  unsigned count;
};

class ConvChunks {
 public:
  enum class Order : std::uint8_t {
    kPositionsFirst,  // the input goes by once for each block
    kBlocksFirst,     // once
  };
  // Computes a chunk, [count][kBlock]; a member is not in two calls at once.
  using Make = std::function<void(unsigned member, const ConvChunk&, std::int32_t* values)>;

  explicit ConvChunks(Team& team) : team_(team) {}

  // `nanoseconds` is roughly what a chunk takes a thread.
  void run(SdpPass& sdp, std::uint32_t positions, Order order, double nanoseconds,
           const Make& make);

 private:
  class Lots;

  Team& team_;
  std::vector<std::int32_t> values_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CHUNKS_HPP
