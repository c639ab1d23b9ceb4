// SPDX-License-Identifier: MIT
//
// Every operation of a network, saved, loaded and run: the file computes what the network does, on
// each configuration that runs it. An operation that the header declares and that has no case here,
// nor a reason why it cannot be saved, fails.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/configurations.hpp"
#include "common/runtime/expect_error.hpp"
#include "compiler/graph/graph_text.hpp"
#include "compiler/operators/network_impl.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "loadable/write/save_parts.hpp"
#include "nvdla/lowlevel/lut.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "round_trip.hpp"
#include "support/handles.hpp"
#include "unit/loadable/witness/container.hpp"

namespace nvdla {
namespace {

constexpr Shape kLines = {.channels = 21, .height = 3, .width = 5};
constexpr Shape kSquare = {.channels = 16, .height = 6, .width = 6};
constexpr Shape kPosition = {.channels = 40, .height = 1, .width = 1};
constexpr Shape kBatch = {.channels = 21, .height = 3, .width = 5, .batch = 3};
constexpr Quantization kSteps = {1 / 16.0F, 3}, kOther = {1 / 8.0F, -5}, kPlain = {1 / 16.0F, 0};
constexpr Precision kAll[] = {Precision::kInt8, Precision::kInt16, Precision::kFp16};

const std::vector<std::int8_t>& bytes() {
  static const auto all = test::random_elements<std::int8_t>(1 << 14, 77);
  return all;
}

std::span<const std::int8_t> weights(std::size_t count) { return std::span(bytes()).first(count); }

Quantization quantization(Precision precision, const Quantization& steps) {
  return precision == Precision::kFp16 ? Quantization{} : steps;
}

struct Case {
  std::string operation;  // as the header of networks declares it
  std::string what;
  std::function<void(Network&)> build;
};

class Cases {
 public:
  const std::vector<Case>& all() const { return all_; }

  void add(const char* operation, std::string what, std::function<void(Network&)> build) {
    all_.push_back({operation, std::move(what), std::move(build)});
  }
  // One input of int8 that stands for `steps`, and one output.
  void add_int8(const char* operation, const Shape& shape,
                std::function<Tensor(Network&, Tensor)> layer, std::string what = "int8",
                const Quantization& steps = kSteps) {
    add(operation, std::move(what),
        [=](Network& net) { net.output(layer(net, net.input("in", shape, steps)), "out"); });
  }
  void add_pair(const char* operation, const Shape& b,
                std::function<Tensor(Network&, Tensor, Tensor)> layer,
                const Quantization& of_b = kSteps) {
    add(operation, "two inputs", [=](Network& net) {
      const Tensor first = net.input("a", kLines, kSteps);
      net.output(layer(net, first, net.input("b", b, of_b)), "out");
    });
  }
  // On the CPU: every precision, a batch, and between layers of the device.
  void add_cpu(const char* operation, const Shape& shape,
               std::function<Tensor(Network&, Tensor, Precision)> layer) {
    for (const Precision precision : kAll) {
      Shape batch = shape;
      batch.batch = 3;
      const std::string of = " of precision " + std::to_string(static_cast<int>(precision));
      const auto in = [=](Network& net, const Shape& size) {
        return net.input("in", size, precision, quantization(precision, kSteps));
      };
      add(operation, "alone" + of,
          [=](Network& net) { net.output(layer(net, in(net, shape), precision), "out"); });
      add(operation, "of a batch" + of,
          [=](Network& net) { net.output(layer(net, in(net, batch), precision), "out"); });
      add(operation, "in secondary memory" + of, [=](Network& net) {
        const Tensor made = net.pooling(in(net, shape), {.name = "before"});
        net.place(made, Memory::kSram);
        const Tensor result = layer(net, net.slice(made, {.size = shape.channels}), precision);
        net.place(result, Memory::kSram);
        net.output(net.pointwise(result, {.name = "after"}), "out");
      });
    }
  }

