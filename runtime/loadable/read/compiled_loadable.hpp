// SPDX-License-Identifier: MIT
//
// A loadable compiled for a device. Its slots are the memories of the file; its programs, and the
// operations of the CPU between them, name those.
#ifndef NVDLA_LOADABLE_READ_COMPILED_LOADABLE_HPP
#define NVDLA_LOADABLE_READ_COMPILED_LOADABLE_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/compiled_impl.hpp"
#include "firmware/nvdla_hw.h"
#include "loadable/read/loadable_impl.hpp"
#include "nvdla/loadable.hpp"
#include "support/host_pages.hpp"

namespace nvdla::loadable {

class CompiledLoadable final : public CompiledNetwork::Impl {
 public:
  CompiledLoadable(Loadable file, const Device& on, const nvdla_hw& hw,
                   const BuildOptions& options);

  std::vector<Binding> make_bindings() const override;

  const Loadable::Impl& file() const { return loadable_.impl(); }
  // Returns the layout of a feature cube or planes. Throws kNotAvailable for pixels and for types
  // that the device does not have.
  TensorDesc tensor_desc(std::string_view name) const;
  // Returns the layout of an image. Throws kInvalidArgument for a tensor, kNotAvailable where
  // nothing tells where the second plane lies.
  ImageDesc image_desc(std::string_view name) const;

 private:
  // `Use` is what the requests and the programs do with a memory.
  struct Use {
    bool used = false;
    bool written = false;
  };
  // A convolution that reads pixels, and their memory.
  struct Image {
    std::uint16_t memory = 0;
    nvdla_conv conv = {};
  };

  void add(const Task& task, const nvdla_hw& hw);
  void add_cpu(const Task& task, const nvdla_hw& hw);
  void add_ports();
  void add_constants();
  std::shared_ptr<detail::HostPages> pages_of(std::uint32_t slot) const;
  // A buffer that is never written: the file's own bytes where they are whole pages.
  Buffer constant(std::uint32_t slot) const;
  Buffer allocate(std::uint32_t slot) const;
  void find_second_plane(const Loadable::Impl::Port& port, const LoadableTensor& t,
                         ImageDesc& desc) const;

  Loadable loadable_;
  std::vector<Use> uses_;
  std::vector<Image> images_;
  std::size_t steps_ = 0;  // of hardware and CPU, added so far
};

// Compiles `file` for `device` and prints its layers: see compiler/lower/schedule_text.hpp. Throws
// what Loadable::compile() throws.
std::string schedule_text(const Loadable& file, const Device& device);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_READ_COMPILED_LOADABLE_HPP
