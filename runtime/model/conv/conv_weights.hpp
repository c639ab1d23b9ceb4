// SPDX-License-Identifier: MIT
//
// Packs weights for the kernels, and keeps them from one run of a layer to the next. Packed weights
// are reused only if the bus reports no change or the bytes compare equal.
#ifndef NVDLA_MODEL_CONV_CONV_WEIGHTS_HPP
#define NVDLA_MODEL_CONV_CONV_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/conv/conv_layer.hpp"
#include "model/conv/wide_weights.hpp"
#include "model/core/dma.hpp"
#include "model/core/recurring_search.hpp"
#include "model/simd/kernels.hpp"
#include "support/float.hpp"

namespace nvdla::model {

// The loops that multiply.
enum class Mac : std::uint8_t {
  kBytes,         // int8, 32-bit sums
  kWide,          // 16-bit elements and 64-bit sums
  kPieces,        // as kWide, by bytes
  kHalf,          // fp16, steps of up to kLanes lanes
  kHalfFast,      // fp16 in plain fp32; as kHalf where there are NaNs
  kWinograd,      // integers
  kWinogradHalf,  // fp16, steps of 16 positions by 4 channels
};

// `ConvShape` describes how a layer walks its activations: in runs of consecutive bytes of the
// buffer. Without dilation in x, a run is a whole kernel row, so that few channels waste nothing.
// Kernels for images have width 1 and the channels of all their columns.
struct ConvShape {
  std::uint32_t kernels, channels, kernel_width, kernel_height;
  bool rows;  // a run is a kernel row, else one kernel position
  Mac mac;
  std::uint32_t element_bytes;
  std::uint32_t post_lines = 1;
  bool biased = false;       // activations are; kBytes
  std::uint32_t step = kKr;  // elements: MacForm::step
  bool joined = false;       // the runs of a position are copied into one; kBytes

  // Return the runs in the buffer.
  std::uint32_t part_count() const noexcept {
    return rows ? kernel_height : kernel_height * kernel_width;
  }
  std::uint32_t part_elements() const noexcept { return rows ? kernel_width * channels : channels; }
  // Return the runs that the kernels read.
  std::uint32_t run_count() const noexcept { return joined ? 1 : part_count(); }
  std::uint32_t run_elements() const noexcept {
    return joined ? part_count() * part_elements() : part_elements();
  }
  // Return DepthwiseTile::quads, and the tap of a kernel's position. A row of three has its own
  // quad, which needs no more quads for 3 x 3.
  std::uint32_t quads() const noexcept {
    return rows_of_three() ? kernel_height : (kernel_height * kernel_width + 3) / 4;
  }
  std::uint32_t tap(std::uint32_t row, std::uint32_t column) const noexcept {
    return row * (rows_of_three() ? 4 : kernel_width) + column;
  }
  bool rows_of_three() const noexcept { return kernel_width == 3; }
  std::uint32_t run_steps() const noexcept {
    return (run_elements() + step - 1) / step * (step / kKr);
  }
  // Returns the number of elements before a weight in its kernel, including the padding of steps.
  std::size_t place(std::uint32_t row, std::uint32_t column, std::uint32_t channel) const noexcept {
    const std::uint32_t part = rows ? row : row * kernel_width + column;
    const std::uint32_t at = rows ? column * channels + channel : channel;
    return std::size_t{part} * (joined ? part_elements() : run_steps() * kKr) + at;
  }
  // Returns the steps of the fp16 multipliers: blocks of channels, of extended lines, of tiles.
  std::uint32_t half_steps(std::uint32_t atomic_c) const noexcept {
    if (mac == Mac::kWinogradHalf) return channels / 4;
    if (post_lines > 1) return (kernel_height + post_lines - 1) / post_lines;
    return (channels + atomic_c - 1) / atomic_c * kernel_height * kernel_width;
  }
  // Returns the weights of one block of kernels in packed form, including the padding of steps;
  // integers only.
  std::size_t block_elements() const noexcept {
    if (mac == Mac::kWinograd) return std::size_t{16} * channels * kBlock;
    return std::size_t{run_count()} * run_steps() * kKr * kBlock;
  }
  std::uint32_t blocks() const noexcept { return (kernels + kBlock - 1) / kBlock; }
  bool operator==(const ConvShape&) const = default;
};

struct PackedWeights {
  std::vector<std::int8_t> bytes;    // kBytes; kPieces: the upper bytes
  std::vector<std::uint8_t> lower;   // kPieces
  std::vector<std::int32_t> starts;  // kBytes: MacTile::starts of all kernels
  // kBytes, instead of `bytes` if each kernel has weights for one channel only:
  // DepthwiseTile::weights of each block, [block][quad][kBlock][4], and the channel of the block's
  // first kernel.
  std::vector<std::int8_t> depthwise;
  std::vector<std::uint32_t> depthwise_channels;
  WideWeights wide;                 // kWide; kWinograd, a group for each of the 16 positions
  std::vector<std::uint16_t> half;  // [kernel][step][kLanes]
  // The same for HalfTile, without NaNs, [block][step][lane][kBlock]; kHalf only.
  std::vector<std::int16_t> half_mantissas, half_groups;
  std::vector<float> floats;  // kHalfFast: [block][run][element][kBlock]
  fp::Specials specials;      // of fp16 weights before packing

