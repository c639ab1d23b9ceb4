// SPDX-License-Identifier: MIT
//
// Results of convolutions, worked out one product at a time.
#include <functional>

#include "common/integers.hpp"
#include "common/layers/conv_case.hpp"
#include "common/layers/half_reference.hpp"
#include "support/float.hpp"

namespace nvdla::test {
namespace {

using model::Ram;

std::int64_t as_integer(std::uint16_t pattern, Number number) {
  return number == Number::kInt8 ? static_cast<std::int64_t>(static_cast<std::int8_t>(pattern))
                                 : static_cast<std::int16_t>(pattern);
}

bool is_infinite(std::uint16_t value) { return (value & 0x7fff) == 0x7c00; }

// To nearest even, from an integer of 17 bits.
std::uint16_t half_of(std::int64_t value) {
  if (value == 0) return 0;
  const std::uint16_t sign = value < 0 ? 0x8000 : 0;
  std::int64_t magnitude = value < 0 ? -value : value;
  int exponent = 25;
  std::int64_t unit = 1;
  while (magnitude / unit >= 2048) {
    unit *= 2;
    ++exponent;
  }
  std::int64_t mantissa = magnitude / unit;
  const std::int64_t rest = magnitude % unit;
  if (rest * 2 > unit || (rest * 2 == unit && mantissa % 2 != 0)) ++mantissa;
  while (mantissa < 1024) {
    mantissa *= 2;
    --exponent;
  }
  if (mantissa == 2048) {
    mantissa = 1024;
    ++exponent;
  }
  if (exponent > 30) return static_cast<std::uint16_t>(sign | 0x7bff);
  return static_cast<std::uint16_t>(sign | exponent << 10 | (mantissa & 0x3ff));
}

std::uint16_t converted(const ConvCase& layer, std::uint16_t raw, unsigned channel) {
  if (!layer.convert || layer.in == Number::kFp16) return raw;
  Wide x = raw;
  if (!layer.image || layer.sign) x = as_integer(raw, layer.in);
  const Wide off = layer.image && layer.mean ? layer.means[channel] : layer.offset;
  const Wide value = saturate(round_shift((x - off) * layer.scale, layer.truncate), 17);
  if (layer.proc == Number::kFp16) return half_of(static_cast<std::int64_t>(value));
  return static_cast<std::uint16_t>(saturate(value, layer.proc == Number::kInt8 ? 8 : 16));
}

// B^T d B in fp17, columns first, and back to fp16. The primitives have tests of their own.
std::vector<std::int64_t> half_tile(
    const std::function<std::uint16_t(unsigned, unsigned)>& element) {
  using fp::Fp17;
  std::uint32_t d[4][4];
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j < 4; ++j) d[i][j] = fp::widen<Fp17>(element(i, j));
  const auto pass = [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t e,
                       std::uint32_t* out[4]) {
    *out[0] = fp::sub<Fp17>(a, c);
    *out[1] = fp::add<Fp17>(b, c);
    *out[2] = fp::sub<Fp17>(c, b);
    *out[3] = fp::sub<Fp17>(b, e);
  };
  for (unsigned j = 0; j < 4; ++j) {
    std::uint32_t* out[4] = {&d[0][j], &d[1][j], &d[2][j], &d[3][j]};
    pass(d[0][j], d[1][j], d[2][j], d[3][j], out);
  }
  for (auto& row : d) {
    std::uint32_t* out[4] = {&row[0], &row[1], &row[2], &row[3]};
    pass(row[0], row[1], row[2], row[3], out);
  }
  std::vector<std::int64_t> tile;
  for (const auto& row : d)
    for (const std::uint32_t one : row) tile.push_back(fp::narrow<Fp17>(one));
  return tile;
}

}  // namespace

