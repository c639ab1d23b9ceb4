// SPDX-License-Identifier: MIT
#include "cost/memory_timing.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace nvdla::cost {
namespace {

// Atoms that a unit asks for at once.
constexpr std::uint64_t kRun = 8;

}  // namespace

MemoryTiming MemoryTiming::behind(Interface interface) const noexcept {
  MemoryTiming memory = *this;
  if (interface == Interface::kPrimary) return memory;
  memory.bandwidth = sram_bandwidth;
  if (sram_latency != 0) memory.latency = memory.write_latency = sram_latency;
  return memory;
}

double MemoryTiming::transfer(Interface interface, std::uint64_t bytes) const noexcept {
  const double rate = interface == Interface::kPrimary ? bandwidth : sram_bandwidth;
  return rate > 0 ? static_cast<double>(bytes) / rate : 0;
}

Reads& Reads::operator+=(const Reads& other) noexcept {
  interface = other.interface;
  bytes += other.bytes;
  atoms += other.atoms;
  runs += other.runs;
  beats += other.beats;
  requests += other.requests;
  beat_bytes = std::max(beat_bytes, other.beat_bytes);
  return *this;
}

void Traffic::add(const Reads& reads) noexcept {
  add(reads.interface, reads.beats * reads.beat_bytes);
}

void Traffic::add(Interface interface, std::uint64_t bytes) noexcept {
  bytes_[interface == Interface::kSecondary] += bytes;
}

double Traffic::cycles(const MemoryTiming& memory) const noexcept {
  return std::max(memory.transfer(Interface::kPrimary, bytes_[0]),
                  memory.transfer(Interface::kSecondary, bytes_[1]));
}

double Traffic::add_to(Backlog& backlog, const MemoryTiming& memory, double begin) const noexcept {
  double done = begin;
  for (const Interface interface : {Interface::kPrimary, Interface::kSecondary}) {
    const auto i = static_cast<std::size_t>(interface);
    double left = memory.transfer(interface, bytes_[i]);
    double& until = backlog.until[i];
    for (Backlog::Gap& gap : backlog.idle[i]) {
      const double from = std::max(gap.begin, begin);
      if (left == 0 || from >= gap.end) continue;
      const double used = std::min(left, gap.end - from);
      gap.begin = from + used;
      left -= used;
      done = std::max(done, gap.begin);
    }
    if (left == 0) continue;
    if (begin > until) {
      std::shift_left(std::begin(backlog.idle[i]), std::end(backlog.idle[i]), 1);
      backlog.idle[i][Backlog::kGaps - 1] = {until, begin};
    }
    until = std::max(until, begin) + left;
    done = std::max(done, until);
  }
  return done;
}

Reads read_lines(const Machine& machine, Interface interface, std::uint64_t lines,
                 std::uint64_t atoms) noexcept {
  const std::uint64_t burst = interface == Interface::kPrimary ? machine.burst : machine.sram_burst;
  const auto beats = [&](std::uint64_t count) {
    return ceil_div(count * machine.atom, machine.bus_bytes);
  };
  const auto requests = [&](std::uint64_t count) {
    return ceil_div(beats(count), std::max<std::uint64_t>(burst, 1));
  };
  const std::uint64_t whole = atoms / kRun, rest = atoms % kRun;
  return {.interface = interface,
          .bytes = lines * atoms * machine.atom,
          .atoms = lines * atoms,
          .runs = lines * (whole + (rest != 0)),
          .beats = lines * beats(atoms),
          .beat_bytes = machine.bus_bytes,
          .requests = lines * (whole * requests(kRun) + requests(rest))};
}

Stream::Stream(const MemoryTiming& memory, const Reads& reads, const Queue& queue) noexcept
    : requests_(static_cast<double>(reads.requests)) {
  const MemoryTiming behind = memory.behind(reads.interface);
  latency_ = behind.latency;
  spacing_ = behind.request_gap;
  outstanding_ = behind.outstanding;
  if (reads.requests != 0) {
    const double beats = static_cast<double>(reads.beats) / requests_;
    const double beat =
        std::max<double>(behind.beat_gap, memory.transfer(reads.interface, reads.beat_bytes));
    spacing_ = std::max(spacing_, beats * beat);
    queued_ = queue.beats / beats;
    round_trip_ = latency_ + queue.turn;
  }
  period_ = outstanding_ == 0 ? spacing_ : std::max(spacing_, (latency_ + 1) / outstanding_);
}

double Stream::arrival(double busy) const noexcept {
  // With few requests on their way, answers let the next ones go: the wait for them is in the
  // period already.
  return std::max(busy, latency_ - 1 + busy * spacing_ / period_);
}

double Stream::all() const noexcept {
  if (requests_ == 0) return 0;
  double streamed = latency_ - 1 + requests_ * spacing_;
  if (queued_ > 0 && requests_ > queued_)
    streamed = std::max(streamed, latency_ - 1 + (requests_ - queued_) * round_trip_ / queued_);
  if (outstanding_ == 0) return streamed;
  // Rounds of as many as may be on their way.
  const double rounds = std::floor((requests_ - 1) / outstanding_);
  const double last = requests_ - 1 - rounds * outstanding_;
  return std::max(streamed, rounds * (latency_ + 1) + latency_ + last * spacing_);
}

}  // namespace nvdla::cost
