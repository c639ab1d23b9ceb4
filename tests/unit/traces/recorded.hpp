// SPDX-License-Identifier: MIT
//
// Networks of every unit, run on the model and recorded.
#ifndef NVDLA_TESTS_TRACES_RECORDED_HPP
#define NVDLA_TESTS_TRACES_RECORDED_HPP

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/random.hpp"
#include "common/runtime/values.hpp"
#include "nvdla/nvdla.hpp"
#include "tools/diff/rerun.hpp"
#include "tools/replay/load.hpp"
#include "tools/replay/targets/model_target.hpp"

namespace nvdla::test {

struct Recorded {
  std::filesystem::path path;
  std::vector<replay::Dump> jobs;
  Values out;
};

struct RecordedNetwork {
  std::string name;
  std::string configuration;
  Shape shape;
  Precision precision;
  std::function<Tensor(Network&, Tensor)> add;
  bool planar_input = false;
};

inline Recorded record(const std::filesystem::path& path, const RecordedNetwork& what,
                       unsigned runs = 1) {
  Network net;
  const Tensor in = what.planar_input ? net.planar_input("in", what.shape, what.precision)
                                      : net.input("in", what.shape, what.precision);
  net.output(what.add(net, in), "out");
  Recorded result;
  result.path = path;
  {
    const Device device =
        Device::open("model:" + what.configuration + ",threads=1", {.record = path.native()});
    Request request = net.build(device);
    Random random(7);
    for (unsigned run = 0; run < runs; ++run) {
      write(request, "in", random_tensor(what.shape, what.precision, random));
      request.run();
    }
    result.out = read(request, "out");
  }
  result.jobs = replay::read_jobs(path);
  return result;
}

// A convolution with a border, of that many random kernels.
inline Tensor convolve(Network& net, Tensor in, std::uint32_t channels, std::uint32_t kernels,
                       Precision precision) {
  Random random(9);
  std::vector<std::int8_t> weights(std::size_t{kernels} * channels * 9);
  for (auto& weight : weights) weight = static_cast<std::int8_t>(random() % 256);
  const std::vector<std::int16_t> wide(weights.begin(), weights.end());
  const std::vector<float> reals(weights.begin(), weights.end());
  Convolution layer{.name = "conv", .kernels = kernels, .kernel_height = 3, .kernel_width = 3};
  layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 1;
  if (precision == Precision::kInt8) layer.weights = weights;
  if (precision == Precision::kInt16) layer.weights = wide;
  if (precision == Precision::kFp16) layer.weights = reals;
  if (precision != Precision::kFp16) layer.output = {.scale = 1, .shift = 8};
  return net.convolution(in, layer);
}

// The model that the jobs can be run on again.
inline replay::ModelTarget model_for(const std::vector<replay::Dump>& jobs) {
  return {*jobs.front().hw, model::Options{}, model::Memory::Spaces::kSeparate};
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_TRACES_RECORDED_HPP
