// SPDX-License-Identifier: MIT
//
// Weights as the kernels want them, kept from one run of a layer to the next. What is kept is used
// again only if the bus vouches for the bytes or the bytes compare equal.
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

// Which loops multiply.
enum class Mac : std::uint8_t {
  kBytes,         // int8, 32-bit sums
  kWide,          // 16-bit elements and 64-bit sums
  kPieces,        // the same by bytes
  kHalf,          // fp16, steps of up to kLanes lanes
  kHalfFast,      // fp16 in plain fp32; the same where there are NaNs
  kWinograd,      // integers
  kWinogradHalf,  // fp16, steps of 16 positions by 4 channels
};

// How a layer walks its activations: runs of consecutive bytes of the buffer. Without dilation in x
// a run is a whole kernel row, so few channels waste nothing. Kernels for images have width 1 and
// the channels of all their columns.
struct ConvShape {
  std::uint32_t kernels, channels, kernel_width, kernel_height;
  bool rows;  // a run is a kernel row, else one kernel position
  Mac mac;
  std::uint32_t element_bytes;
  std::uint32_t post_lines = 1;
  bool biased = false;       // activations; kBytes
  std::uint32_t step = kKr;  // elements: MacForm::step
  bool joined = false;       // the runs of a position are copied to be one; kBytes

  // Of the buffer.
  std::uint32_t part_count() const noexcept {
    return rows ? kernel_height : kernel_height * kernel_width;
  }
  std::uint32_t part_elements() const noexcept { return rows ? kernel_width * channels : channels; }
  // As the kernels see them.
  std::uint32_t run_count() const noexcept { return joined ? 1 : part_count(); }
  std::uint32_t run_elements() const noexcept {
    return joined ? part_count() * part_elements() : part_elements();
  }
  // DepthwiseTile::quads, and the tap of a kernel's position. A row of three has a quad of its own:
  // for 3 x 3 there are as many quads either way.
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
  // Of a weight in its kernel: elements before it, those of steps that are not full included.
  std::size_t place(std::uint32_t row, std::uint32_t column, std::uint32_t channel) const noexcept {
    const std::uint32_t part = rows ? row : row * kernel_width + column;
    const std::uint32_t at = rows ? column * channels + channel : channel;
    return std::size_t{part} * (joined ? part_elements() : run_steps() * kKr) + at;
  }
  // Steps of the fp16 multipliers: blocks of channels, of extended lines, of tiles.
  std::uint32_t half_steps(std::uint32_t atomic_c) const noexcept {
    if (mac == Mac::kWinogradHalf) return channels / 4;
    if (post_lines > 1) return (kernel_height + post_lines - 1) / post_lines;
    return (channels + atomic_c - 1) / atomic_c * kernel_height * kernel_width;
  }
  // Weights of one block of kernels in packed form, those of steps that are not full included;
  // integers only.
  std::size_t block_elements() const noexcept {
    if (mac == Mac::kWinograd) return std::size_t{16} * channels * kBlock;
    return std::size_t{run_count()} * run_steps() * kKr * kBlock;
  }
  std::uint32_t blocks() const noexcept { return (kernels + kBlock - 1) / kBlock; }
  bool operator==(const ConvShape&) const = default;
};

struct PackedWeights {
  std::vector<std::int8_t> bytes;    // kBytes; kPieces: the upper ones
  std::vector<std::uint8_t> lower;   // kPieces
  std::vector<std::int32_t> starts;  // kBytes: MacTile::starts of all kernels
  // kBytes, in place of `bytes` where each kernel sees one channel: DepthwiseTile::weights of each
  // block, [block][quad][kBlock][4], and the channel of its first kernel.
  std::vector<std::int8_t> depthwise;
  std::vector<std::uint32_t> depthwise_channels;
  WideWeights wide;                 // kWide; kWinograd, a group for each of the 16 positions
  std::vector<std::uint16_t> half;  // [kernel][step][kLanes]
  // The same without NaNs as HalfTile wants them, [block][step][lane][kBlock]; kHalf alone.
  std::vector<std::int16_t> half_mantissas, half_groups;
  std::vector<float> floats;  // kHalfFast: [block][run][element][kBlock]
  fp::Specials specials;      // of fp16 kernels as they came

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
    // The bytes as they came. Null where nobody needs them: memory then names a change by its
    // generation, and `packed` has all of them.
    RawWeights raw;
    // Equal weights of other places are the same objects: those of several sessions of a network.
    std::shared_ptr<const PackedWeights> packed;

    // Returns the entry's share of what it and others keep.
    std::size_t bytes() const noexcept {
      return ((raw == nullptr ? 0 : raw->size()) + packed->size()) /
             static_cast<std::size_t>(packed.use_count());
    }
  };

  WeightCache(const nvdla_hw& hw, Dma& dma) noexcept : hw_(hw), dma_(dma) {}

  // Valid until the next call. The entry has `raw` where the caller needs it.
  const Entry& fetch(const ConvLayer& layer, const ConvShape& shape, bool needs_raw);
  // What WEIGHT_BYTES says, from memory.
  RawWeights read(const ConvLayer& layer) const;
  // Of weights that stayed in the convolution buffer or were expanded: memory is not looked at.
  const Entry& kept(const RawWeights& raw, const ConvShape& shape);

 private:
  // Returns the entry that matches, or null.
  template <typename Matches>
  Entry* find(Matches matches);
  // Puts an entry behind the others.
  Entry& append(Entry entry);
  // Compares or packs again what is in memory in a new generation.
  void look_again(Entry& entry, const ConvLayer& layer, std::uint64_t generation);
  // Packs `raw`, unless an entry has done so.
  void fill(Entry& entry, RawWeights raw) const;
  // Packs `raw`, and shares what is the same as that of an entry without bytes.
  void pack(Entry& entry, std::span<const std::byte> raw) const;

  const nvdla_hw& hw_;
  Dma& dma_;
  std::vector<Entry> entries_;  // in the order in which layers came first
  RecurringSearch search_;
  std::vector<std::byte> scratch_;  // of bytes that are compared and do not lie together
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_WEIGHTS_HPP
