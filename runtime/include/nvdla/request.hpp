// SPDX-License-Identifier: MIT
//
/// @file
/// One run at a time of a compiled network: its inputs, its outputs, and what lies between its
/// layers. Constants are the network's own, so there may be as many requests as one likes.
/// Request::network() describes the inputs, outputs and layers.
///
/// @code
///   nvdla::Request request = network.build(device);  // or file.open(device) of a loadable
///   request.write("image", nvdla::Layout::kNchw, pixels);
///   request.run();  // any number of times
///   request.read("features", nvdla::Layout::kNchw, features);
///   request.network().desc("features");  // how it lies in memory
/// @endcode
#ifndef NVDLA_REQUEST_HPP
#define NVDLA_REQUEST_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/buffer.hpp"
#include "nvdla/device.hpp"
#include "nvdla/layer_tensors.hpp"
#include "nvdla/queue.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/shape.hpp"

namespace nvdla {

class CompiledNetwork;

/// Runs allocate no device memory. A request has one run at a time, and its buffers are left alone
/// until that has ended; several requests of a network may be in flight.
///
/// @code{.unparsed}
///                              | new              | running | ended well | failed
///   write, write_pixels, bind  | yes              | kBusy   | yes        | yes
///   visit_layers, compare_..   | yes              | kBusy   | yes        | yes
///   submit, run                | yes              | kBusy   | yes        | yes
///   read of an output          | kInvalidArgument | kBusy   | yes        | the run's error
///   statistics                 | kInvalidArgument | kBusy   | yes        | the run's error
///   read of an input           | yes              | kBusy   | yes        | yes
///   all others                 | yes              | yes     | yes        | yes
/// @endcode
///
/// A submission that is refused changes nothing: what the run before gave stays. Calls may come
/// from several threads, and those that touch buffers wait for each other; requests of one network
/// wait for nothing of each other's. Every call throws kInvalidArgument on a request that was moved
/// from.
class NVDLA_API Request {
 public:
  struct Impl;  ///< the library's own

  Request(Request&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Request& operator=(Request&&) noexcept;       ///< Moves; the source is empty afterwards.
  Request(const Request&) = delete;             ///< There is one owner.
  Request& operator=(const Request&) = delete;  ///< There is one owner.
  /// A run that has not ended goes on; it holds what it needs.
  ~Request();

  /// Returns the network that it runs.
  CompiledNetwork network() const;

  /// Returns the buffer that the next run uses. Its contents are the device's during a run.
  Buffer buffer(std::string_view name) const;
  /// Uses a buffer of the application for an input or output from the next run on. An output that
  /// was bound is not read() before that. Throws kBusy during a run, kInvalidArgument if the buffer
  /// is of another device, in another memory (Network::place()) or too small.
  void bind(std::string_view name, const Buffer& buffer);

  /// Packs into an input: its own elements (std::uint16_t holds fp16 bits), or floats, which are
  /// quantised as the input says; infinities become 65504 (Quantization). Throws kBusy during a
  /// run, kInvalidArgument if the elements are not those of the input.
  void write(std::string_view name, Layout layout, std::span<const std::int8_t> source);
  /// The same for int16 elements.
  void write(std::string_view name, Layout layout, std::span<const std::int16_t> source);
  /// The same for fp16 elements, as bits.
  void write(std::string_view name, Layout layout, std::span<const std::uint16_t> source);
  /// The same for real numbers, which are quantised as the input describes.
  void write(std::string_view name, Layout layout, std::span<const float> source);
  /// Pixels without gaps into an image, the second plane if its format has one.
  void write_pixels(std::string_view name, std::span<const std::byte> plane,
                    std::span<const std::byte> plane_uv = {});
  /// Unpacks what the last run left in an output, or what an input holds; floats are dequantised as
  /// the tensor describes. Throws kBusy during a run. Of an output it throws kInvalidArgument
  /// before the first run and if the output was bound anew since, and after a run that failed what
  /// that threw; of an input kInvalidArgument if it lies folded (Convolution::Tuning::folding).
  void read(std::string_view name, Layout layout, std::span<std::int8_t> target) const;
  /// The same for int16 elements.
  void read(std::string_view name, Layout layout, std::span<std::int16_t> target) const;
  /// The same for fp16 elements, as bits.
  void read(std::string_view name, Layout layout, std::span<std::uint16_t> target) const;
  /// The same for real numbers, which are made from the elements as the output describes.
  void read(std::string_view name, Layout layout, std::span<float> target) const;

  /// Starts a run; the fence tells its end. Throws kBusy during another, kInvalidBinding naming the
  /// inputs or outputs whose buffers do not go together: nothing may be written that something else
  /// reads or writes.
  Fence submit(const SubmitOptions& options = {});
  /// submit() and wait(); errors name the layer, whose number is all that the fence's errors have.
  void run();
  /// Returns the fence of the last run; an empty handle before the first.
  Fence fence() const;

  /// Returns an entry for each layer of the last run, valid until the next one; empty unless
  /// BuildOptions::statistics. Throws as read() does.
  std::span<const nvdla_layer_stats> statistics() const;

  /// Layer by layer, see nvdla/layer_tensors.hpp, from what the inputs hold now. The request stays
  /// as it is: this happens in copies of its buffers, for which there has to be room on the device.
  ///
  /// Calls `visit` with every tensor that a layer wrote, in the order of layers. Throws what run()
  /// throws; what `visit` throws ends it.
  void visit_layers(const LayerVisitor& visit) const;
  /// Runs each layer on this device and on `reference`, from the same memory, up to the first
  /// difference; `visit` may have what this device left. All bytes of buffers that layers write are
  /// compared, and what comparisons found. Errors say which of the two devices failed. Throws
  /// kNotAvailable for a reference of another configuration.
  std::optional<LayerDifference> compare_layers(const Device& reference,
                                                const LayerVisitor& visit = {}) const;

 private:
  friend struct detail::Handles;
  explicit Request(std::shared_ptr<Impl> impl) noexcept;
  Impl& impl() const;

  std::shared_ptr<Impl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_REQUEST_HPP
