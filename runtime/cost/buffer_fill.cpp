// SPDX-License-Identifier: MIT
#include "cost/buffer_fill.hpp"

#include <algorithm>

namespace nvdla::cost {
namespace {

// Measured: from the enable to the first beat of a memory that answers at once, with the way into
// the buffer; the same when fetching goes on after it had to wait for room; what CDMA takes beyond
// a cycle an atom for each run of atoms of the input.
constexpr double kFirstBeat = 48;
constexpr double kGoOn = 34;
constexpr double kRunGap = 1.5;

}  // namespace

BufferFill::BufferFill(const MemoryTiming& memory, const Reads& data, const Reads& weights,
                       double room)
    : data_(memory, data),
      weights_(memory, weights),
      data_requests_(static_cast<double>(data.requests)),
      weight_requests_(static_cast<double>(weights.requests)),
      data_rate_(data.requests == 0 ? 0
                                    : data_requests_ / (static_cast<double>(data.atoms) +
                                                        kRunGap * static_cast<double>(data.runs))),
      shared_(data.interface == weights.interface && data.requests != 0 && weights.requests != 0),
      room_(std::min(room, 1.0)),
      initial_(room_) {
  start();
}

// Both at once, in turn, until one of them has nothing to ask for.
void BufferFill::start() {
  const double alone = std::min(data_rate_, 1 / data_.period());
  double data_rate = alone;
  both_rate_ = 1 / weights_.period();
  if (shared_) {
    data_rate = std::min(data_rate_, 1 / (data_.period() + weights_.period()));
    both_rate_ = (1 - data_rate * data_.period()) / weights_.period();
  }
  const double weights = weight_requests_ * initial_;
  if (data_requests_ != 0) {
    const double data_time = data_requests_ / data_rate;
    const double weight_time = weights / both_rate_;
    both_end_ = std::min(data_time, weight_time);
    double busy = data_time;
    if (weight_time < data_time)
      busy = weight_time + (data_requests_ - weight_time * data_rate) / alone;
    data_end_ = kFirstBeat + data_.arrival(busy);
    data_stall_ = busy - data_requests_ / data_rate_;
  }
  if (weight_requests_ == 0) return;
  fetched_ = initial_;
  since_ = kFirstBeat;
  busy_ = first_weights(weights);
  weight_stall_ = std::max(busy_ - weights, 0.0);
}

// How long the interface takes for the first kernels, while there is room.
double BufferFill::first_weights(double requests) const noexcept {
  const double time = requests / both_rate_;
  if (time <= both_end_) return time;
  return both_end_ + (requests - both_end_ * both_rate_) * weights_.period();
}

double BufferFill::weights_end(double share) {
  if (weight_requests_ == 0) return 0;
  if (share <= initial_ + kExact)
    return kFirstBeat + weights_.arrival(first_weights(share * weight_requests_));
  fetch_to(share);
  return clock();
}

void BufferFill::release(double share, double time) {
  fetch_to(room_);
  room_ = std::min(room_ + share, 1.0);
  if (time <= clock() || fetched_ >= 1 - kExact) return;
  // It waited: the next requests go out only now.
  since_ = time + kGoOn;
  busy_ = 0;
}

void BufferFill::fetch_to(double share) {
  if (share <= fetched_) return;
  const double requests = (share - fetched_) * weight_requests_;
  busy_ += requests * weights_.period();
  weight_stall_ += requests * (weights_.period() - 1);
  fetched_ = share;
}

}  // namespace nvdla::cost
