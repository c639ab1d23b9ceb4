// SPDX-License-Identifier: MIT
//
// The exception by which an operator reports that a node cannot be imported. The importer catches
// it at each node, so that one error lists all of them.
#ifndef NVDLA_IMPORT_GRAPH_REFUSAL_HPP
#define NVDLA_IMPORT_GRAPH_REFUSAL_HPP

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "nvdla/types/error.hpp"

namespace nvdla::import {

struct Refusal : std::runtime_error {
  explicit Refusal(const std::string& why, std::string what_to_do = {})
      : std::runtime_error(why), remedy(std::move(what_to_do)) {}
  std::string remedy;  // what the user can do, a clause; may be empty
};

// Returns what `compute` does; `otherwise` where that meets a node that cannot be imported: a pass
// leaves such a node as it is, and lowering reports it.
template <typename T, typename Compute>
T unless_refused(T otherwise, const Compute& compute) {
  try {
    return compute();
  } catch (const Refusal&) {
    return otherwise;
  }
}

template <typename... Args>
[[noreturn]] void refuse_node(fmt::format_string<Args...> format, Args&&... args) {
  throw Refusal(fmt::format(format, std::forward<Args>(args)...));
}

// Throws the error of a model that is damaged, or of options that do not go with it.
template <typename... Args>
[[noreturn]] void throw_invalid_model(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_GRAPH_REFUSAL_HPP
