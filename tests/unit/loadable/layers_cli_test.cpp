// SPDX-License-Identifier: MIT
//
// `nvdla run --compare` and `--dump-layers` as a user meets them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "../tools/temporary_folder.hpp"
#include "common/command.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<std::int64_t>;
using Result = test::CommandResult;

// A .npy file, read by its published description: magic, version 1.0, length of the header, the
// header, elements in the order of C.
struct Array {
  std::string type;
  Numbers shape;
  Numbers elements;  // of fp16 the bits
};

Array read_npy(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  Array array;
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8)) << path;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(file.at(at)); };
  const std::size_t length = byte(8) + byte(9) * 256U, data = 10 + length;
  EXPECT_EQ(data % 64, 0U);
  const std::string header = file.substr(10, length);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(header.find("'fortran_order': False"), header.npos);
  const auto after = [&](const std::string& key) { return header.find(key) + key.size(); };
  array.type = header.substr(after("'descr': '"), 3);
  for (std::size_t at = after("'shape': ("); header[at] != ')';) {
    std::size_t used = 0;
    array.shape.push_back(std::stoll(header.substr(at), &used));
    at = header.find_first_not_of(", ", at + used);
  }
  const std::size_t bytes = static_cast<std::size_t>(array.type[2] - '0');
  for (std::size_t at = data; at < file.size(); at += bytes) {
    if (array.type == "|i1") array.elements.push_back(static_cast<signed char>(file[at]));
    if (array.type == "|u1") array.elements.push_back(byte(at));
    if (bytes != 2) continue;
    const unsigned value = byte(at) + byte(at + 1) * 256U;
    array.elements.push_back(array.type == "<i2" ? static_cast<std::int16_t>(value) : value);
  }
  EXPECT_EQ(array.elements.size(),
            static_cast<std::size_t>(std::accumulate(array.shape.begin(), array.shape.end(),
                                                     std::int64_t{1}, std::multiplies<>())));
  return array;
}

class Layers : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Result nvdla(const std::string& arguments, const char* program = NVDLA_CLI) const {
    return test::run_command(program, arguments);
  }
  // y = x + 1, then z = max(y + 2, 0) of 2x2, from "in" of 9x4x6 to "out".
  std::string small() {
    static const std::vector<std::int16_t> kOne = {1}, kTwo = {2};
    Network net;
    const Tensor y = net.pointwise(net.input("in", {9, 4, 6}), {.name = "y", .x1 = bias(kOne)});
    Pointwise add{.name = "z", .x1 = bias(kTwo)};
    add.x1.relu = true;
    const Pooling two{.name = "pool",
                      .kernel_height = 2,
                      .kernel_width = 2,
                      .stride_height = 2,
                      .stride_width = 2};
    net.output(net.pooling(net.pointwise(y, add), two), "out");
    save_loadable(net, "nv_small", path("small.nvdla"));
    std::string raw;
    for (int i = 0; i < 9 * 4 * 6; ++i) raw += static_cast<char>(i % 100 - 50);
    folder_.write("in.raw", raw);
    return path("small.nvdla") + " -i " + path("in.raw");
  }
  Json index(const std::string& folder) const {
    std::ifstream stream(path(folder) + "/index.json");
    return Json::parse(stream);
  }

  replay::TemporaryFolder folder_;
};

TEST_F(Layers, DumpedTensorsAreWhatLayersCompute) {
  const Result result = nvdla("run " + small() + " -d model:nv_small --dump-layers " + path("d"));
  ASSERT_EQ(result.status, 0) << result.output;
  const Json all = index("d");
  EXPECT_EQ(all["layout"], "NCHW");
  EXPECT_EQ(all["complete"], true);
  EXPECT_EQ(all["configuration"], "nv_small");
  ASSERT_EQ(all["inputs"].size(), 1U);
  const Array in = read_npy(path("d/") + all["inputs"][0]["file"].get<std::string>());
  EXPECT_EQ(in.shape, (Numbers{1, 9, 4, 6}));
  for (std::size_t i = 0; i < in.elements.size(); ++i)
    ASSERT_EQ(in.elements[i], static_cast<int>(i) % 100 - 50);
  ASSERT_EQ(all["tensors"].size(), 2U);
  ASSERT_EQ(all["layers"].size(), 2U);

  const Json& first = all["tensors"][0];
  EXPECT_EQ(first["file"], "001-y.npy");
  EXPECT_EQ(first["unit"], "sdp");
  EXPECT_TRUE(first["on_the_fly"].empty());
  EXPECT_EQ(first["shape"], Json({1, 9, 4, 6}));
  EXPECT_EQ(first["precision"], "int8");
  const Array y = read_npy(path("d/001-y.npy"));
  EXPECT_EQ(y.type, "|i1");
  for (std::size_t i = 0; i < y.elements.size(); ++i)
    ASSERT_EQ(y.elements[i], in.elements[i] + 1) << i;

  // What SDP gives to PDP is nowhere.
  const Json& second = all["tensors"][1];
  EXPECT_EQ(second["layer"], 1);
  EXPECT_EQ(second["layer_name"], all["layers"][1]);
  EXPECT_EQ(second["unit"], "pdp");
  EXPECT_EQ(second["on_the_fly"], Json({"sdp"}));
  EXPECT_EQ(second["tensor"], "output 'out'");
  const Array z = read_npy(path("d/") + second["file"].get<std::string>());
  ASSERT_EQ(z.shape, (Numbers{1, 9, 2, 3}));
  for (std::size_t c = 0; c < 9; ++c) {
    for (std::size_t at = 0; at < 6; ++at) {
      const std::size_t from = c * 24 + at / 3 * 12 + at % 3 * 2;
      std::int64_t greatest = 0;
      for (const std::size_t step : {0, 1, 6, 7})
        greatest = std::max(greatest, y.elements[from + step] + 2);
      ASSERT_EQ(z.elements[c * 6 + at], greatest);
    }
  }
}

