// SPDX-License-Identifier: MIT
//
// digits.onnx is the network of weights.json, and what the importer makes of it classifies as the
// network in floats does.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "float_network.hpp"
#include "nvdla/import.hpp"
#include "nvdla/nvdla.hpp"
#include "picture.hpp"
#include "weights.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path kFolder = NVDLA_SOURCE_DIR "/runtime/examples/digits";

std::size_t best(const std::vector<float>& scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

TEST(DigitsOnnx, HasTheWeightsOfTheNetwork) {
  onnx::ModelProto model;
  std::ifstream file(kFolder / "digits.onnx", std::ios::binary);
  ASSERT_TRUE(model.ParseFromIstream(&file));
  std::map<std::string, std::vector<float>> constants;
  for (const auto& tensor : model.graph().initializer()) {
    std::vector<float>& values = constants[tensor.name()];
    values.resize(tensor.raw_data().size() / sizeof(float));
    std::memcpy(values.data(), tensor.raw_data().data(), values.size() * sizeof(float));
  }
  for (const digits::Layer& layer : digits::load_weights(kFolder / "weights.json").layers) {
    EXPECT_EQ(constants[layer.name + ".weight"], layer.float_weights) << layer.name;
    EXPECT_EQ(constants[layer.name + ".bias"], layer.float_bias) << layer.name;
  }
}

std::vector<nvdla::Sample> shipped_pictures() {
  std::vector<nvdla::Sample> samples;
  for (const auto& entry : fs::directory_iterator(kFolder / "images")) {
    const digits::Picture picture = digits::read_picture(entry.path());
    samples.push_back({{picture.pixels.begin(), picture.pixels.end()}});
  }
  return samples;
}

// Classes of the held-out pictures by the model for a device.
std::vector<std::size_t> classes_on(const std::string& device, const digits::HeldOut& held_out,
                                    const std::vector<nvdla::Sample>& samples) {
  const nvdla::Device opened = nvdla::Device::open("model:" + device);
  const nvdla::ImportedModel model =
      nvdla::import_model((kFolder / "digits.onnx").string(), opened.info(),
                          {.samples = samples, .pixels = {{.mean = {128}, .deviation = {128}}}});
  nvdla::Request request = model.network.compile(opened).create_request();
  std::vector<std::size_t> classes;
  for (const digits::Picture& picture : held_out.pictures) {
    const std::vector<float> pixels(picture.pixels.begin(), picture.pixels.end());
    if (samples.empty()) {
      request.write("picture", nvdla::Layout::kNchw, pixels);
    } else {
      const auto bytes = nvdla::signed_bytes(picture.pixels);
      request.write("picture", nvdla::Layout::kNchw, std::span<const std::int8_t>(bytes));
    }
    request.run();
    std::vector<float> scores(10);
    request.read("classes", nvdla::Layout::kNchw, std::span<float>(scores));
    classes.push_back(best(scores));
  }
  return classes;
}

TEST(DigitsOnnx, ClassifiesAsTheNetworkInFloats) {
  const digits::Weights weights = digits::load_weights(kFolder / "weights.json");
  const digits::HeldOut held_out = digits::read_held_out(kFolder);
  std::vector<std::size_t> of_floats;
  for (const digits::Picture& picture : held_out.pictures)
    of_floats.push_back(best(digits::float_scores(weights, picture.pixels)));
  EXPECT_EQ(classes_on("nv_full", held_out, {}), of_floats);
  const auto right = [&](const std::vector<std::size_t>& classes) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < classes.size(); ++i)
      count += classes[i] == static_cast<std::size_t>(held_out.labels[i]);
    return count;
  };
  const auto samples = shipped_pictures();
  const auto first = classes_on("nv_full", held_out, samples);
  // Half a percent of 1,000.
  EXPECT_GE(right(first) + 5, right(of_floats));
  for (const char* device : {"nv_large", "nv_small"})
    EXPECT_EQ(classes_on(device, held_out, samples), first) << device;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

// In int16 pixels are the elements, and each score is that of the floats.
TEST(DigitsOnnx, ScoresInInt16AsTheNetworkInFloats) {
  const digits::Weights weights = digits::load_weights(kFolder / "weights.json");
  const digits::HeldOut held_out = digits::read_held_out(kFolder);
  const nvdla::Device device = nvdla::Device::open("model:nv_full");
  const nvdla::ImportedModel model =
      nvdla::import_model((kFolder / "digits.onnx").string(), device.info(),
                          {.precision = nvdla::Precision::kInt16,
                           .samples = shipped_pictures(),
                           .pixels = {{.mean = {128}, .deviation = {128}}}});
  nvdla::Request request = model.network.compile(device).create_request();
  double least = 1;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto& pixels = held_out.pictures[i].pixels;
    const std::vector<std::int16_t> elements(pixels.begin(), pixels.end());
    request.write("picture", nvdla::Layout::kNchw, std::span<const std::int16_t>(elements));
    request.run();
    std::vector<float> scores(10);
    request.read("classes", nvdla::Layout::kNchw, std::span<float>(scores));
    const std::vector<float> of_floats = digits::float_scores(weights, pixels);
    EXPECT_EQ(best(scores), best(of_floats)) << i;
    least = std::min(least, cosine(scores, of_floats));
  }
  EXPECT_GT(least, 0.99999);
}

}  // namespace
