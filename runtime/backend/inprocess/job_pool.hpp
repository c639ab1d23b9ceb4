// SPDX-License-Identifier: MIT
//
// Memory of a device's jobs. What jobs that are gone had is for those that come, so that a warm run
// takes none from the heap.
#ifndef NVDLA_BACKEND_INPROCESS_JOB_POOL_HPP
#define NVDLA_BACKEND_INPROCESS_JOB_POOL_HPP

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <utility>

#include "backend/inprocess/job.hpp"

namespace nvdla::detail {

// Thread safe. Not std::pmr::synchronized_pool_resource: of these a process has 1,024 at most, a
// key of the threads' own data each.
class JobPool final : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const std::lock_guard lock(mutex_);
    return pool_.allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    const std::lock_guard lock(mutex_);
    pool_.deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::mutex mutex_;
#ifdef __SANITIZE_ADDRESS__
  // A job that is used after its end is to be found.
  std::pmr::memory_resource& pool_ = *std::pmr::new_delete_resource();
#else
  // Statistics of all layers of the longest program are one block.
  std::pmr::unsynchronized_pool_resource pool_{std::pmr::pool_options{
      .max_blocks_per_chunk = 0,
      .largest_required_pool_block = sizeof(nvdla_layer_stats) * NVDLA_MAX_LAYERS}};
#endif
};

// Keeps the pool: a fence may outlive its device.
template <typename T>
class JobAllocator {
 public:
  using value_type = T;

  explicit JobAllocator(std::shared_ptr<JobPool> pool) noexcept : pool_(std::move(pool)) {}
  template <typename U>
  JobAllocator(const JobAllocator<U>& other) noexcept : pool_(other.pool()) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(pool_->allocate(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    pool_->deallocate(memory, count * sizeof(T), alignof(T));
  }
  const std::shared_ptr<JobPool>& pool() const noexcept { return pool_; }

  template <typename U>
  bool operator==(const JobAllocator<U>& other) const noexcept {
    return pool_ == other.pool();
  }

 private:
  std::shared_ptr<JobPool> pool_;
};

// `bindings` have the pool's memory, which all of the job then has.
inline std::shared_ptr<Job> make_job(const std::shared_ptr<JobPool>& pool,
                                     std::shared_ptr<const CompiledProgram> program,
                                     std::pmr::vector<LocalBinding> bindings,
                                     const JobTerms& terms) {
  return std::allocate_shared<Job>(JobAllocator<Job>(pool), std::move(program), std::move(bindings),
                                   terms);
}

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_JOB_POOL_HPP
