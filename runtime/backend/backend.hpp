// SPDX-License-Identifier: MIT
//
// The interface between the runtime and a kind of device. Each backend is one directory: model/
// runs the model in this process, kernel/ calls the kernel driver, registers/ drives registers that
// this process can reach.
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

// Identifies the device that a buffer, program or queue belongs to.
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

  // Begins CPU access; the bytes stay at this address until the matching end_access().
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

  // Sets the names under which records list the layers. Whoever creates the program calls this
  // before it hands the program on.
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
  // Waits until the job is done, for ever without a time; false if it is not done by `until`.
  virtual bool wait(std::optional<Clock::time_point> until) = 0;
  // Returns why the job failed, or nullptr. Valid once the job is done.
  virtual const Error* error() const noexcept = 0;
  // Valid once the job is done.
  virtual std::span<const nvdla_layer_stats> statistics() const noexcept = 0;
  // Calls `then`, from any thread, once the job is done, or at once if it is. `then` must neither
  // throw nor wait.
  virtual void on_done(std::function<void()> then) = 0;
  // Ends the job with the error `why`, unless the job fails by itself: at once if the device has
  // not begun it, else when the device is done with it. Returns false if the job was done already.
  // The device may use the job's buffers until the fence is done, canceled or not.
  virtual bool cancel(const Error& why) = 0;
  // Returns a file descriptor that becomes readable once the job is done. It lives as long as the
  // fence. Throws kNoMemory.
  int poll_fd();

  // Sets the names under which errors report the layers. The submitter calls this before others
  // have the fence.
  void name_layers(LayerNames names) noexcept { layer_names_ = std::move(names); }
  const LayerNames& layer_names() const noexcept { return layer_names_; }
  // Keeps the handle of arm_deadline(), so that destroying the fence disarms the deadline. Like
  // name_layers(), the submitter calls this before others have the fence.
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

// Returns the error of a job that failed because a thread of the library had no memory. The first
// call constructs the error and may throw; later calls copy it, which allocates nothing.
Error out_of_memory();
// Returns the error of a job that missed its deadline, likewise.
Error late();
// Returns the error of a job that waited for another one, which failed with `why`.
Error wait_failed(const Error& why);

// `JobTerms` sets when a job may start, and who waits for it.
struct JobTerms {
  // The job starts when all of these have ended without an error.
  std::span<const std::shared_ptr<FenceImpl>> waits = {};
  // The job does not start from this time on.
  FenceImpl::Clock::time_point deadline = FenceImpl::Clock::time_point::max();
  // The submitting thread waits for the job at once and without limit, and may run the job itself,
  // so that no other thread need wake up.
  bool waited_for = false;
};

struct BoundBuffer {
  // Null only for the slot of control data.
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
  // The program and the buffers must belong to this device. Checks that the buffers fit the slots.
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
  // Makes a buffer of whole pages that neither the CPU nor a program writes from then on. A device
  // in this process uses the pages in place, other devices copy them.
  virtual std::shared_ptr<BufferImpl> adopt(const std::shared_ptr<HostPages>& pages, Memory memory);
  virtual std::shared_ptr<const ProgramImpl> create_program(const ProgramDesc& desc) = 0;
  // Queues keep the device open.
  virtual std::shared_ptr<QueueImpl> create_queue() = 0;
  const MadeHere& made() const noexcept { return made_; }

 private:
  MadeHere made_;
};

// Opens the backend that `name` stands for, see Device::open().
std::shared_ptr<Backend> open_backend(std::string_view name,
                                      const std::function<void(std::string_view)>& note = {});

// Returns a number that no other device of this process has.
DeviceId new_device_id() noexcept;

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_BACKEND_HPP
