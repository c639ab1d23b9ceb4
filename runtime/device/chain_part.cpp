// SPDX-License-Identifier: MIT
#include "device/chain_part.hpp"

#include <map>

#include "support/handles.hpp"

namespace nvdla::detail {

// One map of each buffer, whoever shares it.
void run_on(const CpuPart& part, const std::function<const Buffer&(std::uint32_t slot)>& buffer) {
  std::map<const BufferImpl*, Map> maps;
  const auto map = [&](std::uint32_t slot, MapMode mode) {
    const Buffer& of_slot = buffer(slot);
    const BufferImpl* const key = Handles::impl(of_slot).get();
    const auto found = maps.find(key);
    return (found != maps.end() ? found : maps.emplace(key, of_slot.map(mode)).first)
        ->second.bytes();
  };
  const std::span<std::byte> destination = map(part.destination, MapMode::kReadWrite);
  std::vector<CpuPart::Bytes> sources;
  for (const std::uint32_t slot : part.sources) sources.emplace_back(map(slot, MapMode::kRead));
  part.run(sources, destination);
}

}  // namespace nvdla::detail
