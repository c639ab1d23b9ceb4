// SPDX-License-Identifier: MIT
//
/// @file
/// A network that was built for a device: compiled, with one request, as one object.
#ifndef NVDLA_SESSION_HPP
#define NVDLA_SESSION_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/buffer.hpp"
#include "nvdla/compiled_network.hpp"
#include "nvdla/device.hpp"
#include "nvdla/layer_tensors.hpp"
#include "nvdla/queue.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/memory_use.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {

/// A network on a device, with buffers of its own. It has one run at a time; several at once are
/// requests of network(), or sessions on it: neither copies its constants. What it allows when is
/// as for requests (nvdla/request.hpp), as are threads; each call does what that of the same name
/// does for its request or its compiled network. Every call but inputs(), outputs() and layers(),
/// which are 0 then, throws kInvalidArgument on a session that was moved from.
class NVDLA_API Session {
 public:
  struct Impl;  ///< the library's own

  /// Buffers for inputs, outputs and what lies between layers; constants are those of the network.
  explicit Session(const CompiledNetwork& compiled);
  Session(Session&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Session& operator=(Session&&) noexcept;       ///< Moves; the source is empty afterwards.
  Session(const Session&) = delete;             ///< There is one owner.
  Session& operator=(const Session&) = delete;  ///< There is one owner.
  /// A run that has not ended goes on; it holds what it needs.
  ~Session();

  /// Returns the network that it runs, for further requests.
  const CompiledNetwork& network() const;

  std::uint32_t inputs() const noexcept;   ///< Returns the number of inputs.
  std::uint32_t outputs() const noexcept;  ///< Returns the number of outputs.
  /// Returns the name of an input. Throws kInvalidArgument past the end.
  std::string_view input_name(std::uint32_t index) const;
  /// Returns the name of an output. Throws kInvalidArgument past the end.
  std::string_view output_name(std::uint32_t index) const;
  /// Returns the layout of an input or output in memory; see CompiledNetwork::desc().
  const TensorDesc& desc(std::string_view name) const;
  /// Returns where the pixels of an image input lie; see CompiledNetwork::image().
  const ImageDesc& image(std::string_view name) const;
  /// Returns the buffer of an input or output, the session's or the application's; see
  /// Request::buffer().
  Buffer buffer(std::string_view name) const;
  /// Uses a buffer of the application from the next run on; see Request::bind().
  void bind(std::string_view name, const Buffer& buffer);

  /// Packs int8 elements into an input for the next run; see Request::write().
  void write(std::string_view name, Layout layout, std::span<const std::int8_t> source);
  /// The same for int16 elements.
  void write(std::string_view name, Layout layout, std::span<const std::int16_t> source);
  /// The same for fp16 elements, as bits.
  void write(std::string_view name, Layout layout, std::span<const std::uint16_t> source);
  /// The same for real numbers, which are quantised as the input describes.
  void write(std::string_view name, Layout layout, std::span<const float> source);
  /// Packs pixels into an image; see Request::write_pixels().
  void write_pixels(std::string_view name, std::span<const std::byte> plane,
                    std::span<const std::byte> plane_uv = {});
  /// Unpacks the int8 elements that the last run left in an output; see Request::read().
  void read(std::string_view name, Layout layout, std::span<std::int8_t> target) const;
  /// The same for int16 elements.
  void read(std::string_view name, Layout layout, std::span<std::int16_t> target) const;
  /// The same for fp16 elements, as bits.
  void read(std::string_view name, Layout layout, std::span<std::uint16_t> target) const;
  /// The same for real numbers, which are made from the elements as the output describes.
  void read(std::string_view name, Layout layout, std::span<float> target) const;

  /// Starts a run and does not wait for its end; see Request::submit().
  Fence submit(const SubmitOptions& options = {});
  void run();  ///< Runs once and waits for the end; see Request::run().

  std::uint32_t layers() const noexcept;  ///< Returns the number of layers that a run executes.
  /// Returns the name of a layer. Throws kInvalidArgument past the end.
  std::string_view layer_name(std::uint32_t layer) const;
  /// Returns an estimate of the worst case of a layer in device cycles. Throws kInvalidArgument
  /// past the end.
  std::uint64_t layer_cycles(std::uint32_t layer) const;
  /// Returns the multiply-accumulates of one run of a layer. Throws kInvalidArgument past the end.
  std::uint64_t layer_macs(std::uint32_t layer) const;
  /// Returns the use of memory, without buffers that the application has bound.
  MemoryUse memory() const;
  /// Returns an entry for each layer of the last run; see Request::statistics().
  std::span<const nvdla_layer_stats> statistics() const;

  /// Calls `visit` with every tensor that a layer writes, from what the inputs have now; see
  /// Request::visit_layers().
  void visit_layers(const LayerVisitor& visit) const;
  /// Runs each layer here and on `reference` up to the first difference; see
  /// Request::compare_layers().
  std::optional<LayerDifference> compare_layers(const Device& reference,
                                                const LayerVisitor& visit = {}) const;

 private:
  friend struct detail::Handles;
  Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_SESSION_HPP
