// SPDX-License-Identifier: MIT
#include "model/conv_pass.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace nvdla::model {
namespace {

// Below this many products an int32 holds every sum of int8 products exactly; a hardware
// accumulator (34 bits) cannot saturate before 524,288.
constexpr std::uint64_t kExactProducts = 131072;
// Kernels read whole steps, and the last run of the last position may end inside one.
constexpr std::size_t kSlack = 64;
// Weights that stay in a processor's cache while positions go by.
constexpr std::size_t kCachedWeights = std::size_t{384} << 10;

// Copies atoms of `size` bytes to places `pitch` apart; a constant size makes it a few moves.
template <std::size_t kSize>
void scatter(std::byte* to, std::size_t pitch, const std::byte* from, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i, to += pitch, from += kSize)
    std::memcpy(to, from, kSize);
}

void scatter(std::byte* to, std::size_t pitch, const std::byte* from, std::size_t atom,
             std::size_t size, std::uint32_t count) {
  if (size == atom) {
    switch (size) {
      case 8:
        return scatter<8>(to, pitch, from, count);
      case 16:
        return scatter<16>(to, pitch, from, count);
      case 32:
        return scatter<32>(to, pitch, from, count);
      default:
        break;
    }
  }
  // Where pixels are smaller than an atom the surplus of each is overwritten by the next; the last
  // ones of the line are copied exactly, so that nothing behind the line is touched.
  std::uint32_t i = 0;
  if (size == pitch && atom == 32) {
    const auto tail = static_cast<std::uint32_t>((atom + pitch - 1) / pitch);
    for (; i + tail < count; ++i, to += pitch, from += atom) std::memcpy(to, from, 32);
  }
  for (; i < count; ++i, to += pitch, from += atom) std::memcpy(to, from, size);
}

// `count` pixels of the padding value.
void fill_pixels(std::byte* to, std::size_t bytes, Precision precision, std::int16_t value) {
  if (precision == Precision::kInt8) {
    std::memset(to, value & 0xff, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; i += 2) std::memcpy(to + i, &value, 2);
}

}  // namespace

ConvPass::ConvPass(const nvdla_hw& hw, Dma& dma, const Kernels& kernels)
    : hw_(hw),
      dma_(dma),
      kernels_(kernels),
      weights_(hw, dma),
      values_(std::size_t{SdpPass::kPositions} * kBlock),
      sums_(std::size_t{kTile} * kBlock) {}

void ConvPass::fetch_lines(const ConvLayer& layer, const ConvFetch& fetch) {
  const std::size_t bytes = precision_bytes(layer.proc);
  pixel_bytes_ = layer.channels * bytes;
  padded_width_ = layer.pad_left + layer.width + layer.pad_right;
  padded_height_ = layer.pad_top + layer.csc_height + layer.pad_bottom;
  const std::size_t line_bytes = padded_width_ * pixel_bytes_;
  const std::size_t size = line_bytes * padded_height_;
  if (data_.size() < size + kSlack) data_.resize(size + kSlack);
  std::byte* const data = data_.data();

  // Padding: whole lines above and below, then both sides of each line.
  fill_pixels(data, layer.pad_top * line_bytes, layer.proc, layer.pad_value);
  fill_pixels(data + (layer.pad_top + layer.csc_height) * line_bytes, layer.pad_bottom * line_bytes,
              layer.proc, layer.pad_value);
  const std::size_t left = layer.pad_left * pixel_bytes_;
  const std::size_t inner = layer.width * pixel_bytes_;
  for (std::uint32_t y = 0; y < layer.csc_height; ++y) {
    std::byte* line = data + (layer.pad_top + y) * line_bytes;
    fill_pixels(line, left, layer.proc, layer.pad_value);
    fill_pixels(line + left + inner, layer.pad_right * pixel_bytes_, layer.proc, layer.pad_value);
  }
  std::memset(data + size, 0, kSlack);

  std::byte* const first = data + layer.pad_top * line_bytes + left;
  const std::uint32_t kept = std::min(fetch.kept_lines, layer.csc_height);
  for (std::uint32_t y = 0; y < kept; ++y)
    std::memcpy(first + y * line_bytes, cbuf_.data.data() + y * inner, inner);
  if (!fetch.data) return;

  // CDMA counts surfaces in whole atoms and fetches the lanes beyond the last channel with them.
  const std::uint64_t atom = hw_.atom;
  const std::uint64_t surfaces = (pixel_bytes_ + atom - 1) / atom;
  const std::uint64_t run_line = layer.width * atom;
  // A packed cube is read in grains: runs of several lines without a look at the line stride.
  const std::uint32_t grain = layer.line_packed ? layer.grain : 1;
  const bool single = layer.width == 1 && layer.height == 1;
  const std::uint64_t surface_stride = single && layer.surface_packed ? atom : layer.data.surface;
  atoms_.resize(std::max<std::size_t>(atoms_.size(), run_line * std::min(grain, layer.height)));
  for (std::uint64_t surface = 0; surface < surfaces; ++surface) {
    const std::size_t at = surface * atom;
    const std::size_t used = std::min<std::size_t>(atom, pixel_bytes_ - at);
    for (std::uint32_t y = 0; y < layer.height; y += grain) {
      const std::uint32_t lines = std::min(grain, layer.height - y);
      dma_.read(NVDLA_DMA_CDMA_DATA, layer.data.ram,
                layer.data.base + surface * surface_stride + y * layer.data.line, atoms_.data(),
                lines * run_line);
      for (std::uint32_t i = 0; i < lines; ++i)
        scatter(first + (fetch.kept_lines + y + i) * line_bytes + at, pixel_bytes_,
                atoms_.data() + i * run_line, atom, used, layer.width);
    }
  }
}

