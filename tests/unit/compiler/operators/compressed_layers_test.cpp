// SPDX-License-Identifier: MIT
//
// Layers and networks with compressed weights, on the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "common/runtime/only_program.hpp"
#include "device/compiled_impl.hpp"
#include "nvdla/nvdla.hpp"
#include "support/handles.hpp"
#include "unit/packing/compressed.hpp"

namespace nvdla {
namespace {

using test::Bytes;
using test::compress;
using test::Compressed;
using test::expect_error;
using test::packed;
using test::random_weights;

// 40 kernels of 3x3 on 40 channels of 8x8, on the model of nv_full; as it is, or compressed.
class CompressedLayer : public ::testing::TestWithParam<Precision> {
 protected:
  enum Slot : std::uint32_t { kInput, kWeights, kOutput, kControl };

  void SetUp() override {
    const DeviceInfo& info = device_.info();
    const TensorDesc input = packed_tensor(info, {40, 8, 8}, GetParam());
    const TensorDesc output = packed_tensor(info, {40, 6, 6}, GetParam());
    desc_.precision = GetParam();
    layer_ = make_layer(make_conv(input, desc_), make_sdp());
    layer_.conv.input = tensor_surface(input, kInput);
    layer_.sdp.output = tensor_surface(output, kOutput);
    layer_.conv.weights.slot = kWeights;
    layer_.conv.data_banks = layer_.conv.weight_banks = 4;
    layer_.sdp.proc_precision = layer_.sdp.out_precision = static_cast<std::uint32_t>(GetParam());
    if (GetParam() == Precision::kFp16)
      layer_.sdp.out_cvt = {};
    else
      layer_.sdp.out_cvt.truncate = 6;

    stream_ = GetParam() == Precision::kInt8 ? packed(info, desc_, values<std::int8_t>())
                                             : packed(info, desc_, values<std::int16_t>());
    input_ = device_.allocate(tensor_bytes(input));
    output_ = device_.allocate(tensor_bytes(output));
    std::mt19937 random(3);
    Map map = input_.map(MapMode::kWrite);
    for (std::size_t i = 0; i < map.size(); ++i) map.data()[i] = static_cast<std::byte>(random());
    // No fp16 that is large: the upper byte of each.
    for (std::size_t i = 1; i < map.size() && GetParam() == Precision::kFp16; i += 2)
      map.data()[i] &= std::byte{0xbb};
    slots_ = {make_slot(info, input_.size(), NVDLA_SLOT_READ),
              make_slot(info, stream_.size(), NVDLA_SLOT_READ),
              make_slot(info, output_.size(), NVDLA_SLOT_WRITE)};
  }

  // Three of four weights are zero.
  template <typename T>
  std::vector<T> values() const {
    std::vector<T> weights = random_weights<T>(desc_, 75);
    if (GetParam() == Precision::kFp16) {
      for (T& w : weights)
        if (w != 0) w = static_cast<T>(0x3800 + w);
    }
    return weights;
  }

  Buffer buffer(const Bytes& bytes) const {
    Buffer b = device_.allocate(bytes.size());
    std::memcpy(b.map(MapMode::kWrite).data(), bytes.data(), bytes.size());
    return b;
  }

  Bytes run(const Program& program, const std::vector<Binding>& bindings) const {
    {
      const Map map = output_.map(MapMode::kWrite);
      std::memset(map.data(), 0xa5, map.size());
    }
    device_.submit(program, bindings).wait();
    const Map map = output_.map(MapMode::kRead);
    return {map.bytes().begin(), map.bytes().end()};
  }

  Bytes run_plain() const {
    const Program program = device_.create_program({.layers = {&layer_, 1}, .slots = slots_});
    return run(program, {input_, buffer(stream_), output_});
  }

  // The layer with its tables behind each other in the control slot.
  void compress_layer() {
    compressed_ = compress(device_.info(), desc_, stream_);
    control_ = compressed_.wmb;
    control_.insert(control_.end(), compressed_.wgs.begin(), compressed_.wgs.end());
    layer_.conv.flags |= NVDLA_CONV_COMPRESSED;
    layer_.conv.weights.bytes = static_cast<std::uint32_t>(compressed_.weights.size());
    layer_.conv.wmb = {0, kControl, 0};
    layer_.conv.wgs = {compressed_.wmb.size(), kControl, 0};
    slots_.push_back(make_slot(device_.info(), control_.size(), NVDLA_SLOT_CONTROL));
  }

