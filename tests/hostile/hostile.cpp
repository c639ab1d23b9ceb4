// SPDX-License-Identifier: MIT
#include "hostile.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>

#include "emulator/device/fault_capability.h"
#include "emulator/guest/seen.hpp"

namespace nvdla::hostile {
namespace {

std::uint64_t number(const char* name, std::uint64_t fallback) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::stoull(text) : fallback;
}

bool is_long() { return std::getenv("NVDLA_HOSTILE_LONG") != nullptr; }

}  // namespace

Clock::duration duration(unsigned seconds, unsigned long_seconds) {
  return std::chrono::seconds(number("NVDLA_HOSTILE_SECONDS", is_long() ? long_seconds : seconds));
}

unsigned rounds(unsigned count, unsigned long_count) {
  return static_cast<unsigned>(number("NVDLA_HOSTILE_ROUNDS", is_long() ? long_count : count));
}

std::uint64_t seed() { return number("NVDLA_HOSTILE_SEED", std::random_device{}()); }

int collect(std::vector<int>& files, std::vector<int>& errors, double seconds) {
  int result = 0;
  for (const int file : files) {
    pollfd waiting{file, POLLIN, 0};
    if (result == 0 && ::poll(&waiting, 1, static_cast<int>(seconds * 1000)) == 1)
      errors.push_back(ioctl_test::fence_error(file));
    else
      result = EBUSY;
    ::close(file);
  }
  files.clear();
  return result;
}

