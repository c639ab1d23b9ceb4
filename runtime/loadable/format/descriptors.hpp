// SPDX-License-Identifier: MIT
//
// The descriptors inside a loadable: interface DLA1 (layers of the hardware) and EMU1 (operations
// of the CPU). Each structure names its fields once, in the order in which they lie, packed and
// little-endian; the reader, the writer and the dump all walk that list.
//
// `walk` calls a walker with the name of each field and a reference to it: an integer, a float, an
// array of integers or another structure.
#ifndef NVDLA_LOADABLE_FORMAT_DESCRIPTORS_HPP
#define NVDLA_LOADABLE_FORMAT_DESCRIPTORS_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace nvdla::loadable {

// Revisions of the data cube: since interface 0.12 it has a byte offset.
enum class Revision { kOld, kNew };

// Calls `walker` for each field; `names` lists theirs, parted by ", ".
template <typename Walker, typename... Fields>
void walk_fields(Walker& walker, std::string_view names, Fields&... fields) {
  const auto next_name = [&names] {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 2));
    return name;
  };
  (walker(next_name(), fields), ...);
}

// Defines `walk` for a structure whose fields lie in this order.
#define NVDLA_LOADABLE_FIELDS(...)                  \
  template <typename Walker>                        \
  void walk(Walker& walker) {                       \
    walk_fields(walker, #__VA_ARGS__, __VA_ARGS__); \
  }

// Distance of the entries of the lists, whatever their type.
constexpr std::uint32_t kOpStride = 116;
constexpr std::uint32_t kSurfaceStride = 644;
constexpr std::uint32_t kDependencyStride = 36;
constexpr std::uint32_t kLutStride = 700;
constexpr std::uint32_t kNetworkBytes = 40;

enum OpType : std::uint8_t {
  kBdma = 0,
  kConv = 1,
  kSdp = 2,
  kPdp = 3,
  kCdp = 4,
  kRubik = 5,
  kOpTypes = 6,
};

enum Event : std::uint8_t {
  kCompleted = 1,
  kProgrammed = 2,
  kEnabled = 3,
  kWeightDone = 4,
  kDataDone = 5,
};

// `CubeType` tells where a data cube lies.
enum CubeType : std::uint16_t { kCubeDram = 0, kCubeSram = 1, kCubeHardware = 2 };

constexpr std::string_view op_type_name(std::uint8_t type) {
  constexpr std::string_view kNames[] = {"bdma", "conv", "sdp", "pdp", "cdp", "rubik"};
  return type < kOpTypes ? kNames[type] : "unknown";
}

struct NetworkDesc {
  std::int16_t operation_desc_index = -1;
  std::int16_t surface_desc_index = -1;
  std::int16_t dependency_graph_index = -1;
  std::int16_t lut_data_index = -1;
  std::int16_t roi_array_index = -1;
  std::int16_t surface_index = -1;
  std::int16_t stat_list_index = -1;
  std::int16_t reserved1 = 0;
  std::array<std::int16_t, kOpTypes> op_head = {-1, -1, -1, -1, -1, -1};
  std::uint16_t num_rois = 1;
  std::uint16_t num_operations = 0;
  std::uint16_t num_luts = 0;
  std::uint16_t num_addresses = 0;
  std::int16_t input_layer = 0;
  std::uint8_t dynamic_roi = 0;
  std::uint8_t reserved0 = 0;

  NVDLA_LOADABLE_FIELDS(operation_desc_index, surface_desc_index, dependency_graph_index,
                        lut_data_index, roi_array_index, surface_index, stat_list_index, reserved1,
                        op_head, num_rois, num_operations, num_luts, num_addresses, input_layer,
                        dynamic_roi, reserved0)
};

// An operation to tell of an event; index -1 is none.
struct Consumer {
  std::int16_t index = -1;
  std::uint8_t event = 0;
  std::uint8_t res = 0;

  NVDLA_LOADABLE_FIELDS(index, event, res)
};

struct CommonDesc {
  std::int16_t index = 0;
  std::int8_t roi_index = 0;
  std::uint8_t op_type = 0;
  std::uint8_t dependency_count = 0;
  std::array<std::uint8_t, 3> reserved0 = {};
  std::array<Consumer, kOpTypes> consumers;
  Consumer fused_parent;

  NVDLA_LOADABLE_FIELDS(index, roi_index, op_type, dependency_count, reserved0, consumers,
                        fused_parent)
};

struct DataCube {
  std::uint16_t type = kCubeHardware;
  std::int16_t address = -1;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint16_t width = 0;
  std::uint16_t height = 0;
  std::uint16_t channel = 0;
  std::uint16_t reserved0 = 0;
  std::uint32_t line_stride = 0;
  std::uint32_t surf_stride = 0;
  std::uint32_t plane_stride = 0;

  bool in_memory() const { return type != kCubeHardware; }

  template <typename Walker>
  void walk(Walker& w) {
    w("type", type);
    w("address", address);
    if (w.revision == Revision::kNew) w("offset", offset);
    w("size", size);
    w("width", width);
    w("height", height);
    w("channel", channel);
    w("reserved0", reserved0);
    w("line_stride", line_stride);
    w("surf_stride", surf_stride);
    w("plane_stride", plane_stride);
  }
};

struct CvtParam {
  std::int16_t scale = 0;
  std::uint8_t truncate = 0;
  std::uint8_t enable = 0;
  std::int32_t offset = 0;

  NVDLA_LOADABLE_FIELDS(scale, truncate, enable, offset)
};

struct BdmaTransfer {
  std::int16_t source_address = -1;
  std::int16_t destination_address = -1;
  std::uint32_t line_size = 0;
  std::uint32_t line_repeat = 0;
  std::uint32_t source_line = 0;
  std::uint32_t destination_line = 0;
  std::uint32_t surface_repeat = 0;
  std::uint32_t source_surface = 0;
  std::uint32_t destination_surface = 0;

  NVDLA_LOADABLE_FIELDS(source_address, destination_address, line_size, line_repeat, source_line,
                        destination_line, surface_repeat, source_surface, destination_surface)
};

constexpr std::uint32_t kMaxTransfers = 20;

struct BdmaSurface {
  std::uint8_t source_type = 0;
  std::uint8_t destination_type = 0;
  std::uint16_t num_transfers = 0;
  std::array<BdmaTransfer, kMaxTransfers> transfers;

  NVDLA_LOADABLE_FIELDS(source_type, destination_type, num_transfers, transfers)
};

struct BdmaOp {
  std::uint16_t num_transfers = 0;
  std::uint16_t reserved0 = 0;

  NVDLA_LOADABLE_FIELDS(num_transfers, reserved0)
};

struct ConvSurface {
  DataCube weight_data, wmb_data, wgs_data, src_data, dst_data;
  std::int64_t offset_u = 0;
  std::uint32_t in_line_uv_stride = 0;

  NVDLA_LOADABLE_FIELDS(weight_data, wmb_data, wgs_data, src_data, dst_data, offset_u,
                        in_line_uv_stride)
};

constexpr std::uint8_t kFormatFeature = 36;

struct ConvOp {
  std::uint8_t conv_mode = 0;
  std::uint8_t data_reuse = 0;
  std::uint8_t weight_reuse = 0;
  std::uint8_t skip_data_rls = 0;
  std::uint8_t skip_weight_rls = 0;
  std::uint8_t reserved0 = 0;
  std::uint16_t entry_per_slice = 0;
  std::uint8_t data_format = 0;
  std::uint8_t pixel_mapping = 0;
  std::uint16_t fetch_grain = 0;
  std::array<std::uint8_t, 8> reserved_b = {};
  std::uint8_t batch = 0;
  std::uint8_t weight_format = 0;
  std::uint8_t data_bank = 0;
  std::uint8_t weight_bank = 0;
  std::uint32_t batch_stride = 0;
  std::uint8_t post_extension = 0;
  std::uint8_t pixel_override = 0;
  std::uint16_t release = 0;
  std::uint16_t input_width_csc = 0;
  std::uint16_t input_height_csc = 0;
  std::uint16_t input_channel_csc = 0;
  std::uint16_t kernel_width_csc = 0;
  std::uint16_t kernel_height_csc = 0;
  std::uint16_t kernel_channel_csc = 0;
  std::uint16_t input_width_cmac = 0;
  std::uint16_t input_height_cmac = 0;
  std::uint32_t bytes_per_kernel = 0;
  std::int16_t mean_ry = 0;
  std::int16_t mean_gu = 0;
  std::int16_t mean_bv = 0;
  std::int16_t mean_ax = 0;
  std::uint8_t mean_format = 0;
  std::uint8_t conv_stride_x = 0;
  std::uint8_t conv_stride_y = 0;
  std::uint8_t pad_x_left = 0;
  std::uint8_t pad_x_right = 0;
  std::uint8_t pad_y_top = 0;
  std::uint8_t pad_y_bottom = 0;
  std::uint8_t dilation_x = 0;
  std::uint8_t dilation_y = 0;
  std::array<std::uint8_t, 2> reserved2 = {};
  std::uint8_t pra_truncate = 0;
  std::uint8_t in_precision = 0;
  std::uint8_t out_precision = 0;
  std::int16_t pad_val = 0;
  CvtParam in_cvt, out_cvt;

  NVDLA_LOADABLE_FIELDS(conv_mode, data_reuse, weight_reuse, skip_data_rls, skip_weight_rls,
                        reserved0, entry_per_slice, data_format, pixel_mapping, fetch_grain,
                        reserved_b, batch, weight_format, data_bank, weight_bank, batch_stride,
                        post_extension, pixel_override, release, input_width_csc, input_height_csc,
                        input_channel_csc, kernel_width_csc, kernel_height_csc, kernel_channel_csc,
                        input_width_cmac, input_height_cmac, bytes_per_kernel, mean_ry, mean_gu,
                        mean_bv, mean_ax, mean_format, conv_stride_x, conv_stride_y, pad_x_left,
                        pad_x_right, pad_y_top, pad_y_bottom, dilation_x, dilation_y, reserved2,
                        pra_truncate, in_precision, out_precision, pad_val, in_cvt, out_cvt)
};

struct SdpSurface {
  DataCube src_data, x1_data, x2_data, y_data, dst_data;

  NVDLA_LOADABLE_FIELDS(src_data, x1_data, x2_data, y_data, dst_data)
};

struct SdpCvt {
  CvtParam alu_cvt, mul_cvt;

  NVDLA_LOADABLE_FIELDS(alu_cvt, mul_cvt)
};

struct SdpSubOp {
  std::uint8_t enable = 0;
  std::uint8_t alu_type = 0;  // 0 max, 1 min, 2 sum, 3 equal
  std::uint8_t type = 0;      // 0 none, 1 multiply, 2 add, 3 both
  std::uint8_t mode = 0;      // 0 per layer, 1 per kernel, 2 per point
  std::uint8_t act = 0;       // 0 none, 1 ReLU, 2 LUT, 3 PReLU
  std::uint8_t shift_value = 0;
  std::uint8_t truncate = 0;
  std::uint8_t precision = 0;
  std::int32_t alu_operand = 0;
  std::int32_t mul_operand = 0;
  SdpCvt cvt;

  NVDLA_LOADABLE_FIELDS(enable, alu_type, type, mode, act, shift_value, truncate, precision,
                        alu_operand, mul_operand, cvt)
};

struct SdpOp {
  std::uint8_t src_precision = 0;
  std::uint8_t dst_precision = 0;
  std::int16_t lut_index = -1;
  CvtParam out_cvt;
  std::uint8_t conv_mode = 0;
  std::uint8_t batch_num = 0;
  std::uint16_t reserved0 = 0;
  std::uint32_t batch_stride = 0;
  SdpSubOp x1_op, x2_op, y_op;

  NVDLA_LOADABLE_FIELDS(src_precision, dst_precision, lut_index, out_cvt, conv_mode, batch_num,
                        reserved0, batch_stride, x1_op, x2_op, y_op)
};

// PDP, CDP and Rubik have this surface.
struct PairSurface {
  DataCube src_data, dst_data;

  NVDLA_LOADABLE_FIELDS(src_data, dst_data)
};

struct PdpOp {
  std::uint16_t partial_in_width_first = 0;
  std::uint16_t partial_in_width_mid = 0;
  std::uint16_t partial_in_width_last = 0;
  std::uint16_t partial_width_first = 0;
  std::uint16_t partial_width_mid = 0;
  std::uint16_t partial_width_last = 0;
  std::uint8_t split_num = 0;
  std::uint8_t pool_mode = 0;    // 0 average, 1 max, 2 min
  std::uint8_t pool_width = 0;   // less 1
  std::uint8_t pool_height = 0;  // less 1
  std::uint8_t stride_x = 0;
  std::uint8_t stride_y = 0;
  std::uint8_t pad_left = 0;
  std::uint8_t pad_right = 0;
  std::uint8_t pad_top = 0;
  std::uint8_t pad_bottom = 0;
  std::uint8_t precision = 0;
  std::uint8_t reserved0 = 0;
  std::array<std::int32_t, 7> padding_value = {};

  NVDLA_LOADABLE_FIELDS(partial_in_width_first, partial_in_width_mid, partial_in_width_last,
                        partial_width_first, partial_width_mid, partial_width_last, split_num,
                        pool_mode, pool_width, pool_height, stride_x, stride_y, pad_left, pad_right,
                        pad_top, pad_bottom, precision, reserved0, padding_value)
};

struct CdpOp {
  std::uint8_t in_precision = 0;
  std::uint8_t out_precision = 0;
  std::int16_t lut_index = -1;
  CvtParam in_cvt, out_cvt;
  std::uint8_t local_size = 0;
  std::uint8_t bypass_sqsum = 0;
  std::uint8_t bypass_out_mul = 0;
  std::uint8_t reserved0 = 0;

  NVDLA_LOADABLE_FIELDS(in_precision, out_precision, lut_index, in_cvt, out_cvt, local_size,
                        bypass_sqsum, bypass_out_mul, reserved0)
};

struct RubikOp {
  std::uint8_t mode = 0;  // 0 contract, 1 split, 2 merge
  std::uint8_t precision = 0;
  std::uint8_t stride_x = 0;
  std::uint8_t stride_y = 0;

  NVDLA_LOADABLE_FIELDS(mode, precision, stride_x, stride_y)
};

struct LutSlope {
  std::int16_t scale = 0;
  std::int8_t shifter = 0;
  std::uint8_t reserved0 = 0;

  NVDLA_LOADABLE_FIELDS(scale, shifter, reserved0)
};

struct LutParam {
  std::array<std::int16_t, 65> linear_exp_table = {};
  std::array<std::int16_t, 257> linear_only_table = {};
  std::uint16_t linear_exp_offset = 0;
  std::uint16_t linear_only_offset = 0;
  std::uint64_t linear_exp_start = 0;
  std::uint64_t linear_exp_end = 0;
  std::uint64_t linear_only_start = 0;
  std::uint64_t linear_only_end = 0;
  LutSlope linear_exp_underflow_slope, linear_exp_overflow_slope;
  LutSlope linear_only_underflow_slope, linear_only_overflow_slope;
  std::uint8_t hybrid_priority = 0;
  std::uint8_t underflow_priority = 0;
  std::uint8_t overflow_priority = 0;
  std::uint8_t method = 0;  // 0 exponential, 1 linear

  NVDLA_LOADABLE_FIELDS(linear_exp_table, linear_only_table, linear_exp_offset, linear_only_offset,
                        linear_exp_start, linear_exp_end, linear_only_start, linear_only_end,
                        linear_exp_underflow_slope, linear_exp_overflow_slope,
                        linear_only_underflow_slope, linear_only_overflow_slope, hybrid_priority,
                        underflow_priority, overflow_priority, method)
};

#undef NVDLA_LOADABLE_FIELDS

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_DESCRIPTORS_HPP
