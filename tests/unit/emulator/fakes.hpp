// SPDX-License-Identifier: MIT
//
// What stands around the device server in its tests: a machine that takes interrupts, a device with
// a layer of its own making, memory in a descriptor, the wire format as QEMU writes it.
#ifndef NVDLA_TESTS_EMULATOR_FAKES_HPP
#define NVDLA_TESTS_EMULATOR_FAKES_HPP

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "emulator/device/function.hpp"
#include "emulator/device/message.hpp"
#include "emulator/vhost/vhost_message.hpp"
#include "firmware/nvdla_hw.h"
#include "firmware/registers/nvdla_regs.h"

namespace nvdla::emulator {

// Notes what arrives, in words.
class FakePort final : public InterruptPort {
 public:
  void message(std::uint64_t address, std::uint32_t data) override {
    note(fmt::format("msi {:#x} {:#x}", address, data));
  }
  void level(bool high) override { note(high ? "high" : "low"); }
  void settle() override {}

  std::vector<std::string> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void note(std::string what) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(std::move(what));
  }

  mutable std::mutex mutex_;
  std::vector<std::string> seen_;
};

// GLB of the second generation, and one register kStart: writing an address starts a layer that
// writes 16 times 0x5a there and then sets status bit 0. Layers queue up.
class FakeAccelerator final : public Accelerator {
 public:
  static constexpr std::uint32_t kGlb = NVDLA_NV_SMALL_GLB_BASE;
  static constexpr std::uint32_t kMask = kGlb + NVDLA_GLB_S_INTR_MASK;
  static constexpr std::uint32_t kSet = kGlb + NVDLA_GLB_S_INTR_SET;
  static constexpr std::uint32_t kStatus = kGlb + NVDLA_GLB_S_INTR_STATUS;
  static constexpr std::uint32_t kStart = 0x9038;
  static constexpr std::uint32_t kVersion = 0x12345678;
  static constexpr std::size_t kLayerBytes = 16;

  explicit FakeAccelerator(model::Bus& bus) : bus_(bus) {}

  std::uint32_t read(std::uint32_t offset) override {
    switch (offset) {
      case kGlb:
        return kVersion;
      case kMask:
        return mask_;
      case kStatus:
        return status_;
      default:
        return offset;
    }
  }
  void write(std::uint32_t offset, std::uint32_t value) override {
    written.emplace_back(offset, value);
    if (offset == kMask) mask_ = value;
    if (offset == kSet) status_ |= value;
    if (offset == kStatus) status_ &= ~value;
    if (offset == kStart) layers_.push_back(value);
  }
  bool interrupt() const override { return (status_ & ~mask_) != 0; }
  bool step() override {
    if (layers_.empty()) return false;
    const std::uint32_t address = layers_.front();
    layers_.erase(layers_.begin());
    bus_.client(NVDLA_DMA_SDP_WDMA);
    const model::Mapping mapping = bus_.map(model::Ram::kPrimary, address, kLayerBytes, true);
    if (mapping.size >= kLayerBytes) std::memset(mapping.data, 0x5a, kLayerBytes);
    bus_.written(model::Ram::kPrimary, address, kLayerBytes);
    status_ |= 1;
    return !layers_.empty();
  }
  bool idle() const override { return layers_.empty(); }
  void reset() override {
    mask_ = status_ = 0;
    layers_.clear();
  }

  // Looked at only when the function is at rest.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> written;

 private:
  model::Bus& bus_;
  std::uint32_t mask_ = 0;
  std::uint32_t status_ = 0;
  std::vector<std::uint32_t> layers_;
};

