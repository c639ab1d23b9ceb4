// SPDX-License-Identifier: MIT
//
// BDMA copies rectangles between memories. It has no ping-pong groups but a queue of transfers; a
// launch closes group 0 or 1 with the transfers pushed so far.
//
// Hardware counts pushed transfers and takes the count when a launched group starts, not when it is
// launched: transfers that are pushed while a group waits behind a running one join it, and the
// launch that should have taken them is empty. An empty group never ends.
#ifndef NVDLA_MODEL_MOVE_BDMA_HPP
#define NVDLA_MODEL_MOVE_BDMA_HPP

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/core/blocked_list.hpp"
#include "model/core/counters.hpp"
#include "model/core/dma.hpp"
#include "model/core/register_file.hpp"
#include "model/core/surface.hpp"

namespace nvdla::model {

class ThreadPool;

class Bdma {
 public:
  static constexpr unsigned kSlots = 20;

  Bdma(RegisterFile& registers, Dma& dma, Counters& counters, ThreadPool& pool) noexcept
      : registers_(registers), counters_(counters), dma_(dma), pool_(pool) {}

  void reset();

  // Handles a register write; the register already has its value.
  void written(std::uint32_t offset, std::uint32_t value);

  // Moves one transfer, or a part of a large one. Sets the interrupts of a group that has written
  // everything; the group's busy bit stays until delivered().
  bool run(std::uint32_t& interrupts);
  void delivered(std::uint32_t interrupts);

  bool idle() const noexcept { return !running_; }
  void list_blocked(BlockedList& list) const;

 private:
  struct Transfer {
    Surface source, destination;
    std::uint64_t bytes = 0, lines = 0, surfaces = 0;
  };

  // The surfaces and lines of a step, from the current position on.
  struct Part {
    std::uint64_t surfaces = 0, lines = 0;
  };

  Part next_part(const Transfer& transfer) const noexcept;
  bool move_open(const Transfer& transfer, const Part& part);
  void move_lines(const Transfer& transfer, const Part& part);
  void push();
  void launch(unsigned group);
  void start(unsigned group);
  void update_status();

  RegisterFile& registers_;
  Counters& counters_;
  Dma& dma_;
  ThreadPool& pool_;
  std::deque<Transfer> queue_;
  // Transfers pushed since the last group started, including those that found the queue full.
  unsigned counted_ = 0;
  bool busy_[2] = {};
  std::optional<unsigned> running_;
  std::optional<unsigned> waiting_;
  unsigned left_ = 0;                                     // transfers left in the running group
  cost::Reads moved_;                                     // reads of the finished transfers
  cost::Interface moved_to_ = cost::Interface::kPrimary;  // destination of the last of them
  bool stuck_ = false;                                    // the running group was empty
  bool completing_ = false;  // everything is written, the responses are pending
  // The position in the transfer at the front of the queue.
  std::uint64_t surface_ = 0, line_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_MOVE_BDMA_HPP
