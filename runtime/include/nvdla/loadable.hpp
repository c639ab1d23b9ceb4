// SPDX-License-Identifier: MIT
//
/// @file
/// Loadables: compiled networks in NVDLA's file format, both revisions of its descriptors.
///
/// @code
///   nvdla::Loadable file = nvdla::Loadable::load("lenet.nvdla");
///   nvdla::Request net = file.open(nvdla::Device::open("model:nv_full"));
///   net.write("data", nvdla::Layout::kNchw, pixels);
///   net.run();  // any number of times
///   net.read("prob", nvdla::Layout::kNchw, scores);
/// @endcode
#ifndef NVDLA_LOADABLE_HPP
#define NVDLA_LOADABLE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "nvdla/buffer.hpp"
#include "nvdla/build_options.hpp"
#include "nvdla/compiled_network.hpp"
#include "nvdla/device.hpp"
#include "nvdla/layer_tensors.hpp"
#include "nvdla/network.hpp"
#include "nvdla/types/export.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/shape.hpp"
#include "nvdla/types/tensor_desc.hpp"

namespace nvdla {

/// Element type of a tensor, with the file's numbers.
enum class LoadableType : std::uint32_t {
  kUnknown = 0,  ///< the file does not state it
  kFloat = 1,    ///< fp32, which no configuration has
  kFp16 = 2,     ///< half precision
  kInt16 = 3,    ///< 16 bits with a sign
  kInt8 = 4,     ///< 8 bits with a sign
  kUint8 = 5,    ///< 8 bits without a sign, of images
  kUint16 = 6,   ///< 16 bits without a sign, of images
};

/// A tensor that the application binds, as the file describes it.
struct LoadableTensor {
  std::string_view
      name;  ///< lives as long as the Loadable; "input0", "output0" where the file has none
  bool input = false;                          ///< true of inputs, false of outputs
  Shape shape;                                 ///< size in elements
  LoadableType type = LoadableType::kUnknown;  ///< type of the elements
  std::uint32_t pixel_format = 36;   ///< enum nvdla_pixel_format; 36 and 37 are feature cubes
  std::uint64_t offset = 0;          ///< in its buffer
  std::uint64_t bytes = 0;           ///< bytes that it takes in its buffer
  std::uint32_t line_stride = 0;     ///< bytes from line to line
  std::uint32_t surface_stride = 0;  ///< bytes from surface to surface
  std::uint32_t batch_stride = 0;    ///< 0 is packed
  bool planar = false;               ///< planes, one a channel, of single pixels
  /// Bytes of a pixel of a tensor that lies as pixels (TensorDesc::pixel); else 0.
  std::uint32_t pixel = 0;
  std::uint64_t buffer_bytes = 0;  ///< what a buffer of the application needs
  /// Scale and zero point of the elements, where the file states them: those of make_loadable() do,
  /// NVIDIA's compiler has no place for it.
  std::optional<Quantization> quantization;
  /// Sizes of the tensor in the model that the file was made of, where the file states them; empty
  /// ones are those of a single number.
  std::optional<std::vector<std::int64_t>> model_sizes = {};
  /// The order in which Request takes and gives elements in the model's order.
  Layout model_layout = Layout::kNchw;

  /// Pixels, which write_pixels() writes: neither a feature cube nor planes, nor a tensor that lies
  /// as pixels.
  bool image() const noexcept { return !planar && pixel == 0 && pixel_format < 36; }
};

/// A loadable that was read, verified and checked. Immutable, a handle.
class NVDLA_API Loadable {
 public:
  struct Impl;  ///< the library's own

  /// Throws kInvalidArgument saying what is wrong where: files may be damaged in any way.
  static Loadable load(std::string_view path);
  /// The same from memory, which is copied.
  static Loadable load(std::span<const std::byte> bytes);

  Loadable(const Loadable&) noexcept;             ///< Copies the handle.
  Loadable(Loadable&&) noexcept;                  ///< Moves; the source is empty afterwards.
  Loadable& operator=(const Loadable&) noexcept;  ///< Copies the handle.
  Loadable& operator=(Loadable&&) noexcept;       ///< Moves; the source is empty afterwards.
  ~Loadable();                                    ///< Releases what it refers to.

  std::uint32_t inputs() const noexcept;   ///< Returns the number of inputs.
  std::uint32_t outputs() const noexcept;  ///< Returns the number of outputs.
  /// Describes an input. Throws kInvalidArgument past the end.
  LoadableTensor input(std::uint32_t index) const;
  /// Describes an output. Throws kInvalidArgument past the end.
  LoadableTensor output(std::uint32_t index) const;

  /// Describes the input or output of that name. Throws kInvalidArgument listing the names that
  /// there are.
  LoadableTensor tensor(std::string_view name) const;

  /// Returns what whoever made the file wrote about that, as LoadableOptions::note; empty if
  /// nothing. Valid as long as the loadable.
  std::string_view note() const noexcept;

  /// Returns the name of the model device that its layers were chosen for, as Device::open() takes
  /// it: memory, secondary memory, "gating=off". Empty for a file of others, and for one without
  /// any of these. Valid as long as the loadable.
  std::string_view device() const noexcept;

  /// Returns the passes of the compiler whose choices a budget has cut short
  /// (LoadableOptions::search_budget), separated by spaces; empty if none. Valid as long as the
  /// loadable.
  std::string_view cut_short() const noexcept;

