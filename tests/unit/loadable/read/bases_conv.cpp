// SPDX-License-Identifier: MIT
//
// Convolutions: of features, of two planes of pixels, by Winograd, of batches.
#include "effects.hpp"

namespace nvdla::witness {
namespace {

// Those of `more` come first.
// Of 16 kernels of 3x3x64 and no more, which descriptors leave to the compiler.
constexpr std::uint32_t kWeightBytes = 9216;

std::vector<Effect> join(std::vector<Effect> more, const std::vector<Effect>& rest) {
  more.insert(more.end(), rest.begin(), rest.end());
  return more;
}

void make_conv_op(Operation& o) {
  set_cube(o, "src_data", kData, 8, 8, 64);
  set_cube(o, "weight_data", kData, 3, 3, 64);
  o.set("surface.weight_data.size", kWeightBytes);
  set_all(o, "surface.dst_data.", {{"width", 8}, {"height", 8}, {"channel", 16}});
  set_all(o, "op.",
          {{"entry_per_slice", 4},
           {"data_format", 36},
           {"fetch_grain", 3},
           {"batch", 1},
           {"data_bank", 5},
           {"weight_bank", 6},
           {"release", 7},
           {"input_width_csc", 8},
           {"input_height_csc", 8},
           {"input_channel_csc", 64},
           {"kernel_width_csc", 3},
           {"kernel_height_csc", 3},
           {"kernel_channel_csc", 64},
           {"input_width_cmac", 8},
           {"input_height_cmac", 8},
           {"bytes_per_kernel", 576},
           {"conv_stride_x", 1},
           {"conv_stride_y", 1},
           {"pad_x_left", 1},
           {"pad_x_right", 1},
           {"pad_y_top", 1},
           {"pad_y_bottom", 1},
           {"dilation_x", 1},
           {"dilation_y", 1},
           {"in_cvt.scale", 2},
           {"in_cvt.enable", 1},
           {"out_cvt.scale", 1},
           {"out_cvt.enable", 1}});
}

void add_sdp_behind(Task& task) {
  Operation& o = task.add(kSdp);
  set_all(o, "op.",
          {{"lut_index", -1}, {"out_cvt.scale", 1}, {"out_cvt.enable", 1}, {"batch_num", 1}});
  set_cube(o, "dst_data", kResult, 8, 8, 16);
  task.fuse(0, 1);
}

void make_conv(Task& task) {
  make_conv_op(task.add(kConv));
  add_sdp_behind(task);
}

std::vector<Effect> conv_effects() {
  const auto run = [](P& p, std::uint32_t grain) { conv(p).fetch_grain = grain; };
  // For kernels of another size the weights stay what the file says.
  const auto of_file = [](P& p) { conv(p).weights.bytes = kWeightBytes; };
  std::vector<Effect> all = {
      refused("0.op.conv_mode", 1),
      ignored("0.op.data_reuse"),
      ignored("0.op.weight_reuse"),
      changes("0.op.skip_data_rls", 1, [](P& p) { conv(p).release = 0; }),
      ignored("0.op.skip_weight_rls"),
      ignored("0.op.reserved*"),
      derived("0.op.entry_per_slice", 0x1234),
      refused("0.op.data_format", 37),
      refused("0.op.pixel_mapping"),
      changes("0.op.fetch_grain", 5, [=](P& p) { run(p, 5); }),
      refused("0.op.batch", 2),
      refused("0.op.weight_format", 2),
      changes("0.op.data_bank", 9, [](P& p) { conv(p).data_banks = 9; }),
      changes("0.op.weight_bank", 10, [](P& p) { conv(p).weight_banks = 10; }),
      ignored("0.op.batch_stride"),
      changes("0.op.post_extension", 2, [](P& p) { conv(p).post_extension = 4; }),
      ignored("0.op.pixel_override"),
      changes("0.op.release", 0x1234, [](P& p) { conv(p).release = 0x1234; }),
      derived("0.op.input_width_csc", 0x1235),
      derived("0.op.input_height_csc", 0x1236),
      derived("0.op.input_channel_csc", 0x1237),
      derived("0.op.kernel_width_csc", 0x1238,
              [=](P& p) {
                conv(p).kernel_width = 0x1238;
                of_file(p);
              }),
      derived("0.op.kernel_height_csc", 0x1239,
              [=](P& p) {
                conv(p).kernel_height = 0x1239;
                of_file(p);
              }),
      derived("0.op.kernel_channel_csc", 0x123a),
      derived("0.op.input_width_cmac", 0x123b),
      derived("0.op.input_height_cmac", 0x123c),
      derived("0.op.bytes_per_kernel", 0x1234567),
      ignored("0.op.mean_*", 1),
      changes("0.op.conv_stride_x", 0x21, [](P& p) { conv(p).stride_width = 0x21; }),
      changes("0.op.conv_stride_y", 0x22, [](P& p) { conv(p).stride_height = 0x22; }),
      changes("0.op.pad_x_left", 0x23, [](P& p) { conv(p).pad_left = 0x23; }),
      changes("0.op.pad_x_right", 0x24, [](P& p) { conv(p).pad_right = 0x24; }),
      changes("0.op.pad_y_top", 0x25, [](P& p) { conv(p).pad_top = 0x25; }),
      changes("0.op.pad_y_bottom", 0x26, [](P& p) { conv(p).pad_bottom = 0x26; }),
      changes("0.op.dilation_x", 0x27, [](P& p) { conv(p).dilation_width = 0x27; }),
      changes("0.op.dilation_y", 0x28, [](P& p) { conv(p).dilation_height = 0x28; }),
      changes("0.op.pra_truncate", 0x29, [](P& p) { conv(p).pra_truncate = 0x29; }),
      changes("0.op.in_precision", 1, [](P& p) { conv(p).in_precision = 1; }),
      refused("0.op.out_precision", 1),
      changes("0.op.pad_val", -0x67, [](P& p) { conv(p).pad_value = -0x67; }),
      changes("0.op.in_cvt.scale", -0x1234, [](P& p) { conv(p).cvt_scale = -0x1234; }),
      changes("0.op.in_cvt.truncate", 0x2a, [](P& p) { conv(p).cvt_truncate = 0x2a; }),
      changes("0.op.in_cvt.offset", -0x123456, [](P& p) { conv(p).cvt_offset = -0x123456; }),
      changes("0.op.in_cvt.enable", 0,
              [](P& p) {
                conv(p).flags &= ~NVDLA_CONV_CONVERT;
                conv(p).cvt_scale = 0;
              }),
      ignored("0.op.out_cvt.scale", 0),
      changes("0.op.out_cvt.truncate", 0x2b, [](P& p) { conv(p).clip_truncate = 0x2b; }),
      ignored("0.op.out_cvt.enable", 0),
      refused("0.op.out_cvt.offset", 1),
      // The weights are a run of bytes.
      changes("0.surface.weight_data.size", 0x12345, [](P& p) { conv(p).weights.bytes = 0x12345; }),
      ignored("0.surface.weight_data.width"),
      ignored("0.surface.weight_data.height"),
      ignored("0.surface.weight_data.channel"),
      ignored("0.surface.weight_data.line_stride"),
      ignored("0.surface.weight_data.surf_stride"),
      ignored("0.surface.wmb_data*", 1),
      ignored("0.surface.wgs_data*", 1),
      // Lines with gaps between them are fetched one by one.
      changes("0.surface.src_data.width", 0x1111,
              [=](P& p) {
                conv(p).width = 0x1111;
                run(p, 1);
              }),
      changes("0.surface.src_data.height", 0x1112, [](P& p) { conv(p).height = 0x1112; }),
      changes("0.surface.src_data.channel", 0x1113,
              [=](P& p) {
                conv(p).channels = 0x1113;
                of_file(p);
              }),
      changes("0.surface.src_data.line_stride", 0x120,
              [=](P& p) {
                conv(p).input.line_stride = 0x120;
                run(p, 1);
              }),
      refused("0.surface.dst_data.type", 0),
      changes("0.surface.dst_data.channel", 0x1114,
              [=](P& p) {
                conv(p).kernels = 0x1114;
                of_file(p);
              }),
      ignored("0.surface.dst_data*", 3),
      ignored("0.surface.offset_u"),
      ignored("0.surface.in_line_uv_stride"),
      // SDP behind it.
      refused("1.op.src_precision", 1),
      changes("1.op.dst_precision", 1, [](P& p) { sdp(p).out_precision = 1; }),
      ignored("1.op.lut_index"),
      refused("1.op.conv_mode"),
      ignored("1.op.batch_num", 0),
      ignored("1.op.batch_stride"),
      ignored("1.op.reserved0"),
      changes("1.op.out_cvt.scale", -0x1234, [](P& p) { sdp(p).out_cvt.scale = -0x1234; }),
      changes("1.op.out_cvt.truncate", 0x2c, [](P& p) { sdp(p).out_cvt.truncate = 0x2c; }),
      changes("1.op.out_cvt.offset", -0x123456, [](P& p) { sdp(p).out_cvt.offset = -0x123456; }),
      // Nothing is turned off by it.
      ignored("1.op.out_cvt.enable", 0),
      changes("1.op.x1_op.enable", 1, [](P& p) { sdp(p).x1.flags = NVDLA_SDP_ENABLE; }),
      changes("1.op.x2_op.enable", 1, [](P& p) { sdp(p).x2.flags = NVDLA_SDP_ENABLE; }),
      changes("1.op.y_op.enable", 1, [](P& p) { sdp(p).y.flags = NVDLA_SDP_ENABLE; }),
      // Operators that are not enabled.
      ignored("1.op.x1_op*", 1),
      ignored("1.op.x2_op*", 1),
      ignored("1.op.y_op*", 1),
      refused("1.surface.src_data.type", 0),
      ignored("1.surface.src_data*", 1),
      ignored("1.surface.x1_data*", 1),
      ignored("1.surface.x2_data*", 1),
      ignored("1.surface.y_data*", 1),
      derived("1.surface.dst_data.width", 0x1115),
      derived("1.surface.dst_data.height", 0x1116),
      derived("1.surface.dst_data.channel", 0x1117),
  };
  add_place(
      all, "0.surface.weight_data", kFurtherData, [](P & p) -> auto& { return conv(p).weights; });
  add_cube(
      all, "0.surface.src_data", kFurtherData, [](P & p) -> auto& { return conv(p).input; });
  add_cube(
      all, "1.surface.dst_data", kFurtherResult, [](P & p) -> auto& { return sdp(p).output; });
  return all;
}

// Two planes of pixels, with means.
void make_image(Task& task) {
  make_conv(task);
  Operation& o = task[0];
  // Luma and chroma of 8 bits, and 3 components of 3 columns of a kernel.
  set_cube(o, "src_data", kData, 8, 8, 3);
  o.set("op.data_format", 28);
  o.set("op.kernel_channel_csc", 9);
  o.set("op.mean_format", 1);
  o.set("op.pixel_override", 1);
  o.set("surface.offset_u", 0x800);
  o.set("surface.in_line_uv_stride", 0x80);
}

std::vector<Effect> image_effects() {
  const auto both = [](P& p, auto change) {
    change(conv(p).input);
    change(conv(p).input_uv);
  };
  return join(
      {
          changes("0.op.data_format", 29, [](P& p) { conv(p).pixel_format = 29; }),
          ignored("0.op.fetch_grain"),
          // Columns of kernels lie in the channels of the unit.
          derived("0.op.kernel_channel_csc", 15, [](P& p) { conv(p).kernel_width = 5; }),
          derived("0.op.kernel_width_csc", 0x1238),
          changes("0.op.mean_ry", -0x1111, [](P& p) { conv(p).mean[0] = -0x1111; }),
          changes("0.op.mean_gu", -0x1112, [](P& p) { conv(p).mean[1] = -0x1112; }),
          changes("0.op.mean_bv", -0x1113, [](P& p) { conv(p).mean[2] = -0x1113; }),
          ignored("0.op.mean_ax"),
          changes("0.op.mean_format", 0, [](P& p) { conv(p).flags &= ~NVDLA_CONV_MEAN; }),
          changes("0.op.pixel_override", 0,
                  [](P& p) { conv(p).flags &= ~NVDLA_CONV_SIGNED_PIXELS; }),
          // Means are in its place.
          ignored("0.op.in_cvt.offset"),
          changes("0.op.in_cvt.enable", 0, [](P& p) { conv(p).flags = conv(p).cvt_scale = 0; }),
          changes("0.surface.offset_u", 0x2345678901,
                  [](P& p) { conv(p).input_uv.offset += 0x2345678901 - 0x800; }),
          changes("0.surface.in_line_uv_stride", 0x77777777,
                  [](P& p) { conv(p).input_uv.line_stride = 0x77777777; }),
          changes("0.surface.src_data.width", 0x1111, [](P& p) { conv(p).width = 0x1111; }),
          changes("0.surface.src_data.channel", 9,
                  [](P& p) {
                    conv(p).channels = 9;
                    conv(p).kernel_width = 1;
                  }),
          changes("0.surface.src_data.line_stride", 0x120,
                  [](P& p) { conv(p).input.line_stride = 0x120; }),
          ignored("0.surface.src_data.surf_stride"),
          changes("0.surface.src_data.address", kFurtherData,
                  [=](P& p) { both(p, [](auto& s) { s.offset += kFurther; }); }),
          changes("0.surface.src_data.offset", 0xa0,
                  [=](P& p) { both(p, [](auto& s) { s.offset += 0x60; }); }),
      },
      conv_effects());
}

void make_batch(Task& task) {
  make_conv(task);
  task[0].set("op.batch", 3);
  task[0].set("op.batch_stride", 0x1000);
  task[1].set("op.batch_num", 3);
  task[1].set("op.batch_stride", 0x1040);
}

std::vector<Effect> batch_effects() {
  return join(
      {
          refused("0.op.batch"),
          changes("0.op.batch_stride", 0x12345678,
                  [](P& p) { conv(p).input.batch_stride = 0x12345678; }),
          refused("1.op.batch_num"),
          changes("1.op.batch_stride", 0x12345679,
                  [](P& p) { sdp(p).output.batch_stride = 0x12345679; }),
      },
      conv_effects());
}

void make_winograd(Task& task) {
  make_conv(task);
  task[0].set("op.conv_mode", 1);
  task[1].set("op.conv_mode", 1);
}

std::vector<Effect> winograd_effects() {
  return join(
      {
          refused("0.op.conv_mode", 2),
          refused("1.op.conv_mode", 0),
          ignored("0.op.fetch_grain"),
          derived("0.op.release", 0x1234),
          // Tiles are freed all or none, and here none.
          changes("0.op.skip_data_rls", 1,
                  [](P& p) {
                    std::erase_if(p.derived,
                                  [](const auto& d) { return d.field.ends_with(", release"); });
                  }),
          // What a transformed kernel takes the file says, not its geometry.
          changes("0.surface.src_data.channel", 0x1113, [](P& p) { conv(p).channels = 0x1113; }),
          derived("0.op.bytes_per_kernel", 0x1234567,
                  [](P& p) { conv(p).weights.bytes = kWeightBytes; }),
          // Of the transformed kernels.
          derived("0.op.kernel_width_csc", 0x1238),
          derived("0.op.kernel_height_csc", 0x1239),
          // Three strides, unless the file's kernels have more than two.
          changes("0.op.conv_stride_x", 2,
                  [](P& p) {
                    conv(p).stride_width = 2;
                    conv(p).kernel_width = 6;
                  }),
          changes("0.op.conv_stride_y", 2,
                  [](P& p) {
                    conv(p).stride_height = 2;
                    conv(p).kernel_height = 6;
                  }),
          changes("0.surface.src_data.width", 0x1111, [](P& p) { conv(p).width = 0x1111; }),
          changes("0.surface.src_data.line_stride", 0x120,
                  [](P& p) { conv(p).input.line_stride = 0x120; }),
      },
      conv_effects());
}

// Weights and tables of groups and masks.
void make_compressed(Task& task) {
  make_conv(task);
  Operation& o = task[0];
  o.set("op.weight_format", 1);
  for (const char* table : {"wgs_data", "wmb_data"}) {
    set_cube(o, table, kData, 1, 1, 1);
    o.set(std::string("surface.") + table + ".size", table[1] == 'g' ? 0x40 : 0x90);
  }
  for (std::size_t i = 0; i < task.data.size(); ++i) task.data[i] = static_cast<std::byte>(i >> 5);
}

// The program has copies, each from 128 bytes on; a byte of the data says in which 32 it lies.
void move_copy(P& p, std::size_t at, std::size_t bytes, std::uint64_t by) {
  for (std::size_t i = at; i < at + bytes; ++i) {
    p.control[i] = static_cast<std::byte>(static_cast<std::uint64_t>(p.control[i]) + by / 32);
  }
}

std::vector<Effect> compressed_effects() {
  std::vector<Effect> all = {
      changes("0.surface.wgs_data.address", kFurtherData,
              [](P& p) { move_copy(p, 0, 0x40, kFurther); }),
      changes("0.surface.wgs_data.offset", 0xa0, [](P& p) { move_copy(p, 0, 0x40, 0x60); }),
      changes("0.surface.wgs_data.size", 0x41,
              [](P& p) {
                conv(p).wgs.bytes = 0x41;
                p.control[0x40] = p.control[0];
                move_copy(p, 0x40, 1, 0x40);
              }),
      refused("0.surface.wgs_data.type", 1),
      ignored("0.surface.wgs_data*"),
      changes("0.surface.wmb_data.address", kFurtherData,
              [](P& p) { move_copy(p, 0x80, 0x90, kFurther); }),
      changes("0.surface.wmb_data.offset", 0xa0, [](P& p) { move_copy(p, 0x80, 0x90, 0x60); }),
      changes("0.surface.wmb_data.size", 0x91,
              [](P& p) {
                conv(p).wmb.bytes = 0x91;
                p.control[0x110] = p.control[0x80];
                move_copy(p, 0x110, 1, 0x90);
              }),
      refused("0.surface.wmb_data.type", 1),
      ignored("0.surface.wmb_data*"),
      changes("0.op.weight_format", 0,
              [](P& p) {
                conv(p).flags &= ~NVDLA_CONV_COMPRESSED;
                conv(p).weights.bytes = 0;
                conv(p).wgs = conv(p).wmb = {};
                p.control.clear();
                p.slots.pop_back();
                p.memories.pop_back();
              }),
  };
  return join(std::move(all), conv_effects());
}

}  // namespace

std::vector<Base> conv_bases() {
  return {{"conv", make_conv, conv_effects()},
          {"image", make_image, image_effects()},
          {"batch", make_batch, batch_effects()},
          {"winograd", make_winograd, winograd_effects()},
          {"compressed", make_compressed, compressed_effects()}};
}

}  // namespace nvdla::witness
