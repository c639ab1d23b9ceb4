// SPDX-License-Identifier: MIT
//
// Any backend, with a record of all jobs that it runs.
#ifndef NVDLA_BACKEND_RECORD_RECORD_BACKEND_HPP
#define NVDLA_BACKEND_RECORD_RECORD_BACKEND_HPP

#include <memory>
#include <string>

#include "backend/backend.hpp"

namespace nvdla::detail {

// Jobs run one at a time, and submit() returns when they have ended. See Recorder for the rest.
std::shared_ptr<Backend> make_record_backend(std::shared_ptr<Backend> inner, std::string path,
                                             bool numbered);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_RECORD_RECORD_BACKEND_HPP
