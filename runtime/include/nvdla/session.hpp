// SPDX-License-Identifier: MIT
//
// A network that was built for a device: compiled, with one request, as one object.
#ifndef NVDLA_SESSION_HPP
#define NVDLA_SESSION_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "nvdla/compiled_network.hpp"
#include "nvdla/device.hpp"
#include "nvdla/export.hpp"
#include "nvdla/image.hpp"
#include "nvdla/layers.hpp"
#include "nvdla/memory_use.hpp"
#include "nvdla/request.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla {

// A network on a device, with buffers of its own. It has one run at a time; several at once are
// requests of network(), or sessions on it: neither copies its constants. What it allows when is as
// for requests (nvdla/request.hpp), as are threads; each call does what that of the same name does
// for its request or its compiled network. Every call but inputs(), outputs() and layers(), which
// are 0 then, throws kInvalidArgument on a session that was moved from.
class NVDLA_API Session {
 public:
  struct Impl;  // the library's own

  // Buffers for inputs, outputs and what lies between layers; constants are those of the network.
  explicit Session(const CompiledNetwork& compiled);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // A run that has not ended goes on; it holds what it needs.
  ~Session();

  // What it runs, for further requests.
  const CompiledNetwork& network() const;

  std::uint32_t inputs() const noexcept;
  std::uint32_t outputs() const noexcept;
  std::string_view input_name(std::uint32_t index) const;
  std::string_view output_name(std::uint32_t index) const;
  // Where tensors and images lie: see CompiledNetwork.
  const TensorDesc& desc(std::string_view name) const;
  const ImageDesc& image(std::string_view name) const;
  // The buffers of an input or output, the session's or the application's: see Request.
  Buffer buffer(std::string_view name) const;
  void bind(std::string_view name, const Buffer& buffer);

  // Pack into inputs what the next run reads: see Request.
  void write(std::string_view name, Layout layout, std::span<const std::int8_t> source);
  void write(std::string_view name, Layout layout, std::span<const std::int16_t> source);
  void write(std::string_view name, Layout layout, std::span<const std::uint16_t> source);
  void write(std::string_view name, Layout layout, std::span<const float> source);
  // Pixels into an image: see Request.
  void write_pixels(std::string_view name, std::span<const std::byte> plane,
                    std::span<const std::byte> plane_uv = {});
  // Unpack what the last run left in outputs: see Request.
  void read(std::string_view name, Layout layout, std::span<std::int8_t> target) const;
  void read(std::string_view name, Layout layout, std::span<std::int16_t> target) const;
  void read(std::string_view name, Layout layout, std::span<std::uint16_t> target) const;
  void read(std::string_view name, Layout layout, std::span<float> target) const;

  // One run, without and with waiting for its end: see Request.
  Fence submit(const SubmitOptions& options = {});
  void run();

  std::uint32_t layers() const noexcept;
  std::string_view layer_name(std::uint32_t layer) const;
  std::uint64_t layer_cycles(std::uint32_t layer) const;
  std::uint64_t layer_macs(std::uint32_t layer) const;
  // What the application has bound is not in it.
  MemoryUse memory() const;
  std::span<const nvdla_layer_stats> statistics() const;

  // Layer by layer, from what the inputs hold now: see Request.
  void visit_layers(const LayerVisitor& visit) const;
  std::optional<LayerDifference> compare_layers(const Device& reference,
                                                const LayerVisitor& visit = {}) const;

 private:
  friend struct detail::Handles;
  Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace nvdla

#endif  // NVDLA_SESSION_HPP
