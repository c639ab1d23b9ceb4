// SPDX-License-Identifier: MIT
//
// User-mode Linux as a child process: its command line, its connection, its end. A script is the
// kernel.
#include "emulator/vhost/uml.hpp"

#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "fakes.hpp"
#include "tools/files/status.hpp"

namespace nvdla::emulator {
namespace {

class UmlTest : public testing::Test {
 protected:
  UmlTest() {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    machine_.route = Route::kUml;
    machine_.kernel = folder_ + "/linux";
  }
  ~UmlTest() override { std::filesystem::remove_all(folder_); }

  void script(const std::string& text) {
    std::ofstream(machine_.kernel) << "#!/bin/sh\n" << text;
    ::chmod(machine_.kernel.c_str(), 0755);
  }

  std::string folder_ = testing::TempDir() + "umlXXXXXX";
  Machine machine_;
};

TEST_F(UmlTest, BuildsTheCommandLine) {
  machine_.kernel = "linux";
  machine_.initrd = "initrd";
  machine_.append = "con=null  quiet ";
  machine_.memory = "256M";
  const std::vector<std::string> expected = {std::filesystem::absolute("linux"),
                                             "mem=256M",
                                             "uml_dir=/tmp/x/",
                                             "virtio_uml.device=/tmp/x/device:50",
                                             "virt_pci.max_delay_us=100000000",
                                             "initrd=initrd",
                                             "con=null",
                                             "quiet"};
  EXPECT_EQ(uml_command_line(machine_, "/tmp/x/device"), expected);
  machine_.memory = "much";
  EXPECT_THROW(uml_command_line(machine_, "/tmp/x/device"), program::UsageError);
}

TEST_F(UmlTest, TakesTheConnection) {
  // Says where the device is, and goes on.
  script("echo \"$3\" >" + folder_ + "/said.tmp; mv " + folder_ + "/said.tmp " + folder_ +
         "/said; exec sleep 3600");
  Uml uml(machine_);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_ + "/said"); }));
  std::string said;
  std::ifstream(folder_ + "/said") >> said;
  ASSERT_TRUE(said.starts_with("virtio_uml.device=") && said.ends_with(":50")) << said;
  const std::string path = said.substr(18, said.size() - 21);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const Descriptor guest(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(guest.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
  EXPECT_GE(uml.accept().get(), 0);
  uml.kill();
  EXPECT_EQ(uml.wait(), 128 + 9);
}

TEST_F(UmlTest, LeavesNothing) {
  std::string path;
  {
    const Listener listener;
    path = listener.path();
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(path).parent_path()));
}

TEST_F(UmlTest, NoticesAKernelThatEnds) {
  script("exit 3");
  Uml uml(machine_);
  EXPECT_EQ(uml.accept().get(), -1);
  EXPECT_EQ(uml.wait(), 3);
}

TEST_F(UmlTest, ReportsAKernelThatCannotRun) {
  std::ofstream(machine_.kernel) << "none";
  Uml uml(machine_);
  EXPECT_EQ(uml.accept().get(), -1);
  EXPECT_EQ(uml.wait(), 127);
}

}  // namespace
}  // namespace nvdla::emulator
