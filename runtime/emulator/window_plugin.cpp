// SPDX-License-Identifier: MIT
//
// A TCG plugin that puts the device's registers into a machine without PCI proxy and for any number
// of processors: a window of I/O memory over system memory, whose accesses go to the device server
// as the messages of message.hpp, with offsets in the window for addresses.
//
//   -plugin FILE,fd=N,address=A,size=S
//
// QEMU exports what is declared here without a header for it; the layouts are those of QEMU 7.2.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "emulator/device/message.hpp"

extern "C" {

struct QemuRegion;  // opaque; QEMU's takes less than kRegionBytes

struct QemuRegionOps {
  std::uint64_t (*read)(void* opaque, std::uint64_t offset, unsigned size);
  void (*write)(void* opaque, std::uint64_t offset, std::uint64_t value, unsigned size);
  void* read_with_attributes;
  void* write_with_attributes;
  int endianness;
  struct {
    unsigned min_access_size;
    unsigned max_access_size;
    bool unaligned;
    void* accepts;
  } valid;
  struct {
    unsigned min_access_size;
    unsigned max_access_size;
    bool unaligned;
  } implemented;
};

QemuRegion* get_system_memory();
void memory_region_init_io(QemuRegion* region, void* owner, const QemuRegionOps* ops, void* opaque,
                           const char* name, std::uint64_t size);
void memory_region_add_subregion_overlap(QemuRegion* parent, std::uint64_t offset,
                                         QemuRegion* region, int priority);
void qemu_mutex_lock_iothread_impl(const char* file, int line);
void qemu_mutex_unlock_iothread();

// The interface of plugins.
[[gnu::visibility("default")]] extern const int qemu_plugin_version;
const int qemu_plugin_version = 1;
[[gnu::visibility("default")]] int qemu_plugin_install(std::uint64_t id, const void* info,
                                                       int count, char** arguments);
}

namespace nvdla::emulator {
namespace {

constexpr int kLittleEndian = 2;
constexpr int kPriority = 1;  // above what may be there
constexpr std::size_t kRegionBytes = 4096;

struct Request {
  std::int32_t command;
  std::uint32_t padding = 0;
  std::uint64_t payload = 24;
  std::uint64_t offset;
  std::uint64_t value;
  std::uint32_t size;
  std::uint8_t memory = 1;
  std::array<std::uint8_t, 3> rest = {};
};
static_assert(sizeof(Request) == 40);

struct Answer {
  std::int32_t command;
  std::uint32_t padding;
  std::uint64_t payload;
  std::uint64_t value;
};
static_assert(sizeof(Answer) == 24);

bool transfer(ssize_t (*move)(int, void*, std::size_t), int socket, void* bytes, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = move(socket, static_cast<char*>(bytes) + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

ssize_t send_some(int socket, void* bytes, std::size_t size) {
  return ::send(socket, bytes, size, MSG_NOSIGNAL);
}

ssize_t receive_some(int socket, void* bytes, std::size_t size) {
  return ::recv(socket, bytes, size, 0);
}

struct Window {
  int socket = -1;
  std::mutex mutex;  // one access at a time is with the server
  alignas(16) std::array<unsigned char, kRegionBytes> region{};

  // All ones from a device that is gone, as from a bus.
  std::uint64_t exchange(Request request) {
    // The server may have QEMU's main loop raise the interrupt before it answers.
    qemu_mutex_unlock_iothread();
    Answer answer{};
    bool good;
    {
      const std::lock_guard lock(mutex);
      good = transfer(send_some, socket, &request, sizeof(request)) &&
             transfer(receive_some, socket, &answer, sizeof(answer));
    }
    qemu_mutex_lock_iothread_impl(__FILE__, __LINE__);
    return good ? answer.value : ~std::uint64_t{0};
  }
};

std::uint64_t read_window(void* opaque, std::uint64_t offset, unsigned size) {
  return static_cast<Window*>(opaque)->exchange(
      {.command = static_cast<std::int32_t>(Command::kBarRead),
       .offset = offset,
       .value = 0,
       .size = size});
}

void write_window(void* opaque, std::uint64_t offset, std::uint64_t value, unsigned size) {
  static_cast<Window*>(opaque)->exchange({.command = static_cast<std::int32_t>(Command::kBarWrite),
                                          .offset = offset,
                                          .value = value,
                                          .size = size});
}

constexpr QemuRegionOps kOps = {.read = read_window,
                                .write = write_window,
                                .read_with_attributes = nullptr,
                                .write_with_attributes = nullptr,
                                .endianness = kLittleEndian,
                                .valid = {1, 8, false, nullptr},
                                .implemented = {1, 8, false}};

// The number behind "name=" among the arguments.
bool find_number(int count, char** arguments, std::string_view name, std::uint64_t& number) {
  for (int i = 0; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (!argument.starts_with(name) || !argument.substr(name.size()).starts_with('=')) continue;
    const char* text = arguments[i] + name.size() + 1;
    char* end = nullptr;
    errno = 0;
    number = std::strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0';
  }
  return false;
}

}  // namespace
}  // namespace nvdla::emulator

int qemu_plugin_install(std::uint64_t, const void*, int count, char** arguments) {
  using namespace nvdla::emulator;
  std::uint64_t socket, address, size;
  if (!find_number(count, arguments, "fd", socket) ||
      !find_number(count, arguments, "address", address) ||
      !find_number(count, arguments, "size", size)) {
    std::fputs("nvdla-window: expected fd=NUMBER,address=NUMBER,size=NUMBER\n", stderr);
    return -1;
  }
  // The window lives as long as the machine.
  static Window window;
  window.socket = static_cast<int>(socket);
  auto* region = reinterpret_cast<QemuRegion*>(window.region.data());
  memory_region_init_io(region, nullptr, &kOps, &window, "nvdla", size);
  memory_region_add_subregion_overlap(get_system_memory(), address, region, kPriority);
  return 0;
}
