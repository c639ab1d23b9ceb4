// SPDX-License-Identifier: MIT
//
// Whose tensor is it, and what is it called: handles of other networks, empty ones, names that are
// taken.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/lowlevel/lut.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {
namespace {

using test::expect_error;

// Every place of the interface that takes a tensor. All would be right with a tensor of 8x4x4.
struct Place {
  std::string name;
  std::string says;  // where the error puts the tensor
  bool planar = false;
  std::function<void(Network&, Tensor)> use;
};

std::ostream& operator<<(std::ostream& out, const Place& place) { return out << place.name; }

const std::vector<std::int8_t> kWeights(64, 1);

Convolution conv() {
  Convolution c{.name = "layer", .kernels = 8};
  c.weights = kWeights;
  return c;
}

Tensor own(Network& net) { return net.input("own", {8, 4, 4}); }

const nvdla_lut& table() {
  static const nvdla_lut lut = [] {
    nvdla_lut l = {};
    l.unit = NVDLA_LUT_CDP;
    return l;
  }();
  return lut;
}

// A place of a tensor that stands for values, in operator `Op` of every layer that has one.
template <typename Layer, typename Add>
void add_operands(std::vector<Place>& places, const std::string& kind, const Layer& plain,
                  const Add& add) {
  const auto with = [&](const char* op, const auto& set) {
    places.push_back({kind + "_" + op, std::string("'layer': ") + op + ": ", false,
                      [=](Network& net, Tensor tensor) {
                        Layer layer = plain;
                        set(layer, tensor);
                        add(net, layer);
                      }});
  };
  with("x1", [](Layer& l, Tensor t) { l.x1 = elementwise(NVDLA_ALU_SUM, t); });
  with("x2", [](Layer& l, Tensor t) { l.x2 = multiply(t, 1); });
  if constexpr (requires { plain.y; }) {
    with("y", [](Layer& l, Tensor t) {
      l.y.alu = NVDLA_ALU_MAX;
      l.y.tensor = t;
    });
  }
}

std::vector<Place> places() {
  std::vector<Place> list = {
      {"convolution", "'layer': input: ", false,
       [](Network& net, Tensor t) { net.convolution(t, conv()); }},
      {"deconvolution", "'layer': input: ", false,
       [](Network& net, Tensor t) {
         Deconvolution d{.name = "layer", .kernels = 8};
         d.weights = kWeights;
         net.deconvolution(t, d);
       }},
      {"pointwise", "'layer': input: ", false,
       [](Network& net, Tensor t) { net.pointwise(t, {.name = "layer"}); }},
      {"compare", "'layer': input: ", false,
       [](Network& net, Tensor t) {
         net.compare(t, Comparison{.name = "layer", .values = std::vector<std::int32_t>{1}});
       }},
      {"compare_with", "'layer': y: ", false,
       [](Network& net, Tensor t) {
         net.compare(own(net), Comparison{.name = "layer", .tensor = t});
       }},
      {"compare_sums", "'layer': input: ", false,
       [](Network& net, Tensor t) {
         net.compare(t, conv(),
                     Comparison{.name = "layer", .values = std::vector<std::int32_t>{1}});
       }},
      {"compare_sums_with", "'layer': y: ", false,
       [](Network& net, Tensor t) {
         net.compare(own(net), conv(), Comparison{.name = "layer", .tensor = t});
       }},
      {"pooling", "'layer': input: ", false,
       [](Network& net, Tensor t) { net.pooling(t, {.name = "layer"}); }},
      {"normalization", "'layer': input: ", false,
       [](Network& net, Tensor t) { net.normalization(t, {.name = "layer", .lut = &table()}); }},
      {"contract", "'layer': input: ", false,
       [](Network& net, Tensor t) { net.contract(t, {.name = "layer"}); }},
      {"split", "'layer': input: ", false, [](Network& net, Tensor t) { net.split(t, "layer"); }},
      {"merge", "'layer': input: ", true, [](Network& net, Tensor t) { net.merge(t, "layer"); }},
      {"copy", "'layer': input: ", false, [](Network& net, Tensor t) { net.copy(t, "layer"); }},
      {"output", "output 0 'result': ", false,
       [](Network& net, Tensor t) { net.output(t, "result"); }},
      {"place", "place: ", false, [](Network& net, Tensor t) { net.place(t, Memory::kDram); }},
      {"shape", "shape: ", false, [](Network& net, Tensor t) { net.shape(t); }},
      {"precision", "precision: ", false, [](Network& net, Tensor t) { net.precision(t); }},
  };
  add_operands(list, "convolution", conv(),
               [](Network& net, const Convolution& c) { net.convolution(own(net), c); });
  add_operands(list, "pointwise", Pointwise{.name = "layer"},
               [](Network& net, const Pointwise& p) { net.pointwise(own(net), p); });
  static const std::vector<std::int32_t> kOne = {1};
  add_operands(list, "compare", Comparison{.name = "layer", .values = kOne},
               [](Network& net, const Comparison& p) { net.compare(own(net), p); });
  Deconvolution d{.name = "layer", .kernels = 8};
  d.weights = kWeights;
  add_operands(list, "deconvolution", d,
               [](Network& net, const Deconvolution& l) { net.deconvolution(own(net), l); });
  return list;
}

class Handles : public ::testing::TestWithParam<Place> {
 protected:
  // The tensor that the place would take; `output` wants one that a layer makes.
  static Tensor make(Network& net, const Place& place) {
    if (place.planar) return net.planar_input("in", {8, 4, 4}, Precision::kInt8);
    const Tensor in = net.input("in", {8, 4, 4});
    return place.name == "output" ? net.pointwise(in, {.name = "before"}) : in;
  }
  // Taken, or refused for what it is and not for whose it is.
  static void take(Network& net, Tensor tensor) {
    if (GetParam().name.starts_with("deconvolution_")) {
      expect_error(ErrorCode::kInvalidArgument,
                   "operands of a deconvolution are of the layer or per channel",
                   [&] { GetParam().use(net, tensor); });
    } else {
      EXPECT_NO_THROW(GetParam().use(net, tensor));
    }
  }
  static void throw_error(Network& net, Tensor tensor, const std::string& why) {
    expect_error(ErrorCode::kInvalidArgument, GetParam().says + "the tensor " + why,
                 [&] { GetParam().use(net, tensor); });
  }
};

// Otherwise the others prove nothing.
TEST_P(Handles, OwnTensorsAreTaken) {
  Network net;
  take(net, make(net, GetParam()));
}

TEST_P(Handles, TensorsOfAnotherNetworkAreRefused) {
  Network net, other;
  make(net, GetParam());
  throw_error(net, make(other, GetParam()), "belongs to another network");
}

TEST_P(Handles, TensorsOfADestroyedNetworkAreRefused) {
  Tensor tensor;
  {
    Network other;
    tensor = make(other, GetParam());
  }
  Network net;
  make(net, GetParam());
  throw_error(net, tensor, "belongs to another network");
}

TEST_P(Handles, TensorsOfAReplacedNetworkAreRefused) {
  Network net;
  const Tensor tensor = make(net, GetParam());
  net = Network();
  make(net, GetParam());
  throw_error(net, tensor, "belongs to another network");
}

TEST_P(Handles, MovedNetworksKeepTheirTensors) {
  Network net;
  const Tensor tensor = make(net, GetParam());
  Network moved = std::move(net);
  take(moved, tensor);
  // NOLINTNEXTLINE(bugprone-use-after-move): what is left is refused.
  expect_error(ErrorCode::kInvalidArgument, "the network is empty: it was moved from",
               [&] { GetParam().use(net, tensor); });
}

TEST_P(Handles, EmptyHandles) {
  Network net;
  // An operand that is no tensor is none, and then the operator lacks its values.
  const bool operand = GetParam().says.ends_with(" x1: ") || GetParam().says.ends_with(" x2: ") ||
                       GetParam().says.ends_with(" y: ");
  if (operand) {
    expect_error(ErrorCode::kInvalidArgument, GetParam().says + "0 ",
                 [&] { GetParam().use(net, Tensor()); });
    return;
  }
  throw_error(net, Tensor(), "handle is empty");
}

INSTANTIATE_TEST_SUITE_P(Places, Handles, ::testing::ValuesIn(places()),
                         [](const auto& place) { return place.param.name; });

TEST(MovedNetwork, RefusesEverything) {
  Network net;
  Network moved = std::move(net);
  const auto refused = [](const auto& call) {
    expect_error(ErrorCode::kInvalidArgument, "the network is empty: it was moved from", call);
  };
  // NOLINTBEGIN(bugprone-use-after-move): what is left is refused.
  EXPECT_EQ(net.layers(), 0U);
  EXPECT_EQ(net.macs(), 0U);
  refused([&] { net.input("in", {8, 4, 4}); });
  refused([&] { net.image("in", {}); });
  refused([&] { net.planar_input("in", {8, 4, 4}, Precision::kInt8); });
  refused([&] { net.layer_name(0); });
  refused([&] { net.build(Device::open("model:nv_small")); });
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_NO_THROW(moved.input("in", {8, 4, 4}));
}

TEST(Tensors, HandlesAreEqualIfTheyNameTheSame) {
  Network one, two;
  const Tensor a = one.input("a", {}), b = one.input("b", {}), c = two.input("a", {});
  EXPECT_TRUE(a == a);
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(a == c);
  EXPECT_FALSE(a == Tensor());
  EXPECT_TRUE(static_cast<bool>(a));
  EXPECT_FALSE(static_cast<bool>(Tensor()));
}

// ---- names

class Names : public ::testing::Test {
 protected:
  static void refused(const std::string& text, const std::function<void()>& call) {
    expect_error(ErrorCode::kInvalidArgument, text, call);
  }
  Network net_;
  Tensor in_ = net_.input("in", {8, 4, 4});
  Tensor a_ = net_.pointwise(in_, {.name = "a"});
};

TEST_F(Names, OfPortsAreUnique) {
  net_.output(a_, "out");
  refused("input 1 'in': input 0 has that name", [&] { net_.input("in", {}); });
  refused("input 1 'in': input 0 has that name", [&] { net_.image("in", {}); });
  refused("input 1 'in': input 0 has that name",
          [&] { net_.planar_input("in", {}, Precision::kInt8); });
  refused("input 1 'out': output 0 has that name", [&] { net_.input("out", {}); });
  refused("output 1 'out': output 0 has that name", [&] { net_.output(a_, "out"); });
  refused("output 1 'in': input 0 has that name", [&] { net_.output(a_, "in"); });
}

TEST_F(Names, OfPortsAreNotEmpty) {
  refused("input 1 has no name", [&] { net_.input("", {}); });
  refused("input 1 has no name", [&] { net_.image("", {}); });
  refused("input 1 has no name", [&] { net_.planar_input("", {}, Precision::kInt8); });
  refused("output 0 has no name", [&] { net_.output(a_, ""); });
}

TEST_F(Names, OfPortsAreInTheirErrors) {
  refused("input 1 'more': channels 0 is not in 1..8192",
          [&] { net_.input("more", {.channels = 0}); });
  refused("input 1 'more': pixel format 36 is not in 0..35",
          [&] { net_.image("more", {.format = static_cast<nvdla_pixel_format>(36)}); });
  refused("output 0 'out': input 'in' is written by the application, not by a layer",
          [&] { net_.output(in_, "out"); });
}

// What was refused left nothing behind.
TEST_F(Names, AreFreeAgainAfterARefusal) {
  refused("channels 0", [&] { net_.input("more", {.channels = 0}); });
  EXPECT_NO_THROW(net_.input("more", {}));
  refused("kernel_height 0", [&] { net_.pooling(a_, {.name = "pool", .kernel_height = 0}); });
  EXPECT_NO_THROW(net_.pooling(a_, {.name = "pool"}));
}

TEST_F(Names, OfLayersAreUnique) {
  const auto layers = places();
  for (const Place& place : layers) {
    if (place.says != "'layer': input: ") continue;
    SCOPED_TRACE(place.name);
    Network net;
    const Tensor in = place.planar ? net.planar_input("in", {8, 4, 4}, Precision::kInt8)
                                   : net.input("in", {8, 4, 4});
    net.copy(in, "first");
    net.copy(in, "layer");
    const auto error =
        expect_error(ErrorCode::kInvalidArgument, "layer 2 'layer': layer 1 has that name",
                     [&] { place.use(net, in); });
    EXPECT_EQ(error->layer(), 2);
  }
}

TEST_F(Names, OfLayersMayBeMissing) {
  net_.pointwise(a_, {});
  net_.pointwise(a_, {});
  refused("layer 3: kernel_height 0 is not in 1..8",
          [&] { net_.pooling(a_, {.kernel_height = 0}); });
}

TEST_F(Names, OfTensorsAreInErrors) {
  const Tensor image = net_.image("camera", {.width = 4, .height = 4});
  const Tensor planes = net_.split(a_, "apart");
  refused("layer 2 'p': input: input 'camera' is an image, which convolutions read only",
          [&] { net_.pooling(image, {.name = "p"}); });
  refused("layer 2 'p': input: the output of layer 1 'apart' is planar: merge() it first",
          [&] { net_.pooling(planes, {.name = "p"}); });
}

}  // namespace
}  // namespace nvdla
