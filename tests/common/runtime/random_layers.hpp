// SPDX-License-Identifier: MIT
//
// Random convolutions of networks with what follows them, on any configuration, and whether a
// network makes of its input what it should.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_RANDOM_LAYERS_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_RANDOM_LAYERS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/runtime/conv_reference.hpp"
#include "nvdla/types/half.hpp"

namespace nvdla::test {

inline std::uint32_t any(Random& random, std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint32_t>(random.pick(low, high));
}

inline std::string any_configuration(Random& random) {
  // Half of them on the one that has everything.
  if (!one_in(random, 2)) return "nv_full";
  const auto last = static_cast<std::uint32_t>(configuration_count() - 1);
  return std::string(configuration_name(any(random, 0, last)));
}

inline Precision any_precision(const DeviceInfo& info, Random& random) {
  if (!info.has_int16) return Precision::kInt8;
  return static_cast<Precision>(any(random, 0, 2));
}

inline std::optional<Precision> any_result(Precision processing, const DeviceInfo& info,
                                           Random& random) {
  if (!info.has_int16 || random() % 2 == 0) return std::nullopt;
  return processing == Precision::kInt16 ? Precision::kFp16 : Precision::kInt16;
}

// A scale of up to twice that, and any zero point, none often.
inline Quantization random_quantization(Random& random, double scale) {
  return {static_cast<float>(scale * (1 + random.pick(0, 999) / 1000.0)),
          one_in(random, 3) ? 0 : static_cast<std::int32_t>(random.pick(-128, 127))};
}

// Bias, and what the converter makes of accumulators.
struct Finish {
  std::vector<std::int32_t> bias;
  std::vector<float> reals;
  Converter converter;
  bool relu = false;
  // What is in operator Y, of the element at `i`, if anything.
  std::function<std::int64_t(std::int64_t value, std::size_t i)> y;

  Finish(Precision processing, std::uint32_t kernels, std::uint64_t taps, Random& random) {
    const bool some = random() % 2 == 0;
    if (processing == Precision::kFp16) {
      for (std::uint32_t k = 0; some && k < kernels; ++k) {
        reals.push_back(static_cast<float>(random() % 4001) - 2000.0F);
      }
    } else {
      const std::uint32_t range = random() % 2 == 0 ? 60000 : 2000000;
      for (std::uint32_t k = 0; some && k < kernels; ++k) {
        bias.push_back(static_cast<std::int32_t>(random() % range) -
                       static_cast<std::int32_t>(range / 2));
      }
      const double size = processing == Precision::kInt8 ? 64.0 * 64 : 12000.0 * 40000;
      converter = requantize(40.0 / (size * std::sqrt(static_cast<double>(taps))), 3);
    }
    relu = random() % 2 == 0;
  }

  template <typename Layer>
  void tell(Layer& layer) const {
    layer.bias = bias;
    layer.bias_reals = reals;
    layer.relu = relu;
    layer.output = converter;
  }

  Values apply(const std::vector<std::int64_t>& sums, const Shape& shape, Precision processing,
               Precision out) const {
    Values values(shape, out);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      std::int64_t v = sums[i];
      if (!reals.empty()) {
        Operator op;
        op.alu = NVDLA_ALU_SUM;
        v = apply_x(v, op, static_cast<std::int32_t>(to_half(pick(reals, i, shape))), 0,
                    processing);
      } else if (!bias.empty()) {
        v = saturate(v + pick(bias, i, shape), 32);
      }
      if (y) v = y(v, i);
      if (relu) {
        Operator op;
        op.relu = true;
        v = apply_x(v, op, 0, 0, processing);
      }
      values.data[i] = convert_to(v, converter, processing, out);
    }
    return values;
  }
};

// Runs `net` on `in` and compares; the text of a difference.
inline std::string compare(const Network& net, const std::string& configuration, const Values& in,
                           const Values& expected) {
  Request request = net.build(Device::open("model:" + configuration));
  write(request, "in", in);
  request.run();
  const Values found = read(request, "out");
  if (found.shape != expected.shape) return "another shape";
  if (found.precision != expected.precision) return "another precision";
  for (std::size_t i = 0; i < found.data.size(); ++i) {
    if (found.data[i] != expected.data[i]) {
      return "element " + std::to_string(i) + " is " + std::to_string(found.data[i]) + ", not " +
             std::to_string(expected.data[i]);
    }
  }
  return {};
}

// A padding after the input with which the last window ends at the last column or line.
inline int exact_after(int before, int size, int kernel, int stride, Random& random) {
  int after = static_cast<int>(random() % static_cast<std::uint32_t>(kernel));
  while (after > 0 && (before + size + after - kernel) % stride != 0) --after;
  return after;
}

struct RandomConv {
  std::string configuration;
  RefConv ref;
  Values in;
};

// Nothing where the sizes picked do not go together.
inline std::optional<RandomConv> random_conv(Random& random, bool tall) {
  RandomConv r;
  r.configuration = any_configuration(random);
  const DeviceInfo info = configuration_info(r.configuration);
  RefConv& c = r.ref;
  c.processing = any_precision(info, random);
  c.atomic_c = info.atomic_c;
  c.kernels = any(random, 1, tall ? 9 : 40);
  c.channels = any(random, tall ? 60 : 1, tall ? 90 : 80);
  c.kernel_height = any(random, 1, 4);
  c.kernel_width = any(random, 1, tall ? 2 : 5);
  Geometry& g = c.geometry;
  g.stride_width = static_cast<int>(any(random, 1, 3));
  g.stride_height = static_cast<int>(any(random, 1, 3));
  g.dilation_width = static_cast<int>(any(random, 1, 2));
  g.dilation_height = static_cast<int>(any(random, 1, 2));
  const int kh = static_cast<int>(c.kernel_height - 1) * g.dilation_height + 1;
  const int kw = static_cast<int>(c.kernel_width - 1) * g.dilation_width + 1;
  // Tall ones have more than the whole convolution buffer.
  const std::uint32_t height =
      tall ? (info.cbuf_banks * info.cbuf_entries * info.cbuf_entry_bytes) / (c.channels * 10) +
                 any(random, 1, 100)
           : any(random, 1, 12);
  const std::uint32_t width = tall ? any(random, 10, 13) : any(random, 1, 14);
  g.left = static_cast<int>(random() % static_cast<std::uint32_t>(kw));
  g.top = static_cast<int>(random() % static_cast<std::uint32_t>(kh));
  g.right = exact_after(g.left, static_cast<int>(width), kw, g.stride_width, random);
  g.bottom = exact_after(g.top, static_cast<int>(height), kh, g.stride_height, random);
  const int across = g.left + static_cast<int>(width) + g.right - kw;
  const int down = g.top + static_cast<int>(height) + g.bottom - kh;
  if (across < 0 || down < 0 || across % g.stride_width != 0 || down % g.stride_height != 0)
    return {};
  if (height > 4000) return {};
  g.clip = c.processing == Precision::kFp16 ? 0 : static_cast<unsigned>(random() % 3);
  r.in = random_tensor({c.channels, height, width, tall ? 1 : any(random, 1, 2)}, c.processing,
                       random);
  g.pad_value = random_tensor({}, c.processing, random).data[0];
  c.weights = random_kernels(std::size_t{c.kernels} * c.channels * c.kernel_height * c.kernel_width,
                             c.processing, random);
  return r;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_RANDOM_LAYERS_HPP
