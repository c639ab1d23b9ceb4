// SPDX-License-Identifier: MIT
//
// This file tells what the layers of a network became in a loadable, and what they take.
#ifndef NVDLA_TOOLS_PROFILE_PLAN_HPP
#define NVDLA_TOOLS_PROFILE_PLAN_HPP

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cost/machine.hpp"
#include "cost/memory_timing.hpp"
#include "nvdla/loadable.hpp"
#include "tools/profile/layer_profile.hpp"

namespace nvdla::program {

// `PlanLayer` is a layer of the network that a loadable was made of, or one of the hardware where
// the file does not have those.
struct PlanLayer {
  std::string name = {}, kind = {};
  std::string form = {};             // what it became: "5 x direct convolution"
  std::uint32_t steps = 0;           // layers of the hardware; 0 if it moves nothing
  std::uint32_t on_cpu = 0;          // operations of the CPU
  std::uint64_t begin = 0, end = 0;  // cycles since the first layer
  std::uint64_t alone = 0;           // sum of its layers' cycles if nothing else ran
  std::uint64_t mac_bound = 0;       // with all multipliers busy
  std::uint64_t byte_bound = 0;      // with the memory busy
  std::uint64_t read = 0, written = 0;
};

// `Plan` lists layers in their order. A step that computes several of them is part of each, and of
// the total once.
struct Plan {
  std::vector<PlanLayer> layers;
  PlanLayer total;
  std::string cut_short = {};  // Loadable::cut_short()
};

// Returns the plan of a loadable that `profile` is of.
Plan plan_of(const Loadable& file, std::span<const LayerProfile> profile,
             const cost::Machine& machine, const cost::MemoryTiming& memory);

std::string plan_table(const Plan& plan);
std::string plan_csv(const Plan& plan);
nlohmann::ordered_json plan_json(const Plan& plan);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_PROFILE_PLAN_HPP
