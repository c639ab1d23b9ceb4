// SPDX-License-Identifier: MIT
//
// What a step makes a device do: layers over memory of their own, with a guard around each piece,
// run by whatever reaches the device.
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

// What memory holds that nobody should have written.
inline constexpr std::uint8_t kPoison = 0xa5;
inline constexpr std::uint8_t kGuardByte = 0xc3;
inline constexpr std::size_t kGuard = 4096;

// A slot, and what it holds before the layers run.
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
  kStray,  // memory that is none of the layers' was touched, as the memory itself says
};

struct Ran {
  End end = End::kDone;
  std::string text = {};  // what went wrong
  std::uint32_t layer = 0;
  std::vector<nvdla_layer_stats> stats = {};
};

// A byte of a guard that changed.
struct Stray {
  std::size_t region = 0;
  std::int64_t offset = 0;  // from the region's first byte; negative ahead of it
  std::uint8_t value = 0;
  std::size_t count = 0;  // of bytes in all guards
};

// Work that a device is ready to run, any number of times.
class Load {
 public:
  virtual ~Load() = default;
  Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // As the host sees them; for it between two runs.
  virtual std::span<std::uint8_t> bytes(std::size_t region) = 0;
  // For the device; none where a driver keeps it to itself.
  virtual std::optional<std::uint64_t> address(std::size_t region) const = 0;
  // Worst case of all layers, in cycles.
  virtual std::uint64_t cycles() const = 0;
  virtual Ran run() = 0;

  std::optional<Stray> stray();

 protected:
  // A region with its guards, as the host sees it.
  virtual std::span<std::uint8_t> around(std::size_t region) = 0;
  virtual std::size_t regions() const = 0;
};

class Runner {
 public:
  virtual ~Runner() = default;
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Throws nvdla::Error: what the compiler refuses, no memory.
  virtual std::unique_ptr<Load> load(const Work& work) = 0;
};

// The slots of a work: each region, aligned for every unit.
inline constexpr std::uint32_t kAlignment = 256;
std::vector<nvdla_slot> slots_of(const Work& work);

// Bytes of a region with both guards; it begins behind the first.
std::size_t bytes_around(const Region& region);
// Lays the region out where its guards are, too.
void lay_out(const Region& region, std::span<std::uint8_t> around);

}  // namespace nvdla::selftest

#endif  // NVDLA_SELFTEST_WORK_HPP
