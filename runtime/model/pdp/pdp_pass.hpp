// SPDX-License-Identifier: MIT
//
// Runs one PDP layer, surface by surface and line by line: it reduces each input line along x when
// the line arrives, and combines reduced lines to output lines. Bands change what is read, but not
// the result, so the whole width is pooled at once.
#ifndef NVDLA_MODEL_PDP_PDP_PASS_HPP
#define NVDLA_MODEL_PDP_PDP_PASS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/core/dma.hpp"
#include "model/core/options.hpp"
#include "model/core/thread_pool.hpp"
#include "model/pdp/pdp_layer.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {

struct PdpCounters {
  std::uint32_t nan_in = 0, infinite_in = 0, nan_out = 0;

  PdpCounters& operator+=(const PdpCounters& other) noexcept {
    nan_in += other.nan_in;
    infinite_in += other.infinite_in;
    nan_out += other.nan_out;
    return *this;
  }
};

class PdpPass final : public AtomSink {
 public:
  PdpPass(const nvdla_hw& hw, Dma& dma, const UnitKernels& kernels, Quirks quirks, ThreadPool& pool)
      : hw_(hw),
        dma_(dma),
        kernels_(kernels),
        quirks_(quirks),
        pool_(pool),
        workers_(pool.size()) {}

  // The layer must have passed pdp_fault().
  void begin(const PdpLayer& layer);

  // Runs a whole layer from memory, on several threads if Bus::window() maps source and destination
  // and they do not overlap.
  void run_from_memory();

  // Takes SDP's atoms of a layer on the fly, in any order. A surface is pooled when it is complete.
  void take(std::uint64_t surface, std::uint32_t y, std::uint32_t x, const void* atoms,
            unsigned count) override;

  PdpCounters end();

 private:
  // A surface of which SDP has delivered a part.
  struct Plane {
    std::vector<std::byte> atoms;
    std::uint64_t received = 0;
  };

  // The lines begin..end, without end.
  struct Lines {
    unsigned begin, end;
  };
  // A line of the input. `plain`: the kernels may treat its elements as PoolElements other than
  // kAny.
  struct InputLine {
    const std::byte* atoms;
    bool plain;
  };
  // The state of one thread.
  struct Worker {
    std::vector<std::byte> reduced, line, out;
    PdpCounters counters;
  };

  bool prepare() noexcept;
  bool prepare_half() noexcept;
  unsigned in_width() const noexcept;
  Lines lines_of(unsigned oy) const noexcept;
  unsigned first_line(unsigned oy) const noexcept;
  InputLine read(std::uint64_t surface, unsigned y, bool fresh, Worker& worker);
  template <typename Line>
  void pool(std::uint64_t surface, Lines lines, Worker& worker, Line line);
  template <typename Pooler, typename Line>
  void pool_by(const Pooler& pooler, std::uint64_t surface, Lines lines, Worker& worker, Line line);
  bool open_windows(std::uint64_t surfaces);
  void announce(std::uint64_t surface) noexcept;
  HalfSpecials look_at(const std::byte* atoms, std::size_t bytes, bool counts,
                       PdpCounters& counters) const noexcept;
  static void flush(std::byte* atoms, std::size_t bytes) noexcept;
  std::int32_t missing_columns(unsigned count) const noexcept;
  std::int32_t missing_rows(unsigned count) const noexcept;

  const nvdla_hw& hw_;
  Dma& dma_;
  const UnitKernels& kernels_;
  Quirks quirks_;
  ThreadPool& pool_;
  PdpLayer layer_;
  bool ready_ = false;     // the kernels support the layer
  bool moderate_ = false;  // the registers of an average are moderate: UnitKernels
  PoolRule rule_ = {};
  std::int32_t missing_columns_[8] = {}, missing_rows_[8] = {};
  std::vector<Columns> columns_;
  std::vector<Plane> planes_;                        // by surface
  std::vector<std::vector<std::byte>> free_planes_;  // buffers of finished surfaces
  // Both cubes, if Bus::window() maps them.
  const std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  std::vector<Worker> workers_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_PDP_PDP_PASS_HPP
