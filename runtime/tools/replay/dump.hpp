// SPDX-License-Identifier: MIT
//
// Device core dumps of the kernel driver (firmware/nvdla_dump_format.h): a job that failed, with
// the registers and the memory that it was found with, made into a script that runs it again. And
// records of runs, which are one such dump after the other.
#ifndef NVDLA_TOOLS_REPLAY_DUMP_HPP
#define NVDLA_TOOLS_REPLAY_DUMP_HPP

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firmware/nvdla_dump_format.h"
#include "firmware/nvdla_hw.h"
#include "tools/replay/script.hpp"

namespace nvdla::replay {

// A buffer of the job and as much of its contents as was dumped.
struct DumpBuffer {
  nvdla_dump_buffer info;
  std::vector<std::byte> bytes;
};

// A dump whose every index lies where it should.
struct Dump {
  nvdla_dump_header header;
  const nvdla_hw* hw = nullptr;
  std::string driver;
  std::string release;
  std::vector<nvdla_dump_register> registers;
  std::vector<nvdla_dump_layer> layers;  // none: only registers were dumped
  std::vector<nvdla_dump_write> writes;
  std::vector<nvdla_dump_access> accesses;
  std::vector<nvdla_dump_slot> slots;
  std::vector<nvdla_transfer> transfers;
  std::vector<nvdla_lut> luts;
  std::vector<DumpBuffer> buffers;
  // Of records only: what layers left in their memory, and buffers that are as the jobs before in
  // the record left them.
  std::vector<DumpBuffer> written;
  std::vector<nvdla_dump_buffer> kept;
  // Records of networks have the name that the user gave each layer.
  std::vector<std::string> layer_names;
};

inline Ram ram_of(std::uint32_t memory) {
  return memory == NVDLA_MEMORY_SRAM ? Ram::kSecondary : Ram::kPrimary;
}

// Throws Error, which calls the dump `file`.
Dump parse_dump(std::string_view bytes, std::string_view file);

// The jobs of a record, one at least, all of one device. Throws Error.
std::vector<Dump> parse_record(std::string_view bytes, std::string_view file);

// The layers that had ended run first, if their inputs are still what they were, and memory is
// compared with the dump's; then all others, in the order of the program. Throws Error.
Script dump_script(const Dump& dump, std::string_view file);

// All layers run, in their order, and memory is compared after each job. Throws Error.
Script record_script(const std::vector<Dump>& jobs, std::string_view file);

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_DUMP_HPP
