// SPDX-License-Identifier: MIT
//
// A context of the kernel as a queue.
#ifndef NVDLA_BACKEND_KERNEL_KERNEL_QUEUE_HPP
#define NVDLA_BACKEND_KERNEL_KERNEL_QUEUE_HPP

#include <deque>
#include <memory>
#include <mutex>

#include "backend/kernel/kernel_job.hpp"

namespace nvdla::detail {

class KernelQueue final : public QueueImpl, public std::enable_shared_from_this<KernelQueue> {
 public:
  explicit KernelQueue(std::shared_ptr<KernelCore> core);

  std::shared_ptr<FenceImpl> submit(std::shared_ptr<const ProgramImpl> program,
                                    std::span<const BoundBuffer> bindings,
                                    const JobTerms& terms) override;

 private:
  // Submits held jobs, in order, up to one that must still wait.
  void pump();
  void give(KernelJob& job);
  // In the context, when the kernel has room for it. The errno with which it is refused.
  int submit(KernelJob& job);

  std::shared_ptr<KernelCore> core_;
  std::mutex mutex_;
  std::shared_ptr<const KernelContext> context_;
  // Jobs that wait for what the kernel cannot wait for, and all behind them.
  std::deque<std::shared_ptr<KernelJob>> held_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_KERNEL_KERNEL_QUEUE_HPP
