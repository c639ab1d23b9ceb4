// SPDX-License-Identifier: MIT
//
// The device model as a device: in this process, on a thread of its own.
#ifndef NVDLA_BACKEND_MODEL_MODEL_BACKEND_HPP
#define NVDLA_BACKEND_MODEL_MODEL_BACKEND_HPP

#include <memory>

#include "backend/backend.hpp"
#include "backend/name/device_name.hpp"
#include "firmware/nvdla_hw.h"

namespace nvdla::detail {

std::shared_ptr<Backend> make_model_backend(const nvdla_hw& hw, const ModelOptions& given);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_MODEL_MODEL_BACKEND_HPP
