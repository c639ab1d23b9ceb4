// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/page_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/check.hpp"

namespace nvdla::detail {
namespace {

constexpr const char* kPageMapFile = "/proc/self/pagemap";
// The bits of an entry, see Documentation/admin-guide/mm/pagemap.rst of the kernel.
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kFrame = (std::uint64_t{1} << 55) - 1;

}  // namespace

PageMap::PageMap(const System& system, std::string_view name)
    : name_(name), file_(::open(system.path(kPageMapFile).c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_.get() < 0) {
    throw_error(ErrorCode::kNoDevice, "{}: {} cannot be opened: {}", name_, kPageMapFile,
                std::strerror(errno));
  }
}

std::uint64_t PageMap::address_of(const void* page) const {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t number = reinterpret_cast<std::uintptr_t>(page) / page_bytes;
  std::uint64_t entry = 0;
  if (::pread(file_.get(), &entry, sizeof(entry), static_cast<off_t>(number * sizeof(entry))) !=
      static_cast<ssize_t>(sizeof(entry))) {
    throw_error(ErrorCode::kNoDevice, "{}: {} cannot be read", name_, kPageMapFile);
  }
  if ((entry & kPresent) == 0) {
    throw_error(ErrorCode::kNoDevice, "{}: {} says that a page is not there", name_, kPageMapFile);
  }
  if ((entry & kFrame) == 0) {
    throw_error(ErrorCode::kNoDevice,
                "{}: {} hides where memory is: that takes CAP_SYS_ADMIN, which root has", name_,
                kPageMapFile);
  }
  return (entry & kFrame) * page_bytes;
}

}  // namespace nvdla::detail
