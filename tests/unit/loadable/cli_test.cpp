// SPDX-License-Identifier: MIT
//
// `nvdla run` and `nvdla dump` as a user meets them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "../tools/temporary_folder.hpp"
#include "common/command.hpp"
#include "compiler/lower/schedule_text.hpp"
#include "loadable/format/container.hpp"
#include "maker.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/error.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {
namespace {

using Result = test::CommandResult;

Result nvdla(const std::string& arguments) { return test::run_command(NVDLA_CLI, arguments); }

class LoadableCli : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::vector<std::byte>& bytes) {
    return folder_
        .write(name, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()))
        .string();
  }
  // The source is bound by the application, as one channel of 8 lines of 8 columns.
  std::string with_input() {
    test::Maker maker;
    loadable::Container c = maker.container();
    c.memories[1].flags = loadable::kMemoryAlloc | loadable::kMemoryInput;
    c.memories[1].contents.clear();
    loadable::TensorEntry tensor = c.tensors[0];
    tensor.name = "picture";
    tensor.memory = 1;
    tensor.c = 1;
    c.memories[1].tensor = 1;
    c.tensors.push_back(tensor);
    return write("input.nvdla", write_container(c));
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  replay::TemporaryFolder folder_;
};

// As for `nvdla replay`: there would be a device, but not as the environment wants it.
TEST_F(LoadableCli, KernelsThatThereAreNotAreAWrongArgument) {
  test::Maker maker;
  const std::string file = write("a.nvdla", maker.file());
  const Result result = test::run_command(std::string("NVDLA_KERNELS=sse9 ") + NVDLA_CLI,
                                          "run " + file + " --device model:nv_small");
  EXPECT_EQ(result.status, 2) << result.output;
  EXPECT_NE(result.output.find("NVDLA_KERNELS: no set of kernels is called 'sse9'"),
            std::string::npos)
      << result.output;
}

