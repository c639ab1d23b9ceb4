// SPDX-License-Identifier: MIT
//
// A file descriptor with an owner.
#ifndef NVDLA_SUPPORT_DESCRIPTOR_HPP
#define NVDLA_SUPPORT_DESCRIPTOR_HPP

#include <unistd.h>

#include <utility>

namespace nvdla::detail {

class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const noexcept { return number_; }
  void close() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace nvdla::detail

#endif  // NVDLA_SUPPORT_DESCRIPTOR_HPP
