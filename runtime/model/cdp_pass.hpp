// SPDX-License-Identifier: MIT
//
// Runs one CDP layer, a few columns with all their channels at a time: input converter, sum of
// squares over neighbouring channels, table, multiplier, output converter.
#ifndef NVDLA_MODEL_CDP_PASS_HPP
#define NVDLA_MODEL_CDP_PASS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/cdp_layer.hpp"
#include "model/dma.hpp"
#include "model/kernels/unit_kernels.hpp"

namespace nvdla::model {

// All count padded lanes of the last atom too.
struct CdpCounters {
  std::uint32_t nan_in = 0, infinite_in = 0, nan_out = 0;
  std::uint32_t saturated = 0;  // integers only
  std::uint32_t underflow = 0, overflow = 0, hybrid = 0, le_hit = 0, lo_hit = 0;
};

class CdpPass {
 public:
  CdpPass(const nvdla_hw& hw, Dma& dma, const UnitKernels& kernels) noexcept
      : hw_(hw), dma_(dma), kernels_(kernels) {}

  // The layer must have passed cdp_fault().
  CdpCounters run(const CdpLayer& layer);

 private:
  void gather(const CdpLayer& layer, std::uint32_t y, std::uint32_t x, unsigned count);
  void scatter(const CdpLayer& layer, std::uint32_t y, std::uint32_t x, unsigned count);
  void reserve(const CdpLayer& layer);
  // A batch of columns by the kernels.
  void take(const CdpLayer& layer, const std::byte* columns, unsigned count);
  void normalise(const CdpLayer& layer, std::byte* columns, unsigned count);
  void count_places(const TableCounts& counts, unsigned count) noexcept;
  // One column by definition, where the kernels' arithmetic does not reach.
  void normalise_each(const CdpLayer& layer, std::byte* column);
  template <typename Element>
  void normalise_int(const CdpLayer& layer, std::byte* column);
  void normalise_fp16(const CdpLayer& layer, std::byte* column);
  void count_place(LutSide le, LutSide lo) noexcept;

  const nvdla_hw& hw_;
  Dma& dma_;
  const UnitKernels& kernels_;
  CdpCounters counters_;
  bool ready_ = false;  // for the kernels
  IntTables ints_ = {};
  FloatTables floats_ = {};
  unsigned batch_ = 1;  // columns
  std::vector<std::int32_t> ready_values_, narrow_squares_, sums_, results_;
  std::vector<std::int64_t> wide_sums_;
  std::uint64_t surfaces_ = 0;
  std::size_t column_bytes_ = 0;
  std::vector<std::byte> columns_;  // [column][surface][atom]
  std::vector<std::byte> run_;      // one DMA run
  // Channels of one column with a window's reach of zeros at both ends.
  std::vector<std::int64_t> values_, squares_;
  std::vector<std::uint32_t> fp_values_, fp_squares_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CDP_PASS_HPP