TEST_F(Layers, DumpedHalvesAndPixels) {
  Network net;
  Convolution same{.name = "same", .kernels = 3};
  const std::vector<float> weights = {1, 0, 0, 0, 1, 0, 0, 0, 0.5F};
  same.weights = std::span<const float>(weights);
  net.output(
      net.convolution(
          net.image("camera", {.format = NVDLA_PIXEL_A8B8G8R8, .width = 3, .height = 2}), same),
      "out");
  save_loadable(net, "nv_full", path("image.nvdla"));
  std::string pixels;
  for (int i = 0; i < 24; ++i) pixels += static_cast<char>(i);
  const Result result =
      nvdla("run " + path("image.nvdla") + " -d model:nv_full -i " +
            folder_.write("pixels.raw", pixels).string() + " --dump-layers " + path("d"));
  ASSERT_EQ(result.status, 0) << result.output;
  const Json all = index("d");
  const Json& input = all["inputs"][0];
  EXPECT_EQ(input["pixel_format"], "T_A8B8G8R8");
  const Array camera = read_npy(path("d/") + input["files"][0].get<std::string>());
  EXPECT_EQ(camera.type, "|u1");
  EXPECT_EQ(camera.shape, (Numbers{2, 3, 4}));
  Numbers expected(24);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(camera.elements, expected);
  const Array out = read_npy(path("d/") + all["tensors"][0]["file"].get<std::string>());
  EXPECT_EQ(out.type, "<f2");
  ASSERT_EQ(out.shape, (Numbers{1, 3, 2, 3}));
  // 4 = 0x4400, 5 = 0x4500, 3 = 0x4200: the second pixel.
  EXPECT_EQ(out.elements[1], 0x4400);
  EXPECT_EQ(out.elements[7], 0x4500);
  EXPECT_EQ(out.elements[13], 0x4200);
}

TEST_F(Layers, EqualDevicesRunOn) {
  const std::string arguments = "run " + small() + " -d model:nv_small --compare ";
  for (const char* reference : {"model", "model:nv_small", "model,threads=2"}) {
    const Result result = nvdla(arguments + reference);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_NE(result.output.find(std::string("2 layers are as on ") + reference + "\n"),
              std::string::npos)
        << result.output;
    EXPECT_NE(result.output.find("out: 9x2x3 int8"), std::string::npos);
  }
  const Result json = nvdla(arguments + "model --json");
  EXPECT_EQ(Json::parse(json.output)["compared_with"], "model");
}

// With x = -50 + i and a fault that adds 1 after ReLU: equal where both give 0.
TEST_F(Layers, TheFirstDifferenceEndsTheRun) {
  const std::string arguments =
      "run " + small() + " -d model:nv_small,threads=7 --compare model --dump-layers " + path("d");
  const Result result = nvdla(arguments, NVDLA_WITH_FAULTS);
  EXPECT_EQ(result.status, 1) << result.output;
  // The first that is above zero only with the fault: -3 + 1 + 3, at line 3 and column 5 before the
  // pooling.
  EXPECT_NE(result.output.find("layer 1 'z+pool' (pdp): output 'out' differs at n 0, c 1, h "
                               "1, w 2: 0x01 (1), expected 0x00 (0); "),
            std::string::npos)
      << result.output;
  EXPECT_EQ(result.output.find("out: 9x2x3"), std::string::npos) << result.output;
  EXPECT_EQ(index("d")["complete"], false);
  EXPECT_EQ(index("d")["tensors"].size(), 2U);

  const Result json = nvdla(arguments + " --json", NVDLA_WITH_FAULTS);
  EXPECT_EQ(json.status, 1);
  const Json document = Json::parse(json.output);
  EXPECT_EQ(document["difference"]["at"], Json({0, 1, 1, 2}));
  EXPECT_EQ(document["difference"]["layer"], 1);
  EXPECT_EQ(document["difference"]["found_value"], 1.0);
}

