// SPDX-License-Identifier: MIT
//
// /proc/self/pagemap: where the pages of this process are.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_PAGE_MAP_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_PAGE_MAP_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include "backend/registers/mmio/system.hpp"

namespace nvdla::detail {

class PageMap {
 public:
  // Throws kNoDevice on behalf of the device `name`.
  PageMap(const System& system, std::string_view name);

  // The physical address of a page that is present and stays. Throws kNoDevice if the kernel does
  // not tell it to this process.
  std::uint64_t address_of(const void* page) const;

 private:
  std::string name_;
  Descriptor file_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_PAGE_MAP_HPP
