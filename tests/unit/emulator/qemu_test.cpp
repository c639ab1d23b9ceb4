// SPDX-License-Identifier: MIT
//
// The child process: its command line, its sockets, its end.
#include "emulator/device/qemu.hpp"

#include "fakes.hpp"
#include "tools/files/status.hpp"

namespace nvdla::emulator {
namespace {

TEST(QemuTest, BuildsTheCommandLine) {
  Machine machine;
  machine.kernel = "vmlinuz";
  machine.append = "console=ttyS0 quiet";
  machine.memory = "1G";
  const std::vector<std::string> command = command_line(machine);
  const auto value = [&](const std::string& option) -> std::string {
    for (std::size_t i = 0; i + 1 < command.size(); ++i)
      if (command[i] == option) return command[i + 1];
    return "none";
  };
  EXPECT_EQ(command[0], "qemu-system-x86_64");
  EXPECT_EQ(value("-kernel"), "vmlinuz");
  EXPECT_EQ(value("-append"), "console=ttyS0 quiet");
  EXPECT_EQ(value("-m"), "1G");
  EXPECT_EQ(value("-object"), "memory-backend-memfd,id=ram0,size=1G,share=on");
  EXPECT_EQ(value("-smp"), "1");
  EXPECT_EQ(value("-initrd"), "none");
  machine.initrd = "initrd";
  EXPECT_EQ(command_line(machine).back(), "initrd");
}

TEST(QemuTest, BuildsMachinesWithAWindow) {
  Machine machine;
  machine.route = Route::kAcpi;
  machine.kernel = "vmlinuz";
  machine.processors = 2;
  machine.description = "nvdla.aml";
  const auto has = [&](const std::string& option, const std::string& value) {
    const std::vector<std::string> command = command_line(machine, 7);
    const auto at = std::search_n(command.begin(), command.end(), 1, option);
    return at != command.end() && at + 1 != command.end() && at[1] == value;
  };
  EXPECT_TRUE(has("-smp", "2"));
  EXPECT_TRUE(has("-acpitable", "file=nvdla.aml"));
  EXPECT_TRUE(has("-object", fmt::format("memory-backend-file,id=ram0,size=512M,share=on,"
                                         "mem-path=/proc/{}/fd/7",
                                         ::getpid())));
  EXPECT_EQ(interrupt_line(Route::kAcpi, 2), "ioapic unnamed-gpio-in 17");
  machine.route = Route::kDeviceTree;
  machine.description = "nvdla.dtb";
  EXPECT_EQ(command_line(machine, 7)[0], "qemu-system-aarch64");
  EXPECT_TRUE(has("-dtb", "nvdla.dtb"));
  EXPECT_EQ(interrupt_line(Route::kDeviceTree, 2),
            "/machine/unattached/device[2] unnamed-gpio-in 112");
}

TEST(QemuTest, SharesMemory) {
  const MemoryRange range = share_memory(kDeviceTreePlace, "16M");
  EXPECT_EQ(range.address, 0x40000000u);
  EXPECT_EQ(range.size, 16u << 20);
  EXPECT_EQ(::lseek(range.file.get(), 0, SEEK_END), 16 << 20);
  EXPECT_THROW(share_memory(kAcpiPlace, "much"), program::UsageError);
  EXPECT_THROW(share_memory(kAcpiPlace, "3G"), program::UsageError);
}

// A shell in QEMU's place; what is added to its command are its positional parameters.
Qemu shell(const std::string& script) { return Qemu({"/bin/sh", "-c", script, "sh"}); }

TEST(QemuTest, HandsTheSocketsOver) {
  Qemu child = shell(R"(
    for argument in "$@"; do
      case $argument in
      socket,id=qtest,fd=*) qtest=${argument##*=} ;;
      x-pci-proxy-dev,*) device=${argument#*fd=}; device=${device%%,*} ;;
      esac
    done
    eval "echo device >&$device; echo qtest >&$qtest")");
  const Descriptor qtest = child.take_qtest_socket();
  char text[16] = {};
  EXPECT_EQ(::recv(child.device_socket(), text, 7, MSG_WAITALL), 7);
  EXPECT_STREQ(text, "device\n");
  EXPECT_EQ(::recv(qtest.get(), text, 6, MSG_WAITALL), 6);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(::recv(child.device_socket(), text, 1, 0), 0) << "nobody else holds the other end";
}

TEST(QemuTest, HandsTheWindowToThePlugin) {
  Qemu child({"/bin/sh", "-c", R"(
    for argument in "$@"; do
      case $argument in
      window.so,fd=*,address=0xc000000,size=0x22000) fd=${argument#*fd=}; fd=${fd%%,*} ;;
      x-pci-proxy-dev*) exit 1 ;;
      esac
    done
    eval "echo device >&$fd")",
              "sh"},
             "window.so", 0xc000000);
  char text[8] = {};
  EXPECT_EQ(::recv(child.device_socket(), text, 7, MSG_WAITALL), 7);
  EXPECT_STREQ(text, "device\n");
  EXPECT_EQ(child.wait(), 0);
}

TEST(QemuTest, ReportsTheStatus) { EXPECT_EQ(shell("exit 3").wait(), 3); }

TEST(QemuTest, ReportsTheSignal) {
  // In the shell's place: a child of its own would go on sleeping with our output open.
  Qemu child = shell("exec sleep 3600");
  child.kill();
  EXPECT_EQ(child.wait(), 128 + 9);
}

TEST(QemuTest, ReportsAMissingProgram) { EXPECT_EQ(Qemu({"/nonexistent/qemu"}).wait(), 127); }

}  // namespace
}  // namespace nvdla::emulator
