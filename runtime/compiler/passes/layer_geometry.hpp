// SPDX-License-Identifier: MIT
//
// This file fills the plain geometry that cycles are predicted from, out of descriptors.
#ifndef NVDLA_COMPILER_PASSES_LAYER_GEOMETRY_HPP
#define NVDLA_COMPILER_PASSES_LAYER_GEOMETRY_HPP

#include <drm/nvdla_layer.h>

#include "compiler/graph/nodes.hpp"
#include "compiler/lower/schedule.hpp"
#include "cost/geometry.hpp"
#include "cost/machine.hpp"
#include "cost/memory_timing.hpp"
#include "cost/sequence_cycles.hpp"
#include "nvdla/build_options.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Return the rates of the device and of the memory behind it.
cost::Machine machine_of(const DeviceInfo& info);
cost::MemoryTiming memory_of(const DeviceInfo& info);

// Returns the geometry of a convolution, all of whose memory is primary.
cost::ConvGeometry geometry(const DeviceInfo& info, const nvdla_conv& conv);
// Leaves out what a convolution finds in the buffer: lines that `before`, which ran before it,
// kept.
void leave_kept_lines(const nvdla_conv& before, const nvdla_conv& conv, cost::ConvGeometry& to);
// The same of SDP behind it: for a node of the graph, which has no places yet, and for a
// descriptor.
cost::SdpGeometry geometry(const nvdla_conv& conv, const SdpNode& sdp);
cost::SdpGeometry geometry(const nvdla_conv& conv, const nvdla_sdp& sdp);

// The same of a pooling that reads memory, in one piece, and of a normalisation.
cost::PdpGeometry geometry(const nvdla_pdp& pdp);
cost::CdpGeometry geometry(const nvdla_cdp& cdp);

// Returns whether an allocation is expected to lie in secondary memory: it was put there, or the
// plan of memory, which comes later, has about as much of it for tensors.
bool in_sram(const Allocation& allocation, const BuildOptions& options);
// Sets the interfaces through which a layer of `schedule` reaches what it reads and writes.
void set_interfaces(const Schedule& schedule, const BuildOptions& options, const nvdla_layer& layer,
                    cost::LayerGeometry& to);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_LAYER_GEOMETRY_HPP
