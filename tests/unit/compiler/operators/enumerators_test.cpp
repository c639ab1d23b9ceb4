// SPDX-License-Identifier: MIT
//
// Enumerators that there are not: every call of the interface that takes one refuses it, by name
// and with those that there are.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "nvdla/lowlevel/folding.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "nvdla/lowlevel/weights.hpp"
#include "nvdla/network.hpp"
#include "nvdla/operators/requantization.hpp"
#include "nvdla/operators/tensor_handle.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"
#include "nvdla/types/precision.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {
namespace {

struct Call {
  std::string name;
  std::string text;  // which the message contains
  std::function<void()> run;
};

std::ostream& operator<<(std::ostream& out, const Call& call) { return out << call.name; }

// Returns a number that is no enumerator. An enumeration of C has room for so many bits only as its
// enumerators need.
template <typename T, int number = 77>
T none() {
  return static_cast<T>(number);
}

const std::vector<std::int8_t> kElements(8 * 4 * 4, 1);

void with_input(const std::function<void(Network&, Tensor)>& add) {
  Network net;
  add(net, net.input("in", {8, 4, 4}));
}

void with_conv(const std::function<void(Convolution&)>& change) {
  with_input([&](Network& net, Tensor in) {
    Convolution c{.name = "conv", .kernels = 2};
    c.weights = std::span(kElements).first(16);
    change(c);
    net.convolution(in, c);
  });
}

void with_request(const std::function<void(Request&)>& use) {
  Network net;
  net.output(net.pointwise(net.input("in", {8, 4, 4}), {.name = "copy"}), "out");
  Request request = net.build(Device::open("model:nv_small"));
  request.write("in", Layout::kNchw, kElements);
  request.run();
  use(request);
}

std::vector<Call> calls() {
  const std::string rewrites = " 77 is none of kNever (0), kAuto (1), kAlways (2)";
  const std::string layouts = "layout 77 is none of NCHW (0), NHWC (1)";
  const std::string memories = "memory 77 is none of DRAM (0), SRAM (1)";
  const std::string precisions = "precision 77 is none of int8 (0), int16 (1), fp16 (2)";
  const std::string axes = "axis 77 is none of channels (0), height (1), width (2)";
  return {
      {"folding", "tuning.folding" + rewrites,
       [] { with_conv([](Convolution& c) { c.tuning.folding = none<Rewrite>(); }); }},
      {"winograd", "tuning.winograd" + rewrites,
       [] { with_conv([](Convolution& c) { c.tuning.winograd = none<Rewrite>(); }); }},
      {"batch", "tuning.batch" + rewrites,
       [] { with_conv([](Convolution& c) { c.tuning.batch = none<Rewrite>(); }); }},
      {"result", precisions,
       [] { with_conv([](Convolution& c) { c.precision = none<Precision>(); }); }},
      {"input", precisions,
       [] {
         Network().input("in", {1, 1, 1}, none<Precision>());
       }},
      {"planes", precisions,
       [] {
         Network().planar_input("in", {1, 1, 1}, none<Precision>());
       }},
      {"pointwise", precisions,
       [] {
         with_input([](Network& net, Tensor in) {
           net.pointwise(in, {.name = "p", .precision = none<Precision>()});
         });
       }},
      {"numbers_of_channels", "precision 77",
       [] {
         with_input([](Network& net, Tensor in) {
           net.argmax(in, {.name = "a", .precision = none<Precision>()});
         });
       }},
      {"alu", "alu 7 is none of NONE, MAX, MIN, SUM",
       [] {
         with_input([](Network& net, Tensor in) {
           Pointwise p{.name = "p"};
           p.x1.alu = none<nvdla_alu, 7>();
           net.pointwise(in, p);
         });
       }},
      {"mul", "mul 3 is none of NONE, MUL, PRELU",
       [] {
         with_input([](Network& net, Tensor in) {
           Pointwise p{.name = "p"};
           p.y.mul = none<nvdla_mul, 3>();
           net.pointwise(in, p);
         });
       }},
      {"pool", "method 3 is none of AVERAGE, MAX, MIN",
       [] {
         with_input([](Network& net, Tensor in) {
           net.pooling(in, {.name = "p", .method = none<nvdla_pool, 3>()});
         });
       }},
      {"concat", axes,
       [] {
         with_input([](Network& net, Tensor in) {
           const std::vector<Tensor> parts = {in, in};
           net.concatenate(parts, {.name = "c", .axis = none<Axis>()});
         });
       }},
      {"pixels", "pixel format 63 is not in 0..35",
       [] {
         Network().image("in", {.format = none<nvdla_pixel_format, 63>(), .width = 4, .height = 4});
       }},
      {"place", memories,
       [] { with_input([](Network& net, Tensor in) { net.place(in, none<Memory>()); }); }},
      {"allocate", memories,
       [] { (void)Device::open("model:nv_small").allocate(64, none<Memory>()); }},
      {"map", "map mode 77 is none of read (1), write (2), both (3)",
       [] { (void)Device::open("model:nv_small").allocate(64).map(none<MapMode>()); }},
      {"write", layouts,
       [] {
         with_request([](Request& s) {
           s.write("in", none<Layout>(), std::span<const std::int8_t>(kElements));
         });
       }},
      {"write_floats", layouts,
       [] {
         with_request([](Request& s) {
           const std::vector<float> reals(kElements.size());
           s.write("in", none<Layout>(), std::span<const float>(reals));
         });
       }},
      {"read", layouts,
       [] {
         with_request([](Request& s) {
           std::vector<std::int8_t> found(kElements.size());
           s.read("out", none<Layout>(), std::span(found));
         });
       }},
      {"fold", layouts,
       [] {
         TensorDesc desc;
         desc.shape = {8, 4, 4};
         WeightsDesc weights;
         weights.kernels = 1;
         weights.channels = 8;
         weights.kernel_width = 2;
         nvdla_conv conv = make_conv(desc, weights);
         conv.stride_width = 2;
         (void)fold_tensor(conv, none<Layout>(), std::span<const std::int8_t>(kElements));
       }},
      {"cube", precisions,
       [] {
         (void)packed_tensor(configuration_info("nv_full"), {8, 4, 4}, none<Precision>());
       }},
      {"requantize", precisions, [] { (void)requantize_exactly(0.5, 0, none<Precision>()); }},
  };
}

class Enumerators : public ::testing::TestWithParam<Call> {};

TEST_P(Enumerators, ThatThereAreNotAreRefused) {
  test::expect_error(ErrorCode::kInvalidArgument, GetParam().text, GetParam().run);
}

INSTANTIATE_TEST_SUITE_P(Network, Enumerators, ::testing::ValuesIn(calls()),
                         [](const auto& call) { return call.param.name; });

}  // namespace
}  // namespace nvdla
