// SPDX-License-Identifier: MIT
//
// Submissions against the end of all that they name. Whatever SUBMIT took has a fence that signals.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xf86drm.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::array_of;
using ioctl_test::CopyProgram;
using ioctl_test::kPage;
using ioctl_test::must;

// Fences that nobody has waited for yet.
constexpr std::size_t kMostPending = 100;

class DestroyRace : public Hostile {
 protected:
  // The ids that everybody uses, and that others make anew all the time.
  struct Shared {
    std::array<std::atomic<std::uint32_t>, 3> contexts{};
    std::array<std::atomic<std::uint32_t>, 3> programs{};
    std::array<std::atomic<std::uint32_t>, 4> buffers{};
    std::atomic<int> fd{-1};
    std::atomic<bool> stop{false};
    std::atomic<unsigned> accepted{0}, refused{0};
    std::mutex files_lock;
    std::vector<int> files;  // fences
    std::string complaint;
  };

  int call(unsigned long request, void* args) const {
    return drmIoctl(shared_.fd, request, args) == 0 ? 0 : errno;
  }
  void complain(const char* what, int error) {
    const std::lock_guard lock(shared_.files_lock);
    shared_.complaint = std::string(what) + ": " + std::to_string(error);
  }
  void make_context(std::size_t i) {
    drm_nvdla_context_create create{};
    if (call(DRM_IOCTL_NVDLA_CONTEXT_CREATE, &create) == 0) shared_.contexts[i] = create.context;
  }
  void make_program(std::size_t i) {
    CopyProgram copy(atom_);
    copy.layers.resize(1 + i, copy.layers[0]);
    auto args = copy.args();
    if (call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args) == 0) shared_.programs[i] = args.program;
  }
  void make_buffer(std::size_t i) {
    drm_nvdla_bo_create create{};
    create.size = kPage;
    if (call(DRM_IOCTL_NVDLA_BO_CREATE, &create) == 0) shared_.buffers[i] = create.handle;
  }
  void make_all() {
    for (std::size_t i = 0; i < shared_.contexts.size(); ++i) make_context(i);
    for (std::size_t i = 0; i < shared_.programs.size(); ++i) make_program(i);
    for (std::size_t i = 0; i < shared_.buffers.size(); ++i) make_buffer(i);
  }

  void submit(Random& random) {
    std::uint32_t done = 0;
    nvdla_error rule{};
    const int fd = shared_.fd;
    if (drmSyncobjCreate(fd, 0, &done) != 0) return complain("SYNCOBJ_CREATE", errno);
    const std::vector<drm_nvdla_binding> bindings = {{0, shared_.buffers[random.below(2)], 0},
                                                     {0, shared_.buffers[2 + random.below(2)], 0}};
    const std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
    drm_nvdla_submit args{};
    args.bindings = array_of(bindings);
    args.syncs = array_of(syncs);
    args.error = reinterpret_cast<std::uintptr_t>(&rule);
    args.error_bytes = sizeof(rule);
    args.context = shared_.contexts[random.below(3)];
    args.program = shared_.programs[random.below(3)];
    const int error = call(DRM_IOCTL_NVDLA_SUBMIT, &args);
    int file = -1;
    if (error == 0 && drmSyncobjExportSyncFile(fd, done, &file) == 0) {
      ++shared_.accepted;
      const std::lock_guard lock(shared_.files_lock);
      shared_.files.push_back(file);
    } else {
      // Anything may be gone, also all of it, with the file; or be another by now: one buffer for
      // both slots, which a rule forbids.
      ++shared_.refused;
      if (error != 0 && error != ENOENT && (error != EINVAL || rule.rule == 0))
        complain("SUBMIT", error);
    }
    drmSyncobjDestroy(fd, done);
  }
  void destroy(Random& random) {
    const std::size_t i = random.below(3);
    drm_nvdla_context_destroy context{shared_.contexts[i], 0};
    drm_nvdla_program_destroy program{shared_.programs[i], 0};
    drm_gem_close buffer{shared_.buffers[i], 0};
    int error = 0;
    switch (random.below(4)) {
      case 0:
        error = call(DRM_IOCTL_NVDLA_PROGRAM_DESTROY, &program);
        make_program(i);
        break;
      case 1:
        call(DRM_IOCTL_GEM_CLOSE, &buffer);
        make_buffer(i);
        break;
      default:
        error = call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &context);
        make_context(i);
    }
    if (error != 0 && error != ENOENT) complain("DESTROY", error);
  }
  // The file under everybody's feet.
  void reopen() {
    const int fresh = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (fresh < 0) return complain("open", errno);
    ::dup2(fresh, shared_.fd);
    ::close(fresh);
    make_all();
  }

  std::size_t pending() {
    const std::lock_guard lock(shared_.files_lock);
    return shared_.files.size();
  }

  void race(bool reopens) {
    path_ = ioctl_test::find_nodes().at(0);
    atom_ = Node().info().atom_bytes;
    shared_.fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(shared_.fd, 0);
    make_all();

    const auto until = Clock::now() + duration(4, 60);
    // A slow machine may come to nothing until then.
    const auto goes_on = [this, until] { return Clock::now() < until || shared_.accepted == 0; };
    Random random(seed_);
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back([this, i, &goes_on, own = random.word()] {
        Random choice(own);
        while (goes_on()) {
          if (i >= 3)
            destroy(choice);
          else if (pending() < kMostPending)
            submit(choice);
          else
            ::usleep(1000);
        }
      });
    }
    std::vector<int> errors;
    while (goes_on()) {
      std::vector<int> files;
      {
        const std::lock_guard lock(shared_.files_lock);
        files.swap(shared_.files);
      }
      if (collect(files, errors) != 0) complain("a fence that does not signal", 0);
      if (reopens) reopen();
      ::usleep(5000);
    }
    for (auto& thread : threads) thread.join();
    ::close(shared_.fd);
    if (collect(shared_.files, errors) != 0) complain("a fence that does not signal", 0);
    EXPECT_EQ(shared_.complaint, "");
    // Only the end of the file cancels.
    const std::set<int> kinds(errors.begin(), errors.end());
    for (const int kind : kinds) EXPECT_TRUE(kind == 0 || kind == ECANCELED) << kind;
    std::printf("%u submissions accepted, %u refused\n", shared_.accepted.load(),
                shared_.refused.load());
  }

 private:
  Shared shared_;
  std::string path_;
  std::uint32_t atom_ = 0;
};

