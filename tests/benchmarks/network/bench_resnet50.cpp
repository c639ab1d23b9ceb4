// SPDX-License-Identifier: MIT
//
// A whole quantised ResNet-50 through the public interface on the device model:
// bench_resnet50 [ROUNDS [THREADS [x|y]]]. The last word says which of SDP's operators adds the
// shortcuts. The checksum of the result has to be the same for all kernels and threads.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "network/random_network.hpp"

namespace {

using nvdla::bench::ResNet50;
using nvdla::bench::Shortcut;

double wall() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of all threads of the process: what else the machine does counts less.
double processor() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// FNV-1a.
std::uint32_t checksum(const std::vector<std::int8_t>& values) {
  std::uint32_t sum = 2166136261u;
  for (const std::int8_t value : values) sum = (sum ^ static_cast<std::uint8_t>(value)) * 16777619u;
  return sum;
}

}  // namespace

int main(int argc, char** argv) try {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 21;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  const std::string way = argc > 3 ? argv[3] : "x";
  if (rounds < 1 || threads < 1 || (way != "x" && way != "y")) {
    std::fprintf(stderr, "usage: %s [ROUNDS [THREADS [x|y]]]\n", argv[0]);
    return 2;
  }
  const auto device = nvdla::Device::open("model:nv_full,threads=" + std::to_string(threads));
  ResNet50 model(way == "x" ? Shortcut::kX : Shortcut::kY);
  nvdla::Request request = model.network().build(device);
  request.write("image", nvdla::Layout::kNchw, model.image());
  const double before = wall();
  request.run();
  const double first = wall() - before;
  std::vector<double> walls, processors;
  for (int round = 0; round < rounds; ++round) {
    const double wall_start = wall(), processor_start = processor();
    request.run();
    walls.push_back(wall() - wall_start);
    processors.push_back(processor() - processor_start);
  }
  std::vector<std::int8_t> classes(ResNet50::kClasses);
  request.read("classes", nvdla::Layout::kNchw, classes);
  std::printf("ResNet-50, int8, shortcuts by %s: %u layers, %.0f MMAC, threads: %d\n",
              way == "x" ? "X2" : "Y", request.network().layers(),
              static_cast<double>(model.network().macs()) / 1e6, threads);
  std::printf("first run %.1f ms; median of %d: %.2f ms, %.2f ms of processors; classes %08x\n",
              first * 1e3, rounds, median(walls) * 1e3, median(processors) * 1e3,
              checksum(classes));
  return 0;
} catch (const nvdla::Error& error) {
  std::fprintf(stderr, "bench_resnet50: %s\n", error.what());
  return 1;
}
