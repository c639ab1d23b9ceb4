// SPDX-License-Identifier: MIT
//
// What a register case or trace asks for, whatever its format: a list of commands. Parsers make
// it from text alone, load.hpp adds the contents of the files it names, the player runs it.
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

// No command may touch more memory than this: real cases stay below 130 MB, and a damaged number
// must not exhaust the host.
inline constexpr std::uint64_t kMaxRange = std::uint64_t{1} << 30;
// Nor all commands of a script together, so that it ends.
inline constexpr std::uint64_t kMaxTotal = 4 * kMaxRange;

// Bytes at an offset from where the blob goes.
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
  // What happens when the file is not there: an error, or the command is left out with a warning.
  bool optional = false;
  std::shared_ptr<const Blob> data;  // set by load_script()
};

struct WriteRegister {
  std::uint32_t offset = 0;
  std::uint32_t value = 0;
};

enum class Compare : std::uint8_t { kEqual, kNotEqual, kGreater, kNotGreater, kLess, kNotLess };

inline constexpr std::uint64_t kUntilStuck = ~std::uint64_t{0};

// Holds when ((register & mask) >> shift) compares as said with `value`. While it does not, the
// device gets time and the register is read again, `retries` times at most.
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
  std::uint64_t size = 0;  // bytes that the file must have and that are loaded; 0: all it has
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

// The bit of S_INTR_STATUS is expected from here on. Nothing waits yet.
struct ExpectInterrupt {
  std::uint32_t bit = 0;
  std::uint32_t sync = 0;  // index into Script::syncs
};

// Waits until every interrupt that was expected under `sync` has come, and clears its bit.
struct AwaitSync {
  std::uint32_t sync = 0;
};

// Waits for an interrupt that was not waited for before; returns at once when nothing can come.
struct WaitInterrupt {};

// Lets the device finish all it was given. It must not be left blocked.
struct Finish {
  std::uint32_t interrupts = 0;  // bits of S_INTR_STATUS that are due then
};

// Lets the device finish the layer of a dump and clears its interrupts. If it does not end, nothing
// after it is played; that is what was to be found out if the layer is the guilty one.
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
  // What is wrong before anything is played.
  std::vector<std::string> failures;
  std::uint64_t registers_compared = 0;
  // Why there is nothing to play.
  std::string nothing;
  // What it means that all was played.
  std::string end_note;
  // Goes on after a register that compares wrong.
  bool continue_on_fail = false;
  unsigned dropped_writes = 0;  // to units that the register map lacks
};

}  // namespace nvdla::replay

#endif  // NVDLA_TOOLS_REPLAY_SCRIPT_HPP
