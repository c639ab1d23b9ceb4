// SPDX-License-Identifier: MIT
//
// A step describes what the device is to do as a `Work`: layers and regions of memory, each with
// guards around it. A runner executes it on a device of any kind.
#ifndef NVDLA_SELFTEST_WORK_HPP
#define NVDLA_SELFTEST_WORK_HPP

#include <drm/nvdla_layer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nvdla::selftest {

using Bytes = std::vector<std::uint8_t>;

// The bytes that fill outputs and guards, to detect what was not written and what should not be.
inline constexpr std::uint8_t kPoison = 0xa5;
inline constexpr std::uint8_t kGuardByte = 0xc3;
inline constexpr std::size_t kGuard = 4096;

// A slot and its contents before the layers run.
struct Region {
  Bytes bytes;
  bool written = false;
};

struct Work {
  std::string what;  // "conv int8"
  std::vector<nvdla_layer> layers = {};
  std::vector<nvdla_lut> luts = {};
  std::vector<nvdla_transfer> transfers = {};
  std::vector<Region> regions = {};  // by slot
};

enum class End {
  kDone,
  kHang,   // a layer does not end
  kGone,   // the device does not answer, or cannot be taken over
  kStray,  // the memory reports accesses outside the layers' regions
};

struct Ran {
  End end = End::kDone;
  std::string text = {};  // what went wrong
  std::uint32_t layer = 0;
  std::vector<nvdla_layer_stats> stats = {};
};

// The first byte of a guard that changed.
struct Stray {
  std::size_t region = 0;
  std::int64_t offset = 0;  // from the region's first byte; negative in the guard before it
  std::uint8_t value = 0;
  std::size_t count = 0;  // number of changed bytes in all guards
};

// Work that is loaded on a device and can run any number of times.
class Load {
 public:
  virtual ~Load() = default;
  Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Returns the region's memory for the host, to be accessed between two runs.
  virtual std::span<std::uint8_t> bytes(std::size_t region) = 0;
  // Returns the device's address of the region; none where the driver does not disclose it.
  virtual std::optional<std::uint64_t> address(std::size_t region) const = 0;
  // Returns the worst case of all layers, in cycles.
  virtual std::uint64_t cycles() const = 0;
  virtual Ran run() = 0;

  std::optional<Stray> stray();

 protected:
  // Returns a region with its guards, for the host.
  virtual std::span<std::uint8_t> around(std::size_t region) = 0;
  virtual std::size_t regions() const = 0;
};

class Runner {
 public:
  virtual ~Runner() = default;
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Throws nvdla::Error if the compiler refuses the work or there is no memory.
  virtual std::unique_ptr<Load> load(const Work& work) = 0;
};

// Returns the slots of a work: its regions, aligned for every unit.
inline constexpr std::uint32_t kAlignment = 256;
std::vector<nvdla_slot> slots_of(const Work& work);

// Returns the size of a region with both guards; the region begins after the first one.
std::size_t bytes_around(const Region& region);
// Writes the region's contents and its guards to memory.
void lay_out(const Region& region, std::span<std::uint8_t> around);

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_WORK_HPP
