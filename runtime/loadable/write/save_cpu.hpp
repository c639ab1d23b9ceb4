// SPDX-License-Identifier: MIT
//
// Operators of the CPU of a network as tasks of a loadable.
#ifndef NVDLA_LOADABLE_WRITE_SAVE_CPU_HPP
#define NVDLA_LOADABLE_WRITE_SAVE_CPU_HPP

#include "loadable/write/save_file.hpp"

namespace nvdla::loadable {

// Writes the operation in the standard form where that has it, else as one of our own.
void save_cpu_task(const CompiledNetwork::Impl& net, const detail::CpuPart& part, SavedFile& file);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_WRITE_SAVE_CPU_HPP
