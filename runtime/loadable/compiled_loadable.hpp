// SPDX-License-Identifier: MIT
//
// A loadable compiled for a device. Its slots are the memories of the file; its programs, and the
// operations of the CPU between them, name those.
#ifndef NVDLA_LOADABLE_COMPILED_LOADABLE_HPP
#define NVDLA_LOADABLE_COMPILED_LOADABLE_HPP

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "device/compiled_impl.hpp"
#include "firmware/nvdla_hw.h"
#include "loadable/convert.hpp"
#include "loadable/emulate.hpp"
#include "loadable/loadable_impl.hpp"

namespace nvdla::loadable {

class CompiledLoadable final : public CompiledNetwork::Impl,
                               public std::enable_shared_from_this<CompiledLoadable> {
 public:
  CompiledLoadable(Loadable file, const Device& on, const nvdla_hw& hw,
                   const BuildOptions& options);

  std::vector<Binding> make_bindings() const override;
  Fence submit(const Queue& queue, std::span<const Binding> bindings,
               const SubmitOptions& options) const override;
  std::vector<detail::LayerStep> layer_steps(std::span<const Binding> bindings,
                                             KeptBindings& kept) const override;

  const Loadable::Impl& file() const { return loadable_.impl(); }
  // As LoadedNetwork's.
  TensorDesc tensor_desc(std::string_view name) const;
  ImageDesc image_desc(std::string_view name) const;

 private:
  struct DlaStep {
    Program program;
    ConvertedProgram source;
    detail::LayerNames names;
  };
  using EmuSteps = std::vector<EmuStep>;
  using Step = std::variant<DlaStep, EmuSteps>;
  // Of a memory: what the requests and the programs do with it.
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
  void add_ports();
  void add_constants();
  Buffer allocate(std::uint32_t memory) const;
  static std::vector<Binding> step_bindings(const DlaStep& step, std::span<const Binding> memories);
  Fence submit(const DlaStep& step, const Queue& queue, std::span<const Binding> memories,
               const SubmitOptions& options) const;
  // Of the output in a memory; that of integers which stand for themselves if it is none.
  Quantization written_quantization(std::uint32_t memory) const;
  void find_second_plane(const Loadable::Impl::Port& port, const LoadableTensor& t,
                         ImageDesc& desc) const;

  Loadable loadable_;
  std::vector<Step> steps_;
  std::vector<Use> uses_;
  std::vector<Image> images_;
};

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_COMPILED_LOADABLE_HPP
