// SPDX-License-Identifier: MIT
//
// A network that was built for a device.
#ifndef NVDLA_SESSION_HPP
#define NVDLA_SESSION_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/device.hpp"
#include "nvdla/export.hpp"
#include "nvdla/image.hpp"
#include "nvdla/layers.hpp"
#include "nvdla/memory_use.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla {

class Network;

// What Network::build() may do, and has to.
struct BuildOptions {
  // Count for every layer; Session::statistics() has the numbers.
  bool statistics = false;
  // Inputs may lie folded in width where Convolution::folding asks for it. Without, they lie as
  // everybody expects; kAlways is then refused as kNotAvailable.
  bool fold_inputs = true;
  // Tensors between layers lie where others were before, as soon as nothing touches those any more.
  // Without, each has a buffer of its own.
  bool share_memory = true;
};

// A network on a device, with buffers of its own. Runs allocate no device memory. Build several
// sessions to run several at once: one has one run at a time, and its buffers are left alone until
// that has ended.
//
//                              | new              | running | ended well | failed
//   write, write_pixels, bind  | yes              | kBusy   | yes        | yes
//   visit_layers, compare_..   | yes              | kBusy   | yes        | yes
//   submit, run                | yes              | kBusy   | yes        | yes
//   read, statistics           | kInvalidArgument | kBusy   | yes        | the run's error
//   all others                 | yes              | yes     | yes        | yes
//
// A submission that is refused changes nothing: what the run before gave stays. Calls may come from
// several threads, and those that touch buffers wait for each other. Every call but inputs(),
// outputs() and layers(), which are 0 then, throws kInvalidArgument on a session that was moved
// from.
class NVDLA_API Session {
 public:
  struct Impl;  // the library's own

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // A run that has not ended goes on; it holds what it needs.
  ~Session();

  std::uint32_t inputs() const noexcept;
  std::uint32_t outputs() const noexcept;
  std::string_view input_name(std::uint32_t index) const;
  std::string_view output_name(std::uint32_t index) const;
  // Where a tensor lies, by the name of an input or output. Throws kInvalidArgument listing the
  // names that there are. Of an input that a layer has folded (Convolution::folding) it is the
  // folded cube.
  const TensorDesc& desc(std::string_view name) const;
  // Where an image lies.
  const ImageDesc& image(std::string_view name) const;
  // The one that the next run uses. Its contents are the device's during a run.
  Buffer buffer(std::string_view name) const;
  // Uses a buffer of the application for an input or output from the next run on. An output that
  // was bound is not read() before that. Throws kBusy during a run, kInvalidArgument if the buffer
  // is of another device, in another memory (Network::place()) or too small.
  void bind(std::string_view name, const Buffer& buffer);

  // Packs into an input: its own elements (std::uint16_t holds fp16 bits), or floats, which are
  // quantised as the input says. Throws kBusy during a run, kInvalidArgument if the elements are
  // not those of the input.
  void write(std::string_view name, Layout layout, std::span<const std::int8_t> source);
  void write(std::string_view name, Layout layout, std::span<const std::int16_t> source);
  void write(std::string_view name, Layout layout, std::span<const std::uint16_t> source);
  void write(std::string_view name, Layout layout, std::span<const float> source);
  // Pixels without gaps into an image, the second plane if its format has one.
  void write_pixels(std::string_view name, std::span<const std::byte> plane,
                    std::span<const std::byte> plane_uv = {});
  // Unpacks what the last run left in an output; floats are dequantised as the output says. Throws
  // kInvalidArgument before the first run, and if the output was bound anew since; kBusy during a
  // run; after one that failed what it threw.
  void read(std::string_view name, Layout layout, std::span<std::int8_t> target) const;
  void read(std::string_view name, Layout layout, std::span<std::int16_t> target) const;
  void read(std::string_view name, Layout layout, std::span<std::uint16_t> target) const;
  void read(std::string_view name, Layout layout, std::span<float> target) const;

  // Starts a run; the fence tells its end. Throws kBusy during another, kInvalidBinding naming the
  // inputs or outputs whose buffers do not go together: nothing may be written that something else
  // reads or writes.
  Fence submit(const SubmitOptions& options = {});
  // submit() and wait(); errors name the layer, whose number is all that the fence's errors have.
  void run();

  // Layers as they run: bands of lines or of kernels of a convolution that was cut are called
  // "conv 1/3", "conv 2/3", ..., the cubes of a batch "conv cube 1/4", ..., or "conv cubes 1..3/4"
  // where a layer takes several but not all of them, those of kernels "conv kernels 1/2", ... and
  // "conv gather", those of a deconvolution "up phase 1/4", ... and "up contract". A pooling that
  // is part of a layer adds its name: "conv+pool".
  std::uint32_t layers() const noexcept;
  std::string_view layer_name(std::uint32_t layer) const;
  // Estimate of the worst case in device cycles.
  std::uint64_t layer_cycles(std::uint32_t layer) const;
  // Multiply-accumulates of one run of a layer.
  std::uint64_t layer_macs(std::uint32_t layer) const;
  // The buffers that build() made, and what is in them; those that the application has bound since
  // are not among them.
  MemoryUse memory() const;
  // Of the last run, one per layer, until the next one; empty unless BuildOptions::statistics.
  // Throws as read() does.
  std::span<const nvdla_layer_stats> statistics() const;

  // Layer by layer, see nvdla/layers.hpp, from what the inputs hold now. The session stays as it
  // is: this happens in copies of its buffers, for which there has to be room on the device.
  //
  // Calls `visit` with every tensor that a layer wrote, in the order of layers. Throws what run()
  // throws; what `visit` throws ends it.
  void visit_layers(const LayerVisitor& visit) const;
  // Runs each layer on this device and on `reference`, from the same memory, up to the first
  // difference; `visit` may have what this device left. All bytes of buffers that layers write are
  // compared, and what comparisons found. Errors say which of the two devices failed. Throws
  // kNotAvailable for a reference of another configuration.
  std::optional<LayerDifference> compare_layers(const Device& reference,
                                                const LayerVisitor& visit = {}) const;

 private:
  friend class Network;
  friend struct detail::Handles;
  explicit Session(std::unique_ptr<Impl> impl) noexcept;
  Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_SESSION_HPP
