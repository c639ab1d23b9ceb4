// SPDX-License-Identifier: MIT
#include "model/move/bdma.hpp"

#include <algorithm>
#include <cstring>

#include "cost/unit_cycles.hpp"
#include "model/core/cube_rows.hpp"
#include "model/core/thread_pool.hpp"

namespace nvdla::model {
namespace {

constexpr std::uint32_t kBdmaDone = NVDLA_GLB_S_INTR_STATUS_BDMA_DONE_STATUS0_MASK;

// The most that one step moves, so that the owner of the device sees time pass.
constexpr std::uint64_t kStepBytes = std::uint64_t{64} << 20;
// A line that is broadcast or short costs more than its bytes.
constexpr std::uint64_t kLineCost = 64;
// Approximate nanoseconds per byte.
constexpr double kCopiedByteTime = 0.03;

}  // namespace

void Bdma::reset() {
  queue_.clear();
  counted_ = 0;
  busy_[0] = busy_[1] = false;
  running_.reset();
  waiting_.reset();
  left_ = 0;
  stuck_ = completing_ = false;
  surface_ = line_ = 0;
}

void Bdma::written(std::uint32_t offset, std::uint32_t value) {
  if ((value & 1) == 0) return;
  switch (offset) {
    case NVDLA_BDMA_CFG_OP:
      push();
      break;
    case NVDLA_BDMA_CFG_LAUNCH0:
      launch(0);
      break;
    case NVDLA_BDMA_CFG_LAUNCH1:
      launch(1);
      break;
    default:
      return;
  }
  update_status();
}

void Bdma::push() {
  ++counted_;
  // A push into a full queue is lost, but was counted.
  if (queue_.size() == kSlots) return;
  const auto word = [&](std::uint32_t offset) {
    return std::uint64_t{registers_.single(NVDLA_UNIT_BDMA, offset)};
  };
  const auto joined = [&](std::uint32_t high, std::uint32_t low) {
    return join_address(static_cast<std::uint32_t>(word(high)),
                        static_cast<std::uint32_t>(word(low)));
  };
  const std::uint64_t command = word(NVDLA_BDMA_CFG_CMD);
  Transfer transfer;
  transfer.source = {
      ram_type((command & NVDLA_BDMA_CFG_CMD_SRC_RAM_TYPE_MASK) != 0),
      joined(NVDLA_BDMA_CFG_SRC_ADDR_HIGH, NVDLA_BDMA_CFG_SRC_ADDR_LOW),
      word(NVDLA_BDMA_CFG_SRC_LINE),
      word(NVDLA_BDMA_CFG_SRC_SURF),
  };
  transfer.destination = {
      ram_type((command & NVDLA_BDMA_CFG_CMD_DST_RAM_TYPE_MASK) != 0),
      joined(NVDLA_BDMA_CFG_DST_ADDR_HIGH, NVDLA_BDMA_CFG_DST_ADDR_LOW),
      word(NVDLA_BDMA_CFG_DST_LINE),
      word(NVDLA_BDMA_CFG_DST_SURF),
  };
  transfer.bytes = (word(NVDLA_BDMA_CFG_LINE) + 1) * 32;
  transfer.lines = word(NVDLA_BDMA_CFG_LINE_REPEAT) + 1;
  transfer.surfaces = word(NVDLA_BDMA_CFG_SURF_REPEAT) + 1;
  queue_.push_back(transfer);
}

void Bdma::launch(unsigned group) {
  // The busy bit is a flag: launching a busy group again changes nothing.
  if (busy_[group]) return;
  busy_[group] = true;
  const bool first = group == 0;
  registers_.set_single(
      NVDLA_UNIT_BDMA,
      first ? NVDLA_BDMA_STATUS_GRP0_READ_STALL : NVDLA_BDMA_STATUS_GRP1_READ_STALL, 0);
  registers_.set_single(
      NVDLA_UNIT_BDMA,
      first ? NVDLA_BDMA_STATUS_GRP0_WRITE_STALL : NVDLA_BDMA_STATUS_GRP1_WRITE_STALL, 0);
  if (running_) {
    waiting_ = group;
  } else {
    start(group);
  }
}

void Bdma::start(unsigned group) {
  running_ = group;
  left_ = counted_;
  moved_ = {};
  counted_ = 0;
  stuck_ = left_ == 0;
}

void Bdma::update_status() {
  const std::uint32_t free = static_cast<std::uint32_t>(kSlots - queue_.size());
  registers_.set_single(NVDLA_UNIT_BDMA, NVDLA_BDMA_STATUS,
                        free << NVDLA_BDMA_STATUS_FREE_SLOT_SHIFT |
                            (running_ ? 0 : NVDLA_BDMA_STATUS_IDLE_MASK) |
                            (busy_[0] ? NVDLA_BDMA_STATUS_GRP0_BUSY_MASK : 0) |
                            (busy_[1] ? NVDLA_BDMA_STATUS_GRP1_BUSY_MASK : 0));
}

// Returns what the next step moves: surfaces, or lines of a surface that is larger than a step.
Bdma::Part Bdma::next_part(const Transfer& transfer) const noexcept {
  const std::uint64_t line_cost = transfer.bytes + kLineCost;
  const std::uint64_t surface_cost = transfer.lines * line_cost;
  if (surface_cost <= kStepBytes)
    return {std::min(transfer.surfaces - surface_, kStepBytes / surface_cost), transfer.lines};
  return {1, std::min(transfer.lines - line_, kStepBytes / line_cost)};
}

// Moves a part with several threads, if Bus::window() maps both cubes and no written line overlaps
// another line.
bool Bdma::move_open(const Transfer& transfer, const Part& part) {
  const auto cube = [&](const Surface& memory) {
    return SdpCube{.memory = {memory.ram, dma_.wrapped(memory.at(surface_, line_)), memory.line,
                              memory.surface},
                   .surfaces = part.surfaces,
                   .height = part.lines,
                   .line_bytes = transfer.bytes};
  };
  const SdpCube in = cube(transfer.source), out = cube(transfer.destination);
  if (!out.apart() || out.meets(in)) return false;
  const std::byte* from = dma_.window(in.memory.ram, in.memory.base, in.extent(), false);
  std::byte* to = dma_.window(out.memory.ram, out.memory.base, out.extent(), true);
  if (from == nullptr || to == nullptr) return false;
  const std::uint64_t bytes = transfer.bytes, all = part.surfaces * part.lines * bytes;
  const bool packed = in.memory.line == bytes && out.memory.line == bytes;
  const double time = kCopiedByteTime * static_cast<double>(all);
  const LineTasks tasks(part.surfaces, static_cast<std::uint32_t>(part.lines), bytes,
                        pool_.shares(time) ? all / pool_.in_flight() : all);
  auto execute = [&](unsigned /*thread*/, std::size_t task) {
    const LineTasks::Lines lines = tasks.at(task);
    const std::byte* source = from + lines.surface * in.memory.surface;
    std::byte* destination = to + lines.surface * out.memory.surface;
    const std::uint64_t step = packed ? lines.end - lines.begin : 1;
    for (std::uint64_t y = lines.begin; y < lines.end; y += step)
      std::memcpy(destination + y * out.memory.line, source + y * in.memory.line, step * bytes);
  };
  run_tasks(pool_, tasks.count(), time, execute);
  return true;
}

// Line by line, as the hardware does.
void Bdma::move_lines(const Transfer& transfer, const Part& part) {
  buffer_.resize(std::max<std::size_t>(buffer_.size(), transfer.bytes));
  for (std::uint64_t surface = surface_; surface < surface_ + part.surfaces; ++surface)
    for (std::uint64_t line = line_; line < line_ + part.lines; ++line) {
      dma_.read(NVDLA_DMA_BDMA_READ, transfer.source.ram, transfer.source.at(surface, line),
                buffer_.data(), transfer.bytes);
      dma_.write(NVDLA_DMA_BDMA_WRITE, transfer.destination.ram,
                 transfer.destination.at(surface, line), buffer_.data(), transfer.bytes);
    }
}

bool Bdma::run(std::uint32_t& interrupts) {
  // The queue is empty before the count where pushes were lost.
  if (!running_ || completing_ || stuck_ || queue_.empty()) return false;
  const Transfer& transfer = queue_.front();
  const Part part = next_part(transfer);
  if (!move_open(transfer, part)) move_lines(transfer, part);
  for (std::uint64_t surface = surface_; surface < surface_ + part.surfaces; ++surface)
    dma_.written_lines(transfer.destination.ram, transfer.destination.at(surface, line_),
                       transfer.destination.line, part.lines, transfer.bytes);
  line_ += part.lines;
  if (line_ == transfer.lines) {
    line_ = 0;
    surface_ += part.surfaces;
  }
  if (surface_ < transfer.surfaces) return true;

  surface_ = 0;
  const cost::Machine& machine = counters_.machine();
  moved_to_ = interface_of(transfer.destination.ram);
  moved_ += cost::read_lines(machine, interface_of(transfer.source.ram),
                             transfer.surfaces * transfer.lines, transfer.bytes / machine.atom);
  queue_.pop_front();
  if (--left_ == 0) {
    completing_ = true;
    counters_.count_bdma(*running_,
                         [&] { return cost::bdma_cycles(counters_.memory(), moved_, moved_to_); });
    interrupts = kBdmaDone << *running_;
  }
  update_status();
  return true;
}

void Bdma::delivered(std::uint32_t interrupts) {
  if (!running_ || !completing_ || (interrupts & (kBdmaDone << *running_)) == 0) return;
  busy_[*running_] = false;
  completing_ = false;
  running_.reset();
  if (waiting_) {
    const unsigned next = *waiting_;
    waiting_.reset();
    start(next);
  }
  update_status();
}

void Bdma::list_blocked(BlockedList& list) const {
  if (!running_ || completing_) return;
  std::string reason;
  if (stuck_) {
    reason = "was launched without a pushed transfer";
  } else if (queue_.empty()) {
    reason =
        "waits for " + std::to_string(left_) + " more transfers, whose pushes found no free slot";
  } else {
    return;
  }
  list.add(NVDLA_UNIT_BDMA, *running_, reason);
  if (waiting_)
    list.add(NVDLA_UNIT_BDMA, *waiting_,
             "waits for group " + std::to_string(*running_) + ": it " + reason);
}

}  // namespace nvdla::model