  Program create() const {
    return device_.create_program({.layers = {&layer_, 1}, .slots = slots_, .control = control_});
  }
  // Slots keep the size of the uncompressed weights.
  std::vector<Binding> bindings() const {
    Bytes weights = compressed_.weights;
    weights.resize(stream_.size());
    return {input_, buffer(weights), output_, Binding()};
  }

  Device device_ = Device::open("model:nv_full");
  WeightsDesc desc_{40, 40, 3, 3};
  Bytes stream_;
  nvdla_layer layer_{};
  std::vector<nvdla_slot> slots_;
  Buffer input_, output_;
  Compressed compressed_;
  Bytes control_;
};

TEST_P(CompressedLayer, ComputesTheSame) {
  const Bytes plain = run_plain();
  // Something comes out that depends on the weights.
  EXPECT_NE(plain, Bytes(plain.size(), plain[0]));
  compress_layer();
  EXPECT_TRUE(compressed_.sizes.pays());
  EXPECT_EQ(run(create(), bindings()), plain);
}

// The program has a copy: what becomes of the application's bytes is all the same.
TEST_P(CompressedLayer, ControlDataAreCopied) {
  const Bytes plain = run_plain();
  compress_layer();
  const Program program = create();
  std::fill(control_.begin(), control_.end(), std::byte{0xff});
  EXPECT_EQ(run(program, bindings()), plain);
  expect_error(ErrorCode::kInvalidProgram, "kernel group 0 has 4294967295 bytes by its word",
               [&] { create(); });
}

TEST_P(CompressedLayer, NothingIsBoundToTheControlSlot) {
  compress_layer();
  const Program program = create();
  std::vector<Binding> bound = bindings();
  bound[kControl] = buffer(control_);
  expect_error(ErrorCode::kInvalidBinding,
               "binding of slot 3: the program brings the contents of this slot: nothing is bound",
               [&] { device_.submit(program, bound); });
  bound[kControl] = {Buffer(), 32};
  expect_error(ErrorCode::kInvalidArgument, "the buffer for slot 3 is an empty handle",
               [&] { device_.submit(program, bound); });
  bound = bindings();
  bound[kWeights] = Binding();
  expect_error(ErrorCode::kInvalidArgument, "the buffer for slot 1 is an empty handle",
               [&] { device_.submit(program, bound); });
}

// Data without a slot, too many of them, and tables that do not fit the weights.
TEST_P(CompressedLayer, WrongControlDataAreRefused) {
  compress_layer();
  const auto refused = [&](const std::string& text) {
    expect_error(ErrorCode::kInvalidProgram, text, [&] { create(); });
  };
  const Bytes right = control_;
  control_.pop_back();
  refused("slot 3: size a control slot of");
  control_.clear();
  refused("but 0 bytes of control data");
  control_.resize(NVDLA_MAX_CONTROL_BYTES + 1);
  refused("program: bytes of control data 4194305 exceed the limit of 4194304");
  control_ = right;
  control_[5] ^= std::byte{1};
  refused("layer 0 (conv): wgs.offset kernel group 0 has ");
}

// A kept program lets go of its buffer only with the last job.
TEST_P(CompressedLayer, OutlivesItsHandle) {
  const Bytes plain = run_plain();
  compress_layer();
  Program program = create();
  const std::vector<Binding> bound = bindings();
  std::vector<Fence> fences;
  for (int i = 0; i < 20; ++i) fences.push_back(device_.submit(program, bound));
  program = Program();
  for (const Fence& fence : fences) fence.wait();
  const Map map = output_.map(MapMode::kRead);
  EXPECT_EQ(Bytes(map.bytes().begin(), map.bytes().end()), plain);
}

std::string precision_name(Precision precision) {
  return precision == Precision::kInt8 ? "Int8" : precision == Precision::kInt16 ? "Int16" : "Fp16";
}

INSTANTIATE_TEST_SUITE_P(Precisions, CompressedLayer,
                         ::testing::Values(Precision::kInt8, Precision::kInt16, Precision::kFp16),
                         [](const auto& tested) { return precision_name(tested.param); });

// ------------------------------------------------------------ networks ---

// Convolutions of 3x3, one behind the other.
struct Stack {
  explicit Stack(const Shape& input, std::uint32_t layers, unsigned zeros) : shape(input) {
    Tensor tensor = network.input("in", input);
    for (std::uint32_t i = 0; i < layers; ++i) {
      const WeightsDesc desc{40, network.shape(tensor).channels, 3, 3};
      const auto weights = random_weights<std::int8_t>(desc, zeros, i);
      const std::string name = "conv" + std::to_string(i);
      tensor = network.convolution(tensor, {.name = name,
                                            .kernels = desc.kernels,
                                            .kernel_height = 3,
                                            .kernel_width = 3,
                                            .weights = weights,
                                            .output = requantize(0.001)});
    }
    network.output(tensor, "out");
    output = network.shape(tensor);
  }

