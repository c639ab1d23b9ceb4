// SPDX-License-Identifier: MIT
//
// Weights as the kernels want them, kept from one run of a layer to the next. What is kept is used
// again only if the bus vouches for the bytes or the bytes compare equal.
#ifndef NVDLA_MODEL_CONV_WEIGHTS_HPP
#define NVDLA_MODEL_CONV_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "model/conv_layer.hpp"
#include "model/dma.hpp"
#include "model/kernels/kernels.hpp"

namespace nvdla::model {

// How a layer walks its activations: runs of consecutive bytes of the buffer. Without dilation in x
// a run is a whole kernel row, so few channels waste nothing.
struct ConvShape {
  std::uint32_t kernels, channels, kernel_width, kernel_height;
  bool rows;  // a run is a kernel row, else one kernel position
  bool wide;  // 16-bit elements and 64-bit sums
  std::uint32_t element_bytes;

  std::uint32_t run_count() const noexcept {
    return rows ? kernel_height : kernel_height * kernel_width;
  }
  std::uint32_t run_elements() const noexcept { return rows ? kernel_width * channels : channels; }
  std::uint32_t run_steps() const noexcept { return (run_elements() + kStep - 1) / kStep; }
  // Elements of one block of kernels in packed form.
  std::size_t block_elements() const noexcept {
    return std::size_t{run_count()} * (wide ? run_elements() : run_steps() * kStep) * kBlock;
  }
  std::uint32_t blocks() const noexcept { return (kernels + kBlock - 1) / kBlock; }
  bool operator==(const ConvShape&) const = default;
};

struct PackedWeights {
  std::vector<std::uint8_t> bytes;  // plus 128
  std::vector<std::int16_t> words;  // of a wide shape
};

using RawWeights = std::shared_ptr<const std::vector<std::byte>>;

PackedWeights pack_weights(const nvdla_hw& hw, const ConvShape& shape,
                           const std::vector<std::byte>& raw);

class WeightCache {
 public:
  struct Entry {
    ConvShape shape{};
    Ram ram = Ram::kPrimary;
    std::uint64_t address = 0, size = 0;
    std::uint64_t generation = 0;
    RawWeights raw;
    PackedWeights packed;
  };

  WeightCache(const nvdla_hw& hw, Dma& dma) noexcept : hw_(hw), dma_(dma) {}

  // Valid until the next call.
  const Entry& fetch(const ConvLayer& layer, const ConvShape& shape);
  // Of weights that stayed in the convolution buffer: memory is not looked at.
  const Entry& kept(const RawWeights& raw, const ConvShape& shape);

 private:
  Entry& front(std::list<Entry>::iterator entry);
  void trim();

  const nvdla_hw& hw_;
  Dma& dma_;
  std::list<Entry> entries_;  // latest use first
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_WEIGHTS_HPP
