// SPDX-License-Identifier: MIT
//
// Whole files for nv_full in fp16 as the old compiler wrote them: memories, tasks of the CPU and of
// the hardware, and the layers of one.
#ifndef NVDLA_TESTS_LOADABLE_HALF_FILE_HPP
#define NVDLA_TESTS_LOADABLE_HALF_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "loadable/format/task.hpp"

namespace nvdla::test {

constexpr std::uint32_t kHalfAtom = 32, kHalfLanes = 16;

struct HalfCube {
  std::uint16_t channels, height, width;

  std::uint32_t line() const { return width * kHalfAtom; }
  std::uint32_t surface() const { return line() * height; }
  std::uint32_t bytes() const { return (channels + kHalfLanes - 1) / kHalfLanes * surface(); }
};

struct Kernels {
  std::uint16_t count, channels, size;
  std::vector<int> weights;  // KCRS
  std::vector<int> bias;

  int at(int k, int c, int r, int s) const {
    return weights[static_cast<std::size_t>(((k * channels + c) * size + r) * size + s)];
  }
};

// The file, memory by memory; a memory's number is its address, too.
class HalfFile {
 public:
  explicit HalfFile(loadable::Revision revision);

  std::uint16_t memory(std::uint64_t bytes, std::uint16_t flags = loadable::kMemoryAlloc);
  std::uint16_t constant(std::vector<std::byte> bytes, loadable::Version version = {});
  std::uint16_t tensor(const char* name, const HalfCube& size, bool input);
  void emu_task(loadable::EmuType type, float scale, std::uint16_t from, std::uint16_t to,
                const HalfCube& size);
  void dla_task(const std::vector<loadable::Operation>& operations);

  static std::int16_t position(std::uint16_t memory) {
    return static_cast<std::int16_t>(memory + 1);
  }
  static loadable::DataCube cube(std::uint16_t memory, const HalfCube& size);

  std::vector<std::byte> bytes() const;

 private:
  // Addresses of a task: its descriptor first, then every memory so far, by number plus one.
  void task(std::uint32_t interface, std::uint16_t descriptor);

  loadable::Revision revision_;
  loadable::Container container_;
  std::deque<std::vector<std::byte>> kept_;
};

// The operations of the hardware, each behind the one before.
class HalfLayers {
 public:
  HalfLayers(HalfFile& file, std::uint16_t input, const HalfCube& size)
      : file_(file), memory_(input), size_(size) {}

  // A convolution, with the bias in SDP.
  void convolution(const Kernels& k, std::uint8_t data_banks);
  void relu();
  void pooling();

  // What the last one writes.
  std::uint16_t memory() const { return memory_; }
  std::vector<loadable::Operation> operations();

 private:
  loadable::SdpPart sdp(const HalfCube& out);
  template <typename Part>
  std::int16_t add(std::uint8_t type, const Part& part);
  void tell(std::int16_t from, std::int16_t to, std::uint8_t event);
  void count(const loadable::Consumer& c);
  void end(std::int16_t index, const HalfCube& out);

  HalfFile& file_;
  std::uint16_t memory_;
  HalfCube size_;
  std::vector<loadable::Operation> operations_;
  std::int16_t last_of_[loadable::kOpTypes] = {-1, -1, -1, -1, -1, -1};
  std::int16_t end_ = -1;
};

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_LOADABLE_HALF_FILE_HPP
