// SPDX-License-Identifier: MIT
#include "cost/buffer_fill.hpp"

#include <algorithm>
#include <limits>

namespace nvdla::cost {
namespace {

// Measured: from where fetching goes on after it had to wait for room to its first beat.
constexpr double kGoOn = 34;

}  // namespace

BufferFill::BufferFill(const MemoryTiming& memory, const CubeFetch& data, const Reads& weights,
                       double room, const Start& start)
    : data_(memory, data.reads),
      weights_(memory, weights),
      data_requests_(static_cast<double>(data.reads.requests)),
      weight_requests_(static_cast<double>(weights.requests)),
      data_pace_(data_requests_ == 0 ? 0 : data.own / data_requests_),
      shared_pace_(std::max(data_pace_, data.shared * data_.period() + data.shared_own)),
      shared_(data.reads.interface == weights.interface && data_requests_ != 0 &&
              weight_requests_ != 0),
      data_begin_(data.begin + start.data + start.data_lead * data_.period()),
      weights_begin_(data.begin + start.weights + start.weights_lead * weights_.period()),
      room_(std::min(room, 1.0)),
      initial_(room_) {
  this->start(start);
}

// Both at once until one of them has nothing to ask for or no room; before one of them may begin,
// and then, the other has the interface for itself.
void BufferFill::start(const Start& start) {
  const double alone = 1 / std::max(data_pace_, data_.period());
  double data_both = alone, weights_both = 1 / weights_.period();
  if (shared_) {
    data_both = std::min(alone, 1 / shared_pace_);
    weights_both = (1 - data_both * data_.period()) / weights_.period();
  }
  double data = data_requests_, weights = weight_requests_ * initial_;
  double time = std::min(data_begin_, weights_begin_), data_done = data_begin_;
  constexpr double kNever = std::numeric_limits<double>::infinity();
  // So much of the input has no room yet.
  double held = data * (1 - std::clamp(start.data_room, 0.0, 1.0));
  std::size_t rooms = 0;
  while (data > 0 || weights > 0) {
    for (; rooms < start.data_rooms.size() && start.data_rooms[rooms].time <= time; ++rooms)
      held = std::max(held - start.data_rooms[rooms].share * data_requests_, 0.0);
    if (rooms == start.data_rooms.size()) held = 0;
    const bool fetches_data = data > held + kExact && time >= data_begin_;
    const bool fetches_weights = weights > 0 && time >= weights_begin_;
    const bool both = fetches_data && fetches_weights;
    const double data_rate = !fetches_data ? 0 : both ? data_both : alone;
    const double weights_rate = !fetches_weights ? 0 : both ? weights_both : 1 / weights_.period();
    double cycles = kNever;
    if (fetches_data) cycles = (data - held) / data_rate;
    if (rooms < start.data_rooms.size())
      cycles = std::min(cycles, start.data_rooms[rooms].time - time);
    if (fetches_weights) cycles = std::min(cycles, weights / weights_rate);
    if (time < data_begin_) cycles = std::min(cycles, data_begin_ - time);
    if (time < weights_begin_) cycles = std::min(cycles, weights_begin_ - time);
    const double went = weights_rate * cycles;
    if (fetches_weights) add_phase(time, cycles, went);
    data -= data_rate * cycles;
    weights -= went;
    if (data < kExact) data = 0;
    if (weights < kExact) weights = 0;
    time += cycles;
    if (fetches_data && data == 0) data_done = time;
  }
  if (data_requests_ != 0) {
    const double busy = data_done - data_begin_;
    data_end_ = data_begin_ + data_.arrival(busy);
    data_stall_ = std::max(busy - data_requests_ * std::max(data_pace_, 1.0), 0.0);
  }
  if (weight_requests_ == 0) return;
  fetched_ = initial_;
  since_ = weights_begin_;
  busy_ = first_weights(weight_requests_ * initial_);
  weight_stall_ = std::max(busy_ - weight_requests_ * initial_, 0.0);
}

void BufferFill::add_phase(double begin, double cycles, double requests) noexcept {
  if (num_phases_ < kPhases) {
    phases_[num_phases_++] = {.begin = begin, .cycles = cycles, .requests = requests};
    return;
  }
  Phase& last = phases_[kPhases - 1];
  last.cycles = begin + cycles - last.begin;
  last.requests += requests;
}

// Returns how long the first kernels take, while there is room.
double BufferFill::first_weights(double requests) const noexcept {
  double time = weights_begin_;
  for (unsigned i = 0; i < num_phases_ && requests > kExact; ++i) {
    const Phase& phase = phases_[i];
    const double part = std::min(requests / phase.requests, 1.0);
    time = phase.begin + part * phase.cycles;
    requests -= part * phase.requests;
  }
  return time - weights_begin_;
}

double BufferFill::weights_end(double share) {
  if (weight_requests_ == 0) return 0;
  if (share <= initial_ + kExact)
    return weights_begin_ + weights_.arrival(first_weights(share * weight_requests_));
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
