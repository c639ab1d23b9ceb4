// SPDX-License-Identifier: MIT
//
// Every ioctl number there is, called by an unprivileged user: which of the DRM core's the node
// takes, and that the device works afterwards.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "client.hpp"
#include "core_calls.hpp"
#include "node.hpp"

namespace nvdla::ioctl_test {
namespace {

constexpr std::uint32_t kNobody = 65534;

bool is_driver_call(std::uint32_t number) {
  return number >= DRM_COMMAND_BASE && number < DRM_COMMAND_END;
}

// Calls `number` with an argument of `size` zeros; 0 or the errno. A call that never returns is
// killed with its process.
int call_number(const Node& node, std::uint32_t number, std::uint32_t size) {
  std::array<std::uint64_t, 64> argument{};
  return ioctl(node.fd(), _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE, number, size),
               argument.data()) == 0
             ? 0
             : errno;
}

// Runs `body` as an unprivileged user in a child, which dies with an alarm if a call blocks.
// Returns what the child reports on a pipe.
template <typename Body>
std::vector<int> as_nobody(const Body& body) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(60);
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(2);
    const std::vector<int> errors = body();
    const auto bytes = errors.size() * sizeof(int);
    _exit(write(ends[1], errors.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 3);
  }
  close(ends[1]);
  std::vector<int> errors;
  for (int error = 0; read(ends[0], &error, sizeof(error)) == sizeof(error);)
    errors.push_back(error);
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  return errors;
}

class CoreCalls : public testing::TestWithParam<std::uint32_t> {};

TEST_P(CoreCalls, OnlyThoseOfTheContractArriveAndNoneHarms) {
  const Node node;
  ASSERT_GE(node.fd(), 0) << "no node of the driver nvdla";
  const std::uint32_t size = GetParam();
  const auto errors = as_nobody([&] {
    std::vector<int> result;
    for (std::uint32_t number = 0; number < 256; ++number)
      result.push_back(call_number(node, number, size));
    return result;
  });
  ASSERT_EQ(errors.size(), 256u);
  for (std::uint32_t number = 0; number < 256; ++number) {
    if (is_driver_call(number) || kCoreCalls.count(number) != 0) continue;
    EXPECT_EQ(errors[number], EINVAL) << "number 0x" << std::hex << number;
  }
  // VERSION of zeros is a valid question; a handle or a capability of zero is none.
  EXPECT_EQ(errors[_IOC_NR(DRM_IOCTL_VERSION)], 0);
  EXPECT_EQ(errors[_IOC_NR(DRM_IOCTL_GET_CAP)], EOPNOTSUPP);
  EXPECT_EQ(errors[_IOC_NR(DRM_IOCTL_GEM_CLOSE)], EINVAL);
  EXPECT_EQ(errors[_IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD)], ENOENT);
  EXPECT_EQ(errors[_IOC_NR(DRM_IOCTL_SYNCOBJ_DESTROY)], EINVAL);

  Client client;
  EXPECT_EQ(client.run(), 0);
  EXPECT_TRUE(client.copied());
}

// No argument at all, a typical one, and more than any call has.
INSTANTIATE_TEST_SUITE_P(Ioctl, CoreCalls, testing::Values(0u, 16u, 40u, 512u),
                         [](const auto& test) { return "Size" + std::to_string(test.param); });

TEST(CoreCall, OfAnotherTypeIsNobodys) {
  const Node node;
  ASSERT_GE(node.fd(), 0);
  for (std::uint32_t number : {0u, 1u, 0x40u, 0xc3u}) {
    errno = 0;
    EXPECT_EQ(ioctl(node.fd(), _IOC(_IOC_READ, 'T', number, 0), nullptr), -1);
    EXPECT_EQ(errno, ENOTTY) << number;
  }
}

// Libdrm calls these for an unprivileged user.
TEST(CoreCall, LibdrmFindsAllThatTheContractNames) {
  const Node node;
  ASSERT_GE(node.fd(), 0);
  const auto handle = node.buffer(kPage);
  const auto errors = as_nobody([&] {
    std::vector<int> result;
    const auto add = [&result](int ret) { result.push_back(ret == 0 ? 0 : errno); };
    const auto check = [&result](bool holds) { result.push_back(holds ? 0 : -1); };
    drmVersion* version = drmGetVersion(node.fd());
    check(version != nullptr && std::strcmp(version->name, "nvdla") == 0);
    drmFreeVersion(version);
    std::uint64_t value = 0;
    add(drmGetCap(node.fd(), DRM_CAP_SYNCOBJ_TIMELINE, &value));
    check(value == 1);
    add(drmGetCap(node.fd(), DRM_CAP_PRIME, &value));

    std::uint32_t sync = 0, other = 0, again = 0;
    int fd = -1, file = -1;
    add(drmSyncobjCreate(node.fd(), 0, &sync));
    add(drmSyncobjCreate(node.fd(), DRM_SYNCOBJ_CREATE_SIGNALED, &other));
    std::uint64_t point = 1;
    add(drmSyncobjTimelineSignal(node.fd(), &sync, &point, 1));
    add(drmSyncobjQuery(node.fd(), &sync, &point, 1));
    add(drmSyncobjTimelineWait(node.fd(), &sync, &point, 1, 0, 0, nullptr));
    add(drmSyncobjTransfer(node.fd(), sync, 2, other, 0, 0));
    add(drmSyncobjReset(node.fd(), &sync, 1));
    add(drmSyncobjSignal(node.fd(), &sync, 1));
    add(drmSyncobjWait(node.fd(), &sync, 1, 0, 0, nullptr));
    add(drmSyncobjHandleToFD(node.fd(), sync, &fd));
    add(drmSyncobjFDToHandle(node.fd(), fd, &again));
    add(drmSyncobjExportSyncFile(node.fd(), sync, &file));
    add(drmSyncobjImportSyncFile(node.fd(), other, file));
    add(drmSyncobjDestroy(node.fd(), sync));

    // Memory of the device's own is not exported.
    check(drmPrimeHandleToFD(node.fd(), handle, DRM_CLOEXEC, &fd) == 0 || errno == EOPNOTSUPP);
    drm_gem_close close_it{handle, 0};
    add(drmIoctl(node.fd(), DRM_IOCTL_GEM_CLOSE, &close_it));
    return result;
  });
  ASSERT_EQ(errors.size(), 20u);
  for (std::size_t i = 0; i < errors.size(); ++i) EXPECT_EQ(errors[i], 0) << "call " << i;
}

}  // namespace
}  // namespace nvdla::ioctl_test
