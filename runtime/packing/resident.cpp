// SPDX-License-Identifier: MIT
#include <drm/nvdla_layer.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/bands.hpp"
#include "packing/cbuf.hpp"
#include "packing/lines.hpp"
#include "support/integers.hpp"

namespace nvdla::detail {
namespace {

using arith::ceil_div;

// To start a layer more takes about as long as to fetch so many atoms: its registers are written
// while the one before runs, but it starts when that has ended.
constexpr std::uint64_t kLayerAtoms = 1024;

// A way to cut: kernels of each part but the last, bands of lines of each part.
struct Cut {
  std::uint32_t kernels = 0;
  std::uint64_t parts = 0, bands = 0;
  std::uint64_t banks = 0;    // of weights
  bool parts_inside = false;  // all parts of a band, then the next band; else the reverse
  std::uint64_t cost = 0;     // bytes
};

// The part with `kernels` kernels, in banks without others.
nvdla_conv part_of(const nvdla_conv& conv, std::uint32_t kernels) {
  nvdla_conv part = conv;
  part.kernels = kernels;
  return part;
}

// Parts as equal as kernel groups allow.
Cut cut_kernels(const DeviceInfo& info, const nvdla_conv& conv, std::uint64_t most_groups) {
  const std::uint64_t group = kernel_group(info, conv);
  const std::uint64_t groups = ceil_div(conv.kernels, group);
  Cut cut;
  const std::uint64_t each = ceil_div(groups, ceil_div(groups, most_groups));
  cut.parts = ceil_div(groups, each);
  cut.kernels = static_cast<std::uint32_t>(std::min<std::uint64_t>(each * group, conv.kernels));
  cut.banks = weight_banks(info, part_of(conv, cut.kernels), cut.kernels);
  cut.bands = bands_beside(info, conv, cut.banks);
  return cut;
}

// Counts what is fetched. With parts inside, data come once and weights for each band, unless one
// part stays for all of them; else weights come once and data for each part.
void count_cost(const DeviceInfo& info, const nvdla_conv& conv, bool keep_data, Cut& cut) {
  const std::uint64_t weights = kernel_bytes(info, conv) * conv.kernels;
  const std::uint64_t line = conv_entries_per_line(info, conv) * info.cbuf_entry_bytes;
  const std::uint64_t again = keep_data ? 0 : (cut.bands - 1) * lines_twice(conv);
  const std::uint64_t data = line * (conv.height + again);
  const std::uint64_t outside = weights + data * cut.parts;
  const std::uint64_t inside = weights * (cut.parts == 1 ? 1 : cut.bands) + data;
  cut.parts_inside = keep_data && cut.parts > 1 && inside <= outside;
  cut.cost =
      (cut.parts_inside ? inside : outside) + kLayerAtoms * info.atom * cut.parts * cut.bands;
}

std::optional<Cut> cheapest(const DeviceInfo& info, const nvdla_conv& conv, bool keep_data) {
  const std::uint64_t group = kernel_group(info, conv);
  const std::uint64_t groups = ceil_div(conv.kernels, group);
  std::optional<Cut> best;
  for (std::uint64_t most = groups; most > 0;) {
    Cut cut = cut_kernels(info, conv, most);
    if (cut.bands != 0) {
      count_cost(info, conv, keep_data, cut);
      if (!best || cut.cost < best->cost) best = cut;
    }
    // The next smaller parts, of which there are more.
    most = ceil_div(cut.kernels, group) - 1;
  }
  return best;
}

// The next part of the same band takes all lines that are there.
void keep_all_lines(nvdla_conv& before, nvdla_conv& next) {
  before.flags |= NVDLA_CONV_KEEP_DATA;
  next.flags |= NVDLA_CONV_REUSE_DATA;
}

Band part_band(const Band& band, const nvdla_conv& conv, const Cut& cut, std::uint64_t part) {
  Band result = band;
  result.first_kernel = static_cast<std::uint32_t>(part * cut.kernels);
  result.conv.kernels = std::min(cut.kernels, conv.kernels - result.first_kernel);
  return result;
}

std::vector<Band> parts_of_bands(const std::vector<Band>& lines, const nvdla_conv& conv,
                                 const Cut& cut) {
  std::vector<Band> bands;
  for (const Band& band : lines) {
    for (std::uint64_t part = 0; part < cut.parts; ++part) {
      Band next = part_band(band, conv, cut, part);
      if (part != 0) {
        keep_all_lines(bands.back().conv, next.conv);
      } else if (!bands.empty()) {
        Band& last = bands.back();
        keep_lines(last.conv, last.input_line, next.conv, next.input_line);
      }
      bands.push_back(next);
    }
  }
  return bands;
}

std::vector<Band> bands_of_parts(const std::vector<Band>& lines, const nvdla_conv& conv,
                                 const Cut& cut, bool keep_data) {
  std::vector<Band> bands;
  for (std::uint64_t part = 0; part < cut.parts; ++part) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Band next = part_band(lines[i], conv, cut, part);
      if (i != 0) {
        Band& last = bands.back();
        last.conv.flags |= NVDLA_CONV_KEEP_WEIGHTS;
        next.conv.flags |= NVDLA_CONV_REUSE_WEIGHTS;
        if (keep_data) keep_lines(last.conv, last.input_line, next.conv, next.input_line);
      }
      bands.push_back(next);
    }
  }
  return bands;
}

}  // namespace

std::vector<Band> split_resident(const DeviceInfo& info, const nvdla_conv& conv, bool keep_data) {
  const std::optional<Cut> cut = cheapest(info, conv, keep_data);
  if (!cut) return {};
  const std::vector<Band> lines = cut_lines(info, conv, cut->banks);
  return cut->parts_inside ? parts_of_bands(lines, conv, *cut)
                           : bands_of_parts(lines, conv, *cut, keep_data);
}

bool fetch_again(std::span<nvdla_layer> layers, std::size_t layer) {
  constexpr std::uint32_t kReuse = NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS;
  constexpr std::uint32_t kKeep = NVDLA_CONV_KEEP_DATA | NVDLA_CONV_KEEP_WEIGHTS;
  nvdla_conv& conv = layers[layer].conv;
  if ((conv.flags & kReuse) == 0) return false;
  conv.flags &= ~kReuse;
  // Only convolutions have kernels.
  while (layer-- > 0) {
    nvdla_conv& before = layers[layer].conv;
    if (before.kernels == 0) continue;
    before.flags &= ~kKeep;
    before.release = 0;
    break;
  }
  return true;
}

}  // namespace nvdla::detail
