// SPDX-License-Identifier: MIT
//
// SDP from memory: operators with numbers of their own, and with operands from memory and a table.
#include "effects.hpp"

namespace nvdla::witness {
namespace {

void make_sdp(Task& task) {
  Operation& o = task.add(kSdp);
  set_cube(o, "src_data", kData, 8, 8, 64);
  set_cube(o, "dst_data", kResult, 8, 8, 64);
  set_all(o, "op.", {{"lut_index", -1}, {"out_cvt.scale", 1}, {"out_cvt.enable", 1}});
}

// Each with a sum and a product; all have numbers at hand that are of the other kind.
void make_operators(Task& task, int mode) {
  make_sdp(task);
  Operation& o = task[0];
  for (const char* name : {"x1_op.", "x2_op.", "y_op."}) {
    set_all(o, std::string("op.") + name,
            {{"enable", 1}, {"alu_type", 2}, {"type", 3}, {"mode", mode}, {"precision", 1}});
  }
}

void make_values(Task& task) { make_operators(task, 0); }

void make_operands(Task& task) {
  make_operators(task, 2);
  Operation& o = task[0];
  for (const char* cube : {"x1_data", "x2_data", "y_data"}) {
    set_cube(o, cube, kData, 8, 8, 64);
  }
  // The third with converters, and with the first of two tables.
  o.set("op.y_op.cvt.alu_cvt.enable", 1);
  o.set("op.y_op.cvt.mul_cvt.enable", 1);
  o.set("op.y_op.act", 2);
  o.set("op.lut_index", 0);
  task.add_table().set("linear_exp_table[0]", 11);
  task.add_table().set("linear_exp_table[0]", 22);
}

void add_sdp(std::vector<Effect>& to) {
  const std::vector<Effect> more = {
      changes("0.op.src_precision", 1,
              [](P& p) {
                sdp(p).in_precision = 1;
                // To int8 it works in int8.
                sdp(p).proc_precision = 0;
              }),
      changes("0.op.dst_precision", 1, [](P& p) { sdp(p).out_precision = 1; }),
      ignored("0.op.lut_index", 5),
      changes("0.op.out_cvt.scale", -0x1234, [](P& p) { sdp(p).out_cvt.scale = -0x1234; }),
      changes("0.op.out_cvt.truncate", 0x2c, [](P& p) { sdp(p).out_cvt.truncate = 0x2c; }),
      changes("0.op.out_cvt.offset", -0x123456, [](P& p) { sdp(p).out_cvt.offset = -0x123456; }),
      ignored("0.op.out_cvt.enable", 0),
      // Both matter behind a convolution only.
      ignored("0.op.conv_mode"),
      refused("0.op.batch_num", 2),
      ignored("0.op.batch_stride"),
      ignored("0.op.reserved0"),
      changes("0.surface.src_data.width", 0x1111, [](P& p) { sdp(p).width = 0x1111; }),
      changes("0.surface.src_data.height", 0x1112, [](P& p) { sdp(p).height = 0x1112; }),
      changes("0.surface.src_data.channel", 0x1113, [](P& p) { sdp(p).channels = 0x1113; }),
      derived("0.surface.dst_data.width", 0x1114),
      derived("0.surface.dst_data.height", 0x1115),
      derived("0.surface.dst_data.channel", 0x1116),
  };
  to.insert(to.end(), more.begin(), more.end());
  add_cube(
      to, "0.surface.src_data", kFurtherData, [](P & p) -> auto& { return sdp(p).input; });
  add_cube(
      to, "0.surface.dst_data", kFurtherResult, [](P & p) -> auto& { return sdp(p).output; });
}

// Of the operator in general: `o` is the layer's.
template <typename F>
void add_operator(std::vector<Effect>& to, const std::string& name, F o) {
  to.push_back(changes(name + ".alu_type", 1, [=](P& p) { o(p).alu = NVDLA_ALU_MIN; }));
  to.push_back(refused(name + ".type", 4));
  to.push_back(changes(name + ".precision", 0, [=](P& p) {
    if (o(p).operand_bytes != 0) o(p).operand_bytes = 1;
  }));
}

// With numbers: of the sum, of the product; a switch of both to one for each channel needs a cube.
template <typename F>
void add_value(std::vector<Effect>& to, const std::string& name, F o) {
  to.push_back(refused(name + ".mode"));
  to.push_back(
      changes(name + ".alu_operand", -0x1234567, [=](P& p) { o(p).alu_value = -0x1234567; }));
  to.push_back(
      changes(name + ".mul_operand", 0x2345678, [=](P& p) { o(p).mul_value = 0x2345678; }));
  to.push_back(ignored(name + ".cvt*"));
}

template <typename F>
void add_operand(std::vector<Effect>& to, const std::string& name, F o) {
  to.push_back(changes(name + ".mode", 1, [=](P& p) {
    o(p).mode = NVDLA_OPERAND_CHANNEL;
    o(p).operand.line_stride = o(p).operand.surface_stride = 0;
  }));
  to.push_back(ignored(name + ".alu_operand"));
  to.push_back(ignored(name + ".mul_operand"));
}

// A cube of operands has no size of its own.
template <typename F>
void add_operand_cube(std::vector<Effect>& to, const std::string& cube, F o) {
  add_cube(
      to, cube, kFurtherData, [=](P & p) -> auto& { return o(p).operand; });
  for (const char* field : {".width", ".height", ".channel"}) to.push_back(ignored(cube + field));
}

template <typename F>
void add_x(std::vector<Effect>& to, const std::string& name, F x) {
  to.push_back(changes(name + ".act", 1, [=](P& p) { x(p).flags |= NVDLA_SDP_RELU; }));
  to.push_back(changes(name + ".shift_value", 0x2d, [=](P& p) { x(p).alu_shift = 0x2d; }));
  to.push_back(changes(name + ".truncate", 0x2e, [=](P& p) { x(p).mul_shift = 0x2e; }));
}

template <typename F>
void add_converter(std::vector<Effect>& to, const std::string& name, std::uint32_t flag,
                   F convert) {
  to.push_back(changes(name + ".scale", -0x1234, [=](P& p) { convert(p).scale = -0x1234; }));
  to.push_back(changes(name + ".truncate", 0x2f, [=](P& p) { convert(p).truncate = 0x2f; }));
  to.push_back(changes(name + ".offset", -0x1235, [=](P& p) { convert(p).offset = -0x1235; }));
  to.push_back(changes(name + ".enable", 0, [=](P& p) { sdp(p).y.flags &= ~flag; }));
}

const auto x1 = [](P & p) -> auto& { return sdp(p).x1; };
const auto x2 = [](P & p) -> auto& { return sdp(p).x2; };
const auto y = [](P & p) -> auto& { return sdp(p).y; };

std::vector<Effect> values_effects() {
  std::vector<Effect> all = {
      changes("0.op.x1_op.enable", 0, [](P& p) { sdp(p).x1 = {}; }),
      changes("0.op.x2_op.enable", 0, [](P& p) { sdp(p).x2 = {}; }),
      changes("0.op.y_op.enable", 0, [](P& p) { sdp(p).y = {}; }),
      refused("0.op.y_op.act"),
      ignored("0.op.y_op.shift_value"),
      changes("0.op.y_op.truncate", 0x2f, [](P& p) { sdp(p).y.mul_truncate = 0x2f; }),
  };
  add_operator(all, "0.op.x1_op", x1);
  add_operator(all, "0.op.x2_op", x2);
  add_operator(all, "0.op.y_op", y);
  add_value(all, "0.op.x1_op", x1);
  add_value(all, "0.op.x2_op", x2);
  add_value(all, "0.op.y_op", y);
  add_x(all, "0.op.x1_op", x1);
  add_x(all, "0.op.x2_op", x2);
  for (const char* cube : {"0.surface.x1_data*", "0.surface.x2_data*", "0.surface.y_data*"}) {
    all.push_back(ignored(cube, 1));
  }
  add_sdp(all);
  return all;
}

std::vector<Effect> operands_effects() {
  std::vector<Effect> all = {
      changes("0.op.x1_op.enable", 0, [](P& p) { sdp(p).x1 = {}; }),
      changes("0.op.x2_op.enable", 0, [](P& p) { sdp(p).x2 = {}; }),
      changes("0.op.y_op.enable", 0,
              [](P& p) {
                sdp(p).y = {};
                p.layers[0].lut = 0;
                p.luts.clear();
              }),
      refused("0.op.y_op.act", 1),
      ignored("0.op.y_op.shift_value"),
      changes("0.op.y_op.truncate", 0x2f, [](P& p) { sdp(p).y.mul_truncate = 0x2f; }),
      // The other table.
      changes("0.op.lut_index", 1, [](P& p) { p.luts[0].le[0] = 22; }),
      ignored("0.op.x1_op.cvt*"),
      ignored("0.op.x2_op.cvt*"),
  };
  add_operator(all, "0.op.x1_op", x1);
  add_operator(all, "0.op.x2_op", x2);
  add_operator(all, "0.op.y_op", y);
  add_operand(all, "0.op.x1_op", x1);
  add_operand(all, "0.op.x2_op", x2);
  add_operand(all, "0.op.y_op", y);
  add_x(all, "0.op.x1_op", x1);
  add_x(all, "0.op.x2_op", x2);
  add_converter(
      all, "0.op.y_op.cvt.alu_cvt", NVDLA_SDP_CONVERT_ALU,
      [](P & p) -> auto& { return sdp(p).y.alu_cvt; });
  add_converter(
      all, "0.op.y_op.cvt.mul_cvt", NVDLA_SDP_CONVERT_MUL,
      [](P & p) -> auto& { return sdp(p).y.mul_cvt; });
  add_operand_cube(all, "0.surface.x1_data", x1);
  add_operand_cube(all, "0.surface.x2_data", x2);
  add_operand_cube(all, "0.surface.y_data", y);
  add_sdp(all);
  return all;
}

}  // namespace

std::vector<Base> sdp_bases() {
  return {{"sdp_values", make_values, values_effects()},
          {"sdp_operands", make_operands, operands_effects()}};
}

}  // namespace nvdla::witness
