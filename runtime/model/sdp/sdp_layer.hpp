// SPDX-License-Identifier: MIT
//
// A layer as the registers of SDP and SDP_RDMA describe it, and whether hardware would finish it.
#ifndef NVDLA_MODEL_SDP_SDP_LAYER_HPP
#define NVDLA_MODEL_SDP_SDP_LAYER_HPP

#include <cstdint>
#include <string>

#include "cost/geometry.hpp"
#include "firmware/nvdla_hw.h"
#include "model/core/register_file.hpp"
#include "model/core/surface.hpp"
#include "model/lut/lut_search.hpp"
#include "model/simd/kernels.hpp"

namespace nvdla::model {

// The operand DMA of BS, BN or EW.
struct OperandDma {
  bool disabled = true;
  unsigned use = 0;  // 0 multiplier, 1 ALU, 2 both
  bool two_bytes = false;
  bool per_element = false;
  Surface memory;

  bool operator==(const OperandDma&) const = default;
};

// One part (ALU or multiplier) of BS, BN or EW.
struct OperandPart {
  bool active = false;
  bool from_memory = false;
  std::int32_t value = 0;  // from the register

  bool operator==(const OperandPart&) const = default;
};

struct OperatorX {
  bool active = false;
  Alu algorithm = Alu::kNone;
  OperandPart alu;
  OperandPart mul;
  unsigned alu_shift = 0;
  unsigned mul_shift = 0;
  bool prelu = false;
  bool relu = false;

  bool operator==(const OperatorX&) const = default;
};

// Converter of a memory operand of EW.
struct OperandConverter {
  bool bypass = true;
  std::int32_t offset = 0;
  std::int16_t scale = 0;
  unsigned truncate = 0;

  bool operator==(const OperandConverter&) const = default;
};

struct OperatorY {
  bool active = false;
  bool lut = false;
  bool equal = false;
  Alu algorithm = Alu::kNone;
  OperandPart alu;
  OperandPart mul;
  OperandConverter alu_converter;
  OperandConverter mul_converter;
  unsigned truncate = 0;
  bool prelu = false;

  bool operator==(const OperatorY&) const = default;
};

// The registers of SDP_RDMA.
struct SdpRdma {
  std::uint32_t width = 0, height = 0, channels = 0;
  bool flying = false;
  bool winograd = false;
  Precision in = Precision::kInt8, proc = Precision::kInt8, out = Precision::kInt8;
  std::uint32_t batches = 1;
  Surface source;
  OperandDma operands[3];  // BS, BN, EW
  bool count_specials = false;

  // Returns the greatest magnitude of an integer input.
  std::uint64_t largest_input() const noexcept { return in == Precision::kInt8 ? 128 : 32768; }
  bool operator==(const SdpRdma&) const = default;
};

struct SdpLayer {
  std::uint32_t width = 0, height = 0, channels = 0;
  bool flying = false;
  bool to_pdp = false;
  bool winograd = false;
  std::uint32_t batches = 1;
  Precision proc = Precision::kInt8, out = Precision::kInt8;
  Surface destination;
  std::uint64_t batch_stride = 0;
  bool flush_nan = false;
  OperatorX x[2];  // BS, BN
  OperatorY y;
  LutConfig table;  // if y.lut
  std::int32_t offset = 0;
  std::int16_t scale = 0;
  unsigned shift = 0;
  bool count_saturation = false;
  bool count_specials = false;
  bool count_lut = false;

  // The layer consumes data that SDP_RDMA reads.
  bool needs_rdma = false;
  // SDP_RDMA's registers, if it is enabled.
  bool has_rdma = false;
  SdpRdma rdma;

  bool operator==(const SdpLayer&) const = default;
};

SdpRdma read_sdp_rdma(const GroupView& view);
// Reads the layer at CONSUMER, with SDP_RDMA only if it is enabled and needed.
SdpLayer read_sdp(const RegisterFile& registers);

// Returns true if SDP_RDMA has nothing to read and ends by itself.
bool reads_nothing(const SdpRdma& rdma) noexcept;
// Reports an operand DMA whose data SDP does not consume: SDP ends, but SDP_RDMA never does.
std::string unconsumed_operand(const SdpLayer& layer);

// Returns what its time depends on.
cost::SdpGeometry geometry(const SdpLayer& layer);

// Returns why the layer never ends on hardware, or is not modelled yet; empty if it ends.
std::string sdp_fault(const nvdla_hw& hw, const SdpLayer& layer);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_SDP_LAYER_HPP