ConvResult reference(const ConvCase& layer, const model::Memory& memory, bool flush_weights) {
  ConvResult result;
  const auto count = [](std::uint16_t value, std::uint32_t& nans, std::uint32_t& infinities) {
    nans += is_nan(value);
    infinities += is_infinite(value);
  };
  const auto flushed = [&](std::uint16_t value) {
    return layer.flush && layer.in == Number::kFp16 && is_nan(value) ? std::uint16_t{0} : value;
  };
  const bool half = layer.proc == Number::kFp16;
  // The padded input, lanes of whole atoms for Winograd.
  const unsigned pw = layer.left + layer.width + layer.right;
  const unsigned ph = layer.top + layer.height + layer.bottom;
  const unsigned lanes = layer.winograd ? layer.aligned_channels() : layer.channels;
  std::vector<std::uint16_t> input(std::size_t{layer.batches} * pw * ph * lanes, layer.pad_value);
  const auto at = [&](unsigned b, unsigned y, unsigned x, unsigned c) -> std::uint16_t& {
    return input[((std::size_t{b} * ph + y) * pw + x) * lanes + c];
  };
  if (layer.image) {
    const auto format = planes(layer.format_name);
    const std::uint64_t strides[2] = {layer.input.line, layer.second.line};
    const std::vector<std::byte> bytes[2] = {
        memory.read(Ram::kPrimary, layer.input.base, strides[0] * layer.height),
        memory.read(Ram::kPrimary, layer.second.base, strides[1] * layer.height)};
    for (unsigned y = 0; y < layer.height; ++y)
      for (unsigned x = 0; x < layer.width; ++x) {
        std::uint64_t lines[2], offsets[2];
        for (std::size_t p = 0; p < format.size(); ++p) {
          lines[p] = y * strides[p];
          const unsigned pixels = layer.hw->atom / format[p].bytes;
          offsets[p] = std::uint64_t{layer.x_offset % pixels + x} * format[p].bytes;
        }
        for (unsigned c = 0; c < layer.channels; ++c) {
          const std::uint16_t raw = pixel_channel(format, bytes, lines, offsets, c);
          if (layer.in == Number::kFp16) count(raw, result.nan_data, result.inf_data);
          at(0, layer.top + y, layer.left + x, c) = converted(layer, flushed(raw), c);
        }
      }
  } else {
    const unsigned bytes = layer.bytes();
    const unsigned column = layer.hw->atom / bytes;
    const auto cube =
        memory.read(Ram::kPrimary, layer.input.base, layer.batches * layer.batch_stride);
    for (unsigned b = 0; b < layer.batches; ++b)
      for (unsigned y = 0; y < layer.height; ++y)
        for (unsigned x = 0; x < layer.width; ++x)
          for (unsigned c = 0; c < layer.aligned_channels(); ++c) {
            const auto raw = static_cast<std::uint16_t>(load_word(
                cube,
                b * layer.batch_stride + c / column * layer.input.surface + y * layer.input.line +
                    std::uint64_t{x} * layer.hw->atom + std::uint64_t{c % column} * bytes,
                bytes));
            if (layer.in == Number::kFp16) count(raw, result.nan_data, result.inf_data);
            if (c < lanes)
              at(b, layer.top + y, layer.left + x, c) = converted(layer, flushed(raw), 0);
          }
    if (layer.winograd && layer.in == Number::kFp16)
      for (unsigned i = 0; i < (pw * ph - layer.width * layer.height) * lanes; ++i)
        count(layer.pad_value, result.nan_data, result.inf_data);
  }

  // [kernel][row][column or position][channel].
  const unsigned channels = layer.weight_channels();
  const unsigned columns = layer.winograd ? 16 : layer.image ? 1 : layer.kernel_width;
  const unsigned rows = layer.winograd ? 1 : layer.kernel_height;
  std::vector<std::uint16_t> weights(layer.weights.size());
  std::size_t next = 0;
  const auto index = [&](unsigned k, unsigned r, unsigned s, unsigned c) {
    return ((std::size_t{k} * rows + r) * columns + s) * channels + c;
  };
  each_weight(layer, [&](unsigned k, unsigned r, unsigned s, unsigned c) {
    std::uint16_t value = layer.weights.at(next++);
    if (half) count(value, result.nan_weights, result.inf_weights);
    if (flush_weights && half && layer.flush && is_nan(value)) value = 0;
    weights.at(index(k, r, s, c)) = value;
  });

  const auto deliver = [&](Wide sum) {
    const Wide rounded = round_shift(sum, layer.clip);
    const Wide value = saturate(rounded, 32);
    result.saturated += value != rounded;
    return static_cast<std::int32_t>(value);
  };
  const unsigned ow = layer.out_width(), oh = layer.out_height();
  result.values.resize(std::size_t{layer.batches} * oh * ow * layer.kernels);
  const auto value = [&](unsigned b, unsigned y, unsigned x, unsigned k) -> std::int32_t& {
    return result.values[((std::size_t{b} * oh + y) * ow + x) * layer.kernels + k];
  };

  if (layer.winograd) {
    static constexpr int kB[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
    static constexpr int kA[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
    for (unsigned y = 0; y < oh; y += 2)
      for (unsigned x = 0; x < ow; x += 2) {
        // B^T d B of every channel.
        std::vector<std::vector<std::int64_t>> tile(channels, std::vector<std::int64_t>(16));
        for (unsigned c = 0; c < channels; ++c) {
          const unsigned fold = c / lanes;
          const auto d = [&](unsigned i, unsigned j) {
            return as_integer(
                at(0, (y + i) * layer.stride_height + fold / layer.stride_width,
                   (x + j) * layer.stride_width + fold % layer.stride_width, c % lanes),
                layer.proc);
          };
          if (half) {
            tile[c] = half_tile([&](unsigned i, unsigned j) {
              return at(0, (y + i) * layer.stride_height + fold / layer.stride_width,
                        (x + j) * layer.stride_width + fold % layer.stride_width, c % lanes);
            });
            continue;
          }
          for (unsigned i = 0; i < 4; ++i)
            for (unsigned j = 0; j < 4; ++j) {
              std::int64_t sum = 0;
              for (unsigned a = 0; a < 4; ++a)
                for (unsigned b = 0; b < 4; ++b) sum += kB[i][a] * d(a, b) * kB[j][b];
              tile[c][i * 4 + j] = static_cast<std::int64_t>(
                  saturate(round_shift(sum, layer.pra), layer.proc == Number::kInt8 ? 8 : 16));
            }
        }
        for (unsigned k = 0; k < layer.kernels; ++k) {
          if (half) {
            // Steps of four channels at sixteen positions, one exponent for all; the four outputs
            // of a tile add the same products.
            RefAccumulator accumulators[2][2];
            std::vector<std::uint16_t> data(64), factors(64);
            for (unsigned c0 = 0; c0 < channels; c0 += 4) {
              for (unsigned lane = 0; lane < 64; ++lane) {
                data[lane] = static_cast<std::uint16_t>(tile[c0 + lane % 4][lane / 4]);
                factors[lane] = weights[index(k, 0, lane / 4, c0 + lane % 4)];
              }
              const RefStep step = multiply_step(data, factors);
              for (unsigned i = 0; i < 2; ++i)
                for (unsigned j = 0; j < 2; ++j) {
                  std::int64_t sum = 0;
                  for (std::size_t lane = 0; lane < step.products.size(); ++lane)
                    sum += kA[i][lane / 16] * kA[j][lane / 4 % 4] * step.products[lane];
                  accumulators[i][j].add(step, sum);
                }
            }
            for (unsigned i = 0; i < 2; ++i)
              for (unsigned j = 0; j < 2; ++j)
                value(0, y + i, x + j, k) = static_cast<std::int32_t>(accumulators[i][j].fp32());
            continue;
          }
          for (unsigned i = 0; i < 2; ++i)
            for (unsigned j = 0; j < 2; ++j) {
              Wide sum = 0;
              for (unsigned c = 0; c < channels; ++c)
                for (unsigned a = 0; a < 4; ++a)
                  for (unsigned b = 0; b < 4; ++b)
                    sum += static_cast<Wide>(kA[i][a] * kA[j][b]) * tile[c][a * 4 + b] *
                           as_integer(weights[index(k, 0, a * 4 + b, c)], layer.proc);
              value(0, y + i, x + j, k) = deliver(sum);
            }
        }
      }
    return result;
  }

  // Where the lanes of each step lie: row, column, channels.
  struct Lane {
    unsigned r, s, c;
  };
  std::vector<std::vector<Lane>> steps;
  if (layer.post != 0) {
    for (unsigned r = 0; r < rows; ++r) {
      if (r % (1u << layer.post) == 0) steps.emplace_back();
      for (unsigned c = 0; c < channels; ++c) steps.back().push_back({r, 0, c});
    }
  } else {
    for (unsigned block = 0; block < channels; block += layer.hw->atomic_c)
      for (unsigned r = 0; r < rows; ++r)
        for (unsigned s = 0; s < columns; ++s) {
          steps.emplace_back();
          for (unsigned c = block; c < std::min(channels, block + layer.hw->atomic_c); ++c)
            steps.back().push_back({r, s, c});
        }
  }
  for (unsigned b = 0; b < layer.batches; ++b)
    for (unsigned y = 0; y < oh; ++y)
      for (unsigned x = 0; x < ow; ++x)
        for (unsigned k = 0; k < layer.kernels; ++k) {
          const auto datum = [&](const Lane& lane) {
            // Channels of an image's kernel row run over its columns.
            const unsigned column = layer.image ? lane.c / layer.channels : lane.s;
            return at(b, y * layer.stride_height + lane.r * layer.dilation_height,
                      x * layer.stride_width + column * layer.dilation_width,
                      layer.image ? lane.c % layer.channels : lane.c);
          };
          RefAccumulator accumulator;
          Wide sum = 0;
          for (const auto& step : steps) {
            std::vector<std::uint16_t> data, factors;
            for (const Lane& lane : step) {
              data.push_back(datum(lane));
              factors.push_back(weights[index(k, lane.r, lane.s, lane.c)]);
            }
            if (half) {
              accumulator.add(multiply_step(data, factors));
              continue;
            }
            for (std::size_t i = 0; i < data.size(); ++i)
              sum += static_cast<Wide>(as_integer(data[i], layer.proc)) *
                     as_integer(factors[i], layer.proc);
          }
          value(b, y, x, k) = half ? static_cast<std::int32_t>(accumulator.fp32()) : deliver(sum);
        }
  return result;
}

}  // namespace nvdla::test
