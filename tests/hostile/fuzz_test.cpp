// SPDX-License-Identifier: MIT
//
// Calls at random: valid ones, and valid ones with something changed, of several processes and
// threads on one file.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <thread>

#include "hostile.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::array_of;
using ioctl_test::CopyProgram;
using ioctl_test::kPage;

constexpr unsigned kProcesses = 3;
constexpr unsigned kThreads = 2;
constexpr std::size_t kIds = 8;
constexpr std::size_t kMostFences = 40;

// Ids of the one file; all processes see them, and that they may be gone.
struct Ids {
  std::array<std::atomic<std::uint32_t>, kIds> buffers{}, contexts{}, programs{}, stats{},
      syncobjs{};
  std::atomic<unsigned> calls{0}, good{0}, submitted{0};
};

// What a call may answer beside 0. EFAULT where it has pointers, and no other than these.
struct Call {
  const char* name;
  unsigned long request;
  std::set<int> errors;
};
const Call kQuery{"QUERY", DRM_IOCTL_NVDLA_QUERY, {EINVAL, EFAULT, E2BIG}};
const Call kContextCreate{
    "CONTEXT_CREATE", DRM_IOCTL_NVDLA_CONTEXT_CREATE, {EINVAL, ENOMEM, EDQUOT}};
const Call kContextDestroy{"CONTEXT_DESTROY", DRM_IOCTL_NVDLA_CONTEXT_DESTROY, {EINVAL, ENOENT}};
const Call kContextQuery{"CONTEXT_QUERY", DRM_IOCTL_NVDLA_CONTEXT_QUERY, {EINVAL, ENOENT}};
const Call kBoCreate{
    "BO_CREATE", DRM_IOCTL_NVDLA_BO_CREATE, {EINVAL, E2BIG, ENOMEM, EOPNOTSUPP, EDQUOT}};
const Call kBoMmap{"BO_MMAP_OFFSET", DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, {EINVAL, ENOENT}};
const Call kBoSync{"BO_SYNC", DRM_IOCTL_NVDLA_BO_SYNC, {EINVAL, ENOENT, EOPNOTSUPP}};
const Call kBoWait{"BO_WAIT", DRM_IOCTL_NVDLA_BO_WAIT, {EINVAL, ENOENT, ETIMEDOUT}};
const Call kProgramCreate{
    "PROGRAM_CREATE", DRM_IOCTL_NVDLA_PROGRAM_CREATE, {EINVAL, EFAULT, ENOMEM, E2BIG, EDQUOT}};
const Call kProgramDestroy{"PROGRAM_DESTROY", DRM_IOCTL_NVDLA_PROGRAM_DESTROY, {EINVAL, ENOENT}};
const Call kSubmit{
    "SUBMIT", DRM_IOCTL_NVDLA_SUBMIT, {EINVAL, EFAULT, ENOMEM, E2BIG, ENOENT, ECANCELED, EDQUOT}};

class Fuzzer {
 public:
  Fuzzer(const Node& node, Ids& ids, std::uint64_t seed, std::uint32_t atom)
      : node_(node), ids_(ids), random_(seed), atom_(atom) {}

  // 0, or 1 after a message.
  int run(Clock::time_point until, bool forks) {
    // A slow machine may come to no submission until then.
    while ((Clock::now() < until || ids_.submitted == 0) && !failed_) {
      if (forks && random_.one_in(60)) victim(until);
      step();
      if (files_.size() >= kMostFences) drain();
    }
    drain();
    return failed_ ? 1 : 0;
  }

 private:
  void fail(const char* what, int error) {
    std::fprintf(stderr, "fuzz: %s: %d (%s)\n", what, error, std::strerror(error));
    failed_ = true;
  }

  // Changes a word somewhere in what a call reads.
  void mutate(void* memory, std::size_t bytes) {
    if (bytes < sizeof(std::uint32_t)) return;
    static constexpr std::uint32_t kWords[] = {
        0, 1, 2, 0xffffffff, 0x7fffffff, 0x80000000, 0x10000000, 0xfffff000, 4096, 8};
    auto* word = static_cast<std::uint8_t*>(memory) +
                 random_.below(static_cast<std::uint32_t>(bytes / 4)) * std::size_t{4};
    std::uint32_t value = 0;
    std::memcpy(&value, word, sizeof(value));
    switch (random_.below(4)) {
      case 0:
        value ^= 1u << random_.below(32);
        break;
      case 1:
        value += random_.one_in(2) ? 1 : ~0u;
        break;
      case 2:
        value = kWords[random_.below(std::size(kWords))];
        break;
      default:
        value = static_cast<std::uint32_t>(random_.word());
    }
    std::memcpy(word, &value, sizeof(value));
  }
  template <typename T>
  void mutate(std::vector<T>& elements) {
    mutate(elements.data(), elements.size() * sizeof(T));
  }

