// SPDX-License-Identifier: MIT
//
// What the slots of a session's program are bound to.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_SESSION_BINDINGS_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_SESSION_BINDINGS_HPP

#include <vector>

#include "device/request_impl.hpp"
#include "device/session_impl.hpp"
#include "support/handles.hpp"

namespace nvdla::test {

inline const std::vector<Binding>& session_bindings(const Session& session) {
  return detail::Handles::impl(detail::Handles::impl(session)->request)->bindings;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_SESSION_BINDINGS_HPP
