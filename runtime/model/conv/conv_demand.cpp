// SPDX-License-Identifier: MIT
//
// Activations in int8 that are copied line by line, by the threads that multiply them.
#include <algorithm>
#include <cstring>

#include "model/conv/conv_atoms.hpp"
#include "model/conv/conv_cube.hpp"
#include "model/conv/conv_data.hpp"

namespace nvdla::model {
namespace {

bool any_negative(const std::byte* bytes, std::size_t size) noexcept {
  std::byte bits{0};
  for (std::size_t i = 0; i < size; ++i) bits |= bytes[i];
  return (bits & std::byte{0x80}) != std::byte{0};
}

}  // namespace

std::span<const std::byte> ConvData::line_input(const ConvLayer& layer,
                                                const ConvFetch& fetch) noexcept {
  if (layer.in != Precision::kInt8 || layer.proc != Precision::kInt8 || layer.winograd ||
      layer.height != layer.csc_height || !releases_all(layer, fetch))
    return {};
  std::uint64_t extent = 0;
  if (layer.image) {
    if (!BytePixels::fits(*pixel_format(layer.pixel_code))) return {};
    extent = std::uint64_t{layer.height - 1} * layer.data.line + image_run(layer, 0).bytes;
  } else {
    extent = (layer.batches - 1) * layer.batch_stride + ConvCube(hw_, layer).extent();
  }
  const std::byte* const window = dma_.window(layer.data.ram, layer.data.base, extent, false);
  return {window, window == nullptr ? 0 : extent};
}

void ConvData::open_lines(const ConvLayer& layer, const ConvFetch& fetch,
                          std::span<const std::byte> input, bool flipped) {
  specials_ = {};
  lines_in_buffer_.clear();
  window_ = nullptr;
  lay_out(layer, sees_strides_alone(layer, fetch));
  hold();
  flip_ = flipped ? kSign : std::byte{0};
  opens_lines_ = true;
  input_ = input.data();
  pixels_of_lines_.reset();
  // Elements of a cube are like pixels of one component.
  if (layer.image || layer.converter.enabled)
    pixels_of_lines_.emplace(kernels_, *pixel_format(layer.image ? layer.pixel_code : 0),
                             layer.converter, layer.proc, flip_);
  lines_there_.begin(layer.batches * height());
}

bool ConvData::need(const ConvLayer& layer, std::uint32_t batch, std::uint32_t first,
                    std::uint32_t end) {
  return lines_there_.need(batch * height() + first, batch * height() + end,
                           [&](std::uint32_t number) { return bring(layer, number); });
}

bool ConvData::bring(const ConvLayer& layer, std::uint32_t number) noexcept {
  const std::uint32_t batch = number / height(), padded = number % height();
  std::byte* const line = data_.data() + number * line_bytes();
  const auto fill = [&](std::byte* to, std::size_t bytes, std::int16_t value) {
    std::memset(to, (value & 0xff) ^ std::to_integer<int>(flip_), bytes);
  };
  if (padded < top_ || padded >= top_ + lines_) {
    fill(line, line_bytes(), layer.pad_value);
  } else {
    std::byte* const inner = line + left_ * pixel_bytes_;
    fill(line, left_ * pixel_bytes_, layer.pad_value);
    fill(inner + inner_bytes(), right_ * pixel_bytes_, layer.pad_value);
    if (layer.image) {
      std::byte* const first = inner + layer.fetch_left * pixel_bytes_;
      fill(inner, layer.fetch_left * pixel_bytes_, layer.fetch_pad_value);
      fill(first + layer.width * pixel_bytes_, layer.pad_right * pixel_bytes_,
           layer.fetch_pad_value);
      bring_image(layer, padded - top_, first);
    } else {
      bring_cube(layer, batch, padded - top_, inner);
    }
  }
  return kernels_.form.sign && any_negative(line, line_bytes());
}

void ConvData::bring_cube(const ConvLayer& layer, std::uint32_t batch, std::uint32_t y,
                          std::byte* to) const noexcept {
  const ConvCube cube(hw_, layer);
  const std::byte* const from = input_ + batch * layer.batch_stride;
  for (std::uint64_t surface = 0; surface < cube.surfaces; ++surface) {
    const std::size_t at = surface * cube.atom;
    spread_atoms(kernels_,
                 {from + cube.line(surface, y * held_y_), cube.atom * held_x_, inner_width_,
                  std::min<std::size_t>(cube.atom, pixel_bytes_ - at), to + at, pixel_bytes_},
                 pixels_of_lines_ ? std::byte{0} : flip_);
  }
  if (pixels_of_lines_) pixels_of_lines_->convert(to, inner_bytes(), to);
}

void ConvData::bring_image(const ConvLayer& layer, std::uint32_t y, std::byte* to) const noexcept {
  pixels_of_lines_->convert(input_ + y * std::uint64_t{layer.data.line} + image_run(layer, 0).skip,
                            layer.width, to);
}

}  // namespace nvdla::model