  // A third of the calls are as they should be.
  bool mutates() { return !random_.one_in(3); }

  template <typename T>
  int call(const Call& what, T& args, bool mutated = false) {
    if constexpr (requires { args.error; }) {
      // The kernel writes there: nowhere into this process but where it is meant to.
      const auto error = args.error;
      const auto room = args.error_bytes;
      if (mutated) mutate(&args, sizeof(args));
      if (args.error != error || args.error_bytes > room) args.error = random_.word() | 1ull << 63;
    } else if (mutated) {
      mutate(&args, sizeof(args));
    }
    const int error = node_.call(what.request, &args);
    ++ids_.calls;
    if (error == 0)
      ++ids_.good;
    else if (what.errors.count(error) == 0)
      fail(what.name, error);
    return error;
  }
  using Table = std::array<std::atomic<std::uint32_t>, kIds>;
  std::uint32_t any(const Table& table) { return table[random_.below(kIds)]; }
  // In place of another, which is returned.
  std::uint32_t put(Table& table, std::uint32_t id) {
    return table[random_.below(kIds)].exchange(id);
  }

  void context() {
    drm_nvdla_context_create create{};
    if (call(kContextCreate, create, random_.one_in(8)) != 0) return;
    drm_nvdla_context_destroy destroy{put(ids_.contexts, create.context), 0};
    if (destroy.context != 0) call(kContextDestroy, destroy, random_.one_in(8));
  }
  void buffer() {
    drm_nvdla_bo_create create{};
    create.size = kPage << random_.below(4);
    create.flags = random_.one_in(3) ? DRM_NVDLA_BO_WRITE_COMBINED : 0;
    if (call(kBoCreate, create, random_.one_in(8)) != 0) return;
    drm_gem_close close{put(ids_.buffers, create.handle), 0};
    if (close.handle != 0) drmIoctl(node_.fd(), DRM_IOCTL_GEM_CLOSE, &close);
  }
  void map() {
    drm_nvdla_bo_mmap_offset offset{any(ids_.buffers), 0, 0};
    if (call(kBoMmap, offset, random_.one_in(4)) != 0) return;
    const std::size_t size = kPage << random_.below(4);
    void* memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, random_.one_in(4) ? MAP_PRIVATE : MAP_SHARED,
               node_.fd(), static_cast<off_t>(offset.offset));
    if (memory == MAP_FAILED) return;
    // The device may write there: what it gives does not matter.
    auto* bytes = static_cast<volatile std::uint8_t*>(memory);
    for (std::size_t i = 0; i < size; i += kPage)
      bytes[i] = static_cast<std::uint8_t>(bytes[i] + 1);
    if (random_.one_in(2)) ::munmap(bytes_at(memory, 0), kPage);
    ::munmap(memory, size);
  }
  static void* bytes_at(void* memory, std::size_t offset) {
    return static_cast<std::uint8_t*>(memory) + offset;
  }
  void program() {
    CopyProgram copy(atom_);
    copy.layers.resize(1 + random_.below(6), copy.layers[0]);
    for (std::size_t i = 1; i < copy.layers.size(); ++i) {
      if (!random_.one_in(3)) continue;
      copy.layers[i].num_waits = 1;
      copy.layers[i].waits[0] = random_.below(static_cast<std::uint32_t>(i));
    }
    const bool mutated = mutates();
    for (std::uint32_t n = mutated ? random_.below(3) : 0; n != 0; --n) {
      if (random_.one_in(4))
        mutate(copy.slots);
      else
        mutate(copy.layers);
    }
    auto args = copy.args();
    const bool stats = random_.one_in(3);
    if (stats) args.flags = DRM_NVDLA_PROGRAM_STATS;
    if (call(kProgramCreate, args, mutated && random_.one_in(3)) != 0) return;
    drm_nvdla_program_destroy destroy{put(stats ? ids_.stats : ids_.programs, args.program), 0};
    if (destroy.program != 0) call(kProgramDestroy, destroy, random_.one_in(8));
  }
  void submit() {
    std::vector<drm_nvdla_binding> bindings = {{0, any(ids_.buffers), 0},
                                               {0, any(ids_.buffers), 0}};
    std::uint32_t done = 0;
    if (drmSyncobjCreate(node_.fd(), 0, &done) != 0) return fail("SYNCOBJ_CREATE", errno);
    std::vector<drm_nvdla_sync> syncs = {{done, DRM_NVDLA_SYNC_SIGNAL, 0}};
    for (std::uint32_t n = random_.below(4); n != 0; --n)
      syncs.push_back({any(ids_.syncobjs),
                       random_.one_in(2) ? DRM_NVDLA_SYNC_WAIT : DRM_NVDLA_SYNC_SIGNAL,
                       random_.below(6)});
    drm_nvdla_submit args{};
    const bool mutated = mutates();
    if (mutated && random_.one_in(3)) mutate(bindings);
    if (mutated && random_.one_in(3)) mutate(syncs);
    args.bindings = array_of(bindings);
    args.syncs = array_of(syncs);
    args.context = any(ids_.contexts);
    const bool stats = random_.one_in(3);
    args.program = any(stats ? ids_.stats : ids_.programs);
    if (stats) {
      args.stats_handle = any(ids_.buffers);
      args.stats_stride = sizeof(nvdla_layer_stats) + 8 * random_.below(3);
    }
    if (call(kSubmit, args, mutated && random_.one_in(3)) == 0) {
      ++ids_.submitted;
      int file = -1;
      // It may name another sync object by now.
      if (drmSyncobjExportSyncFile(node_.fd(), done, &file) == 0) files_.push_back(file);
    }
    const std::uint32_t old = put(ids_.syncobjs, done);
    if (old != 0) drmSyncobjDestroy(node_.fd(), old);
  }
  void look() {
    drm_nvdla_context_query state{any(ids_.contexts), 0, 0, 0};
    std::array<std::uint8_t, 256> room{};
    drm_nvdla_query query{reinterpret_cast<std::uintptr_t>(room.data()), sizeof(room),
                          random_.below(2)};
    drm_nvdla_bo_sync sync{
        any(ids_.buffers),
        random_.one_in(2) ? DRM_NVDLA_BO_SYNC_TO_DEVICE : DRM_NVDLA_BO_SYNC_FROM_DEVICE, 0, kPage};
    drm_nvdla_bo_wait wait{any(ids_.buffers), random_.below(2), 0};
    switch (random_.below(4)) {
      case 0:
        if (call(kContextQuery, state, random_.one_in(4)) == 0 && state.resets != 0)
          fail("the device was reset", 0);
        break;
      case 1:
        // Mutated, the pointer would be another's memory.
        query.type += random_.one_in(4) ? random_.below(5) : 0;
        query.size = random_.one_in(4) ? random_.below(sizeof(room)) : query.size;
        query.pointer = random_.one_in(4) ? random_.word() | 1ull << 63 : query.pointer;
        call(kQuery, query);
        break;
      case 2:
        call(kBoSync, sync, random_.one_in(4));
        break;
      default:
        call(kBoWait, wait, random_.one_in(4));
    }
  }
  void step() {
    switch (random_.below(12)) {
      case 0:
        return context();
      case 1:
      case 2:
        return buffer();
      case 3:
        return map();
      case 4:
      case 5:
        return program();
      case 6:
        return look();
      default:
        return submit();
    }
  }

  void drain() {
    std::vector<int> errors;
    if (collect(files_, errors) != 0) fail("a fence that does not signal", 0);
    // No program that was accepted may hang or be refused by the bus.
    for (const int error : errors)
      if (error != 0) fail("a job that ended", error);
  }

  // Does the same in a process that is killed at it.
  void victim(Clock::time_point until) {
    const std::uint64_t seed = random_.word();
    const pid_t child = spawn([&] { return Fuzzer(node_, ids_, seed, atom_).run(until, false); });
    ::usleep(random_.below(30000));
    ::kill(child, SIGKILL);
    const int status = reap(child);
    if (status != 0 && status != 128 + SIGKILL) fail("a killed process' status", status);
  }

  const Node& node_;
  Ids& ids_;
  Random random_;
  std::uint32_t atom_;
  std::vector<int> files_;
  bool failed_ = false;
};

