// SPDX-License-Identifier: MIT
//
// Networks on the configurations of both generations, and what their operators make of a cube.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_NETWORKS_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_NETWORKS_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/runtime/reference.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/conversion.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla::test {

inline Shape shape(const Int8& cube) {
  return {static_cast<std::uint32_t>(cube.c), static_cast<std::uint32_t>(cube.h),
          static_cast<std::uint32_t>(cube.w)};
}

// x = op(x) for all of a cube; values by channel, element or layer as their number says.
inline Int32 apply(const Int32& in, const Operator& op, const Int8* tensor = nullptr) {
  const auto pick = [&](std::span<const std::int16_t> values, std::size_t i) -> std::int32_t {
    if (values.size() == 1) return values[0];
    const std::size_t area = static_cast<std::size_t>(in.h) * in.w;
    return values[values.size() == in.data.size() ? i : i / area];
  };
  Int32 out(in.c, in.h, in.w);
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    std::int32_t a = 0, m = 0;
    if (op.alu != NVDLA_ALU_NONE) a = tensor ? tensor->data[i] : pick(op.alu_values, i);
    if (op.mul != NVDLA_MUL_NONE) m = tensor ? tensor->data[i] : pick(op.mul_values, i);
    out.data[i] = apply(in.data[i], op.alu, a, op.alu_shift, op.mul, m, op.mul_shift, op.relu);
  }
  return out;
}

inline Int32 add_bias(Int32 in, const std::vector<std::int32_t>& bias, bool relu) {
  const std::size_t area = static_cast<std::size_t>(in.h) * in.w;
  for (std::size_t i = 0; i < in.data.size(); ++i) {
    in.data[i] += bias[i / area];
    if (relu) in.data[i] = std::max(in.data[i], 0);
  }
  return in;
}

class Networks : public ::testing::TestWithParam<std::string> {
 protected:
  // Runs the network on `in` and compares with `expected`.
  void expect(const Int8& in, const Int8& expected) {
    Request request = net_.build(device_);
    request.write("in", Layout::kNchw, in.data);
    request.run();
    Int8 found(expected.c, expected.h, expected.w);
    ASSERT_EQ(request.network().desc("out").shape, shape(expected));
    request.read("out", Layout::kNchw, found.data);
    ASSERT_EQ(found.data, expected.data);
  }

  // A pointwise layer with one operator.
  void expect_operator(const Operator& op, const Int8& in, const Converter& converter) {
    const Tensor x = net_.input("in", shape(in));
    net_.output(net_.pointwise(x, {.name = "op", .x1 = op, .output = converter}), "out");
    expect(in, convert(apply(widen(in), op), converter.offset, converter.scale, converter.shift));
  }

  Device device_ = Device::open("model:" + GetParam());
  Network net_;
};

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_NETWORKS_HPP
