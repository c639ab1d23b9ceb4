// SPDX-License-Identifier: MIT
//
// bench_open LOADABLE [THREADS]: what a process that is new has to wait for, and how much memory it
// has had by then. Nothing is warm, so run it anew for each time.
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "nvdla/nvdla.hpp"

namespace {

double read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

template <typename Step>
void measure(const char* name, Step step) {
  const double wall = read(CLOCK_MONOTONIC), processor = read(CLOCK_PROCESS_CPUTIME_ID);
  step();
  const double wall_end = read(CLOCK_MONOTONIC), end = read(CLOCK_PROCESS_CPUTIME_ID);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-12s %8.2f ms, %8.2f ms of processor, at most %6.1f MiB\n", name, wall_end - wall,
              end - processor, static_cast<double>(usage.ru_maxrss) / 1024);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "Usage: bench_open LOADABLE [THREADS]\n");
    return 2;
  }
  const std::string threads = argc > 2 ? argv[2] : "1";
  const nvdla::Device device = nvdla::Device::open("model:nv_full,threads=" + threads);
  std::optional<nvdla::Loadable> loadable;
  std::optional<nvdla::Request> request;
  measure("load", [&] { loadable = nvdla::Loadable::load(argv[1]); });
  measure("open", [&] { request = loadable->open(device); });
  measure("first run", [&] { request->run(); });
  measure("second run", [&] { request->run(); });
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_open: %s\n", error.what());
  return 1;
}
