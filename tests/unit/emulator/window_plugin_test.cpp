// SPDX-License-Identifier: MIT
//
// The plugin in a QEMU of our own making: this program exports what QEMU does.
#include <dlfcn.h>

#include "fakes.hpp"

namespace {

// What the plugin asked for.
struct Machine {
  const void* ops = nullptr;
  void* opaque = nullptr;
  std::uint64_t size = 0;
  std::uint64_t address = 0;
  int locked = 1;  // as in QEMU when it calls an operation
};
Machine machine;

}  // namespace

extern "C" {
[[gnu::visibility("default")]] void* get_system_memory() { return &machine; }
[[gnu::visibility("default")]] void memory_region_init_io(void*, void*, const void* ops,
                                                          void* opaque, const char*,
                                                          std::uint64_t size) {
  machine.ops = ops;
  machine.opaque = opaque;
  machine.size = size;
}
[[gnu::visibility("default")]] void memory_region_add_subregion_overlap(void* parent,
                                                                        std::uint64_t offset, void*,
                                                                        int) {
  if (parent == &machine) machine.address = offset;
}
[[gnu::visibility("default")]] void qemu_mutex_lock_iothread_impl(const char*, int) {
  ++machine.locked;
}
[[gnu::visibility("default")]] void qemu_mutex_unlock_iothread() { --machine.locked; }
}

namespace nvdla::emulator {
namespace {

using Install = int (*)(std::uint64_t, const void*, int, char**);

int install(std::vector<std::string> arguments) {
  void* plugin = ::dlopen(NVDLA_WINDOW_PLUGIN, RTLD_NOW);
  if (plugin == nullptr) {
    ADD_FAILURE() << ::dlerror();
    return -1;
  }
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  const auto function = reinterpret_cast<Install>(::dlsym(plugin, "qemu_plugin_install"));
  return function(0, nullptr, static_cast<int>(pointers.size()), pointers.data());
}

TEST(WindowPluginTest, ForwardsAccesses) {
  SocketPair sockets;
  ASSERT_EQ(
      install({fmt::format("fd={}", sockets.qemu.get()), "address=0xc000000", "size=0x22000"}), 0);
  EXPECT_EQ(machine.address, 0xc000000u);
  EXPECT_EQ(machine.size, 0x22000u);
  struct {
    std::uint64_t (*read)(void*, std::uint64_t, unsigned);
    void (*write)(void*, std::uint64_t, std::uint64_t, unsigned);
  } ops;
  std::memcpy(&ops, machine.ops, sizeof(ops));

  // The server's side, which needs QEMU's lock to be free.
  std::thread server([&] {
    const auto written = receive(sockets.server.get());
    ASSERT_TRUE(written);
    EXPECT_EQ(written->command, Command::kBarWrite);
    const auto access = std::get<BarAccess>(written->body);
    EXPECT_EQ(access.address, 0x1008u);
    EXPECT_EQ(access.value, 0x55u);
    EXPECT_EQ(access.size, 4u);
    EXPECT_EQ(machine.locked, 0);
    reply(sockets.server.get(), 0);
    const auto read = receive(sockets.server.get());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->command, Command::kBarRead);
    EXPECT_EQ(std::get<BarAccess>(read->body).address, 0x2000u);
    reply(sockets.server.get(), 0x1234);
  });
  ops.write(machine.opaque, 0x1008, 0x55, 4);
  EXPECT_EQ(ops.read(machine.opaque, 0x2000, 4), 0x1234u);
  EXPECT_EQ(machine.locked, 1);
  server.join();

  sockets.server.close();
  EXPECT_EQ(ops.read(machine.opaque, 0, 4), ~std::uint64_t{0}) << "the device is gone";
  EXPECT_EQ(machine.locked, 1);
}

TEST(WindowPluginTest, RefusesWrongArguments) {
  EXPECT_EQ(install({"fd=3", "address=0xc000000"}), -1);
  EXPECT_EQ(install({"fd=3", "address=0xc000000", "size=some"}), -1);
  EXPECT_EQ(install({"fd=3", "address=", "size=1"}), -1);
}

}  // namespace
}  // namespace nvdla::emulator
