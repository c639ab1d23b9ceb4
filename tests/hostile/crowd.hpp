// SPDX-License-Identifier: MIT
//
// Users that keep the device busy, each in processes of its own.
#ifndef NVDLA_TESTS_HOSTILE_CROWD_HPP
#define NVDLA_TESTS_HOSTILE_CROWD_HPP

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hostile.hpp"

namespace nvdla::hostile {

// The user whose wait a test counts, and the first of the others.
inline constexpr unsigned kLight = 2000;
inline constexpr unsigned kHeavy = 1000;

// `Identity` describes the user that the driver takes a process for.
struct Identity {
  // In the initial namespace; the owner of the namespace where there is one.
  unsigned uid = 1000;
  // The process lives in a user namespace with 65,536 sub-uids.
  bool in_namespace = false;
  // A control group that it joins first, for what root owns; empty: none.
  std::string cgroup;
};

// `Load` describes what a process has queued.
struct Load {
  unsigned contexts = 1;
  // Jobs in each context, and layers of each job.
  unsigned depth = 1;
  std::uint32_t layers = 1;
  // Each context, by turns, is opened by another sub-uid of the namespace.
  bool sub_uids = false;
};

// Keeps a client to its share of each second, as the promise of fairness supposes. An emulated
// machine that stands still in a layer makes that layer longer than the share is.
class ShareKeeper {
 public:
  explicit ShareKeeper(const Client& client) : client_(client), had_ns_(busy_ns()) {}
  // Waits, after a job, until the second is over in which it has had too much.
  void keep();

 private:
  std::uint64_t busy_ns() const;

  const Client& client_;
  std::uint64_t had_ns_;
};

// A job in a context of each of so many sub-uids. Each has a program of its own, which takes about
// 2 KiB of the kernel's memory for each layer: all of them together fit the memory of the guest.
inline Load sub_uid_load(unsigned uids) { return {uids, 1, 32768 / std::max(uids, 128u), true}; }

// `Crowd` starts the processes of other users, and kills them in the end.
class Crowd {
 public:
  Crowd() = default;
  ~Crowd() { stop(); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // All of these return once everything is queued.
  //
  // A process that submits the load once. Its jobs are to be longer than the test.
  void start(const Identity& who, const Load& load);
  // A process that submits again what has ended, so that every context has that many jobs at any
  // time. The index of the process, for jobs().
  std::size_t start_counted(const Identity& who, const Load& load);
  // A process that has `depth` jobs queued at any time, each in a context that is new.
  void start_stream(const Identity& who, unsigned depth, std::uint32_t layers);

  // Returns how many jobs of each context of a counted process have ended, or were submitted. The
  // driver's signals say so, so it does not matter when the process comes to see them.
  std::vector<std::uint64_t> ended(std::size_t process) { return points(process, 0); }
  std::vector<std::uint64_t> submitted(std::size_t process);

  // Kills all processes; how they ended.
  std::vector<int> stop();

 private:
  std::vector<std::uint64_t> points(std::size_t process, std::uint32_t flags);
  // Runs `work` as somebody, until it says that it has queued all.
  void run(const Identity& who, const std::function<void(const Milestone&)>& work);

  const Node node_;
  std::vector<pid_t> children_;
  std::vector<std::vector<std::uint32_t>> timelines_;
};

}  // namespace nvdla::hostile

#endif  // NVDLA_TESTS_HOSTILE_CROWD_HPP
