// SPDX-License-Identifier: MIT
#include "common/layers/cbuf_reference.hpp"

#include <algorithm>

#include "common/integers.hpp"

namespace nvdla::test {

bool RefCbuf::run(TestLayer& layer, const std::vector<std::vector<std::int32_t>>& fetched,
                  bool fetch_first, bool ahead) {
  const bool other_data_banks = layer.data_banks != data_banks_;
  const bool other_banks = other_data_banks || layer.weight_banks != weight_banks_;
  const bool reuses_weights = layer.weight_reuse && kept_entries_ && !other_banks;
  // What CSC frees at its start is lost where CDMA has fetched all that there is room for by then,
  // or has not begun.
  const bool seen = !gated_ || (fetch_first && !ahead);
  if (other_data_banks) lines_.clear();
  if (!run_data(layer, fetched)) return false;

  if (kept_entries_ && !layer.weight_reuse) free_weights(*kept_entries_, seen);
  if (other_banks) {
    read_ = write_ = 0;
    ring_.assign(std::size_t{layer.weight_banks} * hw_.cbuf_entries * hw_.cbuf_entry_bytes,
                 std::byte{0});
    if (hw_.regmap == NVDLA_REGMAP_NV_FULL) counted_ = 0;
  }
  data_banks_ = layer.data_banks;
  weight_banks_ = layer.weight_banks;
  return run_weights(layer, reuses_weights);
}

bool RefCbuf::run_data(TestLayer& layer, const std::vector<std::vector<std::int32_t>>& fetched) {
  const unsigned height = layer.ref.height;
  const bool emptied = layer.data_banks != data_banks_;
  if (!emptied && !layer.data_reuse) lines_.erase(lines_.begin(), lines_.begin() + kept_lines_);
  if (emptied || !layer.data_reuse || !keeps_all_lines_) {
    for (const auto& line : fetched) {
      if ((lines_.size() + 1) * layer.entries() > layer.data_banks * hw_.cbuf_entries) return false;
      lines_.push_back(line);
    }
  }
  if (lines_.size() < height) return false;
  layer.ref.input.clear();
  for (unsigned y = 0; y < height; ++y)
    layer.ref.input.insert(layer.ref.input.end(), lines_[y].begin(), lines_[y].end());
  const unsigned freed = layer.keep_data ? 0 : layer.release != 0 ? layer.release : height;
  lines_.erase(lines_.begin(), lines_.begin() + freed);
  kept_lines_ = height - freed;
  keeps_all_lines_ = layer.keep_data;
  return true;
}

void RefCbuf::free_weights(std::uint64_t entries, bool seen) {
  read_ += entries;
  if (seen) counted_ -= entries;
}

bool RefCbuf::run_weights(TestLayer& layer, bool reuses) {
  const std::uint64_t entry = hw_.cbuf_entry_bytes;
  const std::uint64_t places = ring_.size() / entry;
  const std::uint64_t coming = reuses ? 0 : layer.weight_bytes / entry;
  std::vector<std::byte> memory = weight_stream(layer);
  memory.resize(std::max<std::size_t>(memory.size(), layer.weight_bytes));

  const std::uint64_t kernel = packed_weights(layer) / layer.ref.kernels;
  const std::uint64_t group = hw_.atomic_k / layer.element_bytes();
  std::vector<std::byte> taken;
  std::uint64_t stored = 0, next = read_;
  for (std::uint64_t kernels = 0; kernels < layer.ref.kernels;) {
    kernels = std::min<std::uint64_t>(layer.ref.kernels, kernels + group);
    for (; stored < coming && counted_ < places; ++stored, ++write_, ++counted_)
      std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(stored * entry), entry,
                  ring_.begin() + static_cast<std::ptrdiff_t>(write_ % places * entry));
    const bool last = kernels == layer.ref.kernels;
    if (coming != 0 && stored < (last ? coming : ceil_div(kernels * kernel, entry))) return false;
    const std::uint64_t begin = next;
    for (; taken.size() < kernels * kernel; ++next)
      for (std::uint64_t i = 0; i < entry; ++i) taken.push_back(ring_[next % places * entry + i]);
    if (!layer.keep_weights) free_weights(next - begin, !gated_ || stored < coming);
  }
  take_stream(layer, taken);
  kept_entries_.reset();
  if (layer.keep_weights) kept_entries_ = layer.weight_bytes / entry;
  return true;
}

}  // namespace nvdla::test
