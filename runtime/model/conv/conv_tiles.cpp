// SPDX-License-Identifier: MIT
#include "model/conv/conv_tiles.hpp"

#include <algorithm>

#include "support/integers.hpp"

namespace nvdla::model {
namespace {

// Nanoseconds; long enough that passing it on costs nothing, as long as it stays in a cache.
constexpr double kTaskTime = 4e3;
constexpr std::size_t kMaxTaskTiles = 4;
// Tasks of a thread, so that threads end together; fewer where a task would take less time than it
// is worth to fetch one.
constexpr std::size_t kThreadTasks = 4;
constexpr double kMinTaskTime = 1e3;
// Positions of a tile that is cut for several threads, or a multiple of it.
constexpr unsigned kLeastTile = SdpPass::kPositions / 4;
// SDP takes about so many nanoseconds for a position of a block.
constexpr double kFinishTime = 4;

}  // namespace

class ConvTiles::Tasks final : public ThreadPool::Work {
 public:
  Tasks(const Kernels& kernels, SdpPass& sdp, const Cut& cut, const Compute& compute,
        const Finish& finish) noexcept
      : kernels_(kernels),
        sdp_(sdp),
        cut_(cut),
        compute_(compute),
        finish_(finish),
        steps_((cut.positions + cut.of_tile - 1) / cut.of_tile),
        shared_(sdp.shareable()) {}

  std::size_t tiles() const noexcept { return steps_ * sdp_.blocks(); }
  // Chooses how many tiles a task has that others may execute, if a position of a block takes so
  // many nanoseconds.
  void cut(double of_position, unsigned threads) noexcept {
    const double of_tile = std::min(cut_.of_tile, cut_.positions) * of_position;
    const auto worth =
        static_cast<std::size_t>(of_tile * static_cast<double>(tiles()) / kMinTaskTime);
    const std::size_t tasks = std::clamp<std::size_t>(worth, threads, kThreadTasks * threads);
    const std::size_t wanted =
        std::min(static_cast<std::size_t>(kTaskTime / of_tile), tiles() / tasks);
    // A thread gathers what a position sees once for all blocks.
    const std::size_t whole = shared_ && cut_.order == Order::kBlocksFirst ? sdp_.blocks() : 1;
    task_tiles_ = whole > 1 && steps_ >= tasks ? std::max<std::size_t>(wanted / whole, 1) * whole
                                               : std::clamp<std::size_t>(wanted, 1, kMaxTaskTiles);
  }
  std::size_t count() const noexcept { return (tiles() + task_tiles_ - 1) / task_tiles_; }
  // Returns how many values a slot has.
  std::size_t slot_values() const noexcept {
    return (shared_ ? 1 : task_tiles_) * cut_.of_tile * kBlock;
  }
  void place(std::int32_t* values) noexcept { values_ = values; }

  void enter() noexcept override {
    if (kernels_.enter != nullptr) kernels_.enter();
  }
  void leave() noexcept override {
    if (kernels_.leave != nullptr) kernels_.leave();
  }
  void execute(unsigned thread, std::size_t task, std::size_t slot) noexcept override {
    for_each(task, slot, [&](const ConvTile& tile, std::int32_t* values) {
      if (shared_ && finish_) return finish_(thread, tile);
      compute_(thread, tile, values);
      if (shared_) sdp_.tile(values, tile.block, tile.first, tile.count, thread);
    });
  }
  bool retires() const noexcept override { return !shared_; }
  void retire(std::size_t task, std::size_t slot) override {
    if (shared_) return;
    for_each(task, slot, [&](const ConvTile& tile, std::int32_t* values) {
      sdp_.tile(values, tile.block, tile.first, tile.count);
    });
  }

 private:
  ConvTile at(std::size_t index) const noexcept {
    const bool blocks_first = cut_.order == Order::kBlocksFirst;
    const std::size_t inner = blocks_first ? sdp_.blocks() : steps_;
    const std::size_t block = blocks_first ? index % inner : index / inner;
    const std::size_t step = blocks_first ? index / inner : index % inner;
    const auto first = static_cast<std::uint32_t>(step * cut_.of_tile);
    return {static_cast<unsigned>(block), first,
            std::min<std::uint32_t>(cut_.of_tile, cut_.positions - first)};
  }
  template <typename Call>
  void for_each(std::size_t task, std::size_t slot, Call call) const {
    const std::size_t begin = task * task_tiles_, end = std::min(begin + task_tiles_, tiles());
    const std::size_t next = shared_ ? 0 : std::size_t{cut_.of_tile} * kBlock;
    std::int32_t* values = values_ + slot * slot_values();
    for (std::size_t i = begin; i < end; ++i, values += next) call(at(i), values);
  }

  const Kernels& kernels_;
  SdpPass& sdp_;
  const Cut cut_;
  const Compute& compute_;
  const Finish& finish_;
  const std::size_t steps_;
  const bool shared_;
  std::size_t task_tiles_ = 1;
  std::int32_t* values_ = nullptr;
};

void ConvTiles::run(SdpPass& sdp, const Cut& cut, double nanoseconds, const Compute& compute,
                    const Finish& finish) {
  const double of_position = nanoseconds + kFinishTime;
  const double whole = cut.positions * static_cast<double>(sdp.blocks()) * of_position;
  const bool shares = pool_.shares(whole);
  Tasks tasks(kernels_, sdp, shares ? cut_for_all(sdp, cut) : cut, compute, finish);
  std::size_t slots = 1;
  if (shares) {
    slots = pool_.in_flight();
    tasks.cut(of_position, pool_.size());
  }
  values_.resize(std::max(values_.size(), slots * tasks.slot_values()));
  tasks.place(values_.data());
  pool_.run(tasks, tasks.count(), whole);
}

ConvTiles::Cut ConvTiles::cut_for_all(const SdpPass& sdp, const Cut& cut) const noexcept {
  Cut smaller = cut;
  if (sdp.shareable() && cut.order == Order::kBlocksFirst && cut.of_tile == SdpPass::kPositions &&
      cut.positions <= cut.of_tile)
    smaller.of_tile = arith::round_up(arith::ceil_div(cut.positions, pool_.size()), kLeastTile);
  return smaller;
}

}  // namespace nvdla::model
