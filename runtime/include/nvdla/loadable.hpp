// SPDX-License-Identifier: MIT
//
// Loadables: compiled networks in NVDLA's file format, both revisions of its descriptors.
//
//   nvdla::Loadable file = nvdla::Loadable::load("lenet.nvdla");
//   nvdla::LoadedNetwork net = file.open(nvdla::Device::open("model:nv_full"));
//   net.write("data", nvdla::Layout::kNchw, pixels);
//   net.run();  // any number of times
//   net.read("prob", nvdla::Layout::kNchw, scores);
#ifndef NVDLA_LOADABLE_HPP
#define NVDLA_LOADABLE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nvdla/device.hpp"
#include "nvdla/export.hpp"
#include "nvdla/image.hpp"
#include "nvdla/network.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla {

// Element type of a tensor, with the file's numbers.
enum class LoadableType : std::uint32_t {
  kUnknown = 0,
  kFloat = 1,
  kFp16 = 2,
  kInt16 = 3,
  kInt8 = 4,
  kUint8 = 5,
  kUint16 = 6,
};

// A tensor that the application binds, as the file describes it.
struct LoadableTensor {
  std::string_view
      name;  // lives as long as the Loadable; "input0", "output0" where the file has none
  bool input = false;
  Shape shape;
  LoadableType type = LoadableType::kUnknown;
  std::uint32_t pixel_format = 36;  // enum nvdla_pixel_format; 36 and 37 are feature cubes
  std::uint64_t offset = 0;         // in its buffer
  std::uint64_t bytes = 0;
  std::uint32_t line_stride = 0;
  std::uint32_t surface_stride = 0;
  std::uint32_t batch_stride = 0;  // 0 is packed
  bool planar = false;             // planes, one a channel, of single pixels
  std::uint64_t buffer_bytes = 0;  // what a buffer of the application needs
  // What elements stand for, where the file says it: those of make_loadable() do, NVIDIA's compiler
  // has no place for it.
  std::optional<Quantization> quantization;

  // Pixels, which write_pixels() writes: neither a feature cube nor planes.
  bool image() const noexcept { return !planar && pixel_format < 36; }
};

class LoadedNetwork;

// A loadable that was read, verified and checked. Immutable, a handle.
class NVDLA_API Loadable {
 public:
  struct Impl;  // the library's own

  // Throws kInvalidArgument saying what is wrong where: files may be damaged in any way.
  static Loadable load(std::string_view path);
  static Loadable load(std::span<const std::byte> bytes);

  Loadable(const Loadable&) noexcept;
  Loadable(Loadable&&) noexcept;
  Loadable& operator=(const Loadable&) noexcept;
  Loadable& operator=(Loadable&&) noexcept;
  ~Loadable();

  std::uint32_t inputs() const noexcept;
  std::uint32_t outputs() const noexcept;
  // Throw kInvalidArgument past the end.
  LoadableTensor input(std::uint32_t index) const;
  LoadableTensor output(std::uint32_t index) const;

  // The configurations that it was made for: those on which its surfaces, features and all numbers
  // that it states hold.
  std::uint32_t configurations() const;
  std::string_view configuration(std::uint32_t index) const;

  // Constants and programs on a device, once for any number of requests. What runs on the CPU runs
  // on the thread of Fence::on_end(), between the submissions of the hardware's tasks; layers have
  // no count of multiply-accumulates. Throws kNotAvailable for a device of another configuration,
  // naming both.
  CompiledNetwork compile(const Device& device, const BuildOptions& options = {}) const;
  // compile(), and a loaded network on that.
  LoadedNetwork open(const Device& device, const BuildOptions& options = {}) const;

  const Impl& impl() const noexcept { return *impl_; }

 private:
  explicit Loadable(std::shared_ptr<const Impl> impl) noexcept;
  std::shared_ptr<const Impl> impl_;
};

// A compiled loadable with one request, as one object, which also tells what the file says. Thread
// compatible: one run at a time; for several at once there are requests of network().
class NVDLA_API LoadedNetwork {
 public:
  struct Impl;

  // Throws kInvalidArgument for what Loadable::compile() has not made.
  explicit LoadedNetwork(const CompiledNetwork& compiled);
  LoadedNetwork(LoadedNetwork&&) noexcept;
  LoadedNetwork& operator=(LoadedNetwork&&) noexcept;
  LoadedNetwork(const LoadedNetwork&) = delete;
  LoadedNetwork& operator=(const LoadedNetwork&) = delete;
  ~LoadedNetwork();

