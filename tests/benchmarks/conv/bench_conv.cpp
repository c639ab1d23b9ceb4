// SPDX-License-Identifier: MIT
//
// The model's int8 convolution beside oneDNN's with signed activations and weights, layer by layer,
// as many threads each, interleaved in one run; medians and their ratio. What is timed of the model
// is a whole layer as a driver launches it: register writes, fetch into the convolution buffer,
// convolution, SDP with a converter to int8, write to memory. oneDNN's layer ends with the same
// scale to int8. A layer whose input does not fit the buffer of nv_full at once is cut in height
// like a driver would, and the pieces are added up. With more than one thread set
// GOMP_SPINCOUNT=1000, or oneDNN's idle threads keep the processors of the model's.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <string>
#include <vector>

#include "model/kernels/kernels.hpp"
#include "support/model_layer.hpp"

namespace {

using nvdla::model::Bus;
using nvdla::model::Device;
using nvdla::model::Mapping;
using nvdla::model::Memory;
using nvdla::model::Ram;
using nvdla::test::Random;
using nvdla::test::RefLayer;
using nvdla::test::Registers;
using nvdla::test::TestLayer;

struct Shape {
  const char* name;
  unsigned size, channels, kernels, kernel, stride, pad;
};

constexpr Shape kShapes[] = {
    {"resnet50 2a 1x1", 56, 64, 64, 1, 1, 0},       {"resnet50 2b 3x3", 56, 64, 64, 3, 1, 1},
    {"resnet50 2c 1x1", 56, 64, 256, 1, 1, 0},      {"resnet50 3b 3x3", 28, 128, 128, 3, 1, 1},
    {"resnet50 3c 1x1", 28, 128, 512, 1, 1, 0},     {"resnet50 4b 3x3", 14, 256, 256, 3, 1, 1},
    {"resnet50 4c 1x1", 14, 256, 1024, 1, 1, 0},    {"resnet50 5b 3x3", 7, 512, 512, 3, 1, 1},
    {"resnet50 5c 1x1", 7, 512, 2048, 1, 1, 0},     {"resnet50 conv1 7x7s2", 224, 3, 64, 7, 2, 3},
    {"alexnet conv2 5x5", 27, 48, 128, 5, 1, 2},    {"alexnet conv3 3x3", 13, 256, 384, 3, 1, 1},
    {"mobilenet conv1 3x3s2", 224, 3, 32, 3, 2, 1}, {"mobilenet pw 1x1", 28, 256, 256, 1, 1, 0},
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// The parts that a layer is cut into so that each fits the convolution buffer.
std::vector<TestLayer> cut(const nvdla_hw& hw, const Shape& shape, Random& random) {
  TestLayer whole;
  whole.hw = &hw;
  RefLayer& ref = whole.ref;
  ref.width = ref.height = shape.size;
  ref.channels = shape.channels;
  ref.kernels = shape.kernels;
  ref.kernel_width = ref.kernel_height = shape.kernel;
  ref.stride_x = ref.stride_y = shape.stride;
  ref.left = ref.right = ref.top = ref.bottom = shape.pad;
  ref.lanes = (shape.kernels + hw.atom - 1) / hw.atom * hw.atom;
  ref.scale = 3;
  ref.shift = 12;
  ref.input.resize(std::size_t{shape.size} * shape.size * shape.channels);
  ref.weights.resize(std::size_t{shape.kernels} * shape.kernel * shape.kernel * shape.channels);
  for (auto& value : ref.input) value = static_cast<int>(nvdla::test::pick(random, -128, 127));
  for (auto& value : ref.weights) value = static_cast<int>(nvdla::test::pick(random, -128, 127));
  finish_layout(whole, random, false);
  whole.grain = 1;
  // Banks: weights get all they need or what is left; two kernel groups are enough.
  const unsigned banks = hw.cbuf_banks;
  whole.weight_banks = std::min(whole.weight_banks, banks / 2);
  const unsigned lines = (banks - whole.weight_banks) * hw.cbuf_entries / whole.entries();
  std::vector<TestLayer> parts;
  const unsigned out_height = ref.out_height();
  for (unsigned first = 0; first < out_height;) {
    TestLayer part = whole;
    part.data_banks = banks - whole.weight_banks;
    const unsigned in_first = first == 0 ? 0 : first * shape.stride - shape.pad;
    part.ref.top = first == 0 ? shape.pad : 0;
    unsigned count = out_height - first;
    for (;; --count) {
      const unsigned reach = (first + count - 1) * shape.stride + shape.kernel - shape.pad;
      part.ref.bottom = reach > shape.size ? reach - shape.size : 0;
      part.ref.height = std::min(reach, shape.size) - in_first;
      if (part.ref.height <= lines) break;
    }
    part.input.base += in_first * part.input.line;
    part.output.base += first * part.output.line;
    part.surface_packed = false;
    part.ref.input.clear();
    part.ref.weights.clear();
    parts.push_back(part);
    first += count;
  }
  return parts;
}

// Oracle-free: oneDNN's output is the check.
class Peer {
 public:
  Peer(const Shape& shape, const RefLayer& ref)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using dnnl::memory;
    const auto i = [](unsigned value) { return static_cast<memory::dim>(value); };
    const memory::dims src = {1, i(shape.channels), i(shape.size), i(shape.size)};
    const memory::dims wei = {i(shape.kernels), i(shape.channels), i(shape.kernel),
                              i(shape.kernel)};
    const memory::dims dst = {1, i(shape.kernels), i(ref.out_height()), i(ref.out_width())};
    const auto any = memory::format_tag::any;
    const auto s8 = memory::data_type::s8;
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, {src, s8, any},
        {wei, s8, any}, {dst, s8, any}, {i(shape.stride), i(shape.stride)},
        {i(shape.pad), i(shape.pad)}, {i(shape.pad), i(shape.pad)});
    dnnl::primitive_attr attributes;
    attributes.set_output_scales(0, {3.0f / 4096.0f});
    const dnnl::convolution_forward::primitive_desc primitive(desc, attributes, engine_);
    convolution_ = dnnl::convolution_forward(primitive);
    source_ = memory(primitive.src_desc(), engine_);
    weights_ = memory(primitive.weights_desc(), engine_);
    result_ = memory(primitive.dst_desc(), engine_);
    memory plain_source({src, s8, memory::format_tag::nhwc}, engine_);
    auto* to = static_cast<std::int8_t*>(plain_source.get_data_handle());
    for (const std::int32_t value : ref.input) *to++ = static_cast<std::int8_t>(value);
    memory plain_weights({wei, s8, memory::format_tag::ohwi}, engine_);
    to = static_cast<std::int8_t*>(plain_weights.get_data_handle());
    for (const std::int32_t value : ref.weights) *to++ = static_cast<std::int8_t>(value);
    dnnl::reorder(plain_source, source_).execute(stream_, plain_source, source_);
    dnnl::reorder(plain_weights, weights_).execute(stream_, plain_weights, weights_);
    stream_.wait();
    plain_ = memory({dst, s8, memory::format_tag::nhwc}, engine_);
  }

