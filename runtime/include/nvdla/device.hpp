// SPDX-License-Identifier: MIT
//
/// @file
/// An NVDLA: opened by a string, so that an application moves from the model to silicon by changing
/// one word.
#ifndef NVDLA_DEVICE_HPP
#define NVDLA_DEVICE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "nvdla/buffer.hpp"
#include "nvdla/program.hpp"
#include "nvdla/queue.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/memory.hpp"

namespace nvdla {

namespace detail {
class Backend;
}  // namespace detail

/// Checks that `name` can be a device's for Device::open(), which may still find none. Throws
/// kNoDevice saying what would be right, about NVDLA_DEVICE where that decides. Opens nothing.
NVDLA_API void check_device_name(std::string_view name);

/// Options of Device::open().
struct OpenOptions {
  /// A file that all jobs are written to, with their registers and memory, for `nvdla replay` and
  /// `nvdla diff`. Jobs then run one at a time, and submit() returns when they have ended. Empty:
  /// the one that the environment variable NVDLA_RECORD names, if any; of several devices that are
  /// opened so, later ones get a number in it ("run.2.record"). submit() throws kNotWritten where
  /// it cannot be written.
  std::string_view record = {};
  /// Called before open() returns with one line, without an end of line, that a user should see:
  /// that "auto" found no device and opens the model. The library itself prints nothing.
  std::function<void(std::string_view line)> note = {};
};

/// A handle: copies name the same device, which closes with the last handle, buffer, program, queue
/// or running job. Thread safe. Any number of devices, also of one kind, may be open in a process.
class NVDLA_API Device {
 public:
  /// `name` is one of
  /// @code
  ///   "model:<configuration>"  the device model in this process, e.g. "model:nv_full"
  ///   "model"                  the same as "model:nv_full"
  ///   "model:nv_full,threads=2"  how many threads, the one that runs the job included, share a
  ///                            heavy convolution, which changes no result; else one per processor
  ///   "model:nv_small,gating=off"  the logic without the fault of DeviceInfo::has_weight_gating,
  ///                            also together with threads
  ///   "model:nv_small,revision=2019"  the published logic of that year, 2018 or 2019, which
  ///                            DeviceInfo::revision keeps
  ///   "model:nv_small,latency=100,outstanding=16"  cycles that memory takes to answer, and how
  ///   many
  ///                            requests are on their way at once, for the stall and latency
  ///                            counters, which are predicted; else 1 and as many as there are
  ///   "model:nv_full,bandwidth=20GB/s,clock=1GHz"  what memory reads and writes at most, for the
  ///                            same; bytes a cycle without a unit; else as much as the interface
  ///                            takes
  ///   "model:nv_full,sram=4MiB,sram-latency=10,sram-bandwidth=32"  the size of secondary memory,
  ///                            and its latency and bandwidth for the same
  ///   "model:nv_full,fp16=fast"  direct convolutions of fp16 in plain fp32, some 20 times as fast;
  ///                            docs/performance.md says how far off; else "exact", as the logic
  ///   "kernel"                 the first kernel device
  ///   "/dev/accel/accelN"      a kernel device by its path; a render node where the kernel has no
  ///                            accel nodes
  ///   "sim:/tmp/nvdla"         a simulator of the logic that listens at this socket; options and
  ///                            the protocol are in docs/simulator.md
  ///   "mmio:0000:00:04.0"      registers that this process maps: a PCI function, "mmio:/dev/uio0"
  ///                            or "mmio:0x10040000", without a driver; options are in docs/mmio.md
  ///   "auto"                   what the environment variable NVDLA_DEVICE says, which may be any
  ///   of
  ///                            these; else the first kernel device, else "model", which
  ///                            OpenOptions::note reports
  /// @endcode
  /// Throws kNoDevice for anything else and for a device that is not there or another than it is
  /// said to be, kGone for a simulator that ends meanwhile, kBusy for registers that another
  /// process drives, kInvalidArgument where the environment asks a model for what it cannot do
  /// (NVDLA_KERNELS).
  static Device open(std::string_view name = "auto");
  /// The same with options.
  static Device open(std::string_view name, const OpenOptions& options);

  Device(const Device&) noexcept;             ///< Copies the handle.
  Device(Device&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Device& operator=(const Device&) noexcept;  ///< Copies the handle.
  Device& operator=(Device&&) noexcept;       ///< Moves; the source is empty afterwards.
  ~Device();                                  ///< Releases what it refers to.

  /// Returns the facts of the device; they live as long as a handle.
  const DeviceInfo& info() const noexcept;

  /// Zeroed device memory. Throws kInvalidArgument for 0 bytes, kNotAvailable for a memory that the
  /// device does not have, kNoMemory.
  Buffer allocate(std::uint64_t bytes, Memory memory = Memory::kDram) const;

  /// Checks and compiles. Throws kInvalidProgram with the first rule that is broken.
  Program create_program(const ProgramDesc& desc) const;

  /// Returns the queue that the device comes with.
  const Queue& queue() const noexcept;
  /// Returns a further queue, whose submissions take turns with those of others.
  Queue create_queue() const;
  /// queue().submit()
  Fence submit(const Program& program, std::span<const Binding> bindings,
               const SubmitOptions& options = {}) const;

 private:
  friend struct detail::Handles;
  explicit Device(std::shared_ptr<detail::Backend> impl);
  std::shared_ptr<detail::Backend> impl_;
  Queue queue_;
};

}  // namespace nvdla

#endif  // NVDLA_DEVICE_HPP
