// SPDX-License-Identifier: MIT
//
// Programs whose time depends on the memory behind a device, each in a way of its own.
#ifndef NVDLA_TOOLS_MEASURE_PROBES_HPP
#define NVDLA_TOOLS_MEASURE_PROBES_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cost/machine.hpp"
#include "nvdla/program.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"

namespace nvdla::program {

// `Probe` is one of them. What it copies does not matter.
struct Probe {
  std::string name;
  std::vector<nvdla_layer> layers;
  std::vector<nvdla_slot> slots;

  // Returns the program, which counts. Valid as long as the probe.
  ProgramDesc desc() const {
    return {.layers = layers,
            .slots = slots,
            .luts = {},
            .transfers = {},
            .control = {},
            .statistics = true};
  }
};

// Returns probes of one of the memories of a device:
//   one copy, and one of eight times as much: bytes a cycle of reads and writes together;
//   eight copies one behind the other: what a layer costs beyond its bytes, the latency of its
//     first read and of its last write, whatever starts the first layer;
//   a layer that reads weights and writes next to nothing: requests on their way at once limit
//     reads alone, bandwidth limits both.
// A copy takes about so many `cycles` of a memory that answers at once. Layers have to be longer
// than the host takes for an interrupt, or the next one is not enabled in time.
std::vector<Probe> memory_probes(const DeviceInfo& info, const cost::Machine& machine,
                                 Memory memory, std::uint64_t cycles);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_MEASURE_PROBES_HPP