void ConvPass::keep_lines(const ConvLayer& layer, const ConvFetch& fetch) {
  const std::size_t inner = layer.width * pixel_bytes_;
  const std::uint32_t released = layer.keep_data ? 0 : layer.release;
  const std::uint32_t kept = fetch.lines - released;
  std::vector<std::byte> lines;
  if (fetch.data) {
    const std::size_t line_bytes = padded_width_ * pixel_bytes_;
    const std::byte* first =
        data_.data() + layer.pad_top * line_bytes + layer.pad_left * pixel_bytes_;
    lines.resize(kept * inner);
    for (std::uint32_t y = 0; y < kept; ++y)
      std::memcpy(lines.data() + y * inner, first + (released + y) * line_bytes, inner);
  } else {
    lines.assign(cbuf_.data.begin() + static_cast<std::ptrdiff_t>(released * inner),
                 cbuf_.data.end());
  }
  cbuf_.winograd = layer.winograd;
  cbuf_.pixel = layer.pixel;
  cbuf_.data_banks = layer.data_banks;
  cbuf_.weight_banks = layer.weight_banks;
  cbuf_.lines = kept;
  cbuf_.all_lines_kept = layer.keep_data;
  cbuf_.proc = layer.proc;
  cbuf_.width = layer.width;
  cbuf_.channels = layer.channels;
  cbuf_.entries = layer.entries;
  cbuf_.data = std::move(lines);
}

std::uint32_t ConvPass::run(const ConvLayer& layer, SdpPass& sdp) {
  const ConvFetch fetch = plan_fetch(layer, cbuf_);
  fetch_lines(layer, fetch);

  const std::uint64_t products =
      std::uint64_t{layer.kernel_width} * layer.kernel_height * layer.channels;
  const ConvShape shape{layer.kernels,
                        layer.channels,
                        layer.kernel_width,
                        layer.kernel_height,
                        layer.dilation_x == 1,
                        layer.proc != Precision::kInt8 || products >= kExactProducts,
                        precision_bytes(layer.proc)};
  const WeightCache::Entry& weights =
      fetch.weights ? weights_.fetch(layer, shape) : weights_.kept(cbuf_.weights, shape);

  const std::int64_t line = static_cast<std::int64_t>(padded_width_) * layer.channels;
  runs_.clear();
  for (std::uint32_t r = 0; r < layer.kernel_height; ++r)
    for (std::uint32_t s = 0; s < (shape.rows ? 1 : layer.kernel_width); ++s)
      runs_.push_back(static_cast<std::int32_t>(
          r * layer.dilation_y * line + std::int64_t{s} * layer.dilation_x * layer.channels));

  std::uint32_t saturated = 0;
  if (shape.wide) {
    saturated = run_wide(layer, shape, weights.packed, sdp);
  } else {
    run_bytes(layer, shape, weights.packed, sdp);
  }

  keep_lines(layer, fetch);
  cbuf_.weights_kept = layer.keep_weights;
  cbuf_.kernels = layer.kernels;
  cbuf_.kernel_bytes = layer.kernel_bytes;
  cbuf_.weight_bytes = layer.weight_bytes;
  cbuf_.weights = layer.keep_weights ? weights.raw : nullptr;
  return saturated;
}

