// SPDX-License-Identifier: MIT
//
// What things cost in a guest, beside the model in this process; a figure, not a test. Prints the
// medians of interleaved rounds: ioctls, and the time from submission to the end of a small copy.
// Then those of a SUBMIT that writes to a buffer which jobs of many contexts are to read before.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <nvdla/nvdla.hpp>
#include <string>
#include <vector>

#include "emulator/device/fault_capability.h"
#include "fault_control.hpp"
#include "ioctl/node.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Figure {
  std::string name;
  std::function<void()> run;
  std::vector<double> microseconds;
};

std::function<void()> copy_on(const nvdla::Device& device) {
  const std::uint32_t atom = device.info().atom;
  nvdla_layer layer{};
  layer.kind = NVDLA_LAYER_SDP;
  layer.sdp.width = 8;
  layer.sdp.height = 1;
  layer.sdp.channels = atom;
  layer.sdp.out_cvt.scale = 1;
  layer.sdp.input.line_stride = layer.sdp.output.line_stride = 8 * atom;
  layer.sdp.input.surface_stride = layer.sdp.output.surface_stride = 8 * atom;
  layer.sdp.output.slot = 1;
  const nvdla_slot slots[] = {{8 * atom, atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_READ, 0},
                              {8 * atom, atom, NVDLA_MEMORY_DRAM, NVDLA_SLOT_WRITE, 0}};
  const nvdla::Program program = device.create_program({.layers = {&layer, 1}, .slots = slots});
  const std::vector<nvdla::Binding> bindings = {{device.allocate(4096), 0},
                                                {device.allocate(4096), 0}};
  return [=] { device.submit(program, bindings).wait(); };
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the microseconds of a SUBMIT behind that many contexts, none of whose jobs has begun.
double submit_behind(unsigned contexts) {
  nvdla::ioctl_test::Node node;
  nvdla::ioctl_test::CopyProgram copy(node.info().atom_bytes);
  auto args = copy.args();
  nvdla::ioctl_test::must(node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), "PROGRAM_CREATE");
  const std::uint32_t shared = node.buffer(4096);
  const auto submit = [&](std::uint32_t from, std::uint32_t to) {
    const std::vector<drm_nvdla_binding> bindings = {{0, from, 0}, {0, to, 0}};
    drm_nvdla_submit submit{};
    submit.bindings = nvdla::ioctl_test::array_of(bindings);
    submit.context = node.context();
    submit.program = args.program;
    const auto begin = Clock::now();
    nvdla::ioctl_test::must(node.call(DRM_IOCTL_NVDLA_SUBMIT, &submit), "SUBMIT");
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  };
  for (unsigned i = 0; i < contexts; ++i) submit(shared, node.buffer(4096));
  std::vector<double> writers;
  for (unsigned i = 0; i < 21; ++i) writers.push_back(submit(node.buffer(4096), shared));
  return median(writers);
}

}  // namespace

int main() try {
  const nvdla::Device kernel = nvdla::Device::open("auto");
  const nvdla::Device model =
      nvdla::Device::open("model:" + std::string(kernel.info().configuration));
  const nvdla::ioctl_test::Node node;
  const std::uint32_t context = node.context();
  nvdla::ioctl_test::CopyProgram copy(node.info().atom_bytes);

  std::vector<Figure> figures;
  figures.push_back({"ioctl QUERY", [&] { node.info(); }, {}});
  figures.push_back({"ioctl CONTEXT_QUERY",
                     [&] {
                       drm_nvdla_context_query query{context, 0, 0, 0};
                       node.call(DRM_IOCTL_NVDLA_CONTEXT_QUERY, &query);
                     },
                     {}});
  figures.push_back({"ioctl BO_CREATE 4 KiB and GEM_CLOSE",
                     [&] {
                       drm_gem_close close{node.buffer(4096), 0};
                       node.call(DRM_IOCTL_GEM_CLOSE, &close);
                     },
                     {}});
  figures.push_back({"ioctl PROGRAM_CREATE and _DESTROY, one layer",
                     [&] {
                       auto create = copy.args();
                       node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &create);
                       drm_nvdla_program_destroy destroy{create.program, 0};
                       node.call(DRM_IOCTL_NVDLA_PROGRAM_DESTROY, &destroy);
                     },
                     {}});
  figures.push_back({"submit to end, kernel", copy_on(kernel), {}});
  figures.push_back({"submit to end, model in this process", copy_on(model), {}});

  for (int round = 0; round < 200; ++round) {
    for (Figure& figure : figures) {
      const auto begin = Clock::now();
      figure.run();
      figure.microseconds.push_back(
          std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
  }
  for (Figure& figure : figures) {
    std::printf("%10.1f us  %s\n", median(figure.microseconds), figure.name.c_str());
  }
  // No job ends meanwhile; closing the node cancels them.
  nvdla::emulator_test::FaultControl faults;
  faults.set(NVDLA_FAULT_DELAY_US, 1'500'000);
  for (const unsigned contexts : {1u, 10u, 100u, 900u})
    std::printf("%10.1f us  SUBMIT behind readers in %u contexts\n", submit_behind(contexts),
                contexts);
  faults.set(NVDLA_FAULT_DELAY_US, 0);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_guest: %s\n", error.what());
  return 1;
}
