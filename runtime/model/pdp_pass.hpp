// SPDX-License-Identifier: MIT
//
// Runs one PDP layer, surface by surface and line by line: each input line is reduced along x when
// it arrives, and reduced lines are combined to output lines. A split into bands changes what is
// read, never the result, so the whole width is pooled at once.
#ifndef NVDLA_MODEL_PDP_PASS_HPP
#define NVDLA_MODEL_PDP_PASS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/atom_sink.hpp"
#include "model/device.hpp"
#include "model/dma.hpp"
#include "model/kernels/unit_kernels.hpp"
#include "model/pdp_layer.hpp"

namespace nvdla::model {

struct PdpCounters {
  std::uint32_t nan_in = 0, infinite_in = 0, nan_out = 0;
};

class PdpPass final : public AtomSink {
 public:
  PdpPass(const nvdla_hw& hw, Dma& dma, const UnitKernels& kernels, Quirks quirks) noexcept
      : hw_(hw), dma_(dma), kernels_(kernels), quirks_(quirks) {}

  // The layer must have passed pdp_fault().
  void begin(const PdpLayer& layer);

  // All of a layer from memory.
  void run_from_memory();

  // A layer on the fly: SDP's atoms, in any order. A surface is pooled when it is complete.
  void take(std::uint64_t surface, std::uint32_t y, std::uint32_t x, const void* atoms,
            unsigned count) override;

  PdpCounters end();

 private:
  // A surface on its way from SDP.
  struct Plane {
    std::vector<std::byte> atoms;
    std::uint64_t received = 0;
  };

  bool prepare() noexcept;
  bool prepare_half() noexcept;
  unsigned in_width() const noexcept;
  template <typename Line>
  void pool(std::uint64_t surface, Line line);
  template <typename Pooler, typename Line>
  void pool_by(const Pooler& pooler, std::uint64_t surface, Line line);
  bool look_at(const std::byte* atoms, std::size_t bytes) noexcept;
  static void flush(std::byte* atoms, std::size_t bytes) noexcept;
  std::int32_t missing_columns(unsigned count) const noexcept;
  std::int32_t missing_rows(unsigned count) const noexcept;

  const nvdla_hw& hw_;
  Dma& dma_;
  const UnitKernels& kernels_;
  Quirks quirks_;
  PdpLayer layer_;
  bool ready_ = false;  // for the kernels
  PoolRule rule_ = {};
  std::int32_t missing_columns_[8] = {}, missing_rows_[8] = {};
  PdpCounters counters_;
  std::vector<Columns> columns_;
  std::vector<Plane> planes_;                        // by surface
  std::vector<std::vector<std::byte>> free_planes_;  // of surfaces that are done
  std::vector<std::byte> reduced_, sums_;
  std::vector<std::byte> line_;
  std::vector<std::byte> out_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_PDP_PASS_HPP
