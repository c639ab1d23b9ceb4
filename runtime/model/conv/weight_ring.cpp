// SPDX-License-Identifier: MIT
#include "model/conv/weight_ring.hpp"

#include <algorithm>

#include "model/conv/conv_layer.hpp"
#include "support/integers.hpp"

namespace nvdla::model {
namespace {

std::uint64_t capacity(const nvdla_hw& hw, const ConvLayer& layer) noexcept {
  return std::uint64_t{layer.weight_banks} * hw.cbuf_entries;
}

// Returns the entries that CSC reads for the first `kernels`: a group may begin inside an entry.
std::uint64_t read_entries(const nvdla_hw& hw, const ConvLayer& layer,
                           std::uint64_t kernels) noexcept {
  return arith::ceil_div(kernels * layer.kernel_bytes, std::uint64_t{hw.cbuf_entry_bytes});
}

// Returns the ring's bytes behind the first `entries`.
RawWeights behind(const nvdla_hw& hw, const RawWeights& bytes, std::uint64_t entries) {
  const std::uint64_t size = entries * hw.cbuf_entry_bytes;
  if (bytes == nullptr || bytes->size() <= size) return nullptr;
  return std::make_shared<const std::vector<std::byte>>(
      bytes->begin() + static_cast<std::ptrdiff_t>(size), bytes->end());
}

}  // namespace

void WeightRing::release(std::uint64_t entries, bool noticed) noexcept {
  if (noticed) {
    counted_ -= std::min(counted_, entries);
  } else {
    missed_ += entries;
  }
}

std::string WeightRing::run(const nvdla_hw& hw, const ConvLayer& layer, const WeightTurn& turn) {
  if (kept_ && !layer.weight_reuse) {
    release(kept_entries_, !turn.gated || turn.fetching);
    bytes_ = expanded_ ? nullptr : behind(hw, bytes_, kept_entries_);
  }
  if (turn.banks_changed) {
    bytes_ = nullptr;
    // The first generation has no count of its own beside the pointers.
    if (hw.regmap == NVDLA_REGMAP_NV_FULL) counted_ = 0;
  }
  if (layer.compressed) {
    if (turn.fetches && bytes_ != nullptr)
      return "compressed weights behind " + std::to_string(bytes_->size() / hw.cbuf_entry_bytes) +
             " entries that an earlier layer has left in the weight banks: not modelled";
    // A layer of compressed weights reads all that it brings.
    const std::uint64_t entries = layer.weight_bytes / hw.cbuf_entry_bytes;
    counted_ = layer.keep_weights ? entries : 0;
    return {};
  }
  return stream(hw, layer, turn);
}

// Streams weights through the ring. CDMA stores an entry as long as it counts fewer than the ring
// has. CSC begins a kernel group when all of its weights are in the buffer (for the last group, the
// rest of WEIGHT_BYTES), and frees them when the group ends.
std::string WeightRing::stream(const nvdla_hw& hw, const ConvLayer& layer, const WeightTurn& turn) {
  const std::uint64_t room = capacity(hw, layer);
  const std::uint64_t all = turn.fetches ? layer.weight_bytes / hw.cbuf_entry_bytes : 0;
  const std::uint64_t read = layer.keep_weights ? 0 : read_entries(hw, layer, layer.kernels);
  if (all == 0 || counted_ + all <= room) {
    counted_ += all;
    release(read, !turn.gated);
    return {};
  }
  const std::uint64_t group_kernels = hw.atomic_k / precision_bytes(layer.proc);
  std::uint64_t stored = 0, freed = 0;
  for (std::uint64_t first = 0; first < layer.kernels; first += group_kernels) {
    const std::uint64_t end = std::min<std::uint64_t>(layer.kernels, first + group_kernels);
    const std::uint64_t waits_for = end == layer.kernels ? all : read_entries(hw, layer, end);
    const std::uint64_t more = std::min(all - stored, room - std::min(room, counted_));
    stored += more;
    counted_ += more;
    if (stored < waits_for) return full(hw, layer, first / group_kernels, waits_for, stored);
    if (layer.keep_weights) continue;
    release(read_entries(hw, layer, end) - freed, !turn.gated || stored < all);
    freed = read_entries(hw, layer, end);
  }
  return {};
}

std::string WeightRing::full(const nvdla_hw& hw, const ConvLayer& layer, std::uint64_t group,
                             std::uint64_t waits_for, std::uint64_t stored) const {
  std::string text = "WEIGHT_BYTES " + std::to_string(layer.weight_bytes) + ": kernel group " +
                     std::to_string(group) + " waits for " + std::to_string(waits_for) +
                     " entries, CDMA has stored " + std::to_string(stored) + " and counts " +
                     std::to_string(counted_) + " of the weight banks' " +
                     std::to_string(capacity(hw, layer)) + " as taken";
  if (missed_ != 0)
    text +=
        ": gated, its clock has missed the release of " + std::to_string(missed_) + " until reset";
  return text;
}

bool WeightRing::leaves_bytes(const nvdla_hw& hw, const ConvLayer& layer) noexcept {
  return layer.keep_weights || layer.weight_bytes > read_entries(hw, layer, layer.kernels) *
                                                        std::uint64_t{hw.cbuf_entry_bytes};
}

void WeightRing::end(const nvdla_hw& hw, const ConvLayer& layer, const RawWeights& bytes) {
  kept_ = layer.keep_weights;
  expanded_ = layer.compressed;
  if (kept_) {
    kept_entries_ = layer.weight_bytes / hw.cbuf_entry_bytes;
    bytes_ = bytes;
  } else if (expanded_) {
    bytes_ = nullptr;
  } else {
    bytes_ = behind(hw, bytes, read_entries(hw, layer, layer.kernels));
  }
}

}  // namespace nvdla::model
