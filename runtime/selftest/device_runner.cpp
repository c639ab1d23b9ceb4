// SPDX-License-Identifier: MIT
#include "selftest/device_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "nvdla/types/error.hpp"

namespace nvdla::selftest {
namespace {

class DeviceLoad final : public Load {
 public:
  DeviceLoad(const Device& device, const Work& work, std::chrono::nanoseconds limit)
      : device_(device), limit_(limit) {
    const std::vector<nvdla_slot> slots = slots_of(work);
    program_ = device.create_program({.layers = work.layers,
                                      .slots = slots,
                                      .luts = work.luts,
                                      .transfers = work.transfers,
                                      .control = {},
                                      .statistics = true});
    for (const Region& region : work.regions) {
      buffers_.push_back(device.allocate(bytes_around(region)));
      Bytes& copy = copies_.emplace_back(bytes_around(region));
      lay_out(region, copy);
      sizes_.push_back(region.bytes.size());
    }
  }

  std::span<std::uint8_t> bytes(std::size_t region) override {
    return std::span(copies_[region]).subspan(kGuard, sizes_[region]);
  }
  std::optional<std::uint64_t> address(std::size_t /*region*/) const override {
    return std::nullopt;
  }
  std::uint64_t cycles() const override {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < program_.layers(); ++i) sum += program_.cycles(i);
    return sum;
  }

  Ran run() override {
    Ran ran;
    try {
      std::vector<Binding> bindings;
      for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const Map map = buffers_[i].map(MapMode::kWrite);
        std::copy(copies_[i].begin(), copies_[i].end(), map.as<std::uint8_t>().begin());
        bindings.emplace_back(buffers_[i], kGuard);
      }
      const Fence fence = device_.submit(program_, bindings);
      if (!fence.wait(limit_)) {
        return {End::kHang, fmt::format("not done after {} s", limit_.count() / 1'000'000'000)};
      }
      fence.wait();
      ran.stats.assign(fence.statistics().begin(), fence.statistics().end());
      for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const Map map = buffers_[i].map(MapMode::kRead);
        const auto now = map.as<std::uint8_t>();
        std::copy(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(copies_[i].size()),
                  copies_[i].begin());
      }
    } catch (const Error& error) {
      ran.text = error.what();
      ran.layer = error.layer() < 0 ? 0 : static_cast<std::uint32_t>(error.layer());
      if (error.code() == ErrorCode::kHang)
        ran.end = End::kHang;
      else if (error.code() == ErrorCode::kBusFault)
        ran.end = End::kStray;
      else
        ran.end = End::kGone;
    }
    return ran;
  }

 protected:
  std::span<std::uint8_t> around(std::size_t region) override { return copies_[region]; }
  std::size_t regions() const override { return copies_.size(); }

 private:
  Device device_;
  std::chrono::nanoseconds limit_;
  Program program_;
  std::vector<Buffer> buffers_;
  std::vector<Bytes> copies_;  // of the buffers, guards included
  std::vector<std::size_t> sizes_;
};

}  // namespace

std::unique_ptr<Load> DeviceRunner::load(const Work& work) {
  return std::make_unique<DeviceLoad>(device_, work, limit_);
}

}  // namespace nvdla::selftest
