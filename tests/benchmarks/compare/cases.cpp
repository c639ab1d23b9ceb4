// SPDX-License-Identifier: MIT
#include "compare/cases.hpp"

#include <benchmark/benchmark.h>

#include <exception>
#include <utility>

#include "peer/operation.hpp"

namespace nvdla::bench {
namespace {

void measure(benchmark::State& state, const Rounds& rounds, const Case& one) {
  const std::vector<Timing> timings = alternate(one.sides, rounds);
  for (auto _ : state) state.SetIterationTime(timings.front().seconds);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    state.counters[one.sides[i].name + " s"] = timings[i].seconds;
    if (i > 0) state.counters[one.sides[i].name + " ratio"] = timings[i].ratio;
  }
  for (const auto& [name, mebibytes] : one.mebibytes) state.counters[name + " MiB"] = mebibytes;
  if (one.macs > 0) state.counters["macs"] = one.macs;
  state.SetLabel(one.label);
}

}  // namespace

void add_case(const Settings& settings, const CaseName& name, std::function<Case()> make) {
  Rounds rounds;
  rounds.seconds = settings.seconds;
  rounds.least = settings.least;
  rounds.cold = name.cold;
  rounds.wall = name.wall || name.threads > 1;
  const std::string full = name.group + "/" + name.name +
                           "/threads:" + std::to_string(name.threads) +
                           (name.cold ? "/cold" : "/warm");
  const auto body = [rounds, threads = name.threads,
                     make = std::move(make)](benchmark::State& state) {
    try {
      set_peer_threads(threads);
      measure(state, rounds, make());
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
    }
  };
  benchmark::RegisterBenchmark(full.c_str(), body)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace nvdla::bench