TEST_F(LoadableCli, RunsToAFile) {
  test::Maker maker;
  const std::string file = write("a.nvdla", maker.file());
  const Result result = nvdla("run " + file + " --device model:nv_small -o " + path("o.mem"));
  EXPECT_EQ(result.status, 0) << result.output;
  std::ifstream stream(path("o.mem"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  ASSERT_EQ(bytes.size(), 2048U);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(static_cast<std::int8_t>(bytes[i]),
              std::max<int>(static_cast<std::int8_t>(maker.source[i]), 0));
  }
}

TEST_F(LoadableCli, PicturesAndRawFilesAreInputs) {
  const std::string file = with_input();
  std::string pixels;
  for (int i = 0; i < 64; ++i) pixels += static_cast<char>(i * 4);
  const std::string pgm = folder_.write("p.pgm", "P5\n# eight\n8 8\n255\n" + pixels).string();
  const Result result = nvdla("run " + file + " -d model:nv_small --json --stats -i " + pgm);
  ASSERT_EQ(result.status, 0) << result.output;
  const auto document = nlohmann::json::parse(result.output);
  const auto& values = document["outputs"][0]["values"];
  ASSERT_EQ(values.size(), 2048U);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(values[static_cast<std::size_t>(i)], std::max(i * 4 - 128, 0));
  EXPECT_EQ(document["layers"][0]["name"], "sdp 0");
  EXPECT_TRUE(document["layers"][0]["counters"].contains("sdp.saturation"));

  std::string raw(64, '\x05');
  const std::string raw_file = folder_.write("p.raw", raw).string();
  const Result other = nvdla("run " + file + " -d model:nv_small --json -i " + raw_file);
  ASSERT_EQ(other.status, 0) << other.output;
  EXPECT_EQ(nlohmann::json::parse(other.output)["outputs"][0]["values"][63], 5);
}

// Not silently.
TEST_F(LoadableCli, InputsThatAreNotGivenAreZeros) {
  const Result result = nvdla("run " + with_input() + " -d model:nv_small -o " + path("o.mem"));
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_NE(result.output.find("no --input: an input of zeros"), std::string::npos);
  std::ifstream stream(path("o.mem"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(bytes, std::string(2048, '\0'));
}

// Numbers instead of bytes, and other greatest values: white is 255.
TEST_F(LoadableCli, PicturesOfEveryDepth) {
  const std::string file = with_input();
  const auto values = [&](const std::string& picture) {
    const Result result = nvdla("run " + file + " -d model:nv_small --json -i " + picture);
    EXPECT_EQ(result.status, 0) << result.output;
    if (result.status != 0) return std::vector<int>(2048);
    return nlohmann::json::parse(result.output)["outputs"][0]["values"].get<std::vector<int>>();
  };
  std::string numbers = "P2 # eight\n8 8\n15\n", words = "P5 8 8 65535\n";
  for (int i = 0; i < 64; ++i) {
    numbers += std::to_string(i % 16) + (i % 8 == 7 ? "\n" : "  ");
    words += static_cast<char>(i % 16 * 17);
    words += static_cast<char>(i % 16 * 17);
  }
  const auto text = values(folder_.write("p2.pgm", numbers).string());
  const auto binary = values(folder_.write("p5.pgm", words).string());
  // Columns of 0, 36, ..., 252 in 16 bits.
  const unsigned char png[] = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44,
      0x52, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x08, 0x10, 0x00, 0x00, 0x00, 0x00, 0xb1,
      0xf4, 0x3d, 0x14, 0x00, 0x00, 0x00, 0x1d, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60,
      0x60, 0x50, 0x51, 0xf1, 0xf0, 0xc8, 0xc9, 0x99, 0x30, 0x61, 0xcb, 0x96, 0x1b, 0x37, 0xfe,
      0xfc, 0x61, 0x18, 0x18, 0x01, 0x00, 0x00, 0x78, 0x3f, 0x01, 0x72, 0xce, 0x21, 0x55, 0x00,
      0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  const auto deep = values(
      folder_.write("deep.png", std::string_view(reinterpret_cast<const char*>(png), sizeof(png)))
          .string());
  for (std::size_t i = 0; i < 64; ++i) {
    const int grey = static_cast<int>(i % 16) * 17, column = static_cast<int>(i % 8) * 36;
    EXPECT_EQ(text[i], std::max(grey - 128, 0)) << i;
    EXPECT_EQ(binary[i], std::max(grey - 128, 0)) << i;
    EXPECT_EQ(deep[i], std::max(column - 128, 0)) << i;
  }
}

// Bytes of every order, of which the network sees red, green and blue as its channels.
TEST_F(LoadableCli, PicturesAsPixels) {
  // Pixel i is 10 i in grey; in colours red is one more, green two, blue three.
  const std::string grey = "P2 4 2 255\n0 10 20 30\n40 50 60 70\n";
  const unsigned char png[] = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49,
      0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02,
      0x00, 0x00, 0x00, 0xf0, 0xca, 0xea, 0x34, 0x00, 0x00, 0x00, 0x22, 0x49, 0x44,
      0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0x64, 0x62, 0xe6, 0xe6, 0xe1, 0x15, 0x15,
      0x13, 0x97, 0x57, 0x50, 0x64, 0xd0, 0xd4, 0xd2, 0x36, 0x36, 0x31, 0xb5, 0xb5,
      0xb3, 0x77, 0xf7, 0xf0, 0x04, 0x00, 0x1d, 0x6e, 0x03, 0x79, 0x83, 0xf9, 0x6b,
      0x65, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  const std::string rgb =
      folder_.write("rgb.png", std::string_view(reinterpret_cast<const char*>(png), sizeof(png)))
          .string();
  const std::string pgm = folder_.write("grey.pgm", grey).string();
  for (std::uint32_t format = NVDLA_PIXEL_A8B8G8R8; format <= NVDLA_PIXEL_R8G8B8X8; ++format) {
    SCOPED_TRACE(format);
    // A channel of the result for each of the picture: opaque is not black.
    const std::vector<std::int8_t> weights = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    Convolution layer{.name = "same", .kernels = 4};
    layer.weights = weights;
    Network network;
    const Tensor in = network.image(
        "in", {.format = static_cast<nvdla_pixel_format>(format), .width = 4, .height = 2});
    network.output(network.convolution(in, layer), "out");
    const std::string file = path("image.nvdla");
    save_loadable(network, "nv_small", file);
    const auto values = [&](const std::string& picture) {
      const Result result = nvdla("run " + file + " -d model:nv_small --json -i " + picture);
      EXPECT_EQ(result.status, 0) << result.output;
      if (result.status != 0) return std::vector<int>(32);
      return nlohmann::json::parse(result.output)["outputs"][0]["values"].get<std::vector<int>>();
    };
    const auto coloured = values(rgb), plain = values(pgm);
    for (std::size_t i = 0; i < 8; ++i) {
      const int pixel = static_cast<int>(i);
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(coloured[c * 8 + i], pixel * 10 + static_cast<int>(c) + 1);
        EXPECT_EQ(plain[c * 8 + i], pixel * 10);
      }
      EXPECT_EQ(coloured[3 * 8 + i], 127);  // what int8 has of 255
    }
  }
}

// Each as the name that was given says, whatever is appended to it.
TEST_F(LoadableCli, SeveralOutputsInOneForm) {
  Network network;
  const Tensor in = network.input("in", {.channels = 8, .height = 3, .width = 4});
  network.output(network.pointwise(in, {.name = "same"}), "a");
  network.output(network.pointwise(in, {.name = "again", .x1 = relu()}), "b");
  const std::string file = path("two.nvdla");
  save_loadable(network, "nv_small", file);
  const std::string raw = folder_.write("raw", std::string(96, '\xfe')).string();
  const Result result =
      nvdla("run " + file + " -d model:nv_small -i " + raw + " -o " + path("o.dimg"));
  ASSERT_EQ(result.status, 0) << result.output;
  for (const char* name : {"o.dimg.0", "o.dimg.1"}) {
    std::ifstream stream(path(name), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_EQ(bytes.substr(0, 4), "DIMG") << name;
  }
}

// What no element can be read of is still written as it is in memory.
TEST_F(LoadableCli, OutputsOfOtherTypes) {
  test::Maker maker;
  loadable::Container c = maker.container();
  c.tensors[0].data_type = 5;  // uint8
  const std::string file = write("uint8.nvdla", write_container(c));
  const Result result = nvdla("run " + file + " -d model:nv_small -o " + path("o.mem"));
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(std::filesystem::file_size(path("o.mem")), 2048U);
}

// Refused before anything is written; of int8 the cubes of a batch lie below one another.
TEST_F(LoadableCli, OutputsAsPictures) {
  const auto save = [&](Precision precision, const Shape& shape) {
    Network network;
    const Tensor in = network.input("in", shape, precision);
    network.output(network.pointwise(in, {.name = "same"}), "a");
    save_loadable(network, "nv_full", path("a.nvdla"));
    return "run " + path("a.nvdla") + " -d model:nv_full -o ";
  };
  const Result halves =
      nvdla(save(Precision::kFp16, {.channels = 2, .height = 3, .width = 4}) + path("o.png"));
  EXPECT_EQ(halves.status, 2);
  EXPECT_NE(halves.output.find("o.png: only int8 outputs can be a picture; 'a' is 2x3x4 fp16"),
            std::string::npos)
      << halves.output;
  EXPECT_FALSE(std::filesystem::exists(path("o.png")));
  const Result lines =
      nvdla(save(Precision::kInt8, {.channels = 2, .height = 3, .width = 4}) + path("o.pgm"));
  EXPECT_EQ(lines.status, 0) << lines.output;
  std::ifstream stream(path("o.pgm"), std::ios::binary);
  const std::string pgm{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(pgm, "P5\n4 6\n255\n" + std::string(24, '\x80'));
  // Three channels of a PNG are colours: the header's type 2.
  EXPECT_EQ(nvdla(save(Precision::kInt8, {.channels = 3, .height = 3, .width = 4}) + path("o.png"))
                .status,
            0);
  std::ifstream colours(path("o.png"), std::ios::binary);
  const std::string png{std::istreambuf_iterator<char>(colours), {}};
  EXPECT_EQ(png.substr(16, 10), std::string("\0\0\0\4\0\0\0\3\x08\2", 10));
}

// As the library reads them, too.
TEST_F(LoadableCli, AFolderIsNoLoadable) {
  try {
    Loadable::load(folder_.path().string());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("it is a folder; expected a file"), std::string::npos)
        << error.what();
  }
}

// Pixels of both planes in one file, one plane after the other.
TEST_F(LoadableCli, RawPixelsAreInputs) {
  const std::vector<std::int8_t> weights = {1, 2, 3};
  Network network;
  Convolution layer{.name = "sum"};
  layer.weights = weights;
  const Tensor in =
      network.image("in", {.format = NVDLA_PIXEL_Y8_U8V8_N444, .width = 3, .height = 2});
  network.output(network.convolution(in, layer), "out");
  const std::string file = path("image.nvdla");
  save_loadable(network, "nv_small", file);
  // Y of each pixel, then V and U.
  const std::string pixels =
      "\x01\x02\x03\x04\x05\x06"
      "\x01\x02\x01\x02\x01\x02"
      "\x03\x04\x03\x04\x03\x04";
  const std::string raw = folder_.write("pixels.raw", pixels).string();
  const std::string run = "run " + file + " -d model:nv_small ";
  const Result result = nvdla(run + "--json -i " + raw);
  ASSERT_EQ(result.status, 0) << result.output;
  const auto values = nlohmann::json::parse(result.output)["outputs"][0]["values"];
  const int expected[] = {1 + 4 + 3, 2 + 4 + 3, 3 + 4 + 3, 4 + 8 + 9, 5 + 8 + 9, 6 + 8 + 9};
  ASSERT_EQ(values.size(), std::size(expected));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], expected[i]) << i;

  const std::string odd = folder_.write("odd.raw", "12345").string();
  const Result few = nvdla(run + "-i " + odd);
  EXPECT_EQ(few.status, 2);
  EXPECT_NE(few.output.find("takes 18 (pixels by plane, line, column)"), std::string::npos)
      << few.output;
  const std::string pgm = folder_.write("p.pgm", "P5 3 2 255\n123456").string();
  const Result picture = nvdla(run + "-i " + pgm);
  EXPECT_EQ(picture.status, 2);
  EXPECT_NE(
      picture.output.find("pixels of format T_Y8___U8V8_N444: give them as a raw file of 18 bytes"),
      std::string::npos)
      << picture.output;
  const Result dump = nvdla("dump " + file);
  EXPECT_NE(dump.output.find("T_Y8___U8V8_N444"), std::string::npos) << dump.output;
}

TEST_F(LoadableCli, SaysWhatIsWrong) {
  const std::string file = with_input();
  const std::string odd = folder_.write("odd.raw", "12345").string();
  const std::string small = folder_.write("s.pgm", "P5 1 1 255\nx").string();
  const std::string cut = folder_.write("c.pgm", "P5 8 8 255\nxyz").string();
  const std::string bright = folder_.write("b.pgm", "P2 8 8 3\n0 1 4").string();
  const std::string endless = folder_.write("e.pgm", "P5 8 8 65536\n").string();
  const std::string few = folder_.write("f.pgm", "P2 8 8 3\n0 1 3").string();
  const auto expect = [&](const std::string& arguments, const std::string& text) {
    const Result result = nvdla("run " + arguments);
    EXPECT_EQ(result.status, 2) << result.output;
    EXPECT_NE(result.output.find(text), std::string::npos) << result.output;
  };
  const std::string on = file + " -d model:nv_small";
  expect(on + " -i " + odd + " -i " + odd, "has 1 input: 'picture' 1x8x8 int8, but 2 are given");
  expect(on + " -i " + odd, "5 bytes, input 'picture' (1x8x8 int8) takes 64");
  expect(on + " -i " + small, "1x1 pixels, input 'picture' takes 8x8");
  expect(on + " -i " + cut, "8x8 pixels need 64 bytes, 3 are there");
  expect(on + " -i " + bright, "pixel 2 is 4, more than 3");
  expect(on + " -i " + endless, "the greatest value is 65536; it must be in 1..65535");
  expect(on + " -i " + few, "no number at byte 14");
  expect(on + " -i /nowhere", "/nowhere: cannot be opened: No such file");
  expect(file + " -d model:nv_full -i " + odd,
         "was made for nv_small_256_full, nv_small_256, "
         "nv_small, the device is nv_full");
  expect(odd, "5 bytes are too few for a FlatBuffer");
}

TEST_F(LoadableCli, SendsModelsToTheCompiler) {
  const Result wrong = nvdla("dump " + write("a.onnx", std::vector<std::byte>(5)));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.output.find("a.onnx: it is a model; expected a loadable, which 'nvdla compile' "
                              "makes"),
            std::string::npos)
      << wrong.output;
}