  std::size_t size() const noexcept {
    return bytes.size() + lower.size() + depthwise.size() + starts.size() * 4 + wide.size() +
           2 * (half.size() + half_mantissas.size() + half_groups.size()) + 4 * floats.size();
  }
};

PackedWeights pack_weights(const nvdla_hw& hw, const ConvShape& shape,
                           std::span<const std::byte> raw);

class WeightCache {
 public:
  struct Entry {
    ConvShape shape{};
    Ram ram = Ram::kPrimary;
    std::uint64_t address = 0, size = 0;
    std::uint64_t generation = 0;
    // The bytes in memory. Null if no caller needs them: the generation then reveals a change, and
    // `packed` contains all of them.
    RawWeights raw;
    // Shared with entries of equal weights at other places, such as those of other sessions of a
    // network.
    std::shared_ptr<const PackedWeights> packed;

    // Returns the size of `raw`, and the entry's share of `packed`.
    std::size_t bytes() const noexcept {
      return ((raw == nullptr ? 0 : raw->size()) + packed->size()) /
             static_cast<std::size_t>(packed.use_count());
    }
  };

  WeightCache(const nvdla_hw& hw, Dma& dma) noexcept : hw_(hw), dma_(dma) {}

  // Returns the weights of a layer in memory. Valid until the next call. The entry has `raw` if the
  // caller needs it.
  const Entry& fetch(const ConvLayer& layer, const ConvShape& shape, bool needs_raw);
  // Reads WEIGHT_BYTES bytes from memory.
  RawWeights read(const ConvLayer& layer) const;
  // Returns weights that stayed in the convolution buffer or were expanded, without reading memory.
  const Entry& kept(const RawWeights& raw, const ConvShape& shape);

 private:
  // Returns the entry that matches, or null.
  template <typename Matches>
  Entry* find(Matches matches);
  // Appends an entry.
  Entry& append(Entry entry);
  // Updates an entry for a new generation: compares the bytes in memory, and packs them if they
  // changed.
  void look_again(Entry& entry, const ConvLayer& layer, std::uint64_t generation);
  // Packs `raw`, unless an entry has done so.
  void fill(Entry& entry, RawWeights raw) const;
  // Packs `raw`, or shares the result with an equal entry that has no bytes.
  void pack(Entry& entry, std::span<const std::byte> raw) const;

  const nvdla_hw& hw_;
  Dma& dma_;
  std::vector<Entry> entries_;  // in the order in which layers came first
  RecurringSearch search_;
  std::vector<std::byte> scratch_;  // for bytes that are compared and are not contiguous
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_WEIGHTS_HPP
