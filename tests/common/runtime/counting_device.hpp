// SPDX-License-Identifier: MIT
//
// A device that counts the buffers it gives away.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_COUNTING_DEVICE_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_COUNTING_DEVICE_HPP

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "backend/backend.hpp"
#include "support/handles.hpp"

namespace nvdla::test {

struct Allocations {
  std::uint64_t buffers = 0, bytes = 0;
  friend bool operator==(const Allocations&, const Allocations&) = default;
};

class CountingBackend final : public detail::Backend {
 public:
  explicit CountingBackend(std::string_view name) : inner_(detail::open_backend(name)) {}

  const DeviceInfo& info() const noexcept override { return inner_->info(); }
  std::shared_ptr<detail::BufferImpl> allocate(std::uint64_t bytes, Memory memory) override {
    ++made_.buffers;
    made_.bytes += bytes;
    return inner_->allocate(bytes, memory);
  }
  std::shared_ptr<const detail::ProgramImpl> create_program(const ProgramDesc& desc) override {
    return inner_->create_program(desc);
  }
  std::shared_ptr<detail::QueueImpl> create_queue() override { return inner_->create_queue(); }

  // Since the last call.
  Allocations take() noexcept { return std::exchange(made_, {}); }

 private:
  std::shared_ptr<detail::Backend> inner_;
  Allocations made_;
};

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_COUNTING_DEVICE_HPP
