// SPDX-License-Identifier: MIT
#include "tools/measure/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nvdla::program {
namespace {

// A limit has to explain so much of a probe's time to be believed.
constexpr double kBelieved = 0.01;
// Bounds of what is searched: cycles, requests, cycles a byte.
constexpr unsigned kMostLatency = 4096;
constexpr unsigned kMostOutstanding = 256;
constexpr double kMostPeriod = 8;
// Bandwidths are looked at so close together: just below that of the interface they explain little.
constexpr double kPeriodRatio = 1.05;

// `Fit` tries memories.
class Fit {
 public:
  Fit(const cost::Machine& machine, cost::Interface interface, const cost::MemoryTiming& known,
      std::span<const ProbeTime> probes)
      : machine_(machine), interface_(interface), known_(known), probes_(probes) {}

  // Returns the best memory without a limit, with either, and with both, whichever believably
  // explains the times with fewest.
  FittedMemory best() {
    FittedMemory best = with_latency(0, 0);
    const auto take = [&](const FittedMemory& other) {
      if (other.error + kBelieved < best.error) best = other;
    };
    const FittedMemory slow = with_bandwidth(0);
    FittedMemory few = best;
    // The secondary memory has no limit of its own of requests.
    if (interface_ == cost::Interface::kPrimary) few = with_outstanding(false);
    take(slow.error <= few.error ? slow : few);
    take(slow.error <= few.error ? few : slow);
    if (interface_ == cost::Interface::kPrimary && best.error > kBelieved)
      take(with_outstanding(true));
    return best;
  }

 private:
  // Returns what is left unexplained with this memory: overhead and error.
  FittedMemory judge(unsigned latency, unsigned outstanding, double period) const {
    FittedMemory fitted;
    fitted.memory = known_;
    cost::MemoryTiming& memory = fitted.memory;
    const double bandwidth = period == 0 ? 0 : 1 / period;
    if (interface_ == cost::Interface::kPrimary) {
      memory.latency = memory.write_latency = latency;
      memory.outstanding = outstanding;
      memory.bandwidth = bandwidth;
    } else {
      memory.sram_latency = latency;
      memory.sram_bandwidth = bandwidth;
    }
    double weights = 0;
    for (const ProbeTime& probe : probes_) {
      fitted.explained.push_back(static_cast<double>(
          cost::sequence_cycles(machine_, memory, probe.layers, engine_).total));
      const double weight = 1 / (probe.cycles * probe.cycles);
      fitted.overhead += weight * (probe.cycles - fitted.explained.back());
      weights += weight;
    }
    fitted.overhead = std::max(fitted.overhead / weights, 0.0);
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      fitted.explained[i] += fitted.overhead;
      const double off = fitted.explained[i] - probes_[i].cycles;
      fitted.error = std::max(fitted.error, std::abs(off) / probes_[i].cycles);
    }
    return fitted;
  }

  // Returns the best of try_at(x), x from `low` to `high`: first of a few places, each `ratio`
  // times the one before, then ever closer around the best.
  template <typename TryAt>
  static FittedMemory search(double low, double high, double ratio, double nearest,
                             const TryAt& try_at) {
    FittedMemory best;
    double at = low;
    best.error = std::numeric_limits<double>::infinity();
    const auto look = [&](double x) {
      if (x < low || x > high) return;
      const FittedMemory fitted = try_at(x);
      if (fitted.error >= best.error) return;
      best = fitted;
      at = x;
    };
    for (double x = low; x <= high; x *= ratio) look(x);
    for (double step = at * (ratio - 1) / 2; step >= nearest * std::min(at, 1.0); step /= 2) {
      const double from = at;
      look(from - step);
      look(from + step);
    }
    return best;
  }

  FittedMemory with_latency(unsigned outstanding, double period) const {
    return search(1, kMostLatency, 1.3, 0.5, [&](double latency) {
      return judge(static_cast<unsigned>(std::lround(latency)), outstanding, period);
    });
  }

  FittedMemory with_bandwidth(unsigned outstanding) const {
    return search(1.0 / (4 * machine_.bus_bytes), kMostPeriod, kPeriodRatio, 1e-4,
                  [&](double period) { return with_latency(outstanding, period); });
  }

  FittedMemory with_outstanding(bool with_bandwidth_too) const {
    // Fewer limits have to do where bandwidths are tried for each.
    const double ratio = with_bandwidth_too ? 1.5 : 1.08;
    return search(1, kMostOutstanding, ratio, 0.5, [&](double outstanding) {
      const auto requests = static_cast<unsigned>(std::lround(outstanding));
      return with_bandwidth_too ? with_bandwidth(requests) : with_latency(requests, 0);
    });
  }

  const cost::Machine& machine_;
  const cost::Interface interface_;
  const cost::MemoryTiming known_;
  const std::span<const ProbeTime> probes_;
  const cost::EngineTiming engine_ = {};
};

}  // namespace

FittedMemory fit_memory(const cost::Machine& machine, cost::Interface interface,
                        const cost::MemoryTiming& known, std::span<const ProbeTime> probes) {
  return Fit(machine, interface, known, probes).best();
}

}  // namespace nvdla::program