  void run() {
    convolution_.execute(
        stream_, {{DNNL_ARG_SRC, source_}, {DNNL_ARG_WEIGHTS, weights_}, {DNNL_ARG_DST, result_}});
    stream_.wait();
  }

  // [y][x][kernel]
  const std::int8_t* output() {
    dnnl::reorder(result_, plain_).execute(stream_, result_, plain_);
    stream_.wait();
    return static_cast<const std::int8_t*>(plain_.get_data_handle());
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::convolution_forward convolution_;
  dnnl::memory source_, weights_, result_, plain_;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 31;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  const std::string wanted = argc > 3 ? argv[3] : "";
  if (rounds < 1 || threads < 1) {
    std::fprintf(stderr, "usage: %s [ROUNDS [THREADS [PART-OF-A-NAME]]]\n", argv[0]);
    return 2;
  }
  // oneDNN asks OpenMP how many threads there are.
  omp_set_num_threads(threads);
  const nvdla_hw& hw = *nvdla_hw_find("nv_full");
  std::printf(
      "model kernels: %s; %d interleaved rounds, threads: %d; int8 layers with SDP's converter\n",
      nvdla::model::chosen_kernels().name, rounds, threads);
  std::printf("%-24s %9s %9s %9s %9s %7s %6s\n", "layer", "MMAC", "model ms", "onednn ms", "GMAC/s",
              "ratio", "parts");
  double log_sum = 0;
  unsigned layers = 0;
  for (const Shape& shape : kShapes) {
    if (std::string(shape.name).find(wanted) == std::string::npos) continue;
    ++layers;
    Random random(1);
    std::vector<TestLayer> parts = cut(hw, shape, random);
    // The generator is replayed for the data, which the parts do not carry.
    TestLayer whole = parts.front();
    Random again(1);
    RefLayer& ref = whole.ref;
    ref.height = shape.size;
    ref.top = ref.bottom = shape.pad;
    ref.input.resize(std::size_t{shape.size} * shape.size * shape.channels);
    ref.weights.resize(std::size_t{shape.kernels} * shape.kernel * shape.kernel * shape.channels);
    for (auto& value : ref.input) value = static_cast<int>(nvdla::test::pick(again, -128, 127));
    for (auto& value : ref.weights) value = static_cast<int>(nvdla::test::pick(again, -128, 127));
    Memory memory;
    load(whole, memory);
    Device device(hw, memory, {.threads = static_cast<unsigned>(threads)});
    Registers registers(device);
    while (device.step()) {
    }
    unsigned group = 0;
    // Programming by name is the test's convenience; only what a driver would do is timed.
    const auto run_model = [&] {
      double time = 0;
      for (const TestLayer& part : parts) {
        program(part, registers, group, 0);
        registers.write("SDP.D_PERF_ENABLE", 0);  // statistics are not on by default
        enable(part, registers);
        const double start = now();
        while (device.step()) {
        }
        time += now() - start;
        group ^= 1;
      }
      return time;
    };
    Peer peer(shape, ref);
    run_model();
    peer.run();
    if (!device.idle()) {
      std::fprintf(stderr, "%s: %s\n", shape.name, device.blocked().front().reason.c_str());
      return 1;
    }
    // The same numbers but for oneDNN's rounding of ties, at most one apart.
    const std::int8_t* expected = peer.output();
    const auto got = memory.read(Ram::kPrimary, whole.output.base,
                                 whole.output.surface * ((ref.kernels + 31) / 32));
    for (unsigned y = 0; y < ref.out_height(); ++y)
      for (unsigned x = 0; x < ref.out_width(); ++x)
        for (unsigned k = 0; k < ref.kernels; ++k) {
          const auto value = static_cast<std::int8_t>(
              got[k / 32 * whole.output.surface + y * whole.output.line + x * 32 + k % 32]);
          if (std::abs(value - *expected++) > 1) {
            std::fprintf(stderr, "%s: results differ at %u,%u,%u\n", shape.name, y, x, k);
            return 1;
          }
        }
    std::vector<double> model_times, peer_times;
    for (int round = 0; round < rounds; ++round) {
      model_times.push_back(run_model());
      const double start = now();
      peer.run();
      peer_times.push_back(now() - start);
    }
    const double macs = double(ref.out_width()) * ref.out_height() * shape.kernels *
                        shape.channels * shape.kernel * shape.kernel;
    const double model = median(model_times), onednn = median(peer_times);
    log_sum += std::log(onednn / model);
    std::printf("%-24s %9.1f %9.3f %9.3f %9.1f %7.2f %6zu\n", shape.name, macs / 1e6, model * 1e3,
                onednn * 1e3, macs / model / 1e9, onednn / model, parts.size());
  }
  std::printf("geometric mean of oneDNN s8s8 time / model time: %.2f\n",
              std::exp(log_sum / layers));
  return 0;
}
