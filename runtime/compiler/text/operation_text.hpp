// SPDX-License-Identifier: MIT
//
// The fields of operations of the CPU as text, from the list in host_ops/operation_fields.hpp.
#ifndef NVDLA_COMPILER_TEXT_OPERATION_TEXT_HPP
#define NVDLA_COMPILER_TEXT_OPERATION_TEXT_HPP

#include <string>

#include "compiler/text/list_text.hpp"
#include "host_ops/operation.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla::detail::text {

// `OperationInput` is the tensor that the operation reads: constants are as many as its channels,
// or as the values of its precision.
struct OperationInput {
  Precision precision = Precision::kInt8;
  std::uint32_t channels = 1;
};

inline std::uint64_t table_bytes(Precision precision) {
  const std::uint32_t bytes = precision_bytes(precision);
  return std::uint64_t{bytes} << (8 * bytes);
}

// " name=value" for each field that differs from an operation as it is constructed.
std::string operation_fields_text(const cpu::Operation& operation, const OperationInput& input,
                                  const PrintOptions& options);

// Makes `operation` the one that `name` names, as it is constructed; returns false if there is
// none.
bool make_operation(std::string_view name, cpu::Operation& operation);
// Returns the names of all operations, for errors.
std::string operation_names();

}  // namespace nvdla::detail::text

#endif  // NVDLA_COMPILER_TEXT_OPERATION_TEXT_HPP
