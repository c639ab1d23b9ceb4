// SPDX-License-Identifier: MIT
//
// One layer of CDP and CDP_RDMA as their registers say it, and whether hardware would end it.
#ifndef NVDLA_MODEL_CDP_CDP_LAYER_HPP
#define NVDLA_MODEL_CDP_CDP_LAYER_HPP

#include <cstdint>
#include <string>

#include "cost/geometry.hpp"
#include "firmware/nvdla_hw.h"
#include "model/core/register_file.hpp"
#include "model/core/surface.hpp"
#include "model/lut/lut_search.hpp"

namespace nvdla::model {

// sat((x - offset) * scale >> shift), integers only.
struct Converter {
  std::int64_t offset = 0;
  std::int64_t scale = 1;
  unsigned shift = 0;
};

struct CdpRdma {
  std::uint32_t width = 0, height = 0, channels = 0;
  Precision precision = Precision::kInt8;
  Surface source;
};

struct CdpLayer {
  Precision precision = Precision::kInt8;
  Surface destination;
  bool flush_nan = false;
  bool bypass_square_sum = false, bypass_multiplier = false;
  unsigned reach = 1;  // channels on either side of the middle of the window
  Converter in, out;
  LutConfig lut;
  bool count_lut = false;

  // Enabled.
  bool has_rdma = false;
  CdpRdma rdma;
};

CdpRdma read_cdp_rdma(const GroupView& view);
// The layers at CONSUMER; the tables stay where they are.
CdpLayer read_cdp(const RegisterFile& registers);

// Returns what its time depends on.
cost::CdpGeometry geometry(const CdpLayer& layer);

// Why the layer never ends on hardware; empty if it ends.
std::string cdp_fault(const nvdla_hw& hw, const CdpLayer& layer);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CDP_CDP_LAYER_HPP
