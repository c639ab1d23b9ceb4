// SPDX-License-Identifier: MIT
//
/// @file
/// A network that was compiled for a device: once, for any number of requests, which run it.
///
/// @code
///   nvdla::CompiledNetwork compiled = net.compile(nvdla::Device::open("model:nv_full"));
///   nvdla::Request a = compiled.create_request(), b = compiled.create_request();
///   a.write("image", nvdla::Layout::kNchw, first);
///   nvdla::Fence running = a.submit();
///   b.write("image", nvdla::Layout::kNchw, second);  // while the device works on the first
///   b.submit();
///   running.wait();
///   a.read("features", nvdla::Layout::kNchw, features);
/// @endcode
#ifndef NVDLA_COMPILED_NETWORK_HPP
#define NVDLA_COMPILED_NETWORK_HPP

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "nvdla/build_options.hpp"
#include "nvdla/device.hpp"
#include "nvdla/queue.hpp"
#include "nvdla/request.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/memory_use.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {

/// The program and the constants of a network in the memory of its device, and what its inputs and
/// outputs are. Immutable, a handle: copies name the same network, threads may share it. It lives
/// as long as any handle, request or run of it. All calls but assignment and bool throw
/// kInvalidArgument on an empty handle; inputs(), outputs(), layers() and programs() are 0.
class NVDLA_API CompiledNetwork {
 public:
  struct Impl;  ///< the library's own

  CompiledNetwork() noexcept;                        ///< An empty handle.
  CompiledNetwork(const CompiledNetwork&) noexcept;  ///< Copies the handle.
  CompiledNetwork(CompiledNetwork&&) noexcept;       ///< Moves; the source is empty afterwards.
  CompiledNetwork& operator=(const CompiledNetwork&) noexcept;  ///< Copies the handle.
  /// Moves; the source is empty afterwards.
  CompiledNetwork& operator=(CompiledNetwork&&) noexcept;
  ~CompiledNetwork();  ///< Releases what it refers to.

  /// True unless the handle is empty.
  explicit operator bool() const noexcept { return impl_ != nullptr; }

  /// Buffers for inputs, outputs and what lies between layers; nothing of the constants is copied.
  /// Requests of one queue run in the order in which they are submitted; without a queue it is the
  /// device's. One in a queue of its own takes turns with others, and does not fall with them if
  /// one hangs. Of several programs the first takes its turn there, all others come as soon as they
  /// can: who needs the results of such a run waits for its fence (SubmitOptions::wait_fences).
  /// Throws kNoMemory, kInvalidArgument for a queue of another device.
  Request create_request() const;
  /// The same for runs in `queue`. Throws kInvalidArgument for a queue of another device.
  Request create_request(const Queue& queue) const;

  const Device& device() const;           ///< Returns the device that the network was compiled for.
  std::uint32_t inputs() const noexcept;  ///< Returns the number of inputs.
  std::uint32_t outputs() const noexcept;  ///< Returns the number of outputs.
  /// Returns the name of an input. Throws kInvalidArgument past the end.
  std::string_view input_name(std::uint32_t index) const;
  /// Returns the name of an output. Throws kInvalidArgument past the end.
  std::string_view output_name(std::uint32_t index) const;
  /// Returns the layout of an input or output in memory. Throws kInvalidArgument listing the
  /// names that there are. Of an input that a layer has folded (Convolution::Tuning::folding) it is
  /// the folded cube.
  const TensorDesc& desc(std::string_view name) const;
  /// Returns the layout of an image input in memory. Throws kInvalidArgument for any other name.
  const ImageDesc& image(std::string_view name) const;

  /// Returns the number of layers that a run executes: bands of lines or of kernels of a
  /// convolution that was cut are called "conv 1/3", "conv 2/3", ..., the cubes of a batch "conv
  /// cube 1/4", ..., or "conv cubes 1..3/4" where a layer takes several but not all of them, those
  /// of kernels "conv kernels 1/2", ... and "conv gather", those of a deconvolution "up phase 1/4",
  /// ... and "up contract". A pooling that is part of a layer adds its name: "conv+pool".
  std::uint32_t layers() const noexcept;
  /// Returns the name of a layer. Throws kInvalidArgument past the end.
  std::string_view layer_name(std::uint32_t layer) const;
  /// Returns an estimate of the worst case of a layer in device cycles.
  std::uint64_t layer_cycles(std::uint32_t layer) const;
  /// Returns the multiply-accumulates of one run of a layer.
  std::uint64_t layer_macs(std::uint32_t layer) const;
  /// Returns true if the CPU computes the layer, see nvdla/operators/cpu_operators.hpp: it has no
  /// cycles, and its statistics are 0.
  bool layer_on_cpu(std::uint32_t layer) const;
  /// Returns the submissions to the device that a run takes, one after the other.
  std::uint32_t programs() const noexcept;
  /// Returns the buffers of this network, which all requests share (BufferUse::shared), and those
  /// that each request has for itself.
  MemoryUse memory() const;
  /// Returns what each pass of the compiler did, in their order; nothing for a loadable, which
  /// another program may have compiled.
  const std::vector<PassReport>& passes() const;

 private:
  friend struct detail::Handles;
  explicit CompiledNetwork(std::shared_ptr<const Impl> impl) noexcept;
  const Impl& impl() const;

  std::shared_ptr<const Impl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_COMPILED_NETWORK_HPP
