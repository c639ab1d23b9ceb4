// SPDX-License-Identifier: MIT
//
// Parses device core dumps of the kernel driver (firmware/nvdla_dump_format.h), which have a failed
// job with the device's registers and memory, and makes scripts that run the job again. Also parses
// records of runs, which are sequences of such dumps.
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

// A buffer of the job, with as much of its contents as the dump has.
struct DumpBuffer {
  nvdla_dump_buffer info;
  std::vector<std::byte> bytes;
};

// A parsed dump, all of whose indices are valid.
struct Dump {
  nvdla_dump_header header;
  const nvdla_hw* hw = nullptr;
  std::string driver;
  std::string release;
  std::vector<nvdla_dump_register> registers;
  std::vector<nvdla_dump_layer> layers;  // empty if only registers were dumped
  std::vector<nvdla_dump_write> writes;
  std::vector<nvdla_dump_access> accesses;
  std::vector<nvdla_dump_slot> slots;
  std::vector<nvdla_transfer> transfers;
  std::vector<nvdla_lut> luts;
  std::vector<DumpBuffer> buffers;
  // Records only: what layers wrote, and buffers that are as earlier jobs of the record left them.
  std::vector<DumpBuffer> written;
  std::vector<nvdla_dump_buffer> kept;
  // The user's names of the layers, in records of networks.
  std::vector<std::string> layer_names;
};

inline Ram ram_of(std::uint32_t memory) {
  return memory == NVDLA_MEMORY_SRAM ? Ram::kSecondary : Ram::kPrimary;
}

// Parses a dump. Throws Error with the name `file`.
Dump parse_dump(std::string_view bytes, std::string_view file);

// Parses the jobs of a record, at least one, all of one device. Throws Error.
std::vector<Dump> parse_record(std::string_view bytes, std::string_view file);

// Makes a script that first runs the layers that had ended, if their inputs are unchanged, and
// compares memory with the dump; then runs all others, in the order of the program. Throws Error.
Script dump_script(const Dump& dump, std::string_view file);

// Makes a script that runs all layers in order and compares memory after each job. Throws Error.
Script record_script(const std::vector<Dump>& jobs, std::string_view file);

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_DUMP_HPP
