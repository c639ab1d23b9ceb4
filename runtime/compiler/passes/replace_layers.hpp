// SPDX-License-Identifier: MIT
#ifndef NVDLA_COMPILER_PASSES_REPLACE_LAYERS_HPP
#define NVDLA_COMPILER_PASSES_REPLACE_LAYERS_HPP

#include <cstdint>
#include <functional>
#include <map>

#include "compiler/lower/schedule.hpp"

namespace nvdla::detail {

using EmitLayer = std::function<void(const nvdla_layer&, Operation)>;
using ReplaceLayer = std::function<void(const nvdla_layer&, const Operation&, const EmitLayer&)>;

// Returns a schedule with the layers that replace(layer, operation, emit) emits, one or several, in
// place of each layer of the device. Whoever waited for the layer waits for the last of them.
// Layers of `merged` are left out: the layer before that is their value there does their work, too.
Schedule replace_layers(Schedule schedule, const std::map<std::uint32_t, std::uint32_t>& merged,
                        const ReplaceLayer& replace);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_REPLACE_LAYERS_HPP
