// SPDX-License-Identifier: MIT
//
// The files of the digit network: that they are read, that bad ones are refused with a reason,
// and that the committed int8 numbers are as good as the float network that they come from.
#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "files.hpp"
#include "float_network.hpp"
#include "picture.hpp"
#include "tools/files/files.hpp"
#include "weights.hpp"

namespace digits {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kFolder = fs::path(NVDLA_SOURCE_DIR) / "runtime/examples/digits";

template <typename T>
int best(const std::vector<T>& scores) {
  return static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

class DigitsData : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    // Tests run side by side, each in a folder of its own.
    scratch_ = fs::path(::testing::TempDir()) /
               ("digits-" + std::to_string(getpid()) + "-" + test->name());
    fs::create_directories(scratch_);
  }
  void TearDown() override { fs::remove_all(scratch_); }

  fs::path write(const std::string& name, const std::string& content) const {
    const fs::path path = scratch_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static std::string read_file(const fs::path& path) {
    const auto bytes = nvdla::program::read_file(path.string());
    return {bytes.begin(), bytes.end()};
  }

  // The message of the error that `call` throws.
  static std::string error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  }

  std::string error_of_weights(const std::function<void(Json&)>& change) const {
    Json content = read_json(kFolder / "weights.json");
    change(content);
    const fs::path path = write("weights.json", content.dump());
    return error_of([&] { load_weights(path); });
  }

  fs::path scratch_;
};

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << "in: " << (text)

TEST_F(DigitsData, FloatNetworkNamesHeldOutDigits) {
  const Weights weights = load_weights(kFolder / "weights.json");
  const HeldOut held_out = read_held_out(kFolder);
  ASSERT_EQ(held_out.pictures.size(), 1000U);
  int right = 0;
  int reference_right = 0;
  int same = 0;
  for (std::size_t i = 0; i < held_out.pictures.size(); ++i) {
    const int exact = best(float_scores(weights, held_out.pictures[i].pixels));
    const int reference = best(held_out.reference_scores[i]);
    right += exact == held_out.labels[i];
    reference_right += reference == held_out.labels[i];
    same += exact == reference;
  }
  std::cout << "float right " << right << ", int8 reference right " << reference_right
            << ", same class " << same << " of 1000\n";
  EXPECT_GE(right, 970);
  EXPECT_GE(reference_right, 950);
  EXPECT_GE(same, 970);
}

TEST_F(DigitsData, Int8NumbersAreTheFloatNumbersRounded) {
  const Json content = read_json(kFolder / "weights.json");
  const Weights weights = load_weights(kFolder / "weights.json");
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    const Layer& layer = weights.layers[i];
    const double scale = content["layers"][i]["weight_scale"].get<double>();
    for (std::size_t n = 0; n < layer.weights.size(); ++n) {
      const double wanted = std::clamp(layer.float_weights[n] / scale, -127.0, 127.0);
      ASSERT_NEAR(layer.weights[n], wanted, 0.51) << layer.name << " weight " << n;
    }
    const double unit = layer.input_scale * scale * (1 << layer.bias_shift);
    for (std::size_t n = 0; n < layer.bias.size(); ++n) {
      ASSERT_NEAR(layer.bias[n], layer.float_bias[n] / unit, 0.51) << layer.name << " bias " << n;
    }
    const double ratio = layer.input_scale * scale / layer.output_scale;
    EXPECT_NEAR(std::ldexp(layer.out_scale, -layer.out_shift) / ratio, 1.0, 1e-4) << layer.name;
  }
}

TEST_F(DigitsData, EveryClassIsEquallyHeldOut) {
  std::vector<int> count(10);
  for (const int label : read_held_out(kFolder).labels) {
    ++count.at(static_cast<std::size_t>(label));
  }
  EXPECT_EQ(count, std::vector<int>(10, 100));
}

TEST_F(DigitsData, SinglePicturesHaveTheInputSize) {
  const Weights weights = load_weights(kFolder / "weights.json");
  int found = 0;
  for (const auto& entry : fs::directory_iterator(kFolder / "images")) {
    const Picture picture = read_picture(entry.path());
    EXPECT_EQ(static_cast<int>(picture.height), weights.input.height) << entry.path();
    EXPECT_EQ(static_cast<int>(picture.width), weights.input.width) << entry.path();
    ++found;
  }
  EXPECT_GE(found, 10);
}

TEST_F(DigitsData, FloatNetworkRefusesOtherSizes) {
  const Weights weights = load_weights(kFolder / "weights.json");
  const std::vector<std::uint8_t> pixels(783);
  EXPECT_THROW(float_scores(weights, pixels), std::invalid_argument);
}

