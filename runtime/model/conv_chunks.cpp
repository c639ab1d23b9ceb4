// SPDX-License-Identifier: MIT
#include "model/conv_chunks.hpp"

#include <algorithm>

namespace nvdla::model {
namespace {

constexpr std::size_t kChunkValues = std::size_t{SdpPass::kPositions} * kBlock;
// Nanoseconds; long enough that passing it on costs nothing, as long as it stays in a cache.
constexpr double kLot = 4e3;
constexpr std::size_t kMaxLotChunks = 4;

}  // namespace

class ConvChunks::Lots final : public Team::Work {
 public:
  Lots(SdpPass& sdp, std::uint32_t positions, Order order, const Make& make) noexcept
      : sdp_(sdp),
        positions_(positions),
        order_(order),
        make_(make),
        steps_((positions + SdpPass::kPositions - 1) / SdpPass::kPositions) {}

  std::size_t chunks() const noexcept { return steps_ * sdp_.blocks(); }
  void cut(std::size_t chunks, std::int32_t* values) noexcept {
    lot_ = chunks;
    values_ = values;
  }

  void make(unsigned member, std::size_t lot, std::size_t slot) noexcept override {
    for_each(lot, slot,
             [&](const ConvChunk& chunk, std::int32_t* values) { make_(member, chunk, values); });
  }
  void take(std::size_t lot, std::size_t slot) override {
    for_each(lot, slot, [&](const ConvChunk& chunk, std::int32_t* values) {
      sdp_.tile(values, chunk.block, chunk.first, chunk.count);
    });
  }

 private:
  ConvChunk at(std::size_t index) const noexcept {
    const bool blocks_first = order_ == Order::kBlocksFirst;
    const std::size_t inner = blocks_first ? sdp_.blocks() : steps_;
    const std::size_t block = blocks_first ? index % inner : index / inner;
    const std::size_t step = blocks_first ? index / inner : index % inner;
    const auto first = static_cast<std::uint32_t>(step * SdpPass::kPositions);
    return {static_cast<unsigned>(block), first,
            std::min<std::uint32_t>(SdpPass::kPositions, positions_ - first)};
  }
  template <typename Call>
  void for_each(std::size_t lot, std::size_t slot, Call call) const {
    const std::size_t begin = lot * lot_, end = std::min(begin + lot_, chunks());
    std::int32_t* values = values_ + slot * lot_ * kChunkValues;
    for (std::size_t i = begin; i < end; ++i, values += kChunkValues) call(at(i), values);
  }

  SdpPass& sdp_;
  const std::uint32_t positions_;
  const Order order_;
  const Make& make_;
  const std::size_t steps_;
  std::size_t lot_ = 1;  // chunks
  std::int32_t* values_ = nullptr;
};

void ConvChunks::run(SdpPass& sdp, std::uint32_t positions, Order order, double nanoseconds,
                     const Make& make) {
  Lots lots(sdp, positions, order, make);
  const std::size_t chunks = lots.chunks();
  const double whole = static_cast<double>(chunks) * nanoseconds;
  std::size_t lot = 1, slots = 1;
  if (team_.shares(whole)) {
    slots = team_.slots();
    lot = std::clamp<std::size_t>(static_cast<std::size_t>(kLot / nanoseconds), 1, kMaxLotChunks);
  }
  values_.resize(std::max(values_.size(), slots * lot * kChunkValues));
  lots.cut(lot, values_.data());
  team_.run(lots, (chunks + lot - 1) / lot, whole);
}

}  // namespace nvdla::model
