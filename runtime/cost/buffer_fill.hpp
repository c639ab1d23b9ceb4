// SPDX-License-Identifier: MIT
//
// `BufferFill` follows CDMA as it fills the convolution buffer: input and kernels share an
// interface, all input is there before anything is computed, kernels come group by group as far as
// there is room for them.
#ifndef NVDLA_COST_BUFFER_FILL_HPP
#define NVDLA_COST_BUFFER_FILL_HPP

#include <cstdint>
#include <span>

#include "cost/geometry.hpp"
#include "cost/machine.hpp"
#include "cost/memory_timing.hpp"

namespace nvdla::cost {

// `CubeFetch` describes how CDMA fetches the input of a convolution.
struct CubeFetch {
  Reads reads;
  double begin = 0;  // from the enable to the first beat of a memory that answers at once
  double own = 0;    // cycles that CDMA takes for all of it, however fast the memory is
  // A request takes so many times its share of the interface while kernels are fetched, and so many
  // cycles beside.
  double shared = 2, shared_own = 0;
};

CubeFetch fetch_cube(const Machine& machine, const ConvGeometry& layer);

class BufferFill {
 public:
  // `Room` is a share that becomes free at `time`.
  struct Room {
    double share = 0, time = 0;
  };

  // `Start` sets when CDMA may ask for the input and for the kernels, and for how many beats of
  // other clients the interface is taken first.
  struct Start {
    double data = 0, weights = 0;
    double data_lead = 0, weights_lead = 0;
    // The share of the input that has room at first, and when more has.
    double data_room = 1;
    std::span<const Room> data_rooms = {};
  };

  // `room` is how much of the kernels fits, 1 for all of them.
  BufferFill(const MemoryTiming& memory, const CubeFetch& data, const Reads& weights, double room,
             const Start& start);

  // When all input is there; 0 if it was there before.
  double data_end() const noexcept { return data_end_; }
  // When the first `share` of the kernels is there, 0 < share <= 1. Shares ascend, and before one
  // that needs it, as much as it needs has been released.
  double weights_end(double share);
  // Returns whether this share has no room yet: release() what is oldest and go on.
  bool needs_room(double share) const noexcept { return share > room_ + kExact; }
  // A share of the kernels was used up at `time`.
  void release(double share, double time);

  // Cycles in which a request waited for the interface.
  double data_stall() const noexcept { return data_stall_; }
  double weight_stall() const noexcept { return weight_stall_; }

 private:
  static constexpr double kExact = 1e-9;
  static constexpr unsigned kPhases = 8;

  // Requests for kernels that go out in `cycles` from `begin` on.
  struct Phase {
    double begin = 0, cycles = 0, requests = 0;
  };

  void start(const Start& start);
  void add_phase(double begin, double cycles, double requests) noexcept;
  double first_weights(double requests) const noexcept;
  void fetch_to(double share);
  double clock() const noexcept { return since_ + weights_.arrival(busy_); }

  Stream data_, weights_;
  double data_requests_, weight_requests_;
  double data_pace_, shared_pace_;  // cycles of a request, alone and beside kernels
  bool shared_;
  double data_begin_, weights_begin_;
  double room_;     // share of the kernels up to which they may be fetched
  double initial_;  // what fits at first
  double fetched_ = 0;
  Phase phases_[kPhases];
  unsigned num_phases_ = 0;
  // Kernels have been on their way since `since_`, and kept the interface busy for `busy_`.
  double since_ = 0, busy_ = 0;
  double data_end_ = 0;
  double data_stall_ = 0, weight_stall_ = 0;
};

}  // namespace nvdla::cost

#endif  // NVDLA_COST_BUFFER_FILL_HPP
