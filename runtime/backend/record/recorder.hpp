// SPDX-License-Identifier: MIT
//
// Writes the jobs of one device to a record: what was programmed, with which addresses, what memory
// held before and what the layers left in theirs.
#ifndef NVDLA_BACKEND_RECORD_RECORDER_HPP
#define NVDLA_BACKEND_RECORD_RECORDER_HPP

#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/compiled_program.hpp"
#include "backend/inprocess/address_space.hpp"

namespace nvdla::detail {

// Memory under an address of the record. User space does not know where a driver has put it, so a
// record has addresses of its own: the same run has the same ones on every device.
class RecordedMemory {
 public:
  // Throws kNoMemory.
  RecordedMemory(std::shared_ptr<AddressSpace> space, std::uint64_t size, Memory memory);
  ~RecordedMemory();
  RecordedMemory(const RecordedMemory&) = delete;
  RecordedMemory& operator=(const RecordedMemory&) = delete;

  std::uint64_t address() const noexcept { return address_; }
  std::uint64_t size() const noexcept { return size_; }
  Memory memory() const noexcept { return memory_; }

 private:
  friend class Recorder;

  std::shared_ptr<AddressSpace> space_;
  std::uint64_t address_ = 0;
  std::uint64_t size_;
  Memory memory_;
  std::vector<std::byte> known_;  // what the record has of it; empty: nothing
};

// What is bound to a slot.
struct RecordedBinding {
  RecordedMemory* memory = nullptr;
  BufferImpl* buffer = nullptr;        // whose bytes these are,
  std::span<const std::byte> bytes{};  // or, of control data, the bytes
  std::uint64_t offset = 0;
};

class Recorder {
 public:
  // Nothing is created before there is a job. `numbered`: further devices of the process that
  // record under this name get numbers. Throws kInvalidArgument for what is no name of a record.
  Recorder(std::string path, bool numbered, const DeviceInfo& info);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Runs a job, alone, and writes it down, with the names of its layers if there are any. Throws
  // what `run` throws, and kNotWritten.
  std::shared_ptr<FenceImpl> record(const CompiledProgram& program, const LayerNames& names,
                                    std::span<const RecordedBinding> bindings,
                                    const std::function<std::shared_ptr<FenceImpl>()>& run);

 private:
  class Forgetting;

  void open();
  void append(std::span<const std::byte> bytes);

  std::string path_;
  bool numbered_;  // the number is still to be taken
  const DeviceInfo info_;
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  std::uint64_t written_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_RECORD_RECORDER_HPP
