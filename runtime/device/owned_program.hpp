// SPDX-License-Identifier: MIT
//
// `OwnedProgram` owns the descriptors that a program is created from.
#ifndef NVDLA_DEVICE_OWNED_PROGRAM_HPP
#define NVDLA_DEVICE_OWNED_PROGRAM_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <vector>

#include "nvdla/program.hpp"

namespace nvdla::detail {

struct OwnedProgram {
  std::vector<nvdla_layer> layers;
  std::vector<nvdla_slot> slots;
  std::vector<nvdla_lut> luts;
  std::vector<nvdla_transfer> transfers;
  // Tables of compressed weights, which the last slot binds.
  std::vector<std::byte> control;

  // Returns a view of the members, valid as long as they are.
  ProgramDesc desc(bool statistics = false) const {
    return {.layers = layers,
            .slots = slots,
            .luts = luts,
            .transfers = transfers,
            .control = control,
            .statistics = statistics};
  }
};

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_OWNED_PROGRAM_HPP
