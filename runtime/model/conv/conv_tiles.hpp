// SPDX-License-Identifier: MIT
//
// `ConvTiles` computes the outputs of a direct convolution in tiles that SDP processes at once, on
// as many threads as pay. SDP processes a tile on the thread that computed it if the layer allows
// that, else on one thread.
#ifndef NVDLA_MODEL_CONV_CONV_TILES_HPP
#define NVDLA_MODEL_CONV_CONV_TILES_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/core/thread_pool.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::model {

// Consecutive positions, in raster order, of one block of kernels.
struct ConvTile {
  unsigned block;
  std::uint32_t first;
  unsigned count;
};

class ConvTiles {
 public:
  enum class Order : std::uint8_t {
    kPositionsFirst,  // the input is read once for each block
    kBlocksFirst,     // once
  };
  // Computes a tile, [count][kBlock]; a thread is not in two calls at once.
  using Compute = std::function<void(unsigned thread, const ConvTile&, std::int32_t* values)>;

  ConvTiles(ThreadPool& pool, const Kernels& kernels) : pool_(pool), kernels_(kernels) {}

  // Computes a tile and does what SDP does to it.
  using Finish = std::function<void(unsigned thread, const ConvTile&)>;

  // The division of the outputs into tiles.
  struct Cut {
    std::uint32_t positions;
    unsigned of_tile;  // kMostPositions at most
    Order order = Order::kPositionsFirst;
  };
  // `nanoseconds` is the approximate time of a thread for a position of a block. `finish`, if there
  // is one, replaces `compute` and SDP.
  void run(SdpPass& sdp, const Cut& cut, double nanoseconds, const Compute& compute,
           const Finish& finish = {});

 private:
  class Tasks;

  // Divides a single tile among the threads, each of which then gathers its own positions.
  Cut cut_for_all(const SdpPass& sdp, const Cut& cut) const noexcept;

  ThreadPool& pool_;
  const Kernels& kernels_;
  std::vector<std::int32_t> values_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_TILES_HPP
