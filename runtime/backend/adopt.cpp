// SPDX-License-Identifier: MIT
#include <cstring>

#include "backend/backend.hpp"

namespace nvdla::detail {

std::shared_ptr<BufferImpl> Backend::adopt(const std::shared_ptr<HostPages>& pages, Memory memory) {
  std::shared_ptr<BufferImpl> copy = allocate(pages->size(), memory);
  std::memcpy(copy->begin_access(MapMode::kWrite), pages->data(), pages->size());
  copy->end_access(MapMode::kWrite);
  return copy;
}

}  // namespace nvdla::detail
