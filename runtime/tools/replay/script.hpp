// SPDX-License-Identifier: MIT
//
// A script is the list of commands of a register case or trace, in any format. Parsers make it from
// text alone, load.hpp adds the contents of the files that it names, and the player runs it.
#ifndef NVDLA_TOOLS_REPLAY_SCRIPT_HPP
#define NVDLA_TOOLS_REPLAY_SCRIPT_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "model/core/bus.hpp"
#include "model/core/register_info.hpp"

namespace nvdla::replay {

using model::Ram;
using model::RegisterMap;

// The limit on the memory of a command: real cases stay below 130 MB, and a damaged number must not
// exhaust the host.
inline constexpr std::uint64_t kMaxRange = std::uint64_t{1} << 30;
// The limit for all commands of a script together, so that it ends.
inline constexpr std::uint64_t kMaxTotal = 4 * kMaxRange;

// Bytes at an offset from the start of the blob.
struct Segment {
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
};
using Blob = std::vector<Segment>;

enum class BlobFormat : std::uint8_t {
  kRaw,   // the bytes themselves
  kText,  // packets "{offset:O, size:N, payload:b b}" or lines of hexadecimal bytes
};

// A file that a command names, relative to the folder of the case or trace.
struct BlobFile {
  std::string name;
  BlobFormat format = BlobFormat::kRaw;
  // A missing file is an error or, if optional, leaves the command out with a warning.
  bool optional = false;
  std::shared_ptr<const Blob> data;  // set by load_script()
};

struct WriteRegister {
  std::uint32_t offset = 0;
  std::uint32_t value = 0;
};

enum class Compare : std::uint8_t { kEqual, kNotEqual, kGreater, kNotGreater, kLess, kNotLess };

inline constexpr std::uint64_t kUntilStuck = ~std::uint64_t{0};

// Succeeds when ((register & mask) >> shift) compares with `value` as `compare` demands. Until
// then, the device gets time and the register is read again, at most `retries` times.
struct CheckRegister {
  std::uint32_t offset = 0;
  std::uint32_t mask = ~0u;
  unsigned shift = 0;
  Compare compare = Compare::kEqual;
  std::uint32_t value = 0;
  std::uint64_t retries = 0;
};

struct FillMemory {
  Ram ram = Ram::kPrimary;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint8_t byte = 0;
};

struct LoadMemory {
  Ram ram = Ram::kPrimary;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // bytes to load, which the file must have; 0: all it has
  BlobFile file;
};

struct CompareMemory {
  Ram ram = Ram::kPrimary;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  BlobFile file;
};

struct CheckCrc {
  Ram ram = Ram::kPrimary;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
};

// Expects the bit of S_INTR_STATUS from here on, without waiting for it.
struct ExpectInterrupt {
  std::uint32_t bit = 0;
  std::uint32_t sync = 0;  // index into Script::syncs
};

// Waits until every interrupt expected under `sync` has arrived, and clears its bit.
struct AwaitSync {
  std::uint32_t sync = 0;
};

// Waits for an interrupt that no command has waited for yet; returns at once if none can arrive.
struct WaitInterrupt {};

// Lets the device finish all its work. The device must not end up blocked.
struct Finish {
  std::uint32_t interrupts = 0;  // bits of S_INTR_STATUS expected at the end
};

// Lets the device finish the layer of a dump and clears its interrupts. If the layer does not end,
// no later command is played; if it is the guilty layer, that is the expected result.
struct EndLayer {
  std::uint32_t layer = 0;
  bool guilty = false;
};

using Action = std::variant<WriteRegister, CheckRegister, FillMemory, LoadMemory, CompareMemory,
                            CheckCrc, ExpectInterrupt, AwaitSync, WaitInterrupt, Finish, EndLayer>;

struct Command {
  unsigned line = 0;
  Action action;
};

enum class Kind : std::uint8_t { kCase, kCfg, kTxn, kDump, kRecord };

struct Script {
  Kind kind = Kind::kCase;
  std::string file;  // as shown in messages
  RegisterMap map = NVDLA_REGMAP_NV_FULL;
  std::vector<Command> commands;
  std::vector<std::string> syncs;
  std::vector<std::string> warnings;
  // Errors found before playing.
  std::vector<std::string> failures;
  std::uint64_t registers_compared = 0;
  // The reason if there is nothing to play.
  std::string nothing;
  // A note to print if the whole script was played.
  std::string end_note;
  // Continues after a register that differs.
  bool continue_on_fail = false;
  unsigned dropped_writes = 0;  // to units that the register map lacks
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_SCRIPT_HPP