 private:
  std::vector<Case> all_;
};

void add_products_with_weights(Cases& cases) {
  static const std::vector<float> kScales(8, 0.01F);
  static const ConvolutionScales kQuantised = {.weights = kScales, .output = {0.5F, 4}};
  Convolution conv{.name = "conv", .kernels = 8, .kernel_height = 3, .kernel_width = 3};
  conv.weights = weights(8 * 16 * 9);
  conv.output = {.shift = 7};
  cases.add_int8("convolution", kSquare,
                 [=](Network& net, Tensor in) { return net.convolution(in, conv); });
  Convolution plain = conv;
  plain.output = {};
  cases.add_int8("convolution", kSquare,
                 [=](Network& net, Tensor in) { return net.convolution(in, plain, kQuantised); });
  cases.add("convolution", "pixels", [](Network& net) {
    Convolution image{.name = "conv", .kernels = 8, .kernel_height = 3, .kernel_width = 3};
    image.weights = weights(8 * 4 * 9);
    image.output = {.shift = 6};
    const Tensor in = net.image("in", {.format = NVDLA_PIXEL_A8B8G8R8, .width = 12, .height = 10});
    net.output(net.convolution(in, image), "out");
  });
  FullyConnected full{.name = "full", .outputs = 8, .weights = weights(8 * 16 * 36)};
  cases.add_int8("fully_connected", kSquare, [=](Network& net, Tensor in) {
    FullyConnected layer = full;
    layer.output = {.shift = 9};
    return net.fully_connected(in, layer);
  });
  cases.add_int8("fully_connected", kSquare, [=](Network& net, Tensor in) {
    return net.fully_connected(in, full, kQuantised);
  });
  MatrixProduct matrix{.name = "matrix", .columns = 8, .matrix = weights(8 * 16)};
  cases.add_int8("matrix_product", kSquare, [=](Network& net, Tensor in) {
    MatrixProduct layer = matrix;
    layer.output = {.shift = 6};
    return net.matrix_product(in, layer);
  });
  cases.add_int8("matrix_product", kSquare, [=](Network& net, Tensor in) {
    return net.matrix_product(in, matrix, kQuantised);
  });
  Deconvolution back{.name = "back", .kernels = 8, .kernel_height = 3, .kernel_width = 3};
  back.stride_height = back.stride_width = 2;
  back.weights = weights(8 * 16 * 9);
  cases.add_int8("deconvolution", kSquare, [=](Network& net, Tensor in) {
    Deconvolution layer = back;
    layer.output = {.shift = 7};
    return net.deconvolution(in, layer);
  });
  cases.add_int8("deconvolution", kSquare,
                 [=](Network& net, Tensor in) { return net.deconvolution(in, back, kQuantised); });
}

void add_element_wise(Cases& cases) {
  static const std::int16_t kFactor[] = {3}, kAddend[] = {-7};
  for (const Precision precision : kAll)
    cases.add("pointwise", "precision " + std::to_string(static_cast<int>(precision)),
              [=](Network& net) {
                Pointwise layer{.name = "point"};
                if (precision != Precision::kFp16) layer.x1 = batch_norm(kAddend, kFactor, 1);
                net.output(net.pointwise(net.input("in", kLines, precision), layer), "out");
              });
  cases.add_pair("add", kLines, [](Network& net, Tensor a, Tensor b) {
    return net.add(a, b, {.name = "sum", .output = kOther});
  });
  cases.add_pair(
      "multiply", kLines,
      [](Network& net, Tensor a, Tensor b) {
        return net.multiply(a, b, {.name = "product", .output = kOther});
      },
      kPlain);
  for (const Shape& shape : {kLines, kPosition, kBatch})
    cases.add_int8("activation", shape, [](Network& net, Tensor in) {
      return net.activation(in, {.name = "mish", .output = kOther, .function = mish});
    });
  // A part of a concatenation, and with a pooling behind it.
  cases.add_int8("activation", kLines, [](Network& net, Tensor in) {
    const Tensor bent = net.activation(
        in, {.name = "tanh", .output = kSteps, .function = [](double x) { return std::tanh(x); }});
    const Tensor parts[] = {net.pooling(bent, {.name = "pool"}), bent};
    return net.concatenate(parts, {.name = "both", .axis = Axis::kWidth});
  });
  cases.add_int8("clamp", kLines, [](Network& net, Tensor in) {
    return net.clamp(in, {.name = "clamp", .bounds = {-1, 2}});
  });
  cases.add_pair("maximum", kLines,
                 [](Network& net, Tensor a, Tensor b) { return net.maximum(a, b, "greater"); });
  cases.add_pair("minimum", kLines,
                 [](Network& net, Tensor a, Tensor b) { return net.minimum(a, b, "lesser"); });
  // save_sdp_test.cpp compares what it counts.
  cases.add_int8("compare", kLines, [](Network& net, Tensor in) {
    static const std::int32_t kValue[] = {5};
    net.compare(in, {.name = "compare", .values = kValue});
    return net.pointwise(in, {.name = "same"});
  });
  cases.add_int8("compare", kSquare, [](Network& net, Tensor in) {
    static const std::int32_t kValue[] = {5};
    Convolution conv{.name = "conv", .kernels = 8, .weights = weights(8 * 16)};
    net.compare(in, conv, {.name = "compare", .values = kValue});
    return net.pointwise(in, {.name = "same"});
  });
}

void add_windows(Cases& cases) {
  for (const nvdla_pool method : {NVDLA_POOL_AVERAGE, NVDLA_POOL_MAX, NVDLA_POOL_MIN})
    cases.add_int8("pooling", kLines, [=](Network& net, Tensor in) {
      return net.pooling(
          in,
          {.name = "pool", .method = method, .kernel_height = 2, .kernel_width = 3, .pad_left = 1});
    });
  cases.add_int8("average", kLines,
                 [](Network& net, Tensor in) { return net.average(in, {.name = "mean"}); });
  // The CPU has averages of large windows, of counts that differ, and with scales.
  for (const Precision precision : kAll) {
    for (const std::uint32_t batch : {1U, 2U}) {
      cases.add("average", "of the CPU", [=](Network& net) {
        const Shape shape = {.channels = 5, .height = 41, .width = 37, .batch = batch};
        const Tensor in = net.input("in", shape, precision, quantization(precision, kSteps));
        net.output(net.average(in, {.name = "all"}), "out");
        net.output(net.average(in, {.name = "some",
                                    .kernel_height = 35,
                                    .kernel_width = 7,
                                    .stride_height = 3,
                                    .stride_width = 9,
                                    .pad_top = 11,
                                    .pad_right = 6,
                                    .pad_value = 2}),
                   "padded");
        net.output(net.average(in, {.name = "fewer",
                                    .kernel_height = 35,
                                    .kernel_width = 7,
                                    .stride_height = 3,
                                    .stride_width = 9,
                                    .pad_top = 11,
                                    .pad_right = 6}),
                   "counted");
      });
    }
  }
  cases.add_int8(
      "average", {.channels = 5, .height = 41, .width = 37}, [](Network& net, Tensor in) {
        return net.average(in, {.name = "scaled", .output = Quantization{1 / 40.0F, -9}});
      });
  cases.add_int8("average", {.channels = 5, .height = 41, .width = 37},
                 [](Network& net, Tensor in) {
                   return net.average(in, {.name = "scaled",
                                           .kernel_height = 35,
                                           .kernel_width = 35,
                                           .stride_height = 3,
                                           .pad_top = 11,
                                           .output = Quantization{1 / 40.0F, -9}});
                 });
  cases.add("normalization", "int8", [](Network& net) {
    nvdla_lut lut = {};
    lut.unit = NVDLA_LUT_CDP;
    lut.flags = NVDLA_LUT_LE_LINEAR | NVDLA_LUT_HYBRID_LO;
    lut.le_index_select = 8;
    lut.lo_index_select = 4;
    lut.le_end = 1 << 14;
    lut.lo_end = 1 << 12;
    for (std::size_t i = 0; i < 257; ++i) lut.lo[i] = static_cast<std::uint16_t>(900 - 3 * i);
    for (std::size_t i = 0; i < 65; ++i) lut.le[i] = static_cast<std::uint16_t>(700 - 9 * i);
    Normalization layer{.name = "norm", .output = {.shift = 9}, .lut = &lut};
    net.output(net.normalization(net.input("in", kLines), layer), "out");
  });
}

void add_moves(Cases& cases) {
  cases.add_int8(
      "contract", {.channels = 128, .height = 3, .width = 5}, [](Network& net, Tensor in) {
        return net.contract(in, {.name = "contract", .stride_height = 2, .stride_width = 2});
      });
  cases.add_int8("upsample", kLines,
                 [](Network& net, Tensor in) { return net.upsample(in, {.name = "up"}); });
  cases.add_int8("split", {.channels = 5, .height = 3, .width = 64},
                 [](Network& net, Tensor in) { return net.split(in, "split"); });
  cases.add("merge", "planes", [](Network& net) {
    const Shape shape = {.channels = 5, .height = 3, .width = 64};
    net.output(net.merge(net.planar_input("in", shape, Precision::kInt8), "merge"), "out");
  });
  cases.add_int8("copy", kLines, [](Network& net, Tensor in) { return net.copy(in, "copy"); });
  for (const Axis axis : {Axis::kChannels, Axis::kHeight, Axis::kWidth})
    cases.add_pair("concatenate", kLines, [=](Network& net, Tensor a, Tensor b) {
      const Tensor parts[] = {a, b};
      return net.concatenate(parts, {.name = "both", .axis = axis});
    });
  for (const Axis axis : {Axis::kChannels, Axis::kHeight, Axis::kWidth})
    cases.add_int8("slice", kLines, [=](Network& net, Tensor in) {
      return net.slice(in, {.name = "slice", .axis = axis, .start = 1, .size = 2});
    });
  cases.add_int8("pad", kLines, [](Network& net, Tensor in) {
    return net.pad(in, {.name = "pad", .top = 1, .right = 2, .value = 3});
  });
  cases.add_int8("reshape", kLines, [](Network& net, Tensor in) {
    return net.reshape(in, {.name = "lines", .channels = 21, .height = 5, .width = 3});
  });
  cases.add_cpu("reshape", kLines, [](Network& net, Tensor in, Precision) {
    return net.reshape(in, {.name = "shape", .channels = 5, .height = 21, .width = 3});
  });
  using Order = std::array<Axis, 3>;
  for (const Order& order : {Order{Axis::kHeight, Axis::kChannels, Axis::kWidth},
                             Order{Axis::kWidth, Axis::kHeight, Axis::kChannels},
                             Order{Axis::kHeight, Axis::kWidth, Axis::kChannels}})
    cases.add_cpu("transpose", kLines, [=](Network& net, Tensor in, Precision) {
      return net.transpose(in, {.name = "transpose", .order = order});
    });
}

Quantization result_of(Precision precision) {
  return precision == Precision::kInt8    ? Quantization{1 / 32.0F, 9}
         : precision == Precision::kInt16 ? Quantization{1 / 512.0F, 9}
                                          : Quantization{};
}

void add_operations_of_the_cpu(Cases& cases) {
  for (const Shape& shape : {kLines, kPosition})
    cases.add_cpu("softmax", shape, [](Network& net, Tensor in, Precision) {
      return net.softmax(in, {.name = "softmax"});
    });
  // The standard form has these, whatever the zero point of the input is.
  for (const Shape& shape : {kLines, kPosition, kBatch})
    for (const Quantization& steps : {kPlain, kSteps})
      cases.add_int8(
          "softmax", shape,
          [](Network& net, Tensor in) {
            return net.softmax(in, {.name = "softmax", .as_loadables = true});
          },
          "as loadables", steps);
  cases.add("softmax", "fp16 as loadables", [](Network& net) {
    const Tensor in = net.input("in", kPosition, Precision::kFp16);
    net.output(net.softmax(in, {.name = "softmax", .as_loadables = true}), "out");
  });
  cases.add("softmax", "between columns", [](Network& net) {
    const Tensor in = net.input("in", kPosition, kSteps);
    const Tensor parts[] = {net.softmax(in, {.name = "softmax", .as_loadables = true}),
                            net.softmax(in, {.name = "other", .as_loadables = true})};
    net.output(net.concatenate(parts, {.name = "both", .axis = Axis::kWidth}), "out");
  });
  cases.add_cpu("power", kLines, [](Network& net, Tensor in, Precision precision) {
    return net.power(in, {.name = "power",
                          .output = result_of(precision),
                          .power = 2,
                          .scale = 0.3F,
                          .shift = 0.25F});
  });
  for (const Shape& shape : {kLines, kBatch})
    cases.add_int8(
        "power", shape,
        [](Network& net, Tensor in) {
          return net.power(in, {.name = "power",
                                .output = {1 / 32.0F, 0},
                                .power = 3,
                                .scale = 0.3F,
                                .as_loadables = true});
        },
        "as loadables", kPlain);
  cases.add_cpu("apply", kLines, [](Network& net, Tensor in, Precision precision) {
    return net.apply(in, {.name = "apply", .output = result_of(precision), .function = gelu});
  });
  for (const bool both : {false, true})
    cases.add_cpu("layer_normalization", kLines, [=](Network& net, Tensor in, Precision precision) {
      std::vector<float> gamma(kLines.channels), beta(kLines.channels);
      for (std::size_t c = 0; c < gamma.size(); ++c) {
        gamma[c] = 0.5F + 0.07F * static_cast<float>(c);
        beta[c] = 0.3F - 0.05F * static_cast<float>(c);
      }
      LayerNormalization layer{.name = "norm", .output = result_of(precision), .epsilon = 1e-3};
      layer.gamma = gamma;
      if (both) layer.beta = beta;
      return net.layer_normalization(in, layer);
    });
  cases.add_cpu("instance_normalization", kLines, [](Network& net, Tensor in, Precision precision) {
    const std::vector<float> gamma(kLines.channels, 0.75F);
    return net.instance_normalization(
        in, {.name = "norm", .output = result_of(precision), .gamma = gamma, .epsilon = 1e-3});
  });
  for (const bool transposed : {false, true})
    cases.add_cpu(
        "product", {.channels = 15, .height = 3, .width = 5},
        [=](Network& net, Tensor in, Precision precision) {
          Quantization to = result_of(precision);
          if (precision != Precision::kFp16) to.scale *= 8;
          return net.product(
              in, in, {.name = "product", .output = to, .transposed = transposed, .factor = 0.25});
        });
  cases.add_pair(
      "product", {.channels = 7, .height = 7, .width = 3},
      [](Network& net, Tensor a, Tensor b) {
        return net.product(a, b, {.name = "product", .output = {1 / 2.0F, 3}});
      },
      kOther);
  for (const Precision to : {Precision::kInt8, Precision::kInt16})
    cases.add_cpu("argmax", kLines, [=](Network& net, Tensor in, Precision) {
      return net.argmax(in, {.name = "class", .precision = to});
    });
}

const Cases& cases() {
  static const Cases all = [] {
    Cases some;
    add_products_with_weights(some);
    add_element_wise(some);
    add_windows(some);
    add_moves(some);
    add_operations_of_the_cpu(some);
    return some;
  }();
  return all;
}

// Returns the names in the header that add no layer.
const std::set<std::string>& no_operations() {
  static const std::set<std::string> all = {"input", "image", "planar_input", "output", "place"};
  return all;
}

// Operations of the header that have no case above, and why they cannot be saved: none today.
const std::map<std::string, std::string>& not_saved() {
  static const std::map<std::string, std::string> all = {};
  return all;
}

// How often the header of networks declares each operation.
std::map<std::string, std::size_t> declared() {
  std::ifstream stream(NVDLA_SOURCE_DIR "/runtime/include/nvdla/network.hpp");
  std::stringstream text;
  text << stream.rdbuf();
  const std::string header = text.str();
  std::map<std::string, std::size_t> found;
  const std::regex declaration(R"re(\n  (?:Tensor|void) (\w+)\()re");
  for (std::sregex_iterator i(header.begin(), header.end(), declaration), end; i != end; ++i)
    if (!no_operations().contains((*i)[1])) ++found[(*i)[1]];
  return found;
}

TEST(SaveOperations, EachOfTheNetworkHasACaseOrAReason) {
  std::map<std::string, std::size_t> here;
  for (const Case& one : cases().all()) ++here[one.operation];
  const auto operations = declared();
  EXPECT_GT(operations.size(), 25U);
  for (const auto& [operation, overloads] : operations) {
    if (not_saved().contains(operation)) continue;
    EXPECT_GE(here[operation], overloads)
        << "Network::" << operation << "() is not saved here, and there is no reason why";
  }
  for (const auto& [operation, count] : here)
    EXPECT_TRUE(operations.contains(operation)) << operation << " is no operation of networks";
}

// Its text holds every field of every operation.
TEST(SaveOperations, EachGraphIsReadAsItIsPrinted) {
  for (const Case& one : cases().all()) {
    Network network;
    one.build(network);
    const detail::Graph& graph = *detail::Handles::impl(network);
    const std::string text = detail::print_graph(graph, {.all_values = true});
    SCOPED_TRACE(one.operation + ", " + one.what);
    EXPECT_EQ(detail::graph_difference(graph, detail::parse_graph(text)), "");
  }
}

// Calls call(element) with an element of the type that a tensor of a file has.
template <typename Call>
void with_type(LoadableType type, const Call& call) {
  if (type == LoadableType::kInt8) return call(std::int8_t{});
  if (type == LoadableType::kInt16) return call(std::int16_t{});
  ASSERT_EQ(type, LoadableType::kFp16);
  call(std::uint16_t{});
}

void write_random(const Loadable& file, Request& request, Request& loaded) {
  for (std::uint32_t i = 0; i < file.inputs(); ++i) {
    const LoadableTensor tensor = file.input(i);
    if (tensor.image()) {
      const auto pixels = test::random_elements<std::int8_t>(tensor.shape.elements(), i + 3);
      request.write_pixels(tensor.name, std::as_bytes(std::span(pixels)));
      loaded.write_pixels(tensor.name, std::as_bytes(std::span(pixels)), {});
      continue;
    }
    with_type(tensor.type, [&]<typename T>(T) {
      const auto source = test::random_elements<T>(tensor.shape.elements(), i + 3);
      request.write(tensor.name, Layout::kNchw, std::span<const T>(source));
      loaded.write(tensor.name, Layout::kNchw, std::span<const T>(source));
    });
  }
}

void expect_same(const Loadable& file, Request& request, Request& loaded) {
  for (std::uint32_t i = 0; i < file.outputs(); ++i) {
    const LoadableTensor tensor = file.output(i);
    with_type(tensor.type, [&]<typename T>(T) {
      std::vector<T> expected(tensor.shape.elements()), found(expected.size());
      request.read(tensor.name, Layout::kNchw, std::span<T>(expected));
      loaded.read(tensor.name, Layout::kNchw, std::span<T>(found));
      EXPECT_EQ(found, expected) << tensor.name;
      // One number everywhere would show nothing.
      const auto same = std::count(expected.begin(), expected.end(), expected[0]);
      EXPECT_TRUE(expected.size() <= 8 || same != static_cast<std::ptrdiff_t>(expected.size()))
          << tensor.name;
    });
  }
}

// Nothing where the configuration lacks what the network needs: then it cannot be saved either, and
// for the same reason.
std::optional<CompiledNetwork> compiled(const Network& net, const std::string& configuration) {
  try {
    return net.compile(Device::open("model:" + configuration));
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::kNotAvailable || error.rule() == NVDLA_RULE_FEATURE)
        << error.what();
    test::expect_error(static_cast<ErrorCode>(error.code().value()), error.what(),
                       [&] { make_loadable(net, configuration); });
    return std::nullopt;
  }
}

// Returns the names of the operations of our own that the file has.
std::set<std::string> own_operations(const Loadable& file) {
  std::set<std::string> names;
  for (const loadable::Task& task : file.impl().tasks)
    if (const auto* own = std::get_if<loadable::CpuTask>(&task.work))
      names.emplace(operation_name(own->operation));
  return names;
}

// One configuration of all that there are, for each test: they take a while.
class SaveOperationsOn : public testing::TestWithParam<const char*> {};

TEST_P(SaveOperationsOn, RunAsTheNetwork) {
  const std::string configuration = GetParam();
  const Device device = Device::open("model:" + configuration);
  std::map<std::string, std::size_t> run;
  for (const Case& one : cases().all()) {
    SCOPED_TRACE(one.operation + ", " + one.what);
    Network net;
    try {
      one.build(net);
    } catch (const Error& error) {
      FAIL() << error.what();
    }
    const std::optional<CompiledNetwork> network = compiled(net, configuration);
    if (!network) continue;
    ++run[one.operation];
    for (const auto interface : {LoadableInterface::kDla0_11, LoadableInterface::kDla0_12}) {
      const Loadable file = Loadable::load(make_loadable(net, configuration, interface));
      Request request = network->create_request();
      Request loaded = file.open(device);
      std::size_t steps = loaded.network().layers();
      for (const loadable::Task& task : file.impl().tasks) steps += task.cpu_operations();
      ASSERT_TRUE(file.impl().user);
      EXPECT_EQ(steps, file.impl().user->names.size());
      write_random(file, request, loaded);
      request.run();
      loaded.run();
      expect_same(file, request, loaded);
    }
  }
  EXPECT_GT(run.size(), 24U);
}

INSTANTIATE_TEST_SUITE_P(All, SaveOperationsOn, testing::ValuesIn(test::kConfigurations),
                         [](const auto& info) { return std::string(info.param); });

TEST(SaveOperations, EachOfTheCpuIsWritten) {
  std::set<std::string> own;
  for (const Case& one : cases().all()) {
    Network net;
    one.build(net);
    if (!compiled(net, "nv_full")) continue;
    own.merge(own_operations(Loadable::load(make_loadable(net, "nv_full"))));
  }
  std::string names;
  for (const std::string& name : own) names += (names.empty() ? "" : ", ") + name + "/1";
  EXPECT_EQ(names, loadable::known_cpu_operations());
}

/* -------------------------------------------- standard form and readers --- */

Loadable saved(const char* configuration, const std::function<void(Network&)>& build,
               LoadableInterface interface = LoadableInterface::kDla0_12) {
  Network net;
  build(net);
  return Loadable::load(make_loadable(net, configuration, interface));
}

TEST(SaveOperations, SoftmaxOfAnyZeroPointHasTheStandardForm) {
  const Loadable file = saved("nv_small", [](Network& net) {
    const Tensor in = net.input("in", kPosition, kSteps);
    net.output(net.softmax(in, {.name = "softmax", .as_loadables = true}), "out");
  });
  ASSERT_EQ(file.impl().tasks.size(), 1U);
  const auto& task = std::get<loadable::EmuTask>(file.impl().tasks[0].work);
  ASSERT_EQ(task.operations.size(), 1U);
  EXPECT_EQ(task.operations[0].type, loadable::kSoftmax);
  EXPECT_EQ(task.operations[0].input_scale, kSteps.scale);
}

// CDP looks up what SDP cannot.
TEST(SaveOperations, ActivationsAreLayersOfTheHardwareOnAllConfigurations) {
  for (const char* configuration : test::kConfigurations) {
    const Loadable file = saved(configuration, [](Network& net) {
      const Tensor in = net.input("in", kLines, kSteps);
      net.output(net.activation(in, {.name = "mish", .output = kOther, .function = mish}), "out");
    });
    ASSERT_EQ(file.impl().tasks.size(), 1U) << configuration;
    EXPECT_TRUE(file.impl().tasks[0].of_hardware()) << configuration;
  }
}

// NVIDIA's runtime looks every content up by its name, and says which it does not find.
TEST(SaveOperations, OtherReadersFindTheNameOfWhatTheyLack) {
  Network net;
  const Tensor in = net.input("in", kLines, kSteps);
  const Tensor moved = net.transpose(in, {.order = {Axis::kHeight, Axis::kChannels, Axis::kWidth}});
  net.output(net.argmax(moved, {.name = "class"}), "out");
  const witness::File file = witness::read(make_loadable(net, "nv_small"));
  std::set<std::string> blobs, missing;
  for (const witness::Entry& blob : file.lists.at("blobs")) blobs.insert(blob.texts.at("name"));
  for (const witness::Entry& memory : file.lists.at("memory_list")) {
    const auto names = memory.names.find("contents");
    if (names == memory.names.end()) continue;
    for (const std::string& name : names->second) {
      if (blobs.contains(name)) continue;
      missing.insert(name);
      // It is set, and nothing that is bound.
      EXPECT_EQ(memory.numbers.at("flags"), 3U);
    }
  }
  EXPECT_EQ(missing, (std::set<std::string>{"nvdla-cpu:argmax/1", "nvdla-cpu:transpose/1"}));
  for (const witness::Entry& task : file.lists.at("task_list"))
    EXPECT_EQ(task.numbers.at("interface"), loadable::kInterfaceCpu);
}

TEST(SaveOperations, WhatIsNotKnownIsNamed) {
  Network net;
  net.output(net.argmax(net.input("in", kLines, kSteps), {.name = "class"}), "out");
  witness::File file = witness::read(make_loadable(net, "nv_small"));
  for (witness::Entry& memory : file.lists.at("memory_list"))
    for (std::string& name : memory.names["contents"])
      if (name == "nvdla-cpu:argmax/1") name = "nvdla-cpu:argmin/3";
  test::expect_error(ErrorCode::kNotAvailable,
                     "the file needs 'nvdla-cpu:argmin/3', an operation of the CPU that is not "
                     "known here; known are argmax/1, average/1, instance-normalization/1, "
                     "layer-normalization/1, power/1, product/1, reshape/1, softmax/1, table/1, "
                     "transpose/1",
                     [&] { Loadable::load(witness::write(file)); });
}

/* --------------------------------------------------- what is refused --- */

TEST(SaveOperations, WhatCannotBeSavedIsNamedWithItsLayer) {
  const auto expect_refused = [](const std::string& text,
                                 const std::function<void(Network&)>& build) {
    SCOPED_TRACE(text);
    Network net;
    build(net);
    // It runs.
    net.compile(Device::open("model:nv_full")).create_request().run();
    test::expect_error(ErrorCode::kNotAvailable, text, [&] { make_loadable(net, "nv_full"); });
  };
  const auto half = [](Network& net) { return net.input("in", kLines, Precision::kFp16); };
  expect_refused("layer 0 'point': a loadable has no NaN as zero", [&](Network& net) {
    net.output(net.pointwise(half(net), {.name = "point", .nan_to_zero = true}), "out");
  });
  expect_refused("layer 0 'pool': a loadable has no NaN as zero", [&](Network& net) {
    net.output(net.pooling(half(net), {.name = "pool", .nan_to_zero = true}), "out");
  });
  expect_refused("layer 0 'conv': a loadable has no NaN as zero", [&](Network& net) {
    static const std::vector<std::uint16_t> kOnes(2 * 21, 0x3c00);
    Convolution conv{.name = "conv", .kernels = 2, .arithmetic = {.nan_to_zero = true}};
    conv.weights = std::span<const std::uint16_t>(kOnes);
    net.output(net.convolution(half(net), conv), "out");
  });
  expect_refused("layer 0 'point': a loadable has no ReLU after a PReLU", [](Network& net) {
    static const std::int16_t kSlope[] = {2};
    Pointwise layer{.name = "point", .x1 = prelu(kSlope, 3)};
    layer.x1.relu = true;
    net.output(net.pointwise(net.input("in", kLines), layer), "out");
  });
}

}  // namespace
}  // namespace nvdla
