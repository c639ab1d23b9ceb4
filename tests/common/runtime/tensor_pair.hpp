// SPDX-License-Identifier: MIT
//
// A network whose layers move elements, and what its tensors hold, worked out beside it.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_TENSOR_PAIR_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_TENSOR_PAIR_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/random.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla::test {

// x + 1, saturated: so every part differs from what it is made of.
inline Tensor plus_one(Network& net, Tensor tensor, const std::string& name) {
  constexpr std::int16_t kOne[] = {1};
  Pointwise p{.name = name};
  p.x1 = nvdla::bias(kOne);
  return net.pointwise(tensor, p);
}

// Of fp16: the other sign.
inline Tensor minus(Network& net, Tensor tensor, const std::string& name) {
  constexpr float kMinusOne[] = {-1};
  Pointwise p{.name = name};
  p.x1.mul = NVDLA_MUL_MUL;
  p.x1.mul_reals = kMinusOne;
  return net.pointwise(tensor, p);
}

// A tensor in plain integers.
struct Cube3 {
  Cube3() = default;
  explicit Cube3(const Shape& s) : shape(s), data(s.elements()) {}

  int& at(std::uint32_t c, std::uint32_t y, std::uint32_t x) { return data[index(c, y, x)]; }
  int at(std::uint32_t c, std::uint32_t y, std::uint32_t x) const { return data[index(c, y, x)]; }

  Shape shape;
  std::vector<int> data;  // CHW

 private:
  std::size_t index(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
    return (std::size_t{c} * shape.height + y) * shape.width + x;
  }
};

inline Cube3 concatenated(const std::vector<Cube3>& parts, Axis axis) {
  Shape shape = parts[0].shape;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (axis == Axis::kChannels) shape.channels += parts[i].shape.channels;
    if (axis == Axis::kHeight) shape.height += parts[i].shape.height;
    if (axis == Axis::kWidth) shape.width += parts[i].shape.width;
  }
  Cube3 out(shape);
  std::uint32_t c0 = 0, y0 = 0, x0 = 0;
  for (const Cube3& part : parts) {
    for (std::uint32_t c = 0; c < part.shape.channels; ++c)
      for (std::uint32_t y = 0; y < part.shape.height; ++y)
        for (std::uint32_t x = 0; x < part.shape.width; ++x)
          out.at(c0 + c, y0 + y, x0 + x) = part.at(c, y, x);
    if (axis == Axis::kChannels) c0 += part.shape.channels;
    if (axis == Axis::kHeight) y0 += part.shape.height;
    if (axis == Axis::kWidth) x0 += part.shape.width;
  }
  return out;
}

// Bits of fp16.
template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, std::uint16_t>;

// A network and what its tensors hold, worked out beside it.
template <typename T>
class TensorPair {
 public:
  Tensor input(const Shape& shape, Random& random) {
    constexpr Precision precision = sizeof(T) == 1 ? Precision::kInt8
                                    : kIsHalf<T>   ? Precision::kFp16
                                                   : Precision::kInt16;
    Cube3 cube(shape);
    for (int& value : cube.data) {
      value = static_cast<int>(kIsHalf<T> ? random.pick(0, 1) * 0x8000 + random.pick(0, 0x7bff)
                                          : random.pick(-100, 100));
    }
    const std::string name = "in" + std::to_string(inputs_.size());
    inputs_.push_back(cube);
    return add(net.input(name, shape, precision), cube);
  }
  Tensor more(Tensor tensor) {
    Cube3 cube = of(tensor);
    if (kIsHalf<T>) {
      for (int& value : cube.data) value ^= 0x8000;
      return add(minus(net, tensor, new_name()), cube);
    }
    for (int& value : cube.data) value = std::min<int>(value + 1, std::numeric_limits<T>::max());
    return add(plus_one(net, tensor, new_name()), cube);
  }
  Tensor join(const std::vector<Tensor>& parts, Axis axis) {
    std::vector<Cube3> cubes;
    for (const Tensor& part : parts) cubes.push_back(of(part));
    const std::string name = new_name();
    return add(net.concatenate(parts, {.name = name, .axis = axis}), concatenated(cubes, axis));
  }
  void output(Tensor tensor) {
    net.output(tensor, "out" + std::to_string(outputs_.size()));
    outputs_.push_back(of(tensor));
  }
  void expect_right(const std::string& device, const std::string& what) const {
    Request request = net.build(Device::open(device));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::vector<T> values(inputs_[i].data.begin(), inputs_[i].data.end());
      request.write("in" + std::to_string(i), Layout::kNchw, std::span<const T>(values));
    }
    request.run();
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      std::vector<T> values(outputs_[i].data.size());
      request.read("out" + std::to_string(i), Layout::kNchw, std::span(values));
      const std::vector<int> got(values.begin(), values.end());
      ASSERT_EQ(got, outputs_[i].data) << what << ", output " << i << " on " << device;
    }
  }

  std::string new_name() { return "layer" + std::to_string(names_++); }
  const Cube3& of(Tensor tensor) const {
    return std::find_if(cubes_.begin(), cubes_.end(),
                        [&](const auto& known) { return known.first == tensor; })
        ->second;
  }
  Tensor add(Tensor tensor, const Cube3& cube) {
    cubes_.emplace_back(tensor, cube);
    return tensor;
  }

  Network net;

 private:
  std::vector<std::pair<Tensor, Cube3>> cubes_;
  std::vector<Cube3> inputs_, outputs_;
  unsigned names_ = 0;
};

inline std::vector<std::string> layer_names(const Request& request) {
  std::vector<std::string> list;
  for (std::uint32_t i = 0; i < request.network().layers(); ++i)
    list.emplace_back(request.network().layer_name(i));
  return list;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_TENSOR_PAIR_HPP
