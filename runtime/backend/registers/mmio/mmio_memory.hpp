// SPDX-License-Identifier: MIT
//
// Pieces of a pool as memory of a device.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_MMIO_MEMORY_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_MMIO_MEMORY_HPP

#include "backend/registers/bare_device.hpp"
#include "backend/registers/mmio/dma_pool.hpp"
#include "backend/registers/pages.hpp"

namespace nvdla::detail {

// A piece that is taken, until it is given back; unless it is abandoned.
class PoolPiece {
 public:
  PoolPiece(DmaPool& pool, const DmaRange& range) noexcept : pool_(pool), range_(range) {}
  PoolPiece(const PoolPiece&) = delete;
  PoolPiece& operator=(const PoolPiece&) = delete;
  ~PoolPiece() {
    if (!abandoned_) pool_.give_back(range_);
  }

  const DmaRange& range() const noexcept { return range_; }
  void abandon() noexcept { abandoned_ = true; }

 private:
  DmaPool& pool_;
  DmaRange range_;
  bool abandoned_ = false;
};

// Host and device see the same bytes.
class SharedPiece final : public BareMemory {
 public:
  SharedPiece(DmaPool& pool, const DmaRange& range, std::uint64_t bytes, Memory memory);

  void abandon() noexcept override { piece_.abandon(); }

 private:
  PoolPiece piece_;
};

// For memory that takes whole words only: the host has a copy.
class CopiedPiece final : public BareMemory {
 public:
  CopiedPiece(DmaPool& pool, const DmaRange& range, std::uint64_t bytes, Memory memory);

  void sync_for_device() noexcept override;
  void sync_for_cpu() noexcept override;
  void abandon() noexcept override { piece_.abandon(); }

 private:
  CopiedPiece(DmaPool& pool, const DmaRange& range, std::uint64_t bytes, Memory memory,
              Pages pages);

  Pages copy_;
  PoolPiece piece_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_MMIO_MEMORY_HPP