pid_t spawn(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 99;
  try {
    status = work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  ::_exit(status);
}

int reap(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -errno;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int reap_within(pid_t child, double seconds) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  const auto ended = [child, &until](int& status) {
    do {
      if (::waitpid(child, &status, WNOHANG) == child) return true;
      ::usleep(1000);
    } while (Clock::now() < until);
    return false;
  };
  int status = 0;
  if (ended(status)) return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  ::kill(child, SIGKILL);
  for (int i = 0; i < 2000 && ::waitpid(child, &status, WNOHANG) == 0; ++i) ::usleep(1000);
  return -ETIMEDOUT;
}

// The system call, which changes this thread only: others of the process stay root.
AsUser::AsUser(unsigned uid) {
  ioctl_test::must(::syscall(SYS_setresuid, uid, uid, 0) == 0 ? 0 : errno, "setresuid");
}

AsUser::~AsUser() {
  if (::syscall(SYS_setresuid, 0, 0, 0) != 0) std::abort();
}

void open_nodes_to_all() {
  for (const std::string& path : ioctl_test::find_nodes())
    ioctl_test::must(::chmod(path.c_str(), 0666) == 0 ? 0 : errno, "chmod");
}

Sharer::Sharer(int from, int to, std::uint32_t layers) : context_(node_.context()) {
  ioctl_test::CopyProgram copy(node_.info().atom_bytes);
  copy.layers.resize(layers, copy.layers[0]);
  auto args = copy.args();
  ioctl_test::must(node_.call(DRM_IOCTL_NVDLA_PROGRAM_CREATE, &args), "PROGRAM_CREATE");
  program_ = args.program;
  bindings_ = {{0, page(from), 0}, {0, page(to), 0}};
}

std::uint32_t Sharer::page(int file) const {
  if (file < 0) return node_.buffer(ioctl_test::kPage);
  std::uint32_t handle = 0;
  ioctl_test::must(drmPrimeFDToHandle(node_.fd(), file, &handle) == 0 ? 0 : errno,
                   "PRIME_FD_TO_HANDLE");
  return handle;
}

int Sharer::submit(const std::vector<drm_nvdla_sync>& syncs, std::uint32_t context) {
  drm_nvdla_submit submit{};
  submit.bindings = ioctl_test::array_of(bindings_);
  submit.syncs = ioctl_test::array_of(syncs);
  submit.context = context;
  submit.program = program_;
  return node_.call(DRM_IOCTL_NVDLA_SUBMIT, &submit);
}

std::uint32_t Sharer::start() {
  const std::uint32_t done = node_.syncobj();
  ioctl_test::must(submit({{done, DRM_NVDLA_SYNC_SIGNAL, 0}}), "SUBMIT");
  return done;
}

int Sharer::look(std::uint32_t handle, std::uint32_t flags) const {
  drm_nvdla_bo_wait wait{handle, flags, 0};
  return node_.call(DRM_IOCTL_NVDLA_BO_WAIT, &wait);
}

int Sharer::sync_file(std::uint32_t done) const {
  int file = -1;
  ioctl_test::must(drmSyncobjExportSyncFile(node_.fd(), done, &file) == 0 ? 0 : errno, "export");
  return file;
}

int export_syncobj(const Node& from, std::uint32_t syncobj) {
  int file = -1;
  ioctl_test::must(drmSyncobjHandleToFD(from.fd(), syncobj, &file) == 0 ? 0 : errno,
                   "HANDLE_TO_FD");
  return file;
}

std::uint32_t import_syncobj(const Node& to, int file) {
  std::uint32_t handle = 0;
  ioctl_test::must(drmSyncobjFDToHandle(to.fd(), file, &handle) == 0 ? 0 : errno, "FD_TO_HANDLE");
  return handle;
}

Milestone::Milestone() { ioctl_test::must(::pipe(pipe_) == 0 ? 0 : errno, "pipe"); }

Milestone::~Milestone() {
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void Milestone::reach() const {
  ioctl_test::must(::write(pipe_[1], "", 1) == 1 ? 0 : errno, "write");
}

void Milestone::wait() {
  // The end of the file once all writers are gone.
  ::close(pipe_[1]);
  pipe_[1] = -1;
  char byte = 0;
  ioctl_test::must(::read(pipe_[0], &byte, 1) == 1 ? 0 : EPIPE, "milestone");
}

void Hostile::SetUp() {
  seed_ = seed();
  std::printf("NVDLA_HOSTILE_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  std::fflush(stdout);
  find_device();
  ASSERT_GE(Node().fd(), 0) << "no node of the driver nvdla";
}

void Hostile::TearDown() {
  find_device();
  expect_service();
}

void Hostile::find_device() {
  faults_.reset();
  faults_ = std::make_unique<emulator_test::FaultControl>();
  faults().clear();
}

emulator_test::FaultControl& Hostile::faults() {
  if (!faults_) throw std::runtime_error("the device has not come back");
  return *faults_;
}

void Hostile::load_driver() {
  // The kernel's command line names the parameters.
  std::ifstream line("/proc/cmdline");
  std::string parameters;
  for (std::string word; line >> word;) {
    if (word.rfind("nvdla.", 0) == 0 && word.find('=') != std::string::npos)
      parameters += word.substr(word.find('.') + 1) + " ";
  }
  const int module = ::open("/modules/nvdla.ko", O_RDONLY | O_CLOEXEC);
  ioctl_test::must(module < 0 ? errno : 0, "/modules/nvdla.ko");
  const long result = ::syscall(SYS_finit_module, module, parameters.c_str(), 0);
  const int error = result == 0 ? 0 : errno;
  ::close(module);
  ioctl_test::must(error, "loading nvdla.ko");
}

void Hostile::wait_until_blocked() {
  // A reset takes the fault away, too.
  while ((faults().get(NVDLA_FAULT_STATE) & NVDLA_FAULT_STATE_BLOCKED) == 0 &&
         faults().get(NVDLA_FAULT_BLOCK) != 0)
    ::usleep(1000);
}

void Hostile::wait_until_ready(Client& client) {
  while (!emulator_test::has_ready_job(client.node().fd()) && client.state().resets == 0)
    ::usleep(1000);
}

void Hostile::go_on(std::uint32_t layers) {
  faults().set(NVDLA_FAULT_BLOCK, layers == 0 ? 0 : layers + 1);
}

void Hostile::expect_service() {
  Client client(3);
  // What the dead had queued counts as their user's until the scheduler has come by.
  std::uint32_t done = 0;
  int error = 0;
  while ((error = client.try_start(done)) == EDQUOT) ::usleep(1000);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(client.end(done), 0);
  EXPECT_TRUE(client.copied());
  EXPECT_EQ(client.state().resets, 0u);
}

}  // namespace nvdla::hostile
