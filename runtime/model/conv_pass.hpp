// SPDX-License-Identifier: MIT
//
// Runs one convolution: fetches lines into a buffer laid out for the kernels, walks it as an
// implicit matrix product, and hands tiles of results to SDP while they are in cache.
#ifndef NVDLA_MODEL_CONV_PASS_HPP
#define NVDLA_MODEL_CONV_PASS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/conv_layer.hpp"
#include "model/conv_weights.hpp"
#include "model/dma.hpp"
#include "model/sdp_pass.hpp"

namespace nvdla::model {

class ConvPass {
 public:
  ConvPass(const nvdla_hw& hw, Dma& dma, const Kernels& kernels);

  // What survives layers; emptied by reset.
  const CbufState& cbuf() const noexcept { return cbuf_; }
  void reset() { cbuf_ = {}; }

  // The layer must have passed conv_fault(); `sdp` has begun its own. Returns the results that CACC
  // saturated.
  std::uint32_t run(const ConvLayer& layer, SdpPass& sdp);

 private:
  void fetch_lines(const ConvLayer& layer, const ConvFetch& fetch);
  void keep_lines(const ConvLayer& layer, const ConvFetch& fetch);
  void run_bytes(const ConvLayer& layer, const ConvShape& shape, const PackedWeights& weights,
                 SdpPass& sdp);
  std::uint32_t run_wide(const ConvLayer& layer, const ConvShape& shape,
                         const PackedWeights& weights, SdpPass& sdp);

  const nvdla_hw& hw_;
  Dma& dma_;
  const Kernels& kernels_;
  CbufState cbuf_;
  WeightCache weights_;

  // The padded input, [line][x][channel], channels without gaps.
  std::uint32_t padded_width_ = 0, padded_height_ = 0;
  std::size_t pixel_bytes_ = 0;
  std::vector<std::byte> data_;
  std::vector<std::byte> atoms_;  // one DMA run
  std::vector<std::int16_t> wide_data_;
  std::vector<std::int32_t> runs_;
  std::vector<std::int32_t> corrections_;
  std::vector<std::int32_t> values_;
  std::vector<std::int64_t> sums_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_PASS_HPP