  /// Returns the number of configurations that it was made for: those on which its surfaces,
  /// features and all numbers that it states hold.
  std::uint32_t configurations() const;
  /// Returns the name of one of them. Throws kInvalidArgument past the end.
  std::string_view configuration(std::uint32_t index) const;

  /// Constants and programs on a device, once for any number of requests. What runs on the CPU runs
  /// on the thread of Fence::on_end(), between the submissions of the hardware's tasks; layers have
  /// no count of multiply-accumulates. Throws kNotAvailable for a device of another configuration,
  /// naming both.
  CompiledNetwork compile(const Device& device, const BuildOptions& options = {}) const;
  /// Compiles and returns a request of the compiled network.
  Request open(const Device& device, const BuildOptions& options = {}) const;

  /// For the library and its tools.
  const Impl& impl() const noexcept { return *impl_; }

 private:
  explicit Loadable(std::shared_ptr<const Impl> impl) noexcept;
  std::shared_ptr<const Impl> impl_;
};

/// A Request does what this did; Request::network() has its layers, Loadable::tensor() what the
/// file says of a tensor. The next version drops the name.
using LoadedNetwork [[deprecated("a loaded network is a Request")]] = Request;

/// The revision that a loadable's descriptors follow: since 0.12 a data cube has an offset in its
/// buffer, before that each has an address of its own in the task's list.
enum class LoadableInterface {
  kDla0_11,  ///< interface 0.11, which older runtimes read
  kDla0_12,  ///< interface 0.12
};

/// The sizes of an input or output in the model that a loadable is made of.
struct ModelSizes {
  std::string name;                 ///< name of the input or output in the network
  std::vector<std::int64_t> sizes;  ///< sizes in the model, as many elements as in the network
  Layout layout = Layout::kNchw;    ///< order in which Request takes the elements of the model
};

/// Options of make_loadable().
struct LoadableOptions {
  LoadableInterface interface = LoadableInterface::kDla0_12;  ///< revision of the descriptors
  /// A text that says how the file was made, for people: up to 64 KiB.
  std::string note = {};
  /// Sizes that the file states of its inputs and outputs.
  std::vector<ModelSizes> model_sizes = {};
  /// DeviceInfo::has_weight_gating of the logic that the file is for. Without that fault
  /// ("gating=off" in the name of a device) layers need not keep all of their weights in the
  /// buffer, so there are fewer, and a device with the fault refuses those that do not.
  /// Configurations that never had it do not care.
  bool weight_gating = true;
  /// DeviceInfo::revision of the logic that the file is for. Another one makes other layers, never
  /// other results.
  std::uint32_t revision = 0;
  /// Passes of the compiler that are left out, as BuildOptions::disabled_passes.
  std::vector<std::string> disabled_passes = {};
  /// The memory behind the devices that the file is for. Other memory makes other layers, never
  /// other results.
  MemorySpeed memory = {};
  /// Bytes of secondary memory that tensors may take, as BuildOptions::sram_bytes.
  std::uint64_t sram_bytes = 0;
  /// Lets results be rounded elsewhere, as BuildOptions::allow_rounding.
  bool allow_rounding = false;
  /// Each says what layers have to be, as BuildOptions::choices.
  std::vector<std::string> choices = {};
  /// Speed or memory, as BuildOptions::optimise.
  Optimise optimise = Optimise::kSpeed;
  /// Bytes of memory that a request and constants may take, as BuildOptions::memory_limit.
  std::uint64_t memory_limit = 0;
  /// Forms of layers that are predicted at most, as BuildOptions::search_budget. A file whose
  /// layers were chosen with too few of them says so: Loadable::cut_short().
  std::uint64_t search_budget = 0;
  /// make_loadable() tells there what the passes of the compiler did; nullptr if nobody asks.
  std::vector<PassReport>* passes = nullptr;
};

/// A network as a loadable for a configuration ("nv_small"): a task of the interface for each
/// program, whose layers wait for what they read as those of the network do, and a task for each
/// operation of the CPU between them. Inputs lie as CompiledNetwork::desc() and image() say with
/// BuildOptions::fold_inputs off, and the file keeps what they and outputs stand for. Tensors of a
/// batch say the bytes from cube to cube as their fourth stride. Verdicts of comparisons are
/// nowhere but in the device's counters.
///
/// Operations of the CPU have NVIDIA's form where that means the same: softmax of one position and
/// power, both with `as_loadables`, in one cube of int8 or fp16 and in DRAM. All others are ours:
/// docs/formats.md describes them, and a reader that does not have one refuses the file and names
/// it.
///
/// Throws what Network::build() throws, and kNotAvailable for what the format has no form for,
/// naming the layer: NaN read as zero, pixels before the first of a line (ImageDesc::x_offset), a
/// ReLU or a table after a PReLU in one operator.
NVDLA_API std::vector<std::byte> make_loadable(
    const Network& network, std::string_view configuration,
    LoadableInterface interface = LoadableInterface::kDla0_12);
/// The same with options. Throws kInvalidArgument for a note above 64 KiB.
NVDLA_API std::vector<std::byte> make_loadable(const Network& network,
                                               std::string_view configuration,
                                               const LoadableOptions& options);
/// The same into a file. Throws kInvalidArgument, too, if that cannot be written.
NVDLA_API void save_loadable(const Network& network, std::string_view configuration,
                             std::string_view path,
                             LoadableInterface interface = LoadableInterface::kDla0_12);

}  // namespace nvdla

#endif  // NVDLA_LOADABLE_HPP
