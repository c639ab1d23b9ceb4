// SPDX-License-Identifier: MIT
//
// `Stream` computes what reading memory costs: requests on an interface that answers in order.
#ifndef NVDLA_COST_MEMORY_TIMING_HPP
#define NVDLA_COST_MEMORY_TIMING_HPP

#include <cstdint>

#include "cost/geometry.hpp"
#include "cost/machine.hpp"

namespace nvdla::cost {

// `MemoryTiming` describes the memory behind the primary interface, and where that behind the
// secondary one differs. The defaults are those that the logic was measured with.
struct MemoryTiming {
  unsigned latency = 1;        // cycles from a request to its first beat
  unsigned write_latency = 1;  // and from the last beat of a write to its response
  unsigned outstanding = 0;    // requests on their way at once; 0: as many as the units make
  unsigned request_gap = 1;    // cycles of the interface that an address takes
  unsigned beat_gap = 1;       // and a beat that is read
  double bandwidth = 0;        // bytes a cycle, read and written; 0: as many as the interface takes
  // The same of the secondary memory. Without a latency of its own it has that of the primary.
  unsigned sram_latency = 0;
  double sram_bandwidth = 0;

  // Returns the timing of the memory behind one interface, as that of the primary.
  MemoryTiming behind(Interface interface) const noexcept;
  // Returns the cycles that so many bytes take at least.
  double transfer(Interface interface, std::uint64_t bytes) const noexcept;
};

// `Reads` counts what one client reads.
struct Reads {
  Interface interface = Interface::kPrimary;
  std::uint64_t bytes = 0;
  std::uint64_t atoms = 0;
  std::uint64_t runs = 0;   // of at most eight atoms, as the units ask for them
  std::uint64_t beats = 0;  // of the interface
  std::uint64_t beat_bytes = 0;
  std::uint64_t requests = 0;  // of the interface, each a burst of beats

  Reads& operator+=(const Reads& other) noexcept;
};

// `Backlog` has, for each interface, when its memory has passed on all that layers so far ask of
// it, and when it was idle before: a layer that comes later in the order may begin earlier.
struct Backlog {
  struct Gap {
    double begin = 0, end = 0;
  };
  static constexpr unsigned kGaps = 4;  // the last ones

  double until[2] = {};
  Gap idle[2][kGaps] = {};  // oldest first
};

// `Traffic` adds up what goes through each interface, both ways, which shares its bandwidth.
class Traffic {
 public:
  void add(const Reads& reads) noexcept;
  void add(Interface interface, std::uint64_t bytes) noexcept;

  // Returns the cycles that all of it takes at least.
  double cycles(const MemoryTiming& memory) const noexcept;
  // Adds it to what is asked from `begin` on. Returns when all of that has passed.
  double add_to(Backlog& backlog, const MemoryTiming& memory, double begin) const noexcept;

 private:
  std::uint64_t bytes_[2] = {};
};

// Returns the reads of `lines` runs of `atoms`, each in one piece that begins with a beat.
Reads read_lines(const Machine& machine, Interface interface, std::uint64_t lines,
                 std::uint64_t atoms) noexcept;

// `Queue` is what limits a client beside the memory: beats on their way at once, 0 for no limit,
// each of which takes the latency and `turn` cycles.
struct Queue {
  std::uint32_t beats = 0, turn = 0;
};

// Requests that follow one another, all from clients of one interface.
class Stream {
 public:
  Stream(const MemoryTiming& memory, const Reads& reads, const Queue& queue = {}) noexcept;

  // Cycles from one request to the next while there is always one to make.
  double period() const noexcept { return period_; }
  // From the first request to the last beat, if the interface is busy with them for `busy` cycles.
  double arrival(double busy) const noexcept;
  // The same of all requests, made as soon as they can be.
  double all() const noexcept;

 private:
  double requests_, latency_ = 1, spacing_ = 1, period_ = 1;
  unsigned outstanding_ = 0;
  double queued_ = 0;      // requests for which the client has room
  double round_trip_ = 0;  // of a request, as the client sees it
};

}  // namespace nvdla::cost

#endif  // NVDLA_COST_MEMORY_TIMING_HPP
