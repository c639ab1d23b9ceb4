// SPDX-License-Identifier: MIT
//
// The reader of loadables against any bytes: what is taken is also converted and compiled for
// every configuration, and where its memories are small, opened on a device, and what the CPU does
// in it is run.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firmware/nvdla_hw.h"
#include "loadable/read/cpu_step.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/lowlevel/images.hpp"
#include "nvdla/types/error.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/shape.hpp"

namespace {

constexpr std::uint64_t kSmall = 1 << 20;

bool small(const nvdla::loadable::Container& container) {
  std::uint64_t bytes = 0;
  for (const auto& memory : container.memories) {
    if (memory.size > kSmall) return false;
    bytes += memory.size;
  }
  return bytes <= kSmall;
}

// Where tensors lie is the file's word, too.
void pack_inputs(nvdla::Request request, const nvdla::Loadable& file) {
  for (std::uint32_t i = 0; i < file.inputs(); ++i) {
    const nvdla::LoadableTensor tensor = file.input(i);
    try {
      if (tensor.image()) {
        const nvdla::ImageDesc desc = request.network().image(tensor.name);
        const nvdla::PixelLayout pixel = nvdla::pixel_layout(desc.format);
        const std::size_t pixels = std::size_t{desc.width} * desc.height;
        if (pixels > kSmall) continue;
        request.write_pixels(tensor.name, std::vector<std::byte>(pixels * pixel.bytes[0]),
                             std::vector<std::byte>(pixels * pixel.bytes[1]));
      } else if (tensor.shape.elements() <= kSmall) {
        // As what it is, if the file says what that stands for.
        if (tensor.quantization) {
          request.write(tensor.name, nvdla::Layout::kNchw,
                        std::vector<float>(tensor.shape.elements(), 0.25F));
        }
        request.write(tensor.name, nvdla::Layout::kNchw,
                      std::vector<std::int8_t>(tensor.shape.elements()));
      }
    } catch (const nvdla::Error&) {
      // One that does not lie in its buffer, or of another type.
    }
  }
}

// How often an element is looked at, at most.
std::uint64_t work(const nvdla::loadable::Task& task) {
  const auto* own = std::get_if<nvdla::loadable::CpuTask>(&task.work);
  if (own == nullptr) return 0;
  const nvdla::Shape &in = own->inputs[0].desc.shape, &out = own->output.desc.shape;
  const std::uint64_t all = in.elements() + out.elements();
  if (std::holds_alternative<nvdla::cpu::ProductOperation>(own->operation.kind))
    return all + out.elements() * in.channels;
  if (const auto* average = std::get_if<nvdla::cpu::AverageOperation>(&own->operation.kind))
    return all + out.elements() * average->window.width +
           std::uint64_t{out.batch} * out.channels * out.height * in.width * average->window.height;
  return all;
}

// On memories of exactly their sizes, so that a byte beyond one is seen.
void run_on_cpu(const nvdla::Loadable& file) {
  constexpr std::uint64_t kMostWork = 1 << 22;
  const nvdla::loadable::Container& c = file.impl().container;
  for (const nvdla::loadable::Task& task : file.impl().tasks) {
    if (task.of_hardware() || work(task) > kMostWork) continue;
    for (const char* configuration : {"nv_full", "nv_medium_512", "nv_small"}) {
      try {
        for (const auto& step :
             nvdla::loadable::resolve_cpu(c, task, *nvdla_hw_find(configuration))) {
          std::vector<std::vector<std::byte>> memories;
          for (const auto& source : step.sources)
            memories.emplace_back(c.memories[source.memory].size, std::byte{0x5a});
          std::vector<std::span<const std::byte>> sources(memories.begin(), memories.end());
          std::vector<std::byte> destination(c.memories[step.destination.memory].size);
          step.run(sources, destination);
        }
      } catch (const nvdla::Error&) {
        // Made for another configuration.
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = nvdla::Loadable::load(std::as_bytes(std::span(data, size)));
    file.impl().made_for();
    if (small(file.impl().container)) {
      run_on_cpu(file);
      pack_inputs(file.open(nvdla::Device::open("model:nv_full")), file);
    }
  } catch (const nvdla::Error&) {
    // Any input may be refused; nothing else may happen.
  }
  return 0;
}
