// SPDX-License-Identifier: MIT
#include "crowd.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "emulator/guest/seen.hpp"

namespace nvdla::hostile {
namespace {

using ioctl_test::must;

constexpr unsigned kSubUids = 65536;
// The sub-uids of an owner begin here in the initial namespace.
constexpr unsigned kFirstSubUid = 100000;

// A file for each of many sub-uids.
void raise_file_limit() {
  const rlimit limit{16384, 16384};
  must(::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : errno, "RLIMIT_NOFILE");
}

void become(unsigned uid) {
  must(::setresuid(uid, uid, uid) == 0 ? 0 : errno, "setresuid");
  // The files in /proc of a process that has changed its user belong to root otherwise.
  must(::prctl(PR_SET_DUMPABLE, 1) == 0 ? 0 : errno, "PR_SET_DUMPABLE");
}

void map_sub_uids(pid_t child) {
  const std::string map = "0 " + std::to_string(kFirstSubUid) + " " + std::to_string(kSubUids);
  emulator_test::FaultControl::put("/proc/" + std::to_string(child) + "/uid_map", map);
}

}  // namespace

void Crowd::run(const Identity& who, const std::function<void(const Milestone&)>& work) {
  Milestone entered, filled;
  int mapped[2] = {-1, -1};
  must(::pipe(mapped) == 0 ? 0 : errno, "pipe");
  const pid_t child = spawn([&] {
    raise_file_limit();
    if (!who.cgroup.empty())
      emulator_test::FaultControl::put(who.cgroup + "/cgroup.procs", std::to_string(::getpid()));
    if (who.uid != 0) become(who.uid);
    if (who.in_namespace) must(::unshare(CLONE_NEWUSER) == 0 ? 0 : errno, "unshare");
    entered.reach();
    char byte = 0;
    must(::read(mapped[0], &byte, 1) == 1 ? 0 : EPIPE, "uid_map");
    if (who.in_namespace) must(::setresuid(0, 0, 0) == 0 ? 0 : errno, "setresuid");
    work(filled);
    return 0;
  });
  children_.push_back(child);
  entered.wait();
  if (who.in_namespace) map_sub_uids(child);
  const bool told = ::write(mapped[1], "", 1) == 1;
  ::close(mapped[0]);
  ::close(mapped[1]);
  must(told ? 0 : errno, "write");
  filled.wait();
}

void Crowd::start(const Identity& who, const Load& load) {
  run(who, [&load](const Milestone& filled) {
    std::vector<std::unique_ptr<Sharer>> files;
    for (unsigned i = 0; i < load.contexts; ++i) {
      // Spread over the range.
      const unsigned uid = load.sub_uids ? 1 + i * (kSubUids / load.contexts) : 0;
      if (uid != 0) must(::setresuid(uid, uid, 0) == 0 ? 0 : errno, "setresuid");
      if (i == 0 || load.sub_uids)
        files.push_back(std::make_unique<Sharer>(-1, -1, load.layers));
      else
        files.back()->renew_context();
      // Contexts that share a page would wait for each other.
      files.back()->renew_to();
      if (uid != 0) must(::setresuid(0, 0, 0) == 0 ? 0 : errno, "setresuid");
      for (unsigned job = 0; job < load.depth; ++job) must(files.back()->submit({}), "SUBMIT");
    }
    filled.reach();
    ::pause();
  });
}

std::size_t Crowd::start_counted(const Identity& who, const Load& load) {
  std::vector<int> files;
  std::vector<std::uint32_t> timelines;
  for (unsigned i = 0; i < load.contexts; ++i) {
    timelines.push_back(node_.syncobj());
    files.push_back(export_syncobj(node_, timelines.back()));
  }
  timelines_.push_back(timelines);
  run(who, [&](const Milestone& filled) {
    Sharer sharer(-1, -1, load.layers);
    const int fd = sharer.node().fd();
    std::vector<std::uint32_t> contexts, targets, theirs;
    std::vector<std::uint64_t> submitted(load.contexts), ended(load.contexts);
    for (const int file : files) {
      contexts.push_back(sharer.node().context());
      // Contexts that share a page would wait for each other.
      targets.push_back(sharer.node().buffer(ioctl_test::kPage));
      theirs.push_back(import_syncobj(sharer.node(), file));
    }
    for (bool first = true;; first = false) {
      for (unsigned i = 0; i < load.contexts; ++i) {
        sharer.use_to(targets[i]);
        while (submitted[i] - ended[i] < load.depth)
          must(sharer.submit({{theirs[i], DRM_NVDLA_SYNC_SIGNAL, ++submitted[i]}}, contexts[i]),
               "SUBMIT");
      }
      if (first) filled.reach();
      ::usleep(5000);
      must(drmSyncobjQuery(fd, theirs.data(), ended.data(), load.contexts) == 0 ? 0 : errno,
           "SYNCOBJ_QUERY");
    }
  });
  for (const int file : files) ::close(file);
  return timelines_.size() - 1;
}

void Crowd::start_stream(const Identity& who, unsigned depth, std::uint32_t layers) {
  run(who, [=](const Milestone& filled) {
    Sharer sharer(-1, -1, layers);
    std::uint32_t timeline = sharer.node().syncobj();
    std::deque<std::pair<std::uint64_t, std::uint32_t>> queued;
    std::vector<std::uint32_t> targets;
    for (unsigned i = 0; i < depth; ++i) targets.push_back(sharer.node().buffer(ioctl_test::kPage));
    std::uint64_t ended = 0;
    for (std::uint64_t point = 0;;) {
      while (queued.size() < depth) {
        sharer.renew_context();
        sharer.use_to(targets[point % depth]);
        must(sharer.submit({{timeline, DRM_NVDLA_SYNC_SIGNAL, ++point}}), "SUBMIT");
        queued.emplace_back(point, sharer.context());
      }
      if (point == depth) filled.reach();
      must(drmSyncobjQuery(sharer.node().fd(), &timeline, &ended, 1) == 0 ? 0 : errno,
           "SYNCOBJ_QUERY");
      for (; !queued.empty() && queued.front().first <= ended; queued.pop_front()) {
        drm_nvdla_context_destroy destroy{queued.front().second, 0};
        must(sharer.node().call(DRM_IOCTL_NVDLA_CONTEXT_DESTROY, &destroy), "CONTEXT_DESTROY");
      }
      if (queued.size() == depth) ::usleep(500);
    }
  });
}

std::vector<std::uint64_t> Crowd::points(std::size_t process, std::uint32_t flags) {
  std::vector<std::uint32_t>& timelines = timelines_.at(process);
  std::vector<std::uint64_t> points(timelines.size());
  must(drmSyncobjQuery2(node_.fd(), timelines.data(), points.data(),
                        static_cast<std::uint32_t>(points.size()), flags) == 0
           ? 0
           : errno,
       "SYNCOBJ_QUERY");
  return points;
}

std::vector<std::uint64_t> Crowd::submitted(std::size_t process) {
  return points(process, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED);
}

std::vector<int> Crowd::stop() {
  std::vector<int> statuses;
  for (const pid_t child : children_) ::kill(child, SIGKILL);
  for (const pid_t child : children_) statuses.push_back(reap(child));
  children_.clear();
  timelines_.clear();
  return statuses;
}

void ShareKeeper::keep() {
  // A user has a ninth of a second, and two layers within it.
  constexpr std::uint64_t kMuchNs = 50'000'000;
  const std::uint64_t now_ns = busy_ns();
  if (now_ns - had_ns_ > kMuchNs) ::usleep(1'000'000);
  had_ns_ = now_ns;
}

std::uint64_t ShareKeeper::busy_ns() const {
  return std::stoull(emulator_test::fdinfo(client_.node().fd()).at("drm-engine-dla"));
}

}  // namespace nvdla::hostile
