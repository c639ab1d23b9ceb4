// SPDX-License-Identifier: MIT
//
// The outputs of a direct convolution in tiles that SDP takes in one go, computed by as many
// threads as it pays. SDP goes on with a tile on the thread that computed it where the layer allows
// that, else on one for all.
#ifndef NVDLA_MODEL_CONV_CONV_TILES_HPP
#define NVDLA_MODEL_CONV_CONV_TILES_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/core/thread_pool.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::model {

// Neighbouring positions, in raster order, of one block of kernels.
struct ConvTile {
  unsigned block;
  std::uint32_t first;
  unsigned count;
};

class ConvTiles {
 public:
  enum class Order : std::uint8_t {
    kPositionsFirst,  // the input goes by once for each block
    kBlocksFirst,     // once
  };
  // Computes a tile, [count][kBlock]; a thread is not in two calls at once.
  using Compute = std::function<void(unsigned thread, const ConvTile&, std::int32_t* values)>;

  ConvTiles(ThreadPool& pool, const Kernels& kernels) : pool_(pool), kernels_(kernels) {}

  // Computes a tile and does what SDP does to it.
  using Finish = std::function<void(unsigned thread, const ConvTile&)>;

  // How outputs are cut into tiles.
  struct Cut {
    std::uint32_t positions;
    unsigned of_tile;  // kMostPositions at most
    Order order = Order::kPositionsFirst;
  };
  // `nanoseconds` is roughly what a position of a block takes a thread. `finish` does the same as
  // `compute` and SDP, if there is one.
  void run(SdpPass& sdp, const Cut& cut, double nanoseconds, const Compute& compute,
           const Finish& finish = {});

 private:
  class Tasks;

  // Cuts a single tile for the threads: each then gathers the positions that are its own.
  Cut cut_for_all(const SdpPass& sdp, const Cut& cut) const noexcept;

  ThreadPool& pool_;
  const Kernels& kernels_;
  std::vector<std::int32_t> values_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_TILES_HPP
