// SPDX-License-Identifier: MIT
//
// Names of the uapi's enumerators, for messages and tables.
#include <iterator>

#include "nvdla/types/error.hpp"
#include "support/fields.hpp"

namespace nvdla {
namespace {

constexpr std::string_view kKinds[] = {"",    "conv+sdp", "conv+sdp+pdp", "sdp", "sdp+pdp",
                                       "pdp", "cdp",      "rubik",        "bdma"};
static_assert(std::size(kKinds) == NVDLA_LAYER_BDMA + 1);

constexpr std::string_view kDmas[] = {
    "memory",    "CDMA data",  "CDMA data UV", "CDMA weight", "CDMA WGS",  "CDMA WMB", "SDP RDMA",
    "SDP BRDMA", "SDP NRDMA",  "SDP ERDMA",    "SDP WDMA",    "PDP RDMA",  "PDP WDMA", "CDP RDMA",
    "CDP WDMA",  "RUBIK read", "RUBIK write",  "BDMA read",   "BDMA write"};
static_assert(std::size(kDmas) == NVDLA_DMA_BDMA_WRITE + 1);

constexpr std::string_view kFeatures[] = {
    "",
    "int16",
    "fp16",
    "Winograd convolution",
    "batches",
    "compressed weights",
    "secondary memory (SRAM)",
    "BDMA",
    "Rubik",
    "the third SDP operator (Y)",
    "SDP's look-up table",
    "this pixel format",
    "a kind of layer that this version of the software has no support for",
};
static_assert(std::size(kFeatures) == NVDLA_FEATURE_NOT_IMPLEMENTED + 1);

constexpr std::string_view kCounters[] = {
    "cdma.nan_data",    "cdma.nan_weight",   "cdma.inf_data",     "cdma.inf_weight",
    "cdma.data_stall",  "cdma.weight_stall", "cdma.data_latency", "cdma.weight_latency",
    "cacc.saturation",  "sdp_rdma.nan",      "sdp_rdma.inf",      "sdp.mrdma_stall",
    "sdp.brdma_stall",  "sdp.nrdma_stall",   "sdp.erdma_stall",   "sdp.unequal",
    "sdp.nan_out",      "sdp.write_stall",   "sdp.saturation",    "sdp.lut_underflow",
    "sdp.lut_overflow", "sdp.lut_hybrid",    "sdp.lut_le_hit",    "sdp.lut_lo_hit",
    "pdp.rdma_stall",   "pdp.nan_in",        "pdp.inf_in",        "pdp.nan_out",
    "pdp.write_stall",  "cdp.rdma_stall",    "cdp.nan_in",        "cdp.inf_in",
    "cdp.nan_out",      "cdp.saturation",    "cdp.write_stall",   "cdp.lut_underflow",
    "cdp.lut_overflow", "cdp.lut_hybrid",    "cdp.lut_le_hit",    "cdp.lut_lo_hit",
    "rubik.read_stall", "rubik.write_stall", "bdma.read_stall",   "bdma.write_stall"};
static_assert(std::size(kCounters) == NVDLA_COUNTER_COUNT);

// The names are those of the register, CDMA.D_DATAIN_FORMAT; a test holds them to its description.
constexpr std::string_view kPixelFormats[] = {"T_R8",
                                              "T_R10",
                                              "T_R12",
                                              "T_R16",
                                              "T_R16_I",
                                              "T_R16_F",
                                              "T_A16B16G16R16",
                                              "T_X16B16G16R16",
                                              "T_A16B16G16R16_F",
                                              "T_A16Y16U16V16",
                                              "T_V16U16Y16A16",
                                              "T_A16Y16U16V16_F",
                                              "T_A8B8G8R8",
                                              "T_A8R8G8B8",
                                              "T_B8G8R8A8",
                                              "T_R8G8B8A8",
                                              "T_X8B8G8R8",
                                              "T_X8R8G8B8",
                                              "T_B8G8R8X8",
                                              "T_R8G8B8X8",
                                              "T_A2B10G10R10",
                                              "T_A2R10G10B10",
                                              "T_B10G10R10A2",
                                              "T_R10G10B10A2",
                                              "T_A2Y10U10V10",
                                              "T_V10U10Y10A2",
                                              "T_A8Y8U8V8",
                                              "T_V8U8Y8A8",
                                              "T_Y8___U8V8_N444",
                                              "T_Y8___V8U8_N444",
                                              "T_Y10___U10V10_N444",
                                              "T_Y10___V10U10_N444",
                                              "T_Y12___U12V12_N444",
                                              "T_Y12___V12U12_N444",
                                              "T_Y16___U16V16_N444",
                                              "T_Y16___V16U16_N444"};
static_assert(std::size(kPixelFormats) == NVDLA_PIXEL_Y16_V16U16_N444 + 1);

template <std::size_t N>
std::string_view at(const std::string_view (&table)[N], std::uint32_t index) noexcept {
  return index < N ? table[index] : std::string_view();
}

}  // namespace

std::string_view layer_kind_name(std::uint32_t kind) noexcept { return at(kKinds, kind); }
std::string_view dma_name(std::uint32_t dma) noexcept { return at(kDmas, dma); }
std::string_view feature_name(std::uint32_t feature) noexcept { return at(kFeatures, feature); }
std::string_view counter_name(std::uint32_t counter) noexcept { return at(kCounters, counter); }

std::string_view pixel_format_name(std::uint32_t format) noexcept {
  return at(kPixelFormats, format);
}

std::string_view field_name(std::uint32_t object, std::uint32_t offset) noexcept {
  const detail::Field* field = detail::find_field(object, offset);
  return field == nullptr ? std::string_view() : field->name;
}

}  // namespace nvdla
