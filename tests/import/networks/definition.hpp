// SPDX-License-Identifier: MIT
//
// A network's definition in files, from which another program can make a model.
#ifndef NVDLA_TESTS_IMPORT_NETWORKS_DEFINITION_HPP
#define NVDLA_TESTS_IMPORT_NETWORKS_DEFINITION_HPP

#include <filesystem>

#include "scaled.hpp"

namespace network_models {

// Writes layers, their shapes and their attributes to `path`.json, and the numbers of all layers
// one behind the other to `path`.bin: the JSON has type, first byte and count of each list.
void write_definition(const ScaledNetwork& network, const std::filesystem::path& path);

}  // namespace network_models

#endif  // NVDLA_TESTS_IMPORT_NETWORKS_DEFINITION_HPP
