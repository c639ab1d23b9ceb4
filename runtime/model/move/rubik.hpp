// SPDX-License-Identifier: MIT
//
// RUBIK: one layer of contract (the last step of a deconvolution), split (feature to planes) or
// merge (planes to feature).
#ifndef NVDLA_MODEL_MOVE_RUBIK_HPP
#define NVDLA_MODEL_MOVE_RUBIK_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "cost/geometry.hpp"
#include "model/core/blocked_list.hpp"
#include "model/core/cube_rows.hpp"
#include "model/core/dma.hpp"
#include "model/core/options.hpp"
#include "model/core/register_file.hpp"
#include "model/core/surface.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {

class Counters;
class ThreadPool;

// Numbered as in the register.
enum class RubikMode : std::uint8_t { kContract = 0, kSplit = 1, kMerge = 2 };

struct RubikLayer {
  RubikMode mode = RubikMode::kContract;
  Precision precision = Precision::kInt8;
  std::uint64_t width = 0, height = 0, channels_in = 0, channels_out = 0;
  Surface input, output;
  std::uint64_t plane_in = 0, plane_out = 0;
  std::uint64_t contract_stride[2] = {};
  std::uint64_t stride_width = 1, stride_height = 1;
};

RubikLayer read_rubik(const GroupView& view);

// Returns what its time depends on.
cost::RubikGeometry geometry(const RubikLayer& layer);

// Returns why the layer never ends on hardware; empty if it ends.
std::string rubik_fault(const RubikLayer& layer);

class Rubik {
 public:
  Rubik(RegisterFile& registers, Dma& dma, const UnitKernels& kernels, Quirks quirks,
        Counters& counters, ThreadPool& pool) noexcept
      : registers_(registers),
        counters_(counters),
        dma_(dma),
        kernels_(kernels),
        quirks_(quirks),
        pool_(pool) {}

  void reset() { stuck_.clear(); }

  // Runs the next layer, if there is one that can run, and sets its interrupts.
  bool run(std::uint32_t& interrupts);
  void list_blocked(BlockedList& list) const;

 private:
  // Maps both cubes; for planar data each plane is a surface.
  void open(SdpCube in, SdpCube out);
  // Returns `count` lines of the input, the first at `offset`, `stride` apart. Sets `stride` to
  // their distance in the result. Valid until the next call.
  const std::byte* read(std::uint64_t offset, std::uint64_t bytes, std::uint64_t count,
                        std::uint64_t& stride);
  // room() returns where to put lines of the output; wrote() then writes them.
  std::byte* room(std::uint64_t offset, std::uint64_t bytes, std::uint64_t count,
                  std::uint64_t& stride);
  void wrote(std::uint64_t offset, std::uint64_t bytes, std::uint64_t count, std::uint64_t stride);
  void announce(const SdpCube& out);
  // Calls line(surface, y) for `height` lines of `bytes` bytes of each surface, on several threads
  // where the order does not matter.
  template <typename Line>
  void for_each_line(std::uint64_t surfaces, std::uint64_t height, std::uint64_t bytes, Line line);
  void contract(const RubikLayer& layer);
  void split(const RubikLayer& layer);
  void merge(const RubikLayer& layer);

  RegisterFile& registers_;
  Counters& counters_;
  Dma& dma_;
  const UnitKernels& kernels_;
  Quirks quirks_;
  ThreadPool& pool_;
  std::string stuck_;
  // The cubes of the current layer, and their bytes if Bus::window() maps both and they do not
  // overlap.
  Surface input_, output_;
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  bool shareable_ = false;
  std::vector<std::byte> in_, out_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_MOVE_RUBIK_HPP
