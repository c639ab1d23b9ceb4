// SPDX-License-Identifier: MIT
#include "device/bound_buffer.hpp"

#include "backend/backend.hpp"
#include "support/check.hpp"
#include "support/handles.hpp"

namespace nvdla::detail {

void check_bound(std::string_view name, const Buffer& buffer, const Buffer& old,
                 std::uint64_t bytes) {
  if (!buffer) refuse_argument("the buffer for '{}' is an empty handle", name);
  if (Handles::impl(buffer)->device() != Handles::impl(old)->device()) {
    refuse_argument("the buffer for '{}' belongs to another device", name);
  }
  if (buffer.memory() != old.memory()) {
    const auto text = [](Memory m) { return m == Memory::kSram ? "SRAM" : "DRAM"; };
    refuse_argument("the buffer for '{}' is in {}, the tensor lies in {}", name,
                    text(buffer.memory()), text(old.memory()));
  }
  if (buffer.size() < bytes) {
    refuse_argument("the buffer for '{}' has {} bytes, {} are needed", name, buffer.size(), bytes);
  }
}

}  // namespace nvdla::detail