TEST_F(DestroyRace, EveryFenceSignals) { race(false); }

TEST_F(DestroyRace, EveryFenceSignalsWhenTheFileIsClosed) { race(true); }

// A page of user memory that is not there: whoever touches it waits while `meanwhile` runs, and
// then finds `contents`.
class LatePage {
 public:
  LatePage(const void* contents, std::size_t size, std::function<void()> meanwhile)
      : contents_(kPage), meanwhile_(std::move(meanwhile)) {
    std::memcpy(contents_.data(), contents, size);
    uffd_ = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC));
    must(uffd_ < 0 ? errno : 0, "userfaultfd");
    uffdio_api api{UFFD_API, 0, 0};
    must(::ioctl(uffd_, UFFDIO_API, &api) == 0 ? 0 : errno, "UFFDIO_API");
    page_ = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(page_ == MAP_FAILED ? errno : 0, "mmap");
    uffdio_register range{{address(), kPage}, UFFDIO_REGISTER_MODE_MISSING, 0};
    must(::ioctl(uffd_, UFFDIO_REGISTER, &range) == 0 ? 0 : errno, "UFFDIO_REGISTER");
    thread_ = std::thread([this] { serve(); });
  }
  ~LatePage() {
    // Whoever should have, did perhaps not.
    static_cast<void>(*static_cast<volatile std::uint8_t*>(page_));
    thread_.join();
    ::munmap(page_, kPage);
    ::close(uffd_);
  }
  LatePage(const LatePage&) = delete;
  LatePage& operator=(const LatePage&) = delete;

  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(page_); }

 private:
  void serve() {
    uffd_msg message{};
    if (::read(uffd_, &message, sizeof(message)) != sizeof(message)) std::abort();
    meanwhile_();
    uffdio_copy copy{address(), reinterpret_cast<std::uintptr_t>(contents_.data()), kPage, 0, 0};
    if (::ioctl(uffd_, UFFDIO_COPY, &copy) != 0) std::abort();
  }

  std::vector<std::uint8_t> contents_;
  std::function<void()> meanwhile_;
  int uffd_ = -1;
  void* page_ = nullptr;
  std::thread thread_;
};

