// SPDX-License-Identifier: MIT
//
// An example network as an application describes it that has real weights, or int8 with scales.
#ifndef NVDLA_TESTS_IMPORT_NETWORKS_BY_HAND_HPP
#define NVDLA_TESTS_IMPORT_NETWORKS_BY_HAND_HPP

#include "nvdla/network.hpp"
#include "scaled.hpp"

namespace network_models {

// The input is called "image", the output as the last layer. `precision` is kInt8 or kFp16.
nvdla::Network describe_by_hand(const ScaledNetwork& network, nvdla::Precision precision);

}  // namespace network_models

#endif  // NVDLA_TESTS_IMPORT_NETWORKS_BY_HAND_HPP