  std::vector<std::int8_t> run(Request& request) const {
    std::mt19937 random(5);
    std::vector<std::int8_t> in(shape.elements()), out(output.elements());
    for (auto& value : in) value = static_cast<std::int8_t>(random());
    request.write("in", Layout::kNchw, std::span<const std::int8_t>(in));
    request.run();
    request.read("out", Layout::kNchw, std::span<std::int8_t>(out));
    return out;
  }

  Network network;
  Shape shape, output;
};

std::size_t compressed_layers(const Request& request) {
  const auto& layers = test::only_program(request).layers;
  return static_cast<std::size_t>(std::count_if(
      layers.begin(), layers.end(),
      [](const nvdla_layer& layer) { return (layer.conv.flags & NVDLA_CONV_COMPRESSED) != 0; }));
}

// On nv_full and where there is no compression; returns the request on nv_full.
Request expect_same(const Stack& stack) {
  const BuildOptions options = {.disabled_passes = {"interleave"}};
  Request request = stack.network.build(Device::open("model:nv_full"), options);
  Request plain = stack.network.build(Device::open("model:nv_large"), options);
  EXPECT_EQ(compressed_layers(plain), 0U);
  const auto expected = stack.run(plain);
  EXPECT_EQ(stack.run(request), expected);
  EXPECT_NE(std::count(expected.begin(), expected.end(), expected[0]),
            static_cast<std::ptrdiff_t>(expected.size()));
  return request;
}

TEST(CompressedNetwork, SparseWeightsAreCompressed) {
  const Request request = expect_same(Stack({32, 12, 12}, 3, 60));
  EXPECT_EQ(compressed_layers(request), 3U);
  const detail::ProgramPart& program = test::only_program(request);
  EXPECT_EQ(program.slots.back().access, NVDLA_SLOT_CONTROL);
  EXPECT_EQ(program.slots.back().size, program.control.size());
}

TEST(CompressedNetwork, DenseWeightsAreNot) {
  const Request request = expect_same(Stack({32, 12, 12}, 2, 0));
  EXPECT_EQ(compressed_layers(request), 0U);
  EXPECT_TRUE(test::only_program(request).control.empty());
}

// Several bands of lines, with one table for all.
TEST(CompressedNetwork, BandsShareTheirTables) {
  const Request request = expect_same(Stack({32, 512, 64}, 1, 60));
  const auto& layers = test::only_program(request).layers;
  EXPECT_GT(layers.size(), 1U);
  EXPECT_EQ(compressed_layers(request), layers.size());
  for (const nvdla_layer& layer : layers) EXPECT_EQ(layer.conv.wgs.offset, 0U);
}

// 240 lines of 16 entries take 15 banks and the weights one: none is left for the mask.
TEST(CompressedNetwork, NotWhereTheBankOfTheMaskCostsABand) {
  const Request request = expect_same(Stack({32, 240, 64}, 1, 60));
  EXPECT_EQ(request.network().layers(), 1U);
  EXPECT_EQ(compressed_layers(request), 0U);
}

}  // namespace
}  // namespace nvdla
