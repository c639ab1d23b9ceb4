// SPDX-License-Identifier: MIT
//
// A model that computes other layers than it was given: a device with a fault in its arithmetic.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_OTHER_DEVICE_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_OTHER_DEVICE_HPP

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "nvdla/device.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"
#include "support/handles.hpp"

namespace nvdla::test {

using ChangeLayer = std::function<void(nvdla_layer&)>;
// With each program that was made, to be broken.
using ChangeProgram = std::function<void(const Program&)>;

class OtherBackend final : public detail::Backend {
 public:
  OtherBackend(std::string_view name, ChangeLayer change, ChangeProgram made)
      : real_(detail::open_backend(name)), change_(std::move(change)), made_(std::move(made)) {}

  const DeviceInfo& info() const noexcept override { return real_->info(); }
  std::shared_ptr<detail::BufferImpl> allocate(std::uint64_t bytes, Memory memory) override {
    return real_->allocate(bytes, memory);
  }
  std::shared_ptr<const detail::ProgramImpl> create_program(const ProgramDesc& desc) override {
    std::vector<nvdla_layer> layers(desc.layers.begin(), desc.layers.end());
    for (nvdla_layer& layer : layers) change_(layer);
    ProgramDesc other = desc;
    other.layers = layers;
    auto program = real_->create_program(other);
    if (made_) made_(detail::Handles::make<Program>(program));
    return program;
  }
  std::shared_ptr<detail::QueueImpl> create_queue() override { return real_->create_queue(); }

 private:
  std::shared_ptr<detail::Backend> real_;
  ChangeLayer change_;
  ChangeProgram made_;
};

inline Device other_device(std::string_view name, ChangeLayer change, ChangeProgram made = {}) {
  return detail::Handles::make<Device>(
      std::shared_ptr<detail::Backend>(new OtherBackend(name, std::move(change), std::move(made))));
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_OTHER_DEVICE_HPP