TEST_F(DigitsData, PngMissingOrADirectory) {
  EXPECT_CONTAINS(error_of([&] { read_picture(scratch_ / "none.png"); }),
                  "none.png: cannot be opened");
  EXPECT_CONTAINS(error_of([&] { read_picture(scratch_); }), "is a folder; expected a file");
  const fs::path empty = write("empty.png", "");
  EXPECT_CONTAINS(error_of([&] { read_picture(empty); }), "empty.png: is empty");
}

TEST_F(DigitsData, PngThatIsText) {
  const fs::path path = write("text.png", "These are not the pixels you are looking for.");
  EXPECT_CONTAINS(error_of([&] { read_picture(path); }),
                  "text.png: not a readable PNG, JPEG or PGM file");
}

TEST_F(DigitsData, PngTruncatedAnywhere) {
  const std::string whole = read_file(kFolder / "images/zero-dejavu-sans.png");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const fs::path path = write("part.png", whole.substr(0, size));
    EXPECT_CONTAINS(error_of([&] { read_picture(path); }), "part.png: ") << size << " bytes";
  }
}

TEST_F(DigitsData, PngOfTooManyPixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = PNG_FORMAT_GRAY;
  image.width = 8193;
  image.height = 1;
  const std::vector<std::uint8_t> pixels(image.width);
  const fs::path path = scratch_ / "wide.png";
  ASSERT_TRUE(png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr));
  EXPECT_CONTAINS(error_of([&] { read_picture(path); }),
                  "wide.png: 8193x1 pixels; sides are 1..8192");
}

TEST_F(DigitsData, PngWithADamagedByte) {
  std::string content = read_file(kFolder / "images/zero-dejavu-sans.png");
  content[content.size() / 2] ^= 0x10;
  const fs::path path = write("damaged.png", content);
  EXPECT_CONTAINS(error_of([&] { read_picture(path); }), "damaged.png: not a readable PNG file: ");
}

TEST_F(DigitsData, WeightsMissingOrTruncated) {
  EXPECT_CONTAINS(error_of([&] { load_weights(scratch_ / "none.json"); }),
                  "none.json: cannot be opened");
  const std::string whole = read_file(kFolder / "weights.json");
  const fs::path path = write("half.json", whole.substr(0, whole.size() / 2));
  EXPECT_CONTAINS(error_of([&] { load_weights(path); }), "half.json: [json.exception.parse_error");
}

TEST_F(DigitsData, WeightsOfAnotherFormat) {
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["format"] = "other"; }),
                  "format is 'other', expected 'nvdla-digits 1'");
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c = Json::array(); }), "is not an object");
}

TEST_F(DigitsData, WeightsWithWrongGeometry) {
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["layers"][0]["stride"]["x"] = 4; }),
                  "layer 0 'conv1'.stride.x: stride 4 does not divide 26");
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["layers"][1]["output"]["width"] = 8; }),
                  "layer 1 'conv2'.output: is 7 x 8, the geometry gives 7 x 7");
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["layers"].erase(2); }),
                  "differs from the output before it");
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["layers"].erase(4); }),
                  "one score for each of 10 classes");
}

TEST_F(DigitsData, WeightsWithWrongNumbers) {
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["layers"][0]["int8"]["weights"][5] = 128; }),
                  "layer 0 'conv1'.int8.weights[5]: is 128, expected a whole number from -128");
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["layers"][0]["int8"]["weights"].erase(0); }),
                  "has 399 numbers, expected 400");
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["layers"][3]["float"]["bias"][1] = "x"; }),
                  "layer 3 'conv4'.float.bias[1]: is \"x\", expected a finite number");
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["layers"][1]["bias_shift"] = 17; }),
                  "layer 1 'conv2'.bias_shift: is 17, expected a whole number from 0 to 16");
  EXPECT_CONTAINS(error_of_weights([](Json& c) { c["layers"][1].erase("relu"); }),
                  "layer 1 'conv2': field 'relu' is missing");
}

TEST_F(DigitsData, HeldOutFilesThatDoNotBelongTogether) {
  for (const char* const name : {"held_out.png", "held_out.json", "held_out_scores.json"}) {
    fs::copy(kFolder / name, scratch_ / name);
  }
  Json about = read_json(kFolder / "held_out.json");
  about["labels"] = "0123";
  write("held_out.json", about.dump());
  EXPECT_CONTAINS(error_of([&] { read_held_out(scratch_); }),
                  "held_out.json: 4 labels for a sheet");
  about["side"] = 27;
  write("held_out.json", about.dump());
  EXPECT_CONTAINS(error_of([&] { read_held_out(scratch_); }), "do not fit a sheet of 1120 x 700");
  write("held_out_scores.json", R"({"scores": [[300]]})");
  EXPECT_CONTAINS(error_of([&] { read_held_out(scratch_); }), "score 300 is no int8 number");
}

}  // namespace
}  // namespace digits
