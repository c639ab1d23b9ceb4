// SPDX-License-Identifier: MIT
#include "model/conv/conv_data.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "model/conv/conv_atoms.hpp"
#include "model/conv/conv_cube.hpp"
#include "support/integers.hpp"

namespace nvdla::model {
namespace {

// `count` pixels of the padding value.
void fill_pixels(std::byte* to, std::size_t bytes, Precision precision, std::int16_t value) {
  if (precision == Precision::kInt8) {
    std::memset(to, value & 0xff, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; i += 2) std::memcpy(to + i, &value, 2);
}

}  // namespace

void ConvData::lay_out(const ConvLayer& layer, bool strides_alone) {
  const std::size_t bytes = precision_bytes(layer.proc);
  stride_x_ = layer.stride_width;
  stride_y_ = layer.stride_height;
  strides_alone_ = strides_alone;
  held_x_ = strides_alone ? stride_x_ : 1;
  held_y_ = strides_alone ? stride_y_ : 1;
  lines_ = strides_alone ? layer.out_height : layer.csc_height;
  elements_ = layer.buffer_channels();
  pixel_bytes_ = elements_ * bytes;
  // CDMA itself pads images to both sides and Winograd's cubes all around.
  inner_width_ = strides_alone ? layer.out_width : layer.buffer_width();
  const bool feature = !layer.image && !layer.winograd;
  left_ = feature ? layer.pad_left : 0;
  right_ = feature ? static_cast<std::uint32_t>(layer.behind_x()) : 0;
  top_ = layer.winograd ? 0 : layer.pad_top;
  bottom_ = layer.winograd ? 0 : static_cast<std::uint32_t>(layer.behind_y());
  size_ = batch_bytes() * layer.batches;
  flip_ = std::byte{0};
}

void ConvData::hold() {
  if (data_.size() < size_ + kSlack) data_.resize(size_ + kSlack);
  std::memset(data_.data() + size_, 0, kSlack);
}

// Pads whole lines above and below, then both sides of each line.
void ConvData::pad(const ConvLayer& layer, std::uint32_t batch) {
  const auto value =
      static_cast<std::int16_t>(layer.pad_value ^ std::to_integer<std::int16_t>(flip_));
  std::byte* const data = data_.data() + batch * batch_bytes();
  fill_pixels(data, top_ * line_bytes(), layer.proc, value);
  fill_pixels(data + (top_ + lines_) * line_bytes(), bottom_ * line_bytes(), layer.proc, value);
  if (left_ + right_ == 0) return;
  for (std::uint32_t y = 0; y < lines_; ++y) {
    std::byte* const line = data + (top_ + y) * line_bytes();
    fill_pixels(line, left_ * pixel_bytes_, layer.proc, value);
    fill_pixels(line + left_ * pixel_bytes_ + inner_bytes(), right_ * pixel_bytes_, layer.proc,
                value);
  }
}

void ConvData::fetch(const ConvLayer& layer, const ConvFetch& fetch, const CbufState& cbuf,
                     bool flipped) {
  specials_ = {};
  lines_in_buffer_.clear();
  window_ = nullptr;
  opens_lines_ = false;
  const std::byte flip = flipped ? kSign : std::byte{0};
  if (fetch.data && fetch.lines > layer.csc_height) {
    fetch_behind_others(layer, fetch, cbuf);
    flip_ = flip;
    flip_bytes(data_.data(), size_, flip_);
  } else {
    lay_out(layer, sees_strides_alone(layer, fetch));
    hold();
    flip_ = flip;
    fetch_lines(layer, fetch, cbuf);
  }
}

void ConvData::fetch_lines(const ConvLayer& layer, const ConvFetch& fetch, const CbufState& cbuf) {
  const std::uint32_t held = std::min(fetch.held_lines, lines_);
  for (std::uint32_t batch = 0; batch < layer.batches; ++batch) {
    pad(layer, batch);
    const std::byte* from =
        cbuf.data.data() + (std::size_t{batch} * cbuf.lines + fetch.freed_lines) * inner_bytes();
    for (std::uint32_t y = 0; y < held; ++y, from += inner_bytes()) {
      std::memcpy(inner_line(batch, y), from, inner_bytes());
      flip_bytes(inner_line(batch, y), inner_bytes(), flip_);
    }
    if (!fetch.data) continue;
    if (layer.image) {
      fetch_image(layer, fetch.held_lines);
      for (std::uint32_t y = 0; y < layer.height; ++y)
        flip_bytes(inner_line(batch, fetch.held_lines + y), inner_bytes(), flip_);
    } else if (layer.winograd) {
      fetch_winograd(layer, fetch.held_lines);
    } else {
      fetch_cube(layer, batch, inner_line(batch, fetch.held_lines), pixel_bytes_, line_bytes());
    }
  }
}

bool ConvData::nonnegative(std::uint32_t number) const noexcept {
  // Checks one part after the other: if there are negative values, an early part usually has one.
  constexpr std::size_t kPart = 4096;
  const std::byte* from = batch(number);
  for (std::size_t left = batch_bytes(); left != 0;) {
    const std::size_t part = std::min(left, kPart);
    std::byte bits{0};
    for (std::size_t i = 0; i < part; ++i) bits |= from[i];
    if ((bits & kSign) != std::byte{0}) return false;
    from += part;
    left -= part;
  }
  return true;
}

// Fetches behind lines of an earlier layer that no layer has freed. CSC works on those lines first,
// and the lines fetched last stay in the buffer in their place.
void ConvData::fetch_behind_others(const ConvLayer& layer, const ConvFetch& fetch,
                                   const CbufState& cbuf) {
  ConvLayer all = layer;
  all.csc_height = fetch.lines;
  lay_out(all);
  hold();
  fetch_lines(all, fetch, cbuf);
  copy_lines(layer.batches, 0, fetch.lines, lines_in_buffer_);

  lay_out(layer);
  hold();
  for (std::uint32_t batch = 0; batch < layer.batches; ++batch) {
    pad(layer, batch);
    const std::byte* from =
        lines_in_buffer_.data() + std::size_t{batch} * fetch.lines * inner_bytes();
    for (std::uint32_t y = 0; y < lines_; ++y, from += inner_bytes())
      std::memcpy(inner_line(batch, y), from, inner_bytes());
  }
}

void ConvData::copy_lines(std::uint32_t batches, std::uint32_t first, std::uint32_t count,
                          std::vector<std::byte>& lines) const {
  lines.resize(std::size_t{batches} * count * inner_bytes());
  std::byte* to = lines.data();
  for (std::uint32_t batch = 0; batch < batches; ++batch)
    for (std::uint32_t y = 0; y < count; ++y, to += inner_bytes())
      std::memcpy(to, data_.data() + inner_at(batch, first + y), inner_bytes());
}

void ConvData::convert(const ConvLayer& layer, std::byte* elements, std::size_t bytes) {
  if (layer.proc == Precision::kInt8) {
    for (std::size_t i = 0; i < bytes; ++i)
      elements[i] = static_cast<std::byte>(convert_element(
          layer.converter, std::to_integer<std::uint16_t>(elements[i]), 0, layer.in, layer.proc));
    return;
  }
  for (std::size_t i = 0; i < bytes; i += 2) {
    std::uint16_t value;
    std::memcpy(&value, elements + i, 2);
    value = convert_element(layer.converter, value, 0, layer.in, layer.proc);
    std::memcpy(elements + i, &value, 2);
  }
}

void ConvData::count_and_flush(const ConvLayer& layer, std::byte* elements, std::size_t bytes) {
  if (layer.in != Precision::kFp16) return;
  for (std::size_t i = 0; i < bytes; i += 2) {
    std::uint16_t value;
    std::memcpy(&value, elements + i, 2);
    specials_.infinite += fp::is_infinite<fp::Fp16>(value);
    if (!fp::is_nan<fp::Fp16>(value)) continue;
    ++specials_.nan;
    if (layer.flush_nan) std::memset(elements + i, 0, 2);
  }
}

void ConvData::fetch_cube(const ConvLayer& layer, std::uint32_t batch, std::byte* first,
                          std::size_t pitch, std::size_t line_pitch) {
  const ConvCube cube(hw_, layer);
  const std::uint64_t atom = cube.atom, run_line = cube.run_line;
  const std::uint64_t base = layer.data.base + batch * layer.batch_stride;
  // The reference model forgets the converter in Winograd mode.
  const bool converts = layer.converter.enabled && !(layer.winograd && quirks_ == Quirks::kCmodel);
  const std::uint32_t positions = strides_alone_ ? inner_width_ : layer.width;
  const std::uint32_t height = strides_alone_ ? (lines_ - 1) * held_y_ + 1 : layer.height;
  // Spreads the held lines among `lines` lines from `y` on.
  const auto spread = [&](std::uint64_t surface, std::uint32_t y, std::uint32_t lines,
                          const std::byte* atoms) {
    const std::size_t at = surface * atom;
    const std::size_t used = std::min<std::size_t>(atom, pitch - at);
    const std::uint32_t end = std::min(y + lines, height);
    for (std::uint32_t line = arith::round_up(y, held_y_); line < end; line += held_y_)
      spread_atoms(kernels_,
                   {atoms + (line - y) * run_line, atom * held_x_, positions, used,
                    first + line / held_y_ * line_pitch + at, pitch},
                   flip_);
  };
  const std::byte* const window = converts || layer.in == Precision::kFp16
                                      ? nullptr
                                      : dma_.window(layer.data.ram, base, cube.extent(), false);
  if (window != nullptr) {
    // Goes line by line, so that positions are complete before they leave the cache.
    for (std::uint32_t y = 0; y < height; y += held_y_)
      for (std::uint64_t surface = 0; surface < cube.surfaces; ++surface)
        spread(surface, y, 1, window + cube.line(surface, y));
    return;
  }
  atoms_.resize(std::max<std::size_t>(atoms_.size(), run_line * cube.grain));
  for (std::uint64_t surface = 0; surface < cube.surfaces; ++surface) {
    for (std::uint32_t y = 0; y < layer.height; y += cube.grain) {
      const std::uint32_t lines = std::min(cube.grain, layer.height - y);
      dma_.read(NVDLA_DMA_CDMA_DATA, layer.data.ram, base + cube.line(surface, y), atoms_.data(),
                lines * run_line);
      count_and_flush(layer, atoms_.data(), lines * run_line);
      if (converts) convert(layer, atoms_.data(), lines * run_line);
      spread(surface, y, lines, atoms_.data());
    }
  }
}

// Lines are read from their first atom on, what lies before the offset included.
ConvData::ImageRun ConvData::image_run(const ConvLayer& layer, unsigned plane) const noexcept {
  const std::uint32_t pixel = pixel_format(layer.pixel_code)->bytes[plane];
  const std::uint32_t pixels = hw_.atom / pixel;
  const std::uint32_t offset = layer.x_offset % pixels;
  return {((layer.width - 1 + offset) / pixels + 1) * std::uint64_t{hw_.atom},
          std::size_t{offset} * pixel};
}

void ConvData::fetch_image(const ConvLayer& layer, std::uint32_t first_line) {
  const PixelFormat& format = *pixel_format(layer.pixel_code);
  const ImageRun run = image_run(layer, 0);
  const std::uint64_t bytes = run.bytes;
  std::size_t skip[2] = {run.skip, 0};
  atoms_.resize(std::max<std::size_t>(atoms_.size(), bytes));
  std::uint64_t second = 0;
  if (format.planes == 2) {
    const ImageRun second_run = image_run(layer, 1);
    second = second_run.bytes;
    skip[1] = second_run.skip;
    plane_.resize(std::max<std::size_t>(plane_.size(), second));
  }
  const std::size_t count = std::size_t{layer.width} * layer.channels;
  pixels_.resize(std::max(pixels_.size(), count));
  // Tables do not pay for less than they hold.
  std::optional<BytePixels> table;
  if (BytePixels::fits(format) && count * layer.height > 1024)
    table.emplace(kernels_, format, layer.converter, layer.proc);
  for (std::uint32_t y = 0; y < layer.height; ++y) {
    dma_.read(NVDLA_DMA_CDMA_DATA, layer.data.ram, layer.data.base + y * layer.data.line,
              atoms_.data(), bytes);
    if (format.planes == 2)
      dma_.read(NVDLA_DMA_CDMA_DATA_UV, layer.second_plane.ram,
                layer.second_plane.base + y * layer.second_plane.line, plane_.data(), second);
    std::byte* const line = inner_line(0, first_line + y);
    const std::size_t left = layer.fetch_left * pixel_bytes_;
    fill_pixels(line, left, layer.proc, layer.fetch_pad_value);
    fill_pixels(line + left + layer.width * pixel_bytes_, layer.pad_right * pixel_bytes_,
                layer.proc, layer.fetch_pad_value);
    const std::byte* const planes[2] = {atoms_.data() + skip[0], plane_.data() + skip[1]};
    if (table) {
      table->convert(planes[0], layer.width, line + left);
      continue;
    }
    unpack_pixels(format, planes, layer.width, pixels_.data());
    count_and_flush(layer, reinterpret_cast<std::byte*>(pixels_.data()), count * 2);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t value =
          convert_element(layer.converter, pixels_[i], static_cast<unsigned>(i % layer.channels),
                          layer.in, layer.proc);
      if (layer.proc == Precision::kInt8) {
        line[left + i] = static_cast<std::byte>(value);
      } else {
        std::memcpy(line + left + i * 2, &value, 2);
      }
    }
  }
}

// Positions of a fold become channels: [ky][kx][channel of whole atoms]. Padding fills all lanes.
void ConvData::fetch_winograd(const ConvLayer& layer, std::uint32_t first_line) {
  const std::size_t position = pixel_bytes_ / layer.fold_x / layer.fold_y;
  const std::size_t padded_width = std::size_t{layer.fetch_width_ext} * layer.fold_x;
  const std::size_t padded_height = std::size_t{layer.fetch_height_ext} * layer.fold_y;
  const std::size_t line = padded_width * position;
  cube_.resize(std::max(cube_.size(), line * padded_height));
  fill_pixels(cube_.data(), line * padded_height, layer.proc, layer.fetch_pad_value);
  // Elements of the tiles are counted where they are written, those of the padding too.
  if (layer.in == Precision::kFp16) {
    const std::size_t real = std::size_t{layer.width} * layer.height;
    const auto pads =
        static_cast<std::uint32_t>((padded_width * padded_height - real) * (position / 2));
    const auto value = static_cast<std::uint16_t>(layer.fetch_pad_value);
    if (fp::is_nan<fp::Fp16>(value)) specials_.nan += pads;
    if (fp::is_infinite<fp::Fp16>(value)) specials_.infinite += pads;
  }
  fetch_cube(layer, 0, cube_.data() + layer.fetch_top * line + layer.fetch_left * position,
             position, line);
  for (std::uint32_t y = 0; y < layer.fetch_height_ext; ++y) {
    std::byte* to = inner_line(0, first_line + y);
    for (std::uint32_t x = 0; x < layer.fetch_width_ext; ++x)
      for (std::uint32_t ky = 0; ky < layer.fold_y; ++ky, to += layer.fold_x * position)
        std::memcpy(to,
                    cube_.data() + (std::size_t{y} * layer.fold_y + ky) * line +
                        std::size_t{x} * layer.fold_x * position,
                    layer.fold_x * position);
  }
}

void ConvData::keep(const ConvLayer& layer, const ConvFetch& fetch, CbufState& cbuf) {
  const std::uint32_t released = layer.keep_data ? 0 : layer.release;
  const std::uint32_t left = fetch.lines - released;
  if (fetch.data && lines_in_buffer_.empty()) {
    if (left != 0) flip_bytes(data_.data(), size_, std::exchange(flip_, std::byte{0}));
    copy_lines(layer.batches, released, left, cbuf.data);
  } else {
    const std::vector<std::byte>& all = fetch.data ? lines_in_buffer_ : cbuf.data;
    std::vector<std::byte> lines;
    for (std::uint32_t batch = 0; batch < layer.batches; ++batch) {
      const auto end = all.begin() + static_cast<std::ptrdiff_t>((std::size_t{batch} + 1) *
                                                                 fetch.lines * inner_bytes());
      lines.insert(lines.end(), end - static_cast<std::ptrdiff_t>(left * inner_bytes()), end);
    }
    cbuf.data = std::move(lines);
  }
  cbuf.winograd = layer.winograd;
  cbuf.pixel = layer.image;
  cbuf.data_banks = layer.data_banks;
  cbuf.weight_banks = layer.weight_banks;
  cbuf.lines = left;
  cbuf.kept_lines = layer.csc_height - released;
  cbuf.all_lines_kept = layer.keep_data;
  cbuf.proc = layer.proc;
  cbuf.width = layer.buffer_width();
  cbuf.channels = layer.buffer_channels();
  cbuf.batches = layer.batches;
  cbuf.entries = layer.entries;
}

}  // namespace nvdla::model
