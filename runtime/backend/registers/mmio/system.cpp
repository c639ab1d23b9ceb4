// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/system.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "support/check.hpp"

namespace nvdla::detail {

bool System::has(std::string_view file) const { return ::access(path(file).c_str(), F_OK) == 0; }

std::optional<std::string> System::text(std::string_view file) const {
  const Descriptor descriptor(::open(path(file).c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> part;
  ssize_t got = 0;
  while ((got = ::read(descriptor.get(), part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  if (got < 0) return std::nullopt;
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string System::linked(std::string_view link) const {
  std::error_code ignored;
  return std::filesystem::read_symlink(path(link), ignored).filename().string();
}

Descriptor System::open(std::string_view file, std::string_view name, int flags) const {
  Descriptor descriptor(::open(path(file).c_str(), O_RDWR | O_CLOEXEC | flags));
  if (descriptor.get() >= 0) return descriptor;
  const int error = errno;
  if (error == EBUSY) throw_error(ErrorCode::kBusy, "{}: somebody else uses it now", name);
  throw_error(
      ErrorCode::kNoDevice, "{}: {} cannot be opened: {}{}", name, file, std::strerror(error),
      error == EACCES || error == EPERM ? ": only root may, and only where the kernel is not "
                                          "locked down"
                                        : "");
}

bool System::put(std::string_view file, std::string_view word) const {
  const Descriptor descriptor(::open(path(file).c_str(), O_WRONLY | O_CLOEXEC));
  return descriptor.get() >= 0 &&
         ::write(descriptor.get(), word.data(), word.size()) == static_cast<ssize_t>(word.size());
}

// The lock belongs to the open file, not to the process, so that two devices of one process exclude
// each other, too.
void take_alone(const Descriptor& file, std::uint64_t start, std::uint64_t bytes,
                std::string_view name) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(start);
  lock.l_len = static_cast<off_t>(bytes);
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return;
  const int error = errno;
  if (error == EAGAIN || error == EACCES) {
    throw_error(ErrorCode::kBusy, "{}: somebody else uses it now", name);
  }
  throw_error(ErrorCode::kNoDevice, "{}: cannot be locked: {}", name, std::strerror(error));
}

}  // namespace nvdla::detail
