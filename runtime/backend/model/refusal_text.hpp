// SPDX-License-Identifier: MIT
//
// Formats the accesses that the model's memory refused, for error messages.
#ifndef NVDLA_BACKEND_MODEL_REFUSAL_TEXT_HPP
#define NVDLA_BACKEND_MODEL_REFUSAL_TEXT_HPP

#include <fmt/format.h>

#include <string>

#include "model/device.hpp"
#include "nvdla/types/error.hpp"

namespace nvdla::detail {

inline std::string refusal_text(const model::Refusals& refusals) {
  return fmt::format("{} at {:#x}, {}; {} accesses were refused", dma_name(refusals.first_dma),
                     refusals.first_address, refusals.first_write ? "writing" : "reading",
                     refusals.count);
}

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_MODEL_REFUSAL_TEXT_HPP
