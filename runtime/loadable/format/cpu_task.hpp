// SPDX-License-Identifier: MIT
//
// Operations of the CPU that are our own: tasks of an interface that NVIDIA's format does not have,
// with one operation each, by its name and version. docs/formats.md has all of it.
#ifndef NVDLA_LOADABLE_FORMAT_CPU_TASK_HPP
#define NVDLA_LOADABLE_FORMAT_CPU_TASK_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host_ops/operation.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla::loadable {

// A cube that an operation reads or writes: where it begins, by a position of the task's address
// list and bytes from there on.
struct CpuCube {
  std::uint32_t address = 0;
  std::uint32_t offset = 0;
  TensorDesc desc;
};

struct CpuTask {
  cpu::Operation operation;
  std::vector<CpuCube> inputs;
  CpuCube output;
};

// Returns "nvdla-cpu:argmax/1". A memory of the file names it as one of its contents, though no
// blob has the name: readers without the operation find no such blob, and report the name.
std::string cpu_symbol(std::string_view operation);
// Returns true for any name like that, known or not.
bool is_cpu_symbol(std::string_view name);
bool knows_cpu_symbol(std::string_view name);
// Lists what this version has: "argmax/1, average/1, ...".
std::string known_cpu_operations();

std::vector<std::byte> pack_cpu_task(const CpuTask& task);
// Throws, naming `what` and the field: kNotAvailable for an operation or a version of it that is
// not known, else kInvalidArgument. Whatever it returns can be run, if the cubes lie in their
// memories.
CpuTask read_cpu_task(std::span<const std::byte> bytes, const std::string& what);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_CPU_TASK_HPP
