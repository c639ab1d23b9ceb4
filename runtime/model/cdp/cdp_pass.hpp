// SPDX-License-Identifier: MIT
//
// Runs one CDP layer, a few columns with all their channels at a time: input converter, sum of
// squares over neighbouring channels, table, multiplier, output converter.
#ifndef NVDLA_MODEL_CDP_CDP_PASS_HPP
#define NVDLA_MODEL_CDP_CDP_PASS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/cdp/cdp_layer.hpp"
#include "model/cdp/cdp_map.hpp"
#include "model/core/dma.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {

class ThreadPool;

// All counters include the padded lanes of the last atom.
struct CdpCounters {
  std::uint32_t nan_in = 0, infinite_in = 0, nan_out = 0;
  std::uint32_t saturated = 0;  // integers only
  std::uint32_t underflow = 0, overflow = 0, hybrid = 0, le_hit = 0, lo_hit = 0;

  CdpCounters& operator+=(const CdpCounters& other) noexcept {
    nan_in += other.nan_in;
    infinite_in += other.infinite_in;
    nan_out += other.nan_out;
    saturated += other.saturated;
    underflow += other.underflow;
    overflow += other.overflow;
    hybrid += other.hybrid;
    le_hit += other.le_hit;
    lo_hit += other.lo_hit;
    return *this;
  }
};

class CdpPass {
 public:
  CdpPass(const nvdla_hw& hw, Dma& dma, const UnitKernels& kernels, ThreadPool& pool);

  // The layer must have passed cdp_fault(). `counts`: the layer counts what the tables do.
  CdpCounters run(const CdpLayer& layer, bool counts);

 private:
  // The state of one thread.
  struct Worker {
    CdpCounters counters;
    std::vector<std::byte> columns;  // [column][surface][atom]
    std::vector<std::byte> run;      // bytes of one DMA access
    // A batch of columns for the kernels. The squares of each column have a window's reach of zeros
    // at both ends.
    std::vector<std::int32_t> values, squares, sums, results;
    std::vector<std::int64_t> wide_squares, wide_sums;
    // A batch of columns for the kernels that process atoms.
    std::vector<std::int16_t> words, answers;
    // The channels of one column for normalise_each(), with zeros likewise.
    std::vector<std::int64_t> int_values, int_squares;
    std::vector<std::uint32_t> fp_values, fp_squares;
  };

  void plan_map();
  bool plan_bytes();
  bool takes_halves() const noexcept;
  void open_windows();
  void line(std::uint32_t y, Worker& worker);
  void collect(std::uint32_t y, std::uint32_t x, unsigned count, Worker& worker);
  void gather(std::uint32_t y, std::uint32_t x, unsigned count, Worker& worker);
  void scatter(std::uint32_t y, std::uint32_t x, unsigned count, Worker& worker);
  void reserve(Worker& worker) const;
  void normalise_atoms(CdpSource from, CdpTarget to, unsigned count, Worker& worker) const;
  bool normalise_halves(const CdpSource& from, const CdpTarget& to, unsigned count,
                        Worker& worker) const;
  // Process a batch of columns with the kernels. take() returns false unless all elements are
  // finite.
  bool take(const std::byte* columns, unsigned count, Worker& worker) const;
  void look_up(unsigned count, bool plain, Worker& worker) const;
  void normalise(std::byte* columns, unsigned count, Worker& worker) const;
  static void count_places(const SideCounts& counts, unsigned count,
                           CdpCounters& counters) noexcept;
  // Processes one column by definition, where the kernels' arithmetic does not suffice.
  void normalise_each(std::byte* column, Worker& worker) const;
  template <typename Element>
  void normalise_int(std::byte* column, Worker& worker) const;
  void normalise_fp16(std::byte* column, Worker& worker) const;

  const nvdla_hw& hw_;
  Dma& dma_;
  const UnitKernels& kernels_;
  ThreadPool& pool_;
  CdpLayer layer_;
  bool ready_ = false;  // the kernels support the layer
  bool counts_ = false;
  IntTables ints_ = {};
  FloatTables floats_ = {};
  unsigned batch_ = 1;  // columns
  std::uint64_t surfaces_ = 0;
  std::size_t column_bytes_ = 0;
  // Both cubes, if Bus::window() maps them and no written line overlaps another line.
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  CdpMaps maps_;
  const std::int16_t* map_ = nullptr;  // from CdpMaps::plan()
  CdpBytes bytes_ = {};
  bool takes_atoms_ = false;   // one kernel executes all steps, in int8
  bool takes_halves_ = false;  // likewise in fp16
  std::vector<Worker> workers_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CDP_CDP_PASS_HPP
