// SPDX-License-Identifier: MIT
//
// bench_compare: the model beside oneDNN on this machine, with the kernels that NVDLA_KERNELS names
// and what ONEDNN_MAX_CPU_ISA leaves of oneDNN; bench.py runs it once for each pair and makes the
// table. --sets says which kernels this processor runs, best last.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "compare/cases.hpp"
#include "model/simd/kernels.hpp"
#include "peer/operation.hpp"

namespace {

void print_sets() {
  for (unsigned i = 0; i < nvdla::model::kKernelChoices; ++i) {
    const nvdla::model::KernelChoice choice = nvdla::model::kernel_choice(i);
    if (choice.usable) std::puts(choice.kernels->name);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  nvdla::bench::Settings settings;
  benchmark::Initialize(&argc, argv);
  if (argc == 2 && std::string_view(argv[1]) == "--sets") {
    print_sets();
    return 0;
  }
  // As few rounds as there can be: does everything run?
  if (argc == 2 && std::string_view(argv[1]) == "--quick") {
    settings = {.seconds = 0, .least = 1};
  } else if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  benchmark::AddCustomContext("kernels", nvdla::model::chosen_kernels().name);
  benchmark::AddCustomContext("peer", "oneDNN " + nvdla::bench::peer_version());
  benchmark::AddCustomContext("peer_instruction_set", nvdla::bench::peer_instruction_set());
  for (const auto add : {nvdla::bench::add_convolution_cases, nvdla::bench::add_scaled_cases,
                         nvdla::bench::add_network_cases, nvdla::bench::add_sdp_cases,
                         nvdla::bench::add_window_cases, nvdla::bench::add_move_cases,
                         nvdla::bench::add_exact_cases, nvdla::bench::add_latency_cases})
    add(settings);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_compare: %s\n", error.what());
  return 2;
}
