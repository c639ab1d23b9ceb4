// SPDX-License-Identifier: MIT
//
// `Recorder` writes the jobs of one device to a record: the programs, the addresses of their
// buffers, the contents of memory before, and what the layers wrote.
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

// `RecordedMemory` gives memory an address in the record. User space does not know where a driver
// has placed memory, so a record has addresses of its own: the same run has the same addresses on
// every device.
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
  std::vector<std::byte> known_;  // the contents that the record has already; empty: none
};

// The memory that is bound to a slot.
struct RecordedBinding {
  RecordedMemory* memory = nullptr;
  BufferImpl* buffer = nullptr;        // has the bytes, or is null
  std::span<const std::byte> bytes{};  // the bytes of control data, which have no buffer
  std::uint64_t offset = 0;
};

class Recorder {
 public:
  // Creates no file before the first job. `numbered`: further devices of the process that record
  // under this name append numbers to it. Throws kInvalidArgument for an invalid name.
  Recorder(std::string path, bool numbered, const DeviceInfo& info);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Runs a job, with no other job beside it, and writes it to the record with the names of its
  // layers, if any. Throws what `run` throws, and kNotWritten.
  std::shared_ptr<FenceImpl> record(const CompiledProgram& program, const LayerNames& names,
                                    std::span<const RecordedBinding> bindings,
                                    const std::function<std::shared_ptr<FenceImpl>()>& run);

 private:
  class Forgetting;

  void open();
  void append(std::span<const std::byte> bytes);

  std::string path_;
  bool numbered_;  // the file gets a number when it is created
  const DeviceInfo info_;
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  std::uint64_t written_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_RECORD_RECORDER_HPP
