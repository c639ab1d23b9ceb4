// SPDX-License-Identifier: MIT
//
// Every ioctl that the DRM core has, by number, as a user without privileges. The node passes on
// those that the contract names; all others return an errno, and none does harm.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "../ioctl/core_calls.hpp"
#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

class CoreIoctl : public Hostile {
 protected:
  // The largest argument of the core's, and more.
  using Argument = std::array<std::uint8_t, 512>;

  // The exit status of the child: 0, or 1 when the call succeeded that has to be refused.
  static int call_all_forms(const std::string& path, std::uint32_t number) {
    ioctl_test::must(::setresuid(kNobody, kNobody, kNobody) == 0 ? 0 : errno, "setresuid");
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    ioctl_test::must(fd < 0 ? errno : 0, "open as an ordinary user");
    int status = 0;
    for (const unsigned long direction :
         {_IOC_NONE, _IOC_READ, _IOC_WRITE, _IOC_READ | _IOC_WRITE}) {
      for (const unsigned long size : {0, 4, 8, 16, 24, 40, 64, 104, 256}) {
        // Zeros, the handle or flag 1 everywhere, and what no pointer or length can be.
        for (const int fill : {0, 1, 0xff}) {
          Argument argument{};
          if (fill == 1)
            for (std::size_t i = 0; i < argument.size(); i += 4) argument[i] = 1;
          else
            argument.fill(static_cast<std::uint8_t>(fill));
          const unsigned long request = _IOC(direction, DRM_IOCTL_BASE, number, size);
          if (::ioctl(fd, request, argument.data()) == 0 &&
              ioctl_test::kCoreCalls.count(number) == 0)
            status = 1;
        }
      }
    }
    ::close(fd);
    return status;
  }
};

TEST_F(CoreIoctl, NoneDoesHarm) {
  open_nodes_to_all();
  const std::string path = ioctl_test::find_nodes().at(0);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number < DRM_COMMAND_BASE; ++number) numbers.push_back(number);
  for (std::uint32_t number = DRM_COMMAND_END; number <= 0xff; ++number) numbers.push_back(number);
  unsigned deaths = 0;
  for (const std::uint32_t number : numbers) {
    // This is the last line of a kernel that dies of the call.
    std::printf("0x%02x ", number);
    std::fflush(stdout);
    // Each in a process of its own: an oops kills it, and a lock that an oops left behind stops the
    // next one for good.
    const int status = reap_within(spawn([&] { return call_all_forms(path, number); }),
                                   ioctl_test::kAfterDeadline / 4);
    EXPECT_NE(status, 1) << "ioctl 0x" << std::hex << number
                         << " succeeds, but is not in the contract";
    EXPECT_NE(status, -ETIMEDOUT) << "ioctl 0x" << std::hex << number << " does not return";
    EXPECT_LE(status, 1) << "ioctl 0x" << std::hex << number << " kills its caller";
    if (status == -ETIMEDOUT || (status > 1 && ++deaths == 2)) break;
  }
  std::printf("\n");
  // Whoever comes after them finds all as it was, opens included.
  const int served = reap_within(spawn([] { return Client(3).run(); }), ioctl_test::kAfterDeadline);
  EXPECT_EQ(served, 0) << "the node does not work any more";
}

}  // namespace
}  // namespace nvdla::hostile
