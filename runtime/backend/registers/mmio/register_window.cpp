// SPDX-License-Identifier: MIT
#include "backend/registers/mmio/register_window.hpp"

#include <endian.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// x86 keeps the order of what it writes, and of reads that no cache answers: there only the
// compiler has to be told.
inline void before_write() {
#if defined(__aarch64__)
  asm volatile("dsb st" ::: "memory");
#elif defined(__x86_64__) || defined(__i386__)
  asm volatile("" ::: "memory");
#else
  __sync_synchronize();
#endif
}

inline void after_read() {
#if defined(__aarch64__)
  asm volatile("dsb ld" ::: "memory");
#elif defined(__x86_64__) || defined(__i386__)
  asm volatile("" ::: "memory");
#else
  __sync_synchronize();
#endif
}

}  // namespace

RegisterWindow::RegisterWindow(std::string name, const Descriptor& file, std::uint64_t offset,
                               std::uint64_t bytes, std::uint64_t head)
    : name_(std::move(name)),
      bytes_(static_cast<std::size_t>(bytes)),
      head_(head),
      data_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(),
                   static_cast<off_t>(offset))) {
  if (data_ != MAP_FAILED) return;
  const int error = errno;
  throw_error(ErrorCode::kNoDevice, "{}: its registers cannot be mapped: {}{}", name_,
              std::strerror(error),
              error == EPERM ? ": a driver has them, or the kernel keeps them from everybody" : "");
}

RegisterWindow::~RegisterWindow() { ::munmap(data_, bytes_); }

volatile std::uint32_t* RegisterWindow::word(std::uint32_t offset) const {
  const std::uint64_t at = head_ + offset;
  if (at + sizeof(std::uint32_t) > bytes_) {
    throw_error(ErrorCode::kGone, "{}: there is no register {:#x}: the window has {:#x} bytes",
                name_, offset, bytes_ - head_);
  }
  return reinterpret_cast<volatile std::uint32_t*>(static_cast<std::byte*>(data_) + at);
}

std::uint32_t RegisterWindow::read(std::uint32_t offset) const {
  const std::uint32_t value = *word(offset);
  after_read();
  return le32toh(value);
}

void RegisterWindow::write(std::uint32_t offset, std::uint32_t value) const {
  volatile std::uint32_t* const place = word(offset);
  before_write();
  *place = htole32(value);
}

}  // namespace nvdla::detail
