// SPDX-License-Identifier: MIT
//
// Activations of layers with kernels of one position, which need not lie in a buffer.
#include <algorithm>

#include "model/conv/conv_atoms.hpp"
#include "model/conv/conv_cube.hpp"
#include "model/conv/conv_data.hpp"

namespace nvdla::model {

bool ConvData::sees_strides_alone(const ConvLayer& layer, const ConvFetch& fetch) const noexcept {
  return releases_all(layer, fetch) && !layer.image && !layer.winograd && layer.taps_x() == 1 &&
         layer.kernel_height == 1 && layer.pad_left == 0 && layer.pad_top == 0 &&
         layer.behind_x() == 0 && layer.behind_y() == 0;
}

std::span<const std::byte> ConvData::open_input(const ConvLayer& layer,
                                                const ConvFetch& fetch) noexcept {
  if (layer.in != Precision::kInt8 || layer.proc != Precision::kInt8 || layer.converter.enabled ||
      layer.batches != 1 || !sees_strides_alone(layer, fetch))
    return {};
  const std::uint64_t extent = ConvCube(hw_, layer).extent();
  const std::byte* const window = dma_.window(layer.data.ram, layer.data.base, extent, false);
  return {window, window == nullptr ? 0 : extent};
}

void ConvData::open(const ConvLayer& layer, std::span<const std::byte> input, bool flipped) {
  specials_ = {};
  lines_in_buffer_.clear();
  opens_lines_ = false;
  lay_out(layer, true);
  window_ = input.data();
  flip_ = flipped ? kSign : std::byte{0};
}

void ConvData::gather(const ConvLayer& layer, std::uint32_t first, std::uint32_t count,
                      std::byte* to) const noexcept {
  const ConvCube cube(hw_, layer);
  const std::uint64_t step = cube.atom * held_x_;
  std::uint32_t x = first % inner_width_, y = first / inner_width_;
  for (; count != 0; x = 0, ++y) {
    const std::uint32_t together = std::min(count, inner_width_ - x);
    for (std::uint64_t surface = 0; surface < cube.surfaces; ++surface) {
      const std::size_t at = surface * cube.atom;
      spread_atoms(kernels_,
                   {window_ + cube.line(surface, y * held_y_) + x * step, step, together,
                    std::min<std::size_t>(cube.atom, pixel_bytes_ - at), to + at, pixel_bytes_},
                   flip_);
    }
    to += together * pixel_bytes_;
    count -= together;
  }
}

}  // namespace nvdla::model