  // What it runs, for further requests.
  CompiledNetwork network() const;
  // Tensors by name. Throw kInvalidArgument listing the names that there are.
  LoadableTensor tensor(std::string_view name) const;
  // As a feature cube or planes of the device. Throws kNotAvailable for images and for types that
  // it has not.
  TensorDesc desc(std::string_view name) const;
  // An input of pixels. Throws kInvalidArgument for what is none, kNotAvailable where the file does
  // not say where its second plane lies.
  ImageDesc image(std::string_view name) const;
  const Buffer& buffer(std::string_view name) const;
  // Uses a buffer of the application from the next run on; it has LoadableTensor::buffer_bytes. An
  // output that was bound is not read() before that. Throws kInvalidArgument if the buffer is of
  // another device, in another memory or too small.
  void bind(std::string_view name, const Buffer& buffer);

  // Application's elements into an input, and out of an output; std::uint16_t holds fp16 bits, and
  // floats are quantised as the file says. Integers whose file says nothing throw kNotAvailable for
  // these.
  void write(std::string_view name, Layout layout, std::span<const std::int8_t> source);
  void write(std::string_view name, Layout layout, std::span<const std::int16_t> source);
  void write(std::string_view name, Layout layout, std::span<const std::uint16_t> source);
  void write(std::string_view name, Layout layout, std::span<const float> source);
  // Pixels without gaps into an image, the second plane if its format has one.
  void write_pixels(std::string_view name, std::span<const std::byte> plane,
                    std::span<const std::byte> plane_uv = {});
  // Inputs as they were written, outputs of the last run: throws kInvalidArgument before the first
  // and if the output was bound anew since, after one that failed what run() threw.
  void read(std::string_view name, Layout layout, std::span<std::int8_t> target) const;
  void read(std::string_view name, Layout layout, std::span<std::int16_t> target) const;
  void read(std::string_view name, Layout layout, std::span<std::uint16_t> target) const;
  void read(std::string_view name, Layout layout, std::span<float> target) const;

  // Runs all tasks in order and waits for the end. What the run before gave is gone, also if this
  // one fails.
  void run();

  // Layers of the hardware in the order in which they run, named by their operations.
  std::uint32_t layers() const noexcept;
  std::string_view layer_name(std::uint32_t layer) const;
  std::uint64_t layer_cycles(std::uint32_t layer) const;
  // Of the last run, one per layer; empty unless BuildOptions::statistics. Throws as read() of an
  // output does.
  std::span<const nvdla_layer_stats> statistics() const;

  // As Session::visit_layers() and compare_layers(); operations of the CPU are seen, too.
  void visit_layers(const LayerVisitor& visit) const;
  std::optional<LayerDifference> compare_layers(const Device& reference,
                                                const LayerVisitor& visit = {}) const;

 private:
  std::unique_ptr<Impl> impl_;
};

// What a loadable's descriptors follow: since 0.12 a data cube has an offset in its buffer, before
// that each has an address of its own in the task's list.
enum class LoadableInterface { kDla0_11, kDla0_12 };

// A network as a loadable for a configuration ("nv_small"): one task of the interface, whose
// layers run one after another. Inputs lie as Session::desc() and image() say with
// BuildOptions::fold_inputs off, and the file keeps what they and outputs stand for. Tensors of a
// batch say the bytes from cube to cube as their fourth
// stride. Verdicts of comparisons are nowhere but in the device's counters.
//
// Throws what Network::build() throws, and kNotAvailable for what the format has no form for: NaN
// read as zero, pixels before the first of a line (ImageDesc::x_offset), a ReLU or a table after a
// PReLU in one operator.
NVDLA_API std::vector<std::byte> make_loadable(
    const Network& network, std::string_view configuration,
    LoadableInterface interface = LoadableInterface::kDla0_12);
// The same into a file. Throws kInvalidArgument, too, if that cannot be written.
NVDLA_API void save_loadable(const Network& network, std::string_view configuration,
                             std::string_view path,
                             LoadableInterface interface = LoadableInterface::kDla0_12);

}  // namespace nvdla

#endif  // NVDLA_LOADABLE_HPP