class Fuzz : public Hostile {};

TEST_F(Fuzz, NothingBreaksTheDriver) {
  void* memory =
      ::mmap(nullptr, sizeof(Ids), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Ids& ids = *new (memory) Ids;
  const Node node;
  const std::uint32_t atom = node.info().atom_bytes;
  const auto until = Clock::now() + duration(10, 600);
  Random random(seed_);
  std::vector<pid_t> children;
  for (unsigned i = 0; i < kProcesses; ++i) {
    children.push_back(spawn([&, own = random.word()] {
      Random seeds(own);
      std::atomic<int> status{0};
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < kThreads; ++t)
        threads.emplace_back([&, seed = seeds.word(), t] {
          status |= Fuzzer(node, ids, seed, atom).run(until, t == 0);
        });
      for (auto& thread : threads) thread.join();
      return status.load();
    }));
  }
  // What is reported good is right, beside all that.
  Client client(3);
  for (std::uint8_t i = 0; Clock::now() < until; ++i) {
    client.refill(i);
    ASSERT_EQ(client.run(60), 0);
    ASSERT_TRUE(client.copied());
  }
  for (const pid_t child : children) EXPECT_EQ(reap(child), 0);
  EXPECT_EQ(client.state().resets, 0u);
  std::printf("%u calls, %u of them good; %u submissions\n", ids.calls.load(), ids.good.load(),
              ids.submitted.load());
}

}  // namespace
}  // namespace nvdla::hostile
