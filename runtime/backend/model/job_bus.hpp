// SPDX-License-Identifier: MIT
//
// The model's memory bus while a job runs: exactly the bytes that the job's slots declare, with
// the access that they declare. Whatever else a layer touches is refused, other buffers included.
#ifndef NVDLA_BACKEND_MODEL_JOB_BUS_HPP
#define NVDLA_BACKEND_MODEL_JOB_BUS_HPP

#include <cstdint>
#include <span>
#include <vector>

#include "backend/model/model_buffer.hpp"
#include "model/core/bus.hpp"

namespace nvdla::detail {

// Not thread safe: belongs to who runs the jobs.
class JobBus final : public model::Bus {
 public:
  struct Region {
    std::uint64_t begin = 0;  // device addresses
    std::uint64_t end = 0;
    std::byte* data = nullptr;  // host byte at begin
    ModelBuffer* buffer = nullptr;
    model::Ram ram = model::Ram::kPrimary;
    bool readable = false;
    bool writable = false;
  };

  void set(std::span<const Region> regions);
  void clear() noexcept { regions_.clear(); }

  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override;
  std::byte* window(model::Ram ram, std::uint64_t address, std::uint64_t size,
                    bool write) noexcept override {
    const model::Mapping mapping = map(ram, address, size, write);
    return mapping.size >= size ? mapping.data : nullptr;
  }
  std::uint64_t generation(model::Ram ram, std::uint64_t address,
                           std::uint64_t size) const noexcept override;
  void written(model::Ram ram, std::uint64_t address, std::uint64_t size) noexcept override;

 private:
  // The region around `address` that allows the access, or nullptr. Regions may overlap when they
  // are only read, so the nearest start does not have to be the right one.
  const Region* find(model::Ram ram, std::uint64_t address, bool write) const noexcept;

  std::vector<Region> regions_;  // by begin
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_MODEL_JOB_BUS_HPP
