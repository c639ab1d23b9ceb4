// SPDX-License-Identifier: MIT
//
// A layer as the registers of PDP and PDP_RDMA describe it, and whether hardware would finish it.
#ifndef NVDLA_MODEL_PDP_PDP_LAYER_HPP
#define NVDLA_MODEL_PDP_PDP_LAYER_HPP

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cost/geometry.hpp"
#include "firmware/nvdla_hw.h"
#include "model/core/register_file.hpp"
#include "model/core/surface.hpp"
#include "model/sdp/sdp_layer.hpp"

namespace nvdla::model {

enum class Pooling : std::uint8_t { kAverage = 0, kMax = 1, kMin = 2 };

// Widths of the bands that a layer is split into.
struct Bands {
  unsigned first = 1, middle = 1, last = 1;
};

struct PdpRdma {
  unsigned width = 0, height = 0, channels = 0;
  Precision precision = Precision::kInt8;
  Surface source;
  unsigned bands = 1;
  Bands in;
  unsigned kernel_width = 1, stride_width = 1;
};

struct PdpLayer : cost::PdpSizes {
  unsigned out_channels = 0;
  Pooling method = Pooling::kAverage;
  bool from_memory = false;
  bool flush_nan = false;
  Precision precision = Precision::kInt8;
  unsigned bands = 1;
  Bands in, out;
  unsigned right = 0, bottom = 0;
  std::uint32_t reciprocal_width = 0, reciprocal_height = 0;
  // The padding registers: what n missing columns or rows add to a sum; 0 for n = 0.
  std::array<std::uint32_t, 8> padding{};
  Surface destination;

  // PDP_RDMA is enabled; read only for a layer from memory.
  bool has_rdma = false;
  PdpRdma rdma;
};

// A range of columns.
struct Columns {
  unsigned begin = 0, count = 0;
};

PdpRdma read_pdp_rdma(const GroupView& view);
// Reads the layer at CONSUMER.
PdpLayer read_pdp(const RegisterFile& registers);

// Lists the input columns that PDP_RDMA reads, one range for each band.
void input_columns(const PdpRdma& rdma, std::vector<Columns>& columns);

// Returns what its time depends on.
cost::PdpGeometry geometry(const PdpLayer& layer);

// Returns why the layer never ends on hardware; empty if it ends.
std::string pdp_fault(const nvdla_hw& hw, const PdpLayer& layer);
// Does the same for a layer on the fly with the SDP layer that feeds it.
std::string pdp_fault(const nvdla_hw& hw, const PdpLayer& layer, const SdpLayer& sdp);

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_PDP_PDP_LAYER_HPP
