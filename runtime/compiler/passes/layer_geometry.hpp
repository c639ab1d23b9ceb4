// SPDX-License-Identifier: MIT
//
// This file fills the plain geometry that cycles are predicted from, out of descriptors.
#ifndef NVDLA_COMPILER_PASSES_LAYER_GEOMETRY_HPP
#define NVDLA_COMPILER_PASSES_LAYER_GEOMETRY_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

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

// The same of a layer of any unit; `transfers` are those that copies name.
cost::LayerGeometry geometry(const DeviceInfo& info, const nvdla_layer& layer,
                             std::span<const nvdla_transfer> transfers);

// Returns whether an allocation is expected to lie in secondary memory: it was put there, or the
// plan of memory, which comes later, has about as much of it for tensors.
bool in_sram(const Allocation& allocation, const BuildOptions& options);

// The interface behind which an allocation lies.
using InterfaceOf = std::function<cost::Interface(std::uint32_t allocation)>;
// Sets the interfaces through which a layer reaches what it reads and writes.
void set_interfaces(const nvdla_layer& layer, std::span<const nvdla_transfer> transfers,
                    const InterfaceOf& interface_of, cost::LayerGeometry& to);
// The same before memory is planned, of a layer of `schedule`.
void set_interfaces(const Schedule& schedule, const BuildOptions& options, const nvdla_layer& layer,
                    cost::LayerGeometry& to);

// Returns the layers of a segment as the cost model takes them, none of them the CPU's.
std::vector<cost::SequenceLayer> sequence_of(const Schedule& schedule,
                                             const Schedule::Segment& segment,
                                             const DeviceInfo& info,
                                             const InterfaceOf& interface_of);

// Predicts a sequence on the device that will run it.
cost::SequenceCycles predict_sequence(const DeviceInfo& info,
                                      std::span<const cost::SequenceLayer> sequence);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_LAYER_GEOMETRY_HPP