TEST_F(Layers, WrongReferencesAndFoldersAreNamed) {
  const std::string run = "run " + small() + " -d model:nv_small ";
  const auto expect = [&](const std::string& arguments, int status, const std::string& text) {
    const Result result = nvdla(run + arguments);
    EXPECT_EQ(result.status, status) << result.output;
    EXPECT_NE(result.output.find(text), std::string::npos) << result.output;
  };
  expect("--compare model:nv_full", 2,
         "--compare model:nv_full: that is nv_full, and the device that runs the loadable "
         "nv_small; expected a device of the same configuration, such as model:nv_small");
  expect("--compare nv_small", 2, "--compare: no device is called 'nv_small'");
  expect("--compare /dev/accel/accel99", 3, "/dev/accel/accel99");
  expect("--dump-layers /dev/null/x", 4, "--dump-layers /dev/null/x: no folder can be made there");
  expect("--dump-layers " + path("in.raw"), 4, "no folder can be made there");
  expect("--dump-layers /sys", 4, "/sys/000-input_in.npy: cannot be created");
}

// SDP counts what exceeds 17 bits: 127 * 1000.
TEST_F(Layers, WhereNumbersGoWrongFirstIsSaid) {
  const std::string quiet = nvdla("run " + small() + " -d model:nv_small").output;
  EXPECT_EQ(quiet.find("the first"), std::string::npos) << quiet;
  const std::vector<std::int16_t> one = {1}, thousand = {1000};
  Network net;
  const Tensor a = net.pointwise(net.input("in", {8, 1, 4}), {.name = "a", .x1 = bias(one)});
  net.output(net.pointwise(a, {.name = "b", .x1 = scale(thousand)}), "out");
  save_loadable(net, "nv_small", path("large.nvdla"));
  std::string raw(8 * 4, '\0');
  raw[5] = raw[6] = 126;
  const std::string line = "run " + path("large.nvdla") + " -d model:nv_small -i " +
                           folder_.write("large.raw", raw).string();
  const Result result = nvdla(line);
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.output.find("nvdla: the first results that saturate are of layer 1 'b': 2\n"),
            std::string::npos)
      << result.output;
  const Json json = Json::parse(nvdla(line + " --json").output);
  EXPECT_EQ(json["first_saturated"]["layer"], 1);
  EXPECT_EQ(json["first_saturated"]["count"], 2);
  EXPECT_EQ(json["first_nan"], nullptr);
}

// A NaN as operand of the second layer; then NaN that are there from the beginning.
TEST_F(Layers, TheLayerThatMakesNanIsSaid) {
  Network net;
  const std::vector<float> factor = {2}, none = {std::numeric_limits<float>::quiet_NaN()};
  Operator twice;
  twice.mul = NVDLA_MUL_MUL;
  twice.mul_reals = factor;
  Operator add;
  add.alu = NVDLA_ALU_SUM;
  add.alu_reals = none;
  const Tensor in = net.input("in", {16, 1, 4}, Precision::kFp16);
  const Tensor a = net.pointwise(in, {.name = "twice", .x1 = twice});
  const Tensor b = net.pointwise(a, {.name = "add", .x1 = add});
  net.output(net.pointwise(b, {.name = "again", .x1 = twice}), "out");
  save_loadable(net, "nv_full", path("nan.nvdla"));
  const std::string line = "run " + path("nan.nvdla") + " -d model:nv_full -i ";
  std::string halves(16 * 4 * 2, '\0');
  const std::string zeros = folder_.write("zeros.raw", halves).string();
  const Result result = nvdla(line + zeros);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_NE(result.output.find("nvdla: the first NaN come from layer 1 'add': 64\n"),
            std::string::npos)
      << result.output;
  EXPECT_EQ(Json::parse(nvdla(line + zeros + " --json").output)["first_nan"]["layer"], 1);

  halves[1] = halves[9] = '\x7e';
  const Result first = nvdla(line + folder_.write("nan.raw", halves).string());
  EXPECT_NE(
      first.output.find("nvdla: the first NaN come from layer 0 'twice': 2, and it reads 2\n"),
      std::string::npos)
      << first.output;
}

}  // namespace
}  // namespace nvdla
