// SPDX-License-Identifier: MIT
//
// Compressed weights: the packer against a decoder that knows the format only, and layers that run
// with them.
#include "nvdla/compress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "device/compiled_impl.hpp"
#include "nvdla/nvdla.hpp"
#include "support/handles.hpp"
#include "common/runtime/expect_error.hpp"
#include "common/runtime/only_program.hpp"

namespace nvdla {
namespace {

using test::expect_error;

using Bytes = std::vector<std::byte>;

struct Compressed {
  CompressedSizes sizes;
  Bytes weights, wgs, wmb;
};

// What lies behind the parts must not be touched.
constexpr std::byte kGuard{0x5a};

Compressed compress(const DeviceInfo& info, const WeightsDesc& desc, const Bytes& stream) {
  Compressed c;
  c.sizes = compressed_sizes(info, desc, stream);
  c.weights.assign(c.sizes.weights + 1, kGuard);
  c.wgs.assign(c.sizes.wgs + 1, kGuard);
  c.wmb.assign(c.sizes.wmb + 1, kGuard);
  compress_weights(info, desc, stream, c.weights, c.wgs, c.wmb);
  for (Bytes* part : {&c.weights, &c.wgs, &c.wmb}) {
    EXPECT_EQ(part->back(), kGuard);
    part->pop_back();
  }
  return c;
}

// `zeros` of a hundred are zero.
template <typename T>
std::vector<T> random_weights(const WeightsDesc& desc, unsigned zeros, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<T> weights(desc.elements());
  for (T& w : weights)
    if (random() % 100 >= zeros) w = static_cast<T>(random() % 50 + 1);
  return weights;
}

template <typename T>
Bytes packed(const DeviceInfo& info, const WeightsDesc& desc, const std::vector<T>& kcrs) {
  Bytes stream(weights_bytes(desc));
  pack_weights(info, desc, kcrs, stream);
  return stream;
}

// Bit by bit from the mask, element by element from the weights; the words of the table say where
// the elements of a group end.
template <typename T>
Bytes decode(const Compressed& c, const WeightsDesc& desc, std::uint32_t group_kernels) {
  Bytes stream(weights_bytes(desc));
  const std::size_t group = desc.elements() / desc.kernels * group_kernels;
  std::size_t at = 0, bit = 0;
  for (std::size_t word = 0; bit < desc.elements(); ++word) {
    std::uint32_t size = 0;
    std::memcpy(&size, &c.wgs[word * 4], sizeof(size));
    const std::size_t end = at + size;
    for (; bit < std::min<std::size_t>(desc.elements(), (word + 1) * group); ++bit) {
      if ((c.wmb[bit / 8] >> (bit % 8) & std::byte{1}) == std::byte{0}) continue;
      std::memcpy(&stream[bit * sizeof(T)], &c.weights[at], sizeof(T));
      at += sizeof(T);
    }
    EXPECT_EQ(at, end) << "kernel group " << word;
  }
  for (; at < c.weights.size(); ++at) EXPECT_EQ(c.weights[at], std::byte{0}) << at;
  for (; bit < c.wmb.size() * 8; ++bit)
    EXPECT_EQ(c.wmb[bit / 8] >> (bit % 8) & std::byte{1}, std::byte{0}) << bit;
  return stream;
}

template <typename T>
void check_round_trip(const WeightsDesc& desc, unsigned zeros) {
  const DeviceInfo info = configuration_info("nv_full");
  const Bytes stream = packed(info, desc, random_weights<T>(desc, zeros));
  const Compressed c = compress(info, desc, stream);
  EXPECT_TRUE(c.sizes.possible);
  EXPECT_EQ(c.sizes.weights % 128, 0U);
  EXPECT_EQ(c.sizes.wmb, (desc.elements() + 1023) / 1024 * 128);
  EXPECT_EQ(decode<T>(c, desc, sizeof(T) == 1 ? 32 : 16), stream);
}

TEST(Compress, RoundTrip) {
  for (const unsigned zeros : {0U, 30U, 90U}) {
    check_round_trip<std::int8_t>({1, 1, 1, 1}, 0);
    check_round_trip<std::int8_t>({32, 64, 1, 1}, zeros);
    check_round_trip<std::int8_t>({71, 131, 3, 2}, zeros);
    check_round_trip<std::int16_t>({33, 65, 3, 3, Precision::kInt16}, zeros);
    check_round_trip<std::int16_t>({16, 64, 1, 2, Precision::kFp16}, zeros);
  }
}

// 33 kernels of 8: the first group has one weight, the second four.
TEST(Compress, PartsByHand) {
  const DeviceInfo info = configuration_info("nv_full");
  const WeightsDesc desc{33, 8, 1, 1};
  std::vector<std::int8_t> kcrs(33 * 8);
  kcrs[3] = 5;
  for (int i = 0; i < 4; ++i) kcrs[32 * 8 + 2 * i] = static_cast<std::int8_t>(-1 - i);
  const Compressed c = compress(info, desc, packed(info, desc, kcrs));
  EXPECT_EQ(c.sizes.plain, 384U);
  EXPECT_EQ(c.sizes.weights, 128U);
  EXPECT_EQ(c.sizes.wgs, 32U);
  EXPECT_EQ(c.sizes.wmb, 128U);
  EXPECT_TRUE(c.sizes.pays());
  const std::uint8_t weights[] = {5, 0xff, 0xfe, 0xfd, 0xfc};
  EXPECT_EQ(std::memcmp(c.weights.data(), weights, sizeof(weights)), 0);
  const std::uint32_t words[] = {1, 4};
  EXPECT_EQ(std::memcmp(c.wgs.data(), words, sizeof(words)), 0);
  EXPECT_EQ(c.wmb[0], std::byte{0x08});
  EXPECT_EQ(c.wmb[32], std::byte{0x55});
}

TEST(Compress, MinusZeroIsAWeight) {
  const DeviceInfo info = configuration_info("nv_full");
  const WeightsDesc desc{1, 4, 1, 1, Precision::kFp16};
  const std::vector<std::int16_t> kcrs = {0, INT16_MIN, 0x100, 1};
  const Compressed c = compress(info, desc, packed(info, desc, kcrs));
  EXPECT_EQ(c.wmb[0], std::byte{0x0e});
  EXPECT_EQ(c.wgs[0], std::byte{6});
}

TEST(Compress, WhenItIsNotPossible) {
  const WeightsDesc desc{33, 64, 1, 1};
  std::vector<std::int8_t> kcrs = random_weights<std::int8_t>(desc, 50);
  for (const char* name : {"nv_full", "nv_small", "nv_large"}) {
    const DeviceInfo info = configuration_info(name);
    EXPECT_EQ(compressed_sizes(info, desc, packed(info, desc, kcrs)).possible,
              std::string(name) == "nv_full");
  }
  // The second group, one kernel, is all zeros.
  std::fill(kcrs.begin() + 32 * 64, kcrs.end(), std::int8_t{0});
  const DeviceInfo info = configuration_info("nv_full");
  EXPECT_FALSE(compressed_sizes(info, desc, packed(info, desc, kcrs)).possible);
  // 32 kernels of 8160 bits fit a bank beside the margin, of 8161 they do not.
  for (const std::uint32_t channels : {8160U, 8161U}) {
    const WeightsDesc large{32, channels, 1, 1};
    const auto all = random_weights<std::int8_t>(large, 50);
    EXPECT_EQ(compressed_sizes(info, large, packed(info, large, all)).possible, channels == 8160);
  }
}

TEST(Compress, PaysOnlyWithEnoughZeros) {
  const DeviceInfo info = configuration_info("nv_full");
  const WeightsDesc desc{64, 64, 3, 3};
  const auto sizes = [&](unsigned zeros) {
    return compressed_sizes(info, desc,
                            packed(info, desc, random_weights<std::int8_t>(desc, zeros)));
  };
  EXPECT_FALSE(sizes(0).pays());
  EXPECT_TRUE(sizes(0).possible);
  EXPECT_FALSE(sizes(10).pays());
  EXPECT_TRUE(sizes(20).pays());
}

TEST(Compress, WrongSizes) {
  const DeviceInfo info = configuration_info("nv_full");
  const WeightsDesc desc{4, 64, 1, 1};
  const Bytes stream = packed(info, desc, random_weights<std::int8_t>(desc, 0));
  Bytes part(256);
  const auto refused = [&](std::size_t in, std::size_t weights, std::size_t wgs, std::size_t wmb,
                           const std::string& text) {
    expect_error(ErrorCode::kInvalidArgument, text, [&] {
      compress_weights(info, desc, std::span(stream).first(in), std::span(part).first(weights),
                       std::span(part).first(wgs), std::span(part).first(wmb));
    });
  };
  refused(255, 256, 32, 128, "255 bytes of weights given, 4x64x1x1 (KCRS) take 256");
  refused(256, 255, 32, 128, "255 bytes for compressed weights that take 256");
  refused(256, 256, 31, 128, "31 bytes for group sizes that take 32");
  refused(256, 256, 32, 127, "127 bytes for mask bits that take 128");
}

// ------------------------------------------------------------- running ---

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