// Shared memory as QEMU's memory-backend-memfd makes it.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t size) : size_(size), file_(::memfd_create("guest", 0)) {
    if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0) ADD_FAILURE() << "ftruncate";
    data_ = static_cast<std::byte*>(
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0));
  }
  ~SharedMemory() { ::munmap(data_, size_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* data() { return data_; }
  int file() const { return file_.get(); }
  MemoryRange range(std::uint64_t address, std::uint64_t size, std::uint64_t offset = 0) const {
    return {address, size, offset, Descriptor(::dup(file_.get()))};
  }

 private:
  std::size_t size_;
  Descriptor file_;
  std::byte* data_ = nullptr;
};

// Both ends of a stream.
struct SocketPair {
  SocketPair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      ADD_FAILURE() << "socketpair";
    server = Descriptor(ends[0]);
    qemu = Descriptor(ends[1]);
  }
  Descriptor server;
  Descriptor qemu;
};

// Bytes of a message, little endian as on the wire.
class Wire {
 public:
  Wire& i32(std::int32_t value) { return put(value); }
  Wire& u32(std::uint32_t value) { return put(value); }
  Wire& i64(std::int64_t value) { return put(value); }
  Wire& u64(std::uint64_t value) { return put(value); }
  Wire& u8(std::uint8_t value) { return put(value); }
  Wire& zeros(std::size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }

  static Wire header(std::int32_t command, std::uint64_t size) {
    return Wire().i32(command).zeros(4).u64(size);
  }
  static Wire config(Command command, std::uint32_t address, std::uint32_t value,
                     std::int32_t length) {
    return header(static_cast<std::int32_t>(command), 12).u32(address).u32(value).i32(length);
  }
  static Wire bar(Command command, std::uint64_t address, std::uint64_t value, std::uint32_t size) {
    return header(static_cast<std::int32_t>(command), 24)
        .u64(address)
        .u64(value)
        .u32(size)
        .u8(1)
        .zeros(3);
  }
  struct Range {
    std::uint64_t address;
    std::uint64_t size;
    std::int64_t offset;
  };
  static Wire sysmem(const std::vector<Range>& ranges) {
    Wire wire = header(0, 192);
    const auto column = [&](auto member) {
      for (std::size_t i = 0; i < 8; ++i)
        wire.u64(i < ranges.size() ? static_cast<std::uint64_t>(ranges[i].*member) : 0);
    };
    column(&Range::address);
    column(&Range::size);
    column(&Range::offset);
    return wire;
  }

  // The header of a vhost-user message.
  static Wire vhost(VhostRequest request, std::uint32_t size, std::uint32_t flags = 1) {
    return Wire().u32(static_cast<std::uint32_t>(request)).u32(flags).u32(size);
  }
  static Wire vring(VhostRequest request, std::uint32_t index, std::uint32_t number) {
    return vhost(request, 8).u32(index).u32(number);
  }
  static Wire rings(const VringAddress& rings) {
    return vhost(VhostRequest::kSetVringAddr, 40)
        .u32(rings.index)
        .u32(0)
        .u64(rings.descriptors)
        .u64(rings.used)
        .u64(rings.available)
        .u64(~std::uint64_t{0});
  }

  const std::vector<unsigned char>& bytes() const { return bytes_; }

  // Descriptors travel with the header, the payload follows in a write of its own, as QEMU does.
  void send(int socket, const std::vector<int>& descriptors = {}) const {
    const std::size_t first = std::min<std::size_t>(16, bytes_.size());
    iovec vector{const_cast<unsigned char*>(bytes_.data()), first};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
    if (!descriptors.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
      std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size() * sizeof(int));
    }
    ASSERT_EQ(::sendmsg(socket, &message, MSG_NOSIGNAL), static_cast<ssize_t>(first));
    if (bytes_.size() > first) {
      ASSERT_EQ(::send(socket, bytes_.data() + first, bytes_.size() - first, MSG_NOSIGNAL),
                static_cast<ssize_t>(bytes_.size() - first));
    }
  }

 private:
  template <typename T>
  Wire& put(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(value));
    std::memcpy(bytes_.data() + at, &value, sizeof(value));
    return *this;
  }

  std::vector<unsigned char> bytes_;
};

// Waits for what another thread is about to do; false when it does not within minutes, however busy
// the machine is.
template <typename Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 120000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return condition();
}

}  // namespace nvdla::emulator

#endif  // NVDLA_TESTS_EMULATOR_FAKES_HPP
