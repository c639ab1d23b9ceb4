// SPDX-License-Identifier: MIT
//
// `nvdla run` layer by layer: --compare and --dump-layers.
#ifndef NVDLA_TOOLS_CLI_LAYERS_HPP
#define NVDLA_TOOLS_CLI_LAYERS_HPP

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "nvdla/loadable.hpp"

namespace nvdla::cli {

// Throws UsageError for what --compare cannot name.
void check_reference_name(const std::string& name);

// The device that --compare names, for layers of a request on `device`: a model without a
// configuration is that of the device, weight gating included. Throws UsageError for a device of
// another configuration.
Device open_reference(const std::string& name, const Device& device);

// Runs the layers, on the reference, too, if there is one, with each tensor into `folder` unless
// that is empty: NNN-NAME.npy and index.json. Throws OutputError.
std::optional<LayerDifference> look_at_layers(const Loadable& file, const Request& request,
                                              const Device& device, const Device* reference,
                                              const std::string& folder);

// For --json.
nlohmann::ordered_json difference_json(const LayerDifference& difference);

}  // namespace nvdla::cli

#endif  // NVDLA_TOOLS_CLI_LAYERS_HPP
