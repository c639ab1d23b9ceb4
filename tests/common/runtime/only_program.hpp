// SPDX-License-Identifier: MIT
//
// The program of a network that has no more than one, and nothing for the CPU.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_ONLY_PROGRAM_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_ONLY_PROGRAM_HPP

#include <stdexcept>
#include <variant>

#include "device/compiled_impl.hpp"
#include "nvdla/request.hpp"
#include "support/handles.hpp"

namespace nvdla::test {

inline const detail::ProgramPart& only_program(const CompiledNetwork::Impl& net) {
  if (net.parts.size() != 1) throw std::logic_error("the network has several parts");
  return std::get<detail::ProgramPart>(net.parts[0]);
}

inline const detail::ProgramPart& only_program(const Request& request) {
  return only_program(*detail::Handles::impl(request.network()));
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_ONLY_PROGRAM_HPP
