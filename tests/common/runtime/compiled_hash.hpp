// SPDX-License-Identifier: MIT
//
// What the compiler makes of a network, as a few words that fit a line: hashes of the programs with
// the constants in memory and of the loadable, or the text of a refusal.
#ifndef NVDLA_TESTS_COMMON_RUNTIME_COMPILED_HASH_HPP
#define NVDLA_TESTS_COMMON_RUNTIME_COMPILED_HASH_HPP

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "common/hash.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/network.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/memory.hpp"
#include "support/handles.hpp"

namespace nvdla::test {

// A model that hashes the programs it is given, and remembers its buffers.
class HashingBackend final : public detail::Backend {
 public:
  explicit HashingBackend(std::string_view name) : inner_(detail::open_backend(name)) {}

  const DeviceInfo& info() const noexcept override { return inner_->info(); }
  std::shared_ptr<detail::BufferImpl> allocate(std::uint64_t bytes, Memory memory) override {
    buffers_.push_back(inner_->allocate(bytes, memory));
    return buffers_.back();
  }
  std::shared_ptr<const detail::ProgramImpl> create_program(const ProgramDesc& desc) override {
    // Descriptors have no bytes between their fields.
    programs_.add(std::as_bytes(desc.layers));
    programs_.add(std::as_bytes(desc.slots));
    programs_.add(std::as_bytes(desc.luts));
    programs_.add(std::as_bytes(desc.transfers));
    programs_.add(desc.control);
    return inner_->create_program(desc);
  }
  std::shared_ptr<detail::QueueImpl> create_queue() override { return inner_->create_queue(); }

  // Returns the hash of all programs and of what lies in all buffers.
  std::string hash() {
    Hash all = std::exchange(programs_, {});
    for (const auto& buffer : std::exchange(buffers_, {})) {
      all.add({buffer->begin_access(MapMode::kRead), buffer->size()});
      buffer->end_access(MapMode::kRead);
    }
    return all.text();
  }

 private:
  std::shared_ptr<detail::Backend> inner_;
  Hash programs_;
  std::vector<std::shared_ptr<detail::BufferImpl>> buffers_;
};

// Returns what a network becomes on a configuration: "PROGRAMS FILE".
inline std::string compiled_text(const Network& network, const std::string& configuration) {
  const std::string programs = text_or_error([&] {
    const auto backend = std::make_shared<HashingBackend>("model:" + configuration);
    const Device device = detail::Handles::make<Device>(std::shared_ptr<detail::Backend>(backend));
    const CompiledNetwork compiled = network.compile(device);
    return backend->hash();
  });
  return programs + " " + text_or_error([&] {
           Hash hash;
           hash.add(make_loadable(network, configuration));
           return hash.text();
         });
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RUNTIME_COMPILED_HASH_HPP
