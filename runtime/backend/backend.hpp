// SPDX-License-Identifier: MIT
//
// What a device has to offer to the runtime. One backend is one directory: the model in this
// process (model/), the kernel driver, registers mapped into user space.
//
// All calls but BufferImpl's may come from any thread at any time.
#ifndef NVDLA_BACKEND_BACKEND_HPP
#define NVDLA_BACKEND_BACKEND_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nvdla/buffer.hpp"
#include "nvdla/program.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/error.hpp"
#include "nvdla/types/memory.hpp"
#include "support/host_pages.hpp"
#include "support/process.hpp"

namespace nvdla::detail {

// What buffers, programs and queues of one device have in common.
using DeviceId = std::uint64_t;

class BufferImpl {
 public:
  BufferImpl(DeviceId device, std::uint64_t size, Memory memory) noexcept
      : device_(device), size_(size), memory_(memory) {}
  virtual ~BufferImpl() = default;
  BufferImpl(const BufferImpl&) = delete;
  BufferImpl& operator=(const BufferImpl&) = delete;

  DeviceId device() const noexcept { return device_; }
  std::uint64_t size() const noexcept { return size_; }
  Memory memory() const noexcept { return memory_; }

  // CPU access; the bytes stay where they are until the matching end.
  virtual std::byte* begin_access(MapMode mode) = 0;
  virtual void end_access(MapMode mode) noexcept = 0;

 private:
  DeviceId device_;
  std::uint64_t size_;
  Memory memory_;
};

using LayerNames = std::shared_ptr<const std::vector<std::string>>;

class ProgramImpl {
 public:
  explicit ProgramImpl(DeviceId device) noexcept : device_(device) {}
  virtual ~ProgramImpl() = default;
  ProgramImpl(const ProgramImpl&) = delete;
  ProgramImpl& operator=(const ProgramImpl&) = delete;

  DeviceId device() const noexcept { return device_; }
  virtual std::uint32_t layers() const noexcept = 0;
  virtual std::uint32_t slots() const noexcept = 0;
  virtual bool statistics() const noexcept = 0;
  virtual std::uint64_t cycles(std::uint32_t layer) const noexcept = 0;
  // Does the program bind this slot itself, to its control data?
  virtual bool is_control(std::uint32_t slot) const noexcept = 0;

  // Records call the layers so. Whoever had the program made sets the names, before others have it.
  void name_layers(LayerNames names) const noexcept { layer_names_ = std::move(names); }
  const LayerNames& layer_names() const noexcept { return layer_names_; }

 private:
  DeviceId device_;
  mutable LayerNames layer_names_;
};

class Descriptor;

class FenceImpl {
 public:
  using Clock = std::chrono::steady_clock;

  FenceImpl() = default;
  virtual ~FenceImpl() = default;
  FenceImpl(const FenceImpl&) = delete;
  FenceImpl& operator=(const FenceImpl&) = delete;

  virtual bool done() const noexcept = 0;
  // Waits until it is done, for ever without a time; false if it is not done by then.
  virtual bool wait(std::optional<Clock::time_point> until) = 0;
  // Once done: why the job failed, or nullptr.
  virtual const Error* error() const noexcept = 0;
  // Once done.
  virtual std::span<const nvdla_layer_stats> statistics() const noexcept = 0;
  // Calls `then` once it is done, from any thread, or at once if it is. It must not throw or wait.
  virtual void on_done(std::function<void()> then) = 0;
  // Has it fail with `why`, unless the job fails by itself: at once if the device has not begun,
  // else when the device is done with it. False if it was done already. The job's buffers are the
  // device's until the fence is done, here as ever.
  virtual bool cancel(const Error& why) = 0;
  // A file descriptor that is readable once it is done; it lives as long as the fence. Throws
  // kNoMemory.
  int poll_fd();

  // What errors call the layers, if anything: set by the submitter, before others have the fence.
  void name_layers(LayerNames names) noexcept { layer_names_ = std::move(names); }
  const LayerNames& layer_names() const noexcept { return layer_names_; }
  // Of arm_deadline(), the submitter's too: it takes the deadline away when the fence goes.
  void keep_deadline(std::shared_ptr<void> deadline) noexcept { deadline_ = std::move(deadline); }
  const MadeHere& made() const noexcept { return made_; }

 protected:
  virtual std::shared_ptr<Descriptor> make_poll_fd();

 private:
  LayerNames layer_names_;
  std::shared_ptr<void> deadline_;
  std::mutex poll_mutex_;
  std::shared_ptr<Descriptor> poll_;
  MadeHere made_;
};

// The error of a job for which there was no memory on a thread of the library. The first call makes
// it, and throws where that fails; later ones copy it, which allocates nothing.
Error out_of_memory();
// The error of a job that has not ended in time; likewise.
Error late();
// Of a job that waited for one that failed.
Error wait_failed(const Error& why);

// When a job may start.
struct JobTerms {
  // When all of these are done, and well.
  std::span<const std::shared_ptr<FenceImpl>> waits = {};
  // Not from then on.
  FenceImpl::Clock::time_point deadline = FenceImpl::Clock::time_point::max();
  // Who submits waits at once, without limit, and may run it: nobody else need wake up.
  bool waited_for = false;
};

struct BoundBuffer {
  // Of every slot but the one for control data.
  std::shared_ptr<BufferImpl> buffer;
  std::uint64_t offset = 0;
};

class QueueImpl {
 public:
  explicit QueueImpl(DeviceId device) noexcept : device_(device) {}
  virtual ~QueueImpl() = default;
  QueueImpl(const QueueImpl&) = delete;
  QueueImpl& operator=(const QueueImpl&) = delete;

  DeviceId device() const noexcept { return device_; }
  // Program and buffers belong to the device. Checks that the buffers fit the slots.
  virtual std::shared_ptr<FenceImpl> submit(std::shared_ptr<const ProgramImpl> program,
                                            std::span<const BoundBuffer> bindings,
                                            const JobTerms& terms) = 0;
  const MadeHere& made() const noexcept { return made_; }

 private:
  DeviceId device_;
  MadeHere made_;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const DeviceInfo& info() const noexcept = 0;
  virtual std::shared_ptr<BufferImpl> allocate(std::uint64_t bytes, Memory memory) = 0;
  // A buffer of whole pages that nobody writes to from then on: neither the CPU nor a program. A
  // device of this process takes them as they are, others a copy.
  virtual std::shared_ptr<BufferImpl> adopt(const std::shared_ptr<HostPages>& pages, Memory memory);
  virtual std::shared_ptr<const ProgramImpl> create_program(const ProgramDesc& desc) = 0;
  // Queues keep the device open.
  virtual std::shared_ptr<QueueImpl> create_queue() = 0;
  const MadeHere& made() const noexcept { return made_; }

 private:
  MadeHere made_;
};

// The backend that a name stands for, see Device::open().
std::shared_ptr<Backend> open_backend(std::string_view name,
                                      const std::function<void(std::string_view)>& note = {});

// A number that no other device of this process has.
DeviceId new_device_id() noexcept;

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_BACKEND_HPP
