// SPDX-License-Identifier: MIT
//
// User memory whose pages never come, in every ioctl that reads or writes some. Only its user waits
// for it: the device goes, and others open what they like.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hostile.hpp"
#include "slow_file.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::CopyProgram;
using ioctl_test::kPage;
using ioctl_test::must;

// All that an ordinary user needs for each call, with a page that never comes in one place of it.
struct Victim {
  Node node;
  CopyProgram copy{node.info().atom_bytes};
  std::uint64_t slow = 0;

  drm_nvdla_array slow_array(std::uint32_t stride) const { return {slow, 1, stride}; }

  int create(drm_nvdla_program_create& args) const {
    return node.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args);
  }
  // Fills `bindings` and returns an argument that SUBMIT takes.
  drm_nvdla_submit submit(std::vector<drm_nvdla_binding>& bindings) {
    auto create_args = copy.args();
    must(create(create_args), "PROGRAM_CREATE");
    bindings = {{0, node.buffer(kPage), 0}, {0, node.buffer(kPage), 0}};
    drm_nvdla_submit args{};
    args.bindings = ioctl_test::array_of(bindings);
    args.context = node.context();
    args.program = create_args.program;
    return args;
  }
  int submit(const drm_nvdla_submit& args) const {
    auto copy_of_args = args;
    return node.call(DRM_IOCTL_NVDLA_SUBMIT, &copy_of_args);
  }
};

struct Place {
  const char* name;
  std::function<void(Victim&)> call;
};

void create_with(Victim& victim, drm_nvdla_array drm_nvdla_program_create::*member,
                 std::uint32_t stride) {
  auto args = victim.copy.args();
  args.*member = victim.slow_array(stride);
  victim.create(args);
}

// Every place at which a call of the driver touches memory of the user.
const std::vector<Place>& places() {
  static const std::vector<Place> all = {
      {"the argument of a call",
       [](Victim& victim) {
         victim.node.call(DRM_IOCTL_NVDLA_CONTEXT_CREATE, reinterpret_cast<void*>(victim.slow));
       }},
      {"QUERY: pointer",
       [](Victim& victim) {
         drm_nvdla_query query{victim.slow, sizeof(drm_nvdla_device_info), DRM_NVDLA_QUERY_DEVICE};
         victim.node.call(DRM_IOCTL_NVDLA_QUERY, &query);
       }},
      {"PROGRAM_CREATE: layers",
       [](Victim& victim) {
         create_with(victim, &drm_nvdla_program_create::layers, sizeof(nvdla_layer));
       }},
      {"PROGRAM_CREATE: slots",
       [](Victim& victim) {
         create_with(victim, &drm_nvdla_program_create::slots, sizeof(nvdla_slot));
       }},
      {"PROGRAM_CREATE: luts",
       [](Victim& victim) {
         create_with(victim, &drm_nvdla_program_create::luts, sizeof(nvdla_lut));
       }},
      {"PROGRAM_CREATE: transfers",
       [](Victim& victim) {
         create_with(victim, &drm_nvdla_program_create::transfers, sizeof(nvdla_transfer));
       }},
      {"PROGRAM_CREATE: control",
       [](Victim& victim) { create_with(victim, &drm_nvdla_program_create::control, 1); }},
      {"PROGRAM_CREATE: error",
       [](Victim& victim) {
         auto args = victim.copy.args();
         victim.copy.layers[0].sdp.width = 0;
         args.error = victim.slow;
         victim.create(args);
       }},
      {"SUBMIT: bindings",
       [](Victim& victim) {
         std::vector<drm_nvdla_binding> bindings;
         auto args = victim.submit(bindings);
         args.bindings.pointer = victim.slow;
         victim.submit(args);
       }},
      {"SUBMIT: syncs",
       [](Victim& victim) {
         std::vector<drm_nvdla_binding> bindings;
         auto args = victim.submit(bindings);
         args.syncs = victim.slow_array(sizeof(drm_nvdla_sync));
         victim.submit(args);
       }},
      {"SUBMIT: error",
       [](Victim& victim) {
         std::vector<drm_nvdla_binding> bindings;
         auto args = victim.submit(bindings);
         // Nothing of the buffer is left for the slot.
         bindings[1].offset = kPage;
         args.error = victim.slow;
         args.error_bytes = sizeof(nvdla_error);
         victim.submit(args);
       }},
  };
  return all;
}

class SlowPages : public Hostile {
 protected:
  // A machine may be slow; what waits for the page waits for ever.
  static constexpr double kSeconds = 15;

  void SetUp() override {
    Hostile::SetUp();
    ASSERT_EQ(::chmod("/dev/fuse", 0666), 0) << "the kernel has no FUSE, or it is not loaded";
  }

  // A process of an ordinary user that is in the call when this returns, and stays there.
  static pid_t wait_in(const Place& place) {
    open_nodes_to_all();
    Milestone touched;
    const pid_t child = spawn([&] {
      must(::setpgid(0, 0) == 0 ? 0 : errno, "setpgid");
      must(::setresgid(kNobody, kNobody, kNobody) == 0 ? 0 : errno, "setresgid");
      must(::setresuid(kNobody, kNobody, kNobody) == 0 ? 0 : errno, "setresuid");
      const SlowFile slow([&touched] { touched.reach(); });
      Victim victim;
      victim.slow = slow.address();
      place.call(victim);
      return 1;
    });
    touched.wait();
    return child;
  }

  static void end(pid_t victim) {
    ::kill(-victim, SIGKILL);
    EXPECT_EQ(reap(victim), 128 + SIGKILL) << "it was not in the call";
  }

  // Unbinds the device and opens its node as another process while `victim` is in its call.
  void expect_to_go(pid_t victim) {
    const std::string path = ioctl_test::find_nodes().at(0);
    std::atomic<bool> unbound{false};
    std::string error;
    std::thread unbind([&] {
      try {
        faults().unbind();
      } catch (const std::exception& failure) {
        error = failure.what();
      }
      unbound = true;
    });
    // Meanwhile it is there, or it is not.
    ::usleep(200000);
    const pid_t opener = spawn([&path] {
      const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      if (fd >= 0) ::close(fd);
      return 0;
    });
    EXPECT_EQ(reap_within(opener, kSeconds), 0) << "opening the node waits for a page of another";
    const auto until = Clock::now() + std::chrono::duration<double>(kSeconds);
    while (!unbound && Clock::now() < until) ::usleep(1000);
    EXPECT_TRUE(unbound) << "the device waits for a page of its user";
    end(victim);
    unbind.join();
    EXPECT_EQ(error, "");
    faults().bind();
    find_device();
  }
};

TEST_F(SlowPages, TheDeviceGoesWithoutThem) {
  for (const Place& place : places()) {
    SCOPED_TRACE(place.name);
    std::printf("%s\n", place.name);
    std::fflush(stdout);
    expect_to_go(wait_in(place));
  }
}

// Nobody else waits for them.
TEST_F(SlowPages, OthersAreServedMeanwhile) {
  std::vector<pid_t> waiting;
  for (const Place& place : places()) waiting.push_back(wait_in(place));
  for (int i = 0; i < 3; ++i) {
    const pid_t other = spawn([] { return Client(3).run(); });
    EXPECT_EQ(reap_within(other, ioctl_test::kAfterDeadline), 0);
  }
  for (const pid_t child : waiting) end(child);
}

}  // namespace
}  // namespace nvdla::hostile