TEST_F(LoadableCli, DumpsTextAndJson) {
  const std::string file = write("a.nvdla", test::Maker().file());
  const Result text = nvdla("dump " + file);
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.output.find("x1_op:"), std::string::npos) << text.output;
  const Result json = nvdla("dump --json " + file);
  ASSERT_EQ(json.status, 0) << json.output;
  const auto document = nlohmann::json::parse(json.output);
  EXPECT_EQ(document["tasks"][0]["operations"][0]["surface"]["dst_data"]["line_stride"], 64);
  EXPECT_EQ(document["tasks"][0]["layers"][0]["name"], "sdp 0");
  EXPECT_EQ(document["tensors"][0]["name"], "result");
  EXPECT_EQ(nvdla("dump /nowhere").status, 2);
}

// Commands call operations by the names that the user gave the layers: those of the hardware, of
// NVIDIA's form and of our own.
TEST_F(LoadableCli, OperationsOfTheCpuHaveTheNamesOfTheirLayers) {
  Network net;
  const Shape shape = {.channels = 40, .height = 1, .width = 1};
  Tensor tensor = net.input("in", shape, {1 / 16.0F, 3});
  tensor = net.activation(tensor, {.name = "bend", .output = {1 / 8.0F, 1}, .function = mish});
  tensor = net.softmax(tensor, {.name = "shares", .as_loadables = true});
  tensor = net.transpose(tensor,
                         {.name = "turn", .order = {Axis::kHeight, Axis::kChannels, Axis::kWidth}});
  net.output(tensor, "shares of lines");
  net.output(net.argmax(tensor, {.name = "winner"}), "class");
  const std::string file = path("cpu.nvdla");
  save_loadable(net, "nv_small", file);

  const Result json = nvdla("dump --json " + file);
  ASSERT_EQ(json.status, 0) << json.output;
  const auto document = nlohmann::json::parse(json.output);
  EXPECT_EQ(document["configurations"],
            nlohmann::json({"nv_small_256_full", "nv_small_256", "nv_small"}));
  std::vector<std::string> found;
  for (const auto& task : document["tasks"])
    for (const auto& operation : task["operations"])
      found.push_back(
          task["interface"].get<std::string>() + " " +
          (operation.contains("name") ? operation["name"].get<std::string>() + " " : "") +
          operation["type"].get<std::string>());
  EXPECT_EQ(found, (std::vector<std::string>{"DLA1 cdp", "EMU1 shares softmax",
                                             "CPU1 turn transpose", "CPU1 winner argmax"}));
  const auto& turn = document["tasks"][2]["operations"][0];
  EXPECT_EQ(turn["axis"], nlohmann::json({1, 0, 2}));
  EXPECT_EQ(turn["output"]["height"], 40);
  EXPECT_EQ(document["memories"].back()["needs"],
            nlohmann::json({"nvdla-cpu:argmax/1", "nvdla-cpu:transpose/1"}));
  const Result text = nvdla("dump " + file);
  EXPECT_NE(text.output.find("name: winner"), std::string::npos) << text.output;

  const Result schedule = nvdla("dump --schedule " + file);
  ASSERT_EQ(schedule.status, 0) << schedule.output;
  const auto read = detail::parse_schedule(schedule.output, {.fill_omitted = true}).schedule;
  std::vector<std::string> scheduled;
  for (const detail::Operation& operation : read.operations) scheduled.push_back(operation.name);
  EXPECT_EQ(scheduled, (std::vector<std::string>{"bend", "shares", "turn", "winner"}));
  EXPECT_EQ(read.segment_starts, (std::set<std::uint32_t>{1, 2, 3}));
  ASSERT_EQ(read.cpu.size(), 3U);
  EXPECT_EQ(operation_name(read.cpu.at(1).node.operation), "softmax");
  EXPECT_EQ(read.cpu.at(2).destination.desc.shape.height, 40U);
  EXPECT_EQ(nvdla("dump --schedule --json " + file).status, 2);

  for (const std::string hardware : {"", " --hardware"}) {
    const Result picture = nvdla("dump " + file + " --svg -" + hardware);
    ASSERT_EQ(picture.status, 0) << picture.output;
    for (const char* name : {"bend", "shares", "turn", "winner"})
      EXPECT_NE(picture.output.find(name), std::string::npos) << name << hardware;
  }

  const Result run = nvdla("run " + file + " -d model:nv_small --dump-layers " + path("layers"));
  ASSERT_EQ(run.status, 0) << run.output;
  std::ifstream stream(path("layers") + "/index.json");
  const auto index = nlohmann::json::parse(stream);
  std::vector<std::string> layers;
  for (const auto& tensor_file : index["tensors"])
    layers.push_back(tensor_file["layer_name"].get<std::string>());
  EXPECT_EQ(layers, (std::vector<std::string>{"bend", "shares", "turn", "winner"}));
}

}  // namespace
}  // namespace nvdla