// In the middle of SUBMIT: it has found its context and program, and waits for a page of the
// user's. Buffers and sync objects are looked up when all pages have come.
class InTheMiddle : public Hostile {
 protected:
  // The errno of a submission while `meanwhile` happens; what became of its job in `end`.
  int submit(const std::function<void()>& meanwhile, int& end) {
    const auto done = client_.node().syncobj();
    const drm_nvdla_sync sync{done, DRM_NVDLA_SYNC_SIGNAL, 0};
    int error = 0;
    {
      const LatePage page(&sync, sizeof(sync), meanwhile);
      error = client_.submit(drm_nvdla_array{page.address(), 1, sizeof(sync)}, client_.context());
    }
    end = error == 0 ? client_.end(done) : 0;
    return error;
  }

  Client client_;
};

TEST_F(InTheMiddle, AContextGoes) {
  int end = 0;
  const int error = submit(
      [this] {
        drm_nvdla_context_destroy destroy{client_.context(), 0};
        EXPECT_EQ(client_.node().call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), 0);
      },
      end);
  // Taken or not; but what is taken ends.
  EXPECT_TRUE(error == 0 || error == ENOENT) << error;
  EXPECT_EQ(end, 0);
}

TEST_F(InTheMiddle, AProgramGoes) {
  int end = 0;
  const int error = submit(
      [this] {
        drm_nvdla_program_destroy destroy{client_.program(), 0};
        EXPECT_EQ(client_.node().call(DRM_IOCTL_NVDLA_PROGRAM_DESTROY, &destroy), 0);
      },
      end);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(end, 0);
  EXPECT_TRUE(client_.copied());
}

TEST_F(InTheMiddle, ABufferGoes) {
  int end = 0;
  const int error = submit(
      [this] {
        drm_gem_close close{client_.target_handle(), 0};
        EXPECT_EQ(client_.node().call(DRM_IOCTL_GEM_CLOSE, &close), 0);
      },
      end);
  EXPECT_EQ(error, ENOENT);
  EXPECT_EQ(end, 0);
  EXPECT_FALSE(client_.arrived());
}

TEST_F(InTheMiddle, AnotherJobIsSubmitted) {
  int end = 0;
  EXPECT_EQ(submit([this] { EXPECT_EQ(client_.run(), 0); }, end), 0);
  EXPECT_EQ(end, 0);
}

// What was queued in a context that is destroyed ends well, as it is documented to.
TEST_F(DestroyRace, QueuedJobsOfADestroyedContextEndWell) {
  Client client(3);
  std::vector<int> files;
  for (int i = 0; i < 100; ++i) files.push_back(client.sync_file(client.start()));
  drm_nvdla_context_destroy destroy{client.context(), 0};
  ASSERT_EQ(client.node().call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), 0);
  EXPECT_EQ(client.submit(drm_nvdla_array{}, client.context()), ENOENT);
  std::vector<int> errors;
  EXPECT_EQ(collect(files, errors), 0);
  EXPECT_EQ(errors, std::vector<int>(100, 0));
}

}  // namespace
}  // namespace nvdla::hostile