void ConvPass::run_bytes(const ConvLayer& layer, const ConvShape& shape,
                         const PackedWeights& weights, SdpPass& sdp) {
  const auto* data = reinterpret_cast<const std::int8_t*>(data_.data());
  const std::uint32_t positions = layer.out_width * layer.out_height;
  const std::size_t step_x = layer.stride_x * pixel_bytes_;
  const std::size_t step_y = layer.stride_y * padded_width_ * pixel_bytes_;
  const unsigned blocks = sdp.blocks();
  const std::size_t block_bytes = shape.block_elements();
  corrections_.resize(positions);

  const auto chunk = [&](unsigned block, std::uint32_t first) {
    const unsigned count = std::min<std::uint32_t>(SdpPass::kPositions, positions - first);
    std::uint32_t x = first % layer.out_width;
    const std::int8_t* row = data + first / layer.out_width * step_y;
    for (unsigned done = 0; done < count; done += kTile) {
      const std::int8_t* bases[kTile];
      const unsigned part = std::min(kTile, count - done);
      for (unsigned i = 0; i < part; ++i) {
        bases[i] = row + x * step_x;
        if (++x == layer.out_width) {
          x = 0;
          row += step_y;
        }
      }
      std::int32_t* corrections = corrections_.data() + first + done;
      const MacTile tile{bases,
                         part,
                         runs_.data(),
                         static_cast<unsigned>(runs_.size()),
                         shape.run_steps(),
                         weights.bytes.data() + block * block_bytes,
                         corrections,
                         values_.data() + std::size_t{done} * kBlock};
      if (block == 0) kernels_.corrections(tile, corrections);
      kernels_.mac(tile);
    }
    kernels_.clip(values_.data(), count, layer.clip);
    sdp.tile(values_.data(), block, first, count);
  };

  // Small weights stay in cache while the input goes by once; large ones go by once.
  if (block_bytes * blocks <= kCachedWeights) {
    for (std::uint32_t first = 0; first < positions; first += SdpPass::kPositions)
      for (unsigned block = 0; block < blocks; ++block) chunk(block, first);
  } else {
    for (unsigned block = 0; block < blocks; ++block)
      for (std::uint32_t first = 0; first < positions; first += SdpPass::kPositions)
        chunk(block, first);
  }
}

std::uint32_t ConvPass::run_wide(const ConvLayer& layer, const ConvShape& shape,
                                 const PackedWeights& weights, SdpPass& sdp) {
  const std::size_t elements = std::size_t{padded_width_} * padded_height_ * layer.channels;
  wide_data_.resize(elements);
  if (layer.proc == Precision::kInt8) {
    for (std::size_t i = 0; i < elements; ++i) wide_data_[i] = static_cast<std::int8_t>(data_[i]);
  } else {
    std::memcpy(wide_data_.data(), data_.data(), elements * 2);
  }
  // Kernels cannot be long enough to saturate before their last product, so it is enough to look at
  // the end.
  const unsigned bits = layer.proc == Precision::kInt8 ? 34 : 48;
  const std::int64_t limit = (std::int64_t{1} << (bits - 1)) - 1;
  const std::int64_t half = layer.clip == 0 ? 0 : std::int64_t{1} << (layer.clip - 1);
  constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();
  const std::uint32_t positions = layer.out_width * layer.out_height;
  const std::size_t step_x = std::size_t{layer.stride_x} * layer.channels;
  const std::size_t step_y = std::size_t{layer.stride_y} * padded_width_ * layer.channels;
  std::uint32_t saturated = 0;
  for (unsigned block = 0; block < sdp.blocks(); ++block) {
    for (std::uint32_t first = 0; first < positions; first += SdpPass::kPositions) {
      const unsigned count = std::min<std::uint32_t>(SdpPass::kPositions, positions - first);
      for (unsigned done = 0; done < count; done += kTile) {
        const std::int16_t* bases[kTile];
        const unsigned part = std::min(kTile, count - done);
        for (unsigned i = 0; i < part; ++i) {
          const std::uint32_t position = first + done + i;
          bases[i] = wide_data_.data() + position / layer.out_width * step_y +
                     position % layer.out_width * step_x;
        }
        kernels_.wide({bases, part, runs_.data(), static_cast<unsigned>(runs_.size()),
                       shape.run_elements(), weights.words.data() + block * shape.block_elements(),
                       sums_.data()});
        for (unsigned i = 0; i < part * kBlock; ++i) {
          const std::int64_t sum = std::clamp(sums_[i], -limit - 1, limit);
          const std::int64_t rounded =
              sum < 0 ? -((-sum + half) >> layer.clip) : (sum + half) >> layer.clip;
          const std::int64_t value = std::clamp(rounded, kLow, kHigh);
          saturated += value != rounded;
          values_[std::size_t{done} * kBlock + i] = static_cast<std::int32_t>(value);
        }
      }
      sdp.tile(values_.data(), block, first, count);
    }
  }
  return saturated;
}

}  // namespace nvdla::model
