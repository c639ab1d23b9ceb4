// SPDX-License-Identifier: MIT
//
// RUBIK: one layer of contract (the last step of a deconvolution), split (feature to planes) or
// merge (planes to feature).
#ifndef NVDLA_MODEL_RUBIK_HPP
#define NVDLA_MODEL_RUBIK_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "model/blocked_list.hpp"
#include "model/device.hpp"
#include "model/dma.hpp"
#include "model/register_file.hpp"
#include "model/surface.hpp"

namespace nvdla::model {

namespace cycles {
class Counters;
}  // namespace cycles

enum class RubikMode : std::uint8_t { kContract = 0, kSplit = 1, kMerge = 2 };

struct RubikLayer {
  RubikMode mode = RubikMode::kContract;
  Precision precision = Precision::kInt8;
  std::uint64_t width = 0, height = 0, channels_in = 0, channels_out = 0;
  Surface input, output;
  std::uint64_t plane_in = 0, plane_out = 0;
  std::uint64_t contract_stride[2] = {};
  std::uint64_t stride_x = 1, stride_y = 1;
};

RubikLayer read_rubik(const GroupView& view);

// Why the layer never ends on hardware; empty if it ends.
std::string rubik_fault(const RubikLayer& layer);

class Rubik {
 public:
  Rubik(RegisterFile& registers, Dma& dma, Quirks quirks, cycles::Counters& counters) noexcept
      : registers_(registers), counters_(counters), dma_(dma), quirks_(quirks) {}

  void reset() { stuck_.clear(); }

  // Runs a layer if one is there and can; gives its interrupts.
  bool run(std::uint32_t& interrupts);
  void list_blocked(BlockedList& list) const;

 private:
  void contract(const RubikLayer& layer);
  void open(const RubikLayer& layer, std::uint64_t in_bytes, std::uint64_t out_bytes);
  // A line of the input, at `offset` from its base; until the next call.
  const std::byte* read(std::uint64_t offset, std::uint64_t bytes);
  // Where a line of the output goes, which then says that it is there.
  std::byte* room(std::uint64_t offset, std::uint64_t bytes);
  void wrote(std::uint64_t offset, std::uint64_t bytes);
  void announce(std::uint64_t offset, std::uint64_t stride, std::uint64_t lines,
                std::uint64_t bytes);
  template <typename Element>
  void split(const RubikLayer& layer);
  template <typename Element>
  void merge(const RubikLayer& layer);

  RegisterFile& registers_;
  cycles::Counters& counters_;
  Dma& dma_;
  Quirks quirks_;
  std::string stuck_;
  // Of the layer that runs: its cubes, and their bytes where these lie open.
  Surface input_, output_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  std::vector<std::byte> in_, out_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_RUBIK_HPP
