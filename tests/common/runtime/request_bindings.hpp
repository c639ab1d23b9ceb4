// SPDX-License-Identifier: MIT
//
// The buffers that the slots of a request are bound to.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_REQUEST_BINDINGS_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_REQUEST_BINDINGS_HPP

#include <vector>

#include "device/request_impl.hpp"
#include "nvdla/request.hpp"
#include "support/handles.hpp"

namespace nvdla::test {

inline const std::vector<Binding>& request_bindings(const Request& request) {
  return detail::Handles::impl(request)->bindings;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_REQUEST_BINDINGS_HPP
