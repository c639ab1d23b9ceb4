// SPDX-License-Identifier: MIT
//
/// @file
/// What a configuration has, and what its counters are worth.
#ifndef NVDLA_TYPES_DEVICE_INFO_HPP
#define NVDLA_TYPES_DEVICE_INFO_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nvdla/types/export.hpp"
#include "nvdla/types/memory_speed.hpp"

namespace nvdla {

/// Facts of a device. Strings live for ever.
struct DeviceInfo {
  std::string_view configuration;      ///< "nv_full", "nv_small", ...
  std::string_view backend;            ///< "model", "kernel", "sim" or "mmio"
  std::uint32_t atom = 0;              ///< memory atom in bytes: 8, 16 or 32
  std::uint32_t atomic_c = 0;          ///< channels of one multiply-accumulate step
  std::uint32_t atomic_k = 0;          ///< int8 kernels of a kernel group; half in 16 bit
  std::uint32_t cbuf_banks = 0;        ///< banks of the convolution buffer
  std::uint32_t cbuf_entries = 0;      ///< of a bank
  std::uint32_t cbuf_entry_bytes = 0;  ///< bytes of an entry
  std::uint32_t weight_align = 0;      ///< weight bytes are fetched in multiples of this
  std::uint32_t address_bits = 0;      ///< width of the addresses that it puts out
  bool has_int16 = false;              ///< layers in int16
  bool has_fp16 = false;               ///< layers in fp16
  bool has_winograd = false;           ///< Winograd convolutions
  bool has_batch = false;              ///< several cubes of a batch in one convolution
  bool has_compression = false;        ///< compressed weights
  bool has_sram = false;               ///< secondary memory interface
  bool has_bdma = false;               ///< BDMA, which copies
  bool has_rubik = false;              ///< Rubik, which moves elements
  bool has_sdp_y = false;              ///< third SDP operator (element-wise)
  bool has_lut = false;                ///< look-up table in SDP
  bool has_pixel_16 = false;           ///< pixel formats with components of 16 bits
  /// Weights that are freed before the next convolution starts are lost: all weights of a layer
  /// must fit the convolution buffer.
  bool has_weight_gating = false;
  /// Convolutions of fp16 are only about right: the model, with "fp16=fast" in its name.
  bool fast_fp16 = false;
  /// Year of the published logic, 2018 or 2019 of nv_small, as the device's name says; 0: nobody
  /// said. Predicted cycles depend on it.
  std::uint32_t revision = 0;
  /// The memory behind it, as the device's name says ("latency=50", "bandwidth=20GB/s").
  MemorySpeed memory = {};
  /// Bytes of its secondary memory, as the device's name says ("sram=4MiB"); 0: nobody said.
  std::uint64_t sram_bytes = 0;
};

/// The configuration called `name` ("nv_full"), for packing without a device.
/// Throws kNoDevice for a name that is unknown.
NVDLA_API DeviceInfo configuration_info(std::string_view name);
/// Returns the number of configurations.
NVDLA_API std::size_t configuration_count() noexcept;
/// Returns the name of a configuration, index 0 up; empty past the end.
NVDLA_API std::string_view configuration_name(std::size_t index) noexcept;

/// Tells what the value of a counter is worth, as measured on the published logic.
enum class CounterWorth : std::uint8_t {
  kExact,       ///< The logic counts as the model does.
  kIndicative,  ///< It moves with the load or the results; not comparable between devices.
  kNotValid,  ///< Nothing counts there, or something else: nvdla_layer_stats::valid leaves it out.
};
/// Returns what an enum nvdla_counter is worth on a device. Throws kInvalidArgument for one that is
/// none.
NVDLA_API CounterWorth counter_worth(const DeviceInfo& info, std::uint32_t counter);
/// Returns "exact", "indicative" or "not valid"; empty for none.
NVDLA_API std::string_view counter_worth_name(CounterWorth worth) noexcept;

}  // namespace nvdla

#endif  // NVDLA_TYPES_DEVICE_INFO_HPP
