// SPDX-License-Identifier: MIT
//
// This file predicts the layers of a loadable, beside what they took.
#ifndef NVDLA_TOOLS_PROFILE_LAYER_PROFILE_HPP
#define NVDLA_TOOLS_PROFILE_LAYER_PROFILE_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/layer_cycles.hpp"
#include "cost/memory_timing.hpp"
#include "cost/sequence_cycles.hpp"
#include "firmware/nvdla_hw.h"
#include "nvdla/loadable.hpp"
#include "nvdla/program.hpp"

namespace nvdla::program {

struct LayerProfile {
  std::string name;
  std::string form;         // what computes it: "direct convolution", "pooling"
  std::uint32_t first = 0;  // the first layer of its task
  cost::LayerCycles alone;  // if nothing else ran
  // This is the layer among the others, where units work side by side and fetch ahead: spans and
  // total count cycles since the first layer began.
  cost::LayerCycles cycles;
  std::uint64_t nanoseconds = 0;  // of the host, measured
  // Why the prediction rests on no measurement of the logic, empty where it does.
  std::string beyond_measured;

  // Returns when its first unit begins.
  std::uint64_t start() const noexcept;
};

// Returns the memory timing that --device or NVDLA_DEVICE sets for a model; for all other devices,
// and without timing in the name, that of a memory without latency.
cost::MemoryTiming memory_of(const std::string& device);

// `times` has an entry for each layer, or none: nothing was measured.
std::vector<LayerProfile> profile_layers(const Loadable& file, const nvdla_hw& hw,
                                         const cost::MemoryTiming& memory,
                                         std::span<const nvdla_layer_stats> times);

// Returns the layers of a program as predictions take them.
std::vector<cost::SequenceLayer> predicted_layers(const ProgramDesc& desc, const nvdla_hw& hw);

std::string profile_table(std::span<const LayerProfile> layers);
nlohmann::ordered_json profile_json(std::span<const LayerProfile> layers);

// Returns a run as a trace that Perfetto and chrome://tracing open, JSON in the trace event format.
// It has two tracks for each unit, one for each of its register groups: layers take them in turn,
// and one may be programmed while the other works. `device` is what it ran on.
std::string profile_trace(std::span<const LayerProfile> layers, std::string_view device);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_PROFILE_LAYER_PROFILE_HPP
