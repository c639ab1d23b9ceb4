// SPDX-License-Identifier: MIT
//
// `nvdla run` takes and gives real numbers, as NumPy's arrays and as they are.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "../tools/temporary_folder.hpp"
#include "common/command.hpp"
#include "loadable/format/container.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/half.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {
namespace {

constexpr std::size_t kElements = 2 * 3 * 4;

template <typename T>
std::string bytes_of(const std::vector<T>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}

// Of version 2.0 the length has four bytes.
std::string npy(const std::string& type, const std::string& shape, const std::string& elements,
                char version = 1, const std::string& order = "False") {
  const std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }\n";
  std::string file = std::string("\x93NUMPY") + version + '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2U : 4U); ++i)
    file += static_cast<char>(header.size() >> 8 * i & 0xff);
  return file + header + elements;
}

// The sum of an input with itself: steps of 0.25 around -2 become steps of 0.5.
class RealsCli : public testing::Test {
 protected:
  RealsCli() {
    for (std::size_t i = 0; i < kElements; ++i) reals_.push_back(static_cast<float>(i) * 0.25F - 3);
    for (const Precision precision : {Precision::kInt8, Precision::kFp16}) {
      const bool half = precision == Precision::kFp16;
      Network network;
      const Tensor x = network.input("in", {2, 3, 4}, precision, {0.25F, half ? 0 : 8});
      Pointwise sum{.name = "sum", .x1 = elementwise(NVDLA_ALU_SUM, x)};
      if (!half) sum.output = {.offset = 16, .scale = 1, .shift = 1};
      network.output(network.pointwise(x, sum), "out", {half ? 0.25F : 0.5F, 0});
      write(half ? "half" : "bytes", make_loadable(network, "nv_full"));
    }
    loadable::Container c = loadable::parse_container(loadable::read_loadable(path("bytes")));
    for (loadable::TensorEntry& tensor : c.tensors) tensor.quantization.reset();
    c.blobs.pop_back();
    write("silent", loadable::write_container(c));
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::vector<std::byte>& bytes) {
    folder_.write(name,
                  std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  test::CommandResult run(const std::string& loadable, const std::string& input,
                          const std::string& output) {
    return test::run_command(NVDLA_CLI, "run " + path(loadable) + " -d model:nv_full -i " +
                                            path(input) + " -o " + path(output));
  }
  void refused(const std::string& loadable, const std::string& file, const std::string& words,
               const std::string& output = "out.raw", const std::string& name = "in.npy") {
    folder_.write(name, file);
    const test::CommandResult result = run(loadable, name, output);
    EXPECT_EQ(result.status, 2) << result.output;
    EXPECT_NE(result.output.find(words), std::string::npos) << result.output;
    EXPECT_FALSE(std::ifstream(path(output)).good());
  }
  std::string contents(const std::string& name) const {
    std::ifstream stream(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Twice as much as went in: both kinds of output.
  void expect_doubled(const std::string& loadable, const std::string& input) {
    std::vector<float> doubled;
    for (const float real : reals_) doubled.push_back(2 * real);
    for (const char* output : {"out.f32", "out.npy"}) {
      const test::CommandResult result = run(loadable, input, output);
      ASSERT_EQ(result.status, 0) << result.output;
      const std::string file = contents(output);
      ASSERT_GE(file.size(), kElements * 4);
      std::vector<float> found(kElements);
      std::memcpy(found.data(), file.data() + file.size() - kElements * 4, kElements * 4);
      EXPECT_EQ(found, doubled) << loadable << " " << input << " " << output;
      if (output == std::string("out.npy")) {
        EXPECT_NE(file.find("'descr': '<f4'"), file.npos);
        EXPECT_NE(file.find("'shape': (1, 2, 3, 4, )"), file.npos);
      }
    }
  }

  replay::TemporaryFolder folder_;
  std::vector<float> reals_;
};

TEST_F(RealsCli, OfEveryType) {
  std::vector<std::uint16_t> halves;
  for (const float real : reals_) halves.push_back(to_half(real));
  folder_.write("a.npy", npy("<f4", "2, 3, 4", bytes_of(reals_)));
  folder_.write("b.npy", npy("<f8", "1, 2, 3, 4",
                             bytes_of(std::vector<double>(reals_.begin(), reals_.end())), 2));
  folder_.write("c.npy", npy("<f2", "2, 1, 3, 4", bytes_of(halves), 3));
  folder_.write("d.f32", bytes_of(reals_));
  for (const char* loadable : {"bytes", "half"})
    for (const char* input : {"a.npy", "b.npy", "c.npy", "d.f32"}) expect_doubled(loadable, input);
  std::vector<std::int8_t> integers;
  for (const float real : reals_)
    integers.push_back(static_cast<std::int8_t>(std::lround(real / 0.25F) + 8));
  folder_.write("e.npy", npy("|i1", "2, 3, 4", bytes_of(integers)));
  expect_doubled("bytes", "e.npy");
  // The file that says nothing: integers in, integers out.
  ASSERT_EQ(run("silent", "e.npy", "silent.npy").status, 0);
  EXPECT_NE(contents("silent.npy").find("'descr': '|i1'"), std::string::npos);
}

TEST_F(RealsCli, BadArrays) {
  const std::string good = bytes_of(reals_);
  refused("bytes", npy("<f4", "2, 3, 5", good),
          "96 bytes behind its header are no array (2, 3, 5)");
  refused("bytes", npy("<f4", "2, 3, 4", good.substr(1)),
          "95 bytes behind its header are no array (2, 3, 4) of f4");
  refused("bytes", npy("<f4", "2, 0, 4", ""), "0 bytes behind its header are no array");
  refused("bytes", npy("<f4", "4, 3, 2", good),
          "an array of 4x3x2, input 'in' takes 1x2x3x4 (NCHW)");
  refused("bytes", npy("<f4", "99999999999, 1", good),
          "its shape (99999999999, 1) has a side beyond 32 bits");
  refused("bytes", npy(">f4", "2, 3, 4", good),
          "its bytes are in the other order; array.astype('<f4') turns them");
  refused("bytes", npy("<f4", "2, 3, 4", good, 1, "True"), "its first index is the fastest");
  refused("bytes", npy("|O8", "2, 3, 4", good), "its header is of no array of plain numbers");
  refused("bytes", npy("|u1", "2, 3, 4", good.substr(72)),
          "an array of u1, input 'in' (2x3x4 int8) takes f2, f4, f8 or i1");
  refused("half", npy("|i1", "2, 3, 4", good.substr(72)),
          "an array of i1, input 'in' (2x3x4 fp16) takes f2, f4, f8");
  refused("bytes", std::string("\x93NUMPY\1\0\xff", 9), "9 bytes are no NumPy array");
  refused("bytes", std::string("\x93NUMPY\1\0\xff\xff", 10),
          "a header of 65535 bytes in a file of");
  std::vector<float> nan = reals_;
  nan[5] = std::nanf("");
  refused("bytes", npy("<f4", "2, 3, 4", bytes_of(nan)), "element 5 is not a number");
  refused("bytes", good.substr(4), "92 bytes, input 'in' (2x3x4 int8) takes 96 as reals of 32 bits",
          "out.raw", "in.f32");
}

TEST_F(RealsCli, IntegersOfWhichNothingIsSaid) {
  const std::string words =
      ": the loadable does not say what the integers of 'in' (2x3x4 int8) stand for";
  refused("silent", npy("<f4", "2, 3, 4", bytes_of(reals_)), words);
  refused("silent", bytes_of(reals_), words, "out.raw", "in.f32");
  refused("silent", std::string(kElements, 1),
          "the loadable does not say what the integers of 'out' (2x3x4 int8) stand for", "out.f32",
          "in.raw");
}

TEST_F(RealsCli, DumpTellsThem) {
  const test::CommandResult result = test::run_command(NVDLA_CLI, "dump " + path("bytes"));
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.output.find("scale: 0.25"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("zero_point: 8"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace nvdla