  std::vector<std::int8_t> run(Session& session) const {
    std::mt19937 random(5);
    std::vector<std::int8_t> in(shape.elements()), out(output.elements());
    for (auto& value : in) value = static_cast<std::int8_t>(random());
    session.write("in", Layout::kNchw, std::span<const std::int8_t>(in));
    session.run();
    session.read("out", Layout::kNchw, std::span<std::int8_t>(out));
    return out;
  }

  Network network;
  Shape shape, output;
};

std::size_t compressed_layers(const Session& session) {
  const auto& layers = test::only_program(session).layers;
  return static_cast<std::size_t>(std::count_if(
      layers.begin(), layers.end(),
      [](const nvdla_layer& layer) { return (layer.conv.flags & NVDLA_CONV_COMPRESSED) != 0; }));
}

// On nv_full and where there is no compression; returns the session on nv_full.
Session expect_same(const Stack& stack) {
  Session session = stack.network.build(Device::open("model:nv_full"));
  Session plain = stack.network.build(Device::open("model:nv_large"));
  EXPECT_EQ(compressed_layers(plain), 0U);
  const auto expected = stack.run(plain);
  EXPECT_EQ(stack.run(session), expected);
  EXPECT_NE(std::count(expected.begin(), expected.end(), expected[0]),
            static_cast<std::ptrdiff_t>(expected.size()));
  return session;
}

TEST(CompressedNetwork, SparseWeightsAreCompressed) {
  const Session session = expect_same(Stack({32, 12, 12}, 3, 60));
  EXPECT_EQ(compressed_layers(session), 3U);
  const detail::ProgramPart& program = test::only_program(session);
  EXPECT_EQ(program.slots.back().access, NVDLA_SLOT_CONTROL);
  EXPECT_EQ(program.slots.back().size, program.control.size());
}

TEST(CompressedNetwork, DenseWeightsAreNot) {
  const Session session = expect_same(Stack({32, 12, 12}, 2, 0));
  EXPECT_EQ(compressed_layers(session), 0U);
  EXPECT_TRUE(test::only_program(session).control.empty());
}

// Several bands of lines, with one table for all.
TEST(CompressedNetwork, BandsShareTheirTables) {
  const Session session = expect_same(Stack({32, 512, 64}, 1, 60));
  const auto& layers = test::only_program(session).layers;
  EXPECT_GT(layers.size(), 1U);
  EXPECT_EQ(compressed_layers(session), layers.size());
  for (const nvdla_layer& layer : layers) EXPECT_EQ(layer.conv.wgs.offset, 0U);
}

// 240 lines of 16 entries take 15 banks and the weights one: none is left for the mask.
TEST(CompressedNetwork, NotWhereTheBankOfTheMaskCostsABand) {
  const Session session = expect_same(Stack({32, 240, 64}, 1, 60));
  EXPECT_EQ(session.layers(), 1U);
  EXPECT_EQ(compressed_layers(session), 0U);
}

}  // namespace
}  // namespace nvdla
