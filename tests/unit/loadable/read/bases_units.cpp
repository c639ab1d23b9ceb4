// SPDX-License-Identifier: MIT
//
// PDP, CDP, Rubik, BDMA.
#include "effects.hpp"

namespace nvdla::witness {
namespace {

nvdla_pdp& pdp(P& p) { return p.layers[0].pdp; }
nvdla_cdp& cdp(P& p) { return p.layers[0].cdp; }
nvdla_rubik& rubik(P& p) { return p.layers[0].rubik; }

/* ---------------------------------------------------------------- PDP --- */

void make_pdp_op(Operation& o) {
  set_cube(o, "dst_data", kResult, 8, 8, 64);
  set_all(o, "op.",
          {{"pool_width", 2},
           {"pool_height", 2},
           {"stride_x", 1},
           {"stride_y", 1},
           {"pad_left", 1},
           {"pad_right", 1},
           {"pad_top", 1},
           {"pad_bottom", 1},
           {"split_num", 1}});
}

void make_pdp(Task& task) {
  Operation& o = task.add(kPdp);
  set_cube(o, "src_data", kData, 8, 8, 64);
  make_pdp_op(o);
}

// 1 / size in 16 bits of fraction.
std::uint32_t reciprocal(double size) { return static_cast<std::uint32_t>(65536 / size + 0.5); }

std::vector<Effect> pdp_effects() {
  std::vector<Effect> all = {
      // Of one band there is no first.
      ignored("0.op.partial_*"),
      changes("0.op.pool_mode", 1,
              [](P& p) {
                pdp(p).method = NVDLA_POOL_MAX;
                pdp(p).recip_width = pdp(p).recip_height = 0;
              }),
      changes("0.op.pool_width", 3,
              [](P& p) {
                pdp(p).kernel_width = 4;
                pdp(p).recip_width = reciprocal(4);
              }),
      changes("0.op.pool_height", 4,
              [](P& p) {
                pdp(p).kernel_height = 5;
                pdp(p).recip_height = reciprocal(5);
              }),
      changes("0.op.stride_x", 0x21, [](P& p) { pdp(p).stride_width = 0x21; }),
      changes("0.op.stride_y", 0x22, [](P& p) { pdp(p).stride_height = 0x22; }),
      changes("0.op.pad_left", 0x23, [](P& p) { pdp(p).pad_left = 0x23; }),
      changes("0.op.pad_right", 0x24, [](P& p) { pdp(p).pad_right = 0x24; }),
      changes("0.op.pad_top", 0x25, [](P& p) { pdp(p).pad_top = 0x25; }),
      changes("0.op.pad_bottom", 0x26, [](P& p) { pdp(p).pad_bottom = 0x26; }),
      changes("0.op.precision", 1, [](P& p) { pdp(p).precision = 1; }),
      ignored("0.op.reserved0"),
      refused("0.op.split_num", 65),
      changes("0.surface.src_data.width", 0x1111, [](P& p) { pdp(p).width = 0x1111; }),
      changes("0.surface.src_data.height", 0x1112, [](P& p) { pdp(p).height = 0x1112; }),
      changes("0.surface.src_data.channel", 0x1113, [](P& p) { pdp(p).channels = 0x1113; }),
      derived("0.surface.dst_data.width", 0x1114),
      derived("0.surface.dst_data.height", 0x1115),
      derived("0.surface.dst_data.channel", 0x1116),
  };
  for (int i = 0; i < 7; ++i) {
    all.push_back(changes("0.op.padding_value[" + std::to_string(i) + "]", -0x1230 - i,
                          [=](P& p) { pdp(p).pad_value[i] = -0x1230 - i; }));
  }
  add_cube(
      all, "0.surface.src_data", kFurtherData, [](P & p) -> auto& { return pdp(p).input; });
  add_cube(
      all, "0.surface.dst_data", kFurtherResult, [](P & p) -> auto& { return pdp(p).output; });
  return all;
}

void make_bands(Task& task) {
  make_pdp(task);
  set_all(task[0], "op.",
          {{"split_num", 3},
           {"partial_in_width_first", 3},
           {"partial_in_width_mid", 2},
           {"partial_in_width_last", 3},
           {"partial_width_first", 2},
           {"partial_width_mid", 2},
           {"partial_width_last", 4}});
}

std::vector<Effect> bands_effects() {
  std::vector<Effect> all = {
      changes("0.op.split_num", 4, [](P& p) { pdp(p).bands = 4; }),
      derived("0.op.partial_in_width_first", 0x1111),
      derived("0.op.partial_in_width_mid", 0x1112),
      derived("0.op.partial_in_width_last", 0x1113),
      changes("0.op.partial_width_first", 0x1114, [](P& p) { pdp(p).first_out = 0x1114; }),
      changes("0.op.partial_width_mid", 0x1115, [](P& p) { pdp(p).mid_out = 0x1115; }),
      derived("0.op.partial_width_last", 0x1116),
  };
  for (const Effect& e : pdp_effects()) {
    if (e.field != "0.op.partial_*") all.push_back(e);
  }
  return all;
}

/* ---------------------------------------------------------------- CDP --- */

void make_cdp(Task& task) {
  Operation& o = task.add(kCdp);
  set_cube(o, "src_data", kData, 8, 8, 64);
  set_cube(o, "dst_data", kResult, 8, 8, 64);
  set_all(o, "op.", {{"in_cvt.scale", 1}, {"out_cvt.scale", 1}, {"local_size", 5}});
  task.add_table().set("linear_exp_table[0]", 11);
  task.add_table().set("linear_exp_table[0]", 22);
}

template <typename F>
void add_cdp_converter(std::vector<Effect>& to, const std::string& name, F convert) {
  to.push_back(changes(name + ".scale", -0x1234, [=](P& p) { convert(p).scale = -0x1234; }));
  to.push_back(changes(name + ".truncate", 0x2f, [=](P& p) { convert(p).truncate = 0x2f; }));
  to.push_back(changes(name + ".offset", -0x1235, [=](P& p) { convert(p).offset = -0x1235; }));
  to.push_back(ignored(name + ".enable"));
}

std::vector<Effect> cdp_effects() {
  std::vector<Effect> all = {
      refused("0.op.in_precision"),
      refused("0.op.out_precision"),
      changes("0.op.lut_index", 1, [](P& p) { p.luts[0].le[0] = 22; }),
      changes("0.op.local_size", 9, [](P& p) { cdp(p).window = 9; }),
      changes("0.op.bypass_sqsum", 1,
              [](P& p) {
                cdp(p).flags = NVDLA_CDP_BYPASS_SQUARE_SUM;
                cdp(p).window = 0;
              }),
      changes("0.op.bypass_out_mul", 1, [](P& p) { cdp(p).flags = NVDLA_CDP_BYPASS_MUL; }),
      ignored("0.op.reserved0"),
  };
  add_cdp_converter(
      all, "0.op.in_cvt", [](P & p) -> auto& { return cdp(p).in_cvt; });
  add_cdp_converter(
      all, "0.op.out_cvt", [](P & p) -> auto& { return cdp(p).out_cvt; });
  // Of one size.
  for (const char* field : {".width", ".height", ".channel"}) {
    all.push_back(refused(std::string("0.surface.src_data") + field));
    all.push_back(refused(std::string("0.surface.dst_data") + field));
  }
  add_cube(
      all, "0.surface.src_data", kFurtherData, [](P & p) -> auto& { return cdp(p).input; });
  add_cube(
      all, "0.surface.dst_data", kFurtherResult, [](P & p) -> auto& { return cdp(p).output; });
  return all;
}

/* -------------------------------------------------------------- Rubik --- */

void make_rubik(Task& task, int mode) {
  const bool contract = mode == 0;
  Operation& o = task.add(kRubik);
  set_cube(o, "src_data", kData, 8, 8, contract ? 192 : 32);
  set_cube(o, "dst_data", kResult, contract ? 16 : 8, contract ? 24 : 8, 32);
  o.set("surface.src_data.plane_stride", 0x400);
  o.set("surface.dst_data.plane_stride", 0x440);
  set_all(o, "op.",
          {{"mode", mode}, {"stride_x", contract ? 2 : 0}, {"stride_y", contract ? 3 : 0}});
}

void make_contract(Task& task) { make_rubik(task, 0); }
void make_split(Task& task) { make_rubik(task, 1); }
void make_merge(Task& task) { make_rubik(task, 2); }

std::vector<Effect> rubik_effects(int mode) {
  std::vector<Effect> all = {
      changes("0.op.precision", 1, [](P& p) { rubik(p).precision = 1; }),
  };
  // Sizes follow from each other.
  for (const char* field : {".width", ".height", ".channel"}) {
    all.push_back(refused(std::string("0.surface.src_data") + field));
    all.push_back(refused(std::string("0.surface.dst_data") + field));
  }
  if (mode == 0) {
    all.push_back(refused("0.op.mode"));
    all.push_back(refused("0.op.stride_x"));
    all.push_back(refused("0.op.stride_y"));
  } else {
    // The other of split and merge.
    all.push_back(refused("0.op.mode", 3));
    all.push_back(ignored("0.op.stride_x"));
    all.push_back(ignored("0.op.stride_y"));
  }
  if (mode == 1) {
    all.push_back(changes("0.surface.dst_data.plane_stride", 0x77777777,
                          [](P& p) { rubik(p).output.surface_stride = 0x77777777; }));
    all.push_back(ignored("0.surface.dst_data.surf_stride"));
  }
  if (mode == 2) {
    all.push_back(changes("0.surface.src_data.plane_stride", 0x77777777,
                          [](P& p) { rubik(p).input.surface_stride = 0x77777777; }));
    all.push_back(ignored("0.surface.src_data.surf_stride"));
  }
  add_cube(
      all, "0.surface.src_data", kFurtherData, [](P & p) -> auto& { return rubik(p).input; });
  add_cube(
      all, "0.surface.dst_data", kFurtherResult, [](P & p) -> auto& { return rubik(p).output; });
  return all;
}

/* --------------------------------------------------------------- BDMA --- */

constexpr int kTransfers = 20;

std::string transfer(int i, const char* field) {
  return "surface.transfers[" + std::to_string(i) + "]." + field;
}

// As many as there can be.
void make_bdma(Task& task) {
  Operation& o = task.add(kBdma);
  o.set("op.num_transfers", kTransfers);
  o.set("surface.num_transfers", kTransfers);
  for (int i = 0; i < kTransfers; ++i) {
    o.set(transfer(i, "source_address"), kData);
    o.set(transfer(i, "destination_address"), kResult);
    o.set(transfer(i, "line_size"), 32);
  }
}

std::vector<Effect> bdma_effects() {
  std::vector<Effect> all = {
      refused("0.op.num_transfers", 19),      ignored("0.op.reserved0"),
      refused("0.surface.num_transfers", 19), refused("0.surface.source_type"),
      refused("0.surface.destination_type"),
  };
  for (int i = 0; i < kTransfers; ++i) {
    const auto add = [&](const char* field, std::uint32_t nvdla_transfer::*member) {
      const std::uint32_t value = 0x12345600U + static_cast<std::uint32_t>(i);
      all.push_back(changes("0." + transfer(i, field), value, [=](P& p) {
        p.transfers[static_cast<std::size_t>(i)].*member = value;
      }));
    };
    const auto add_end = [&](const std::string& end, nvdla_surface nvdla_transfer::*member) {
      const auto found = [=](P & p) -> auto& {
        return p.transfers[static_cast<std::size_t>(i)].*member;
      };
      const std::int64_t position = end == "source" ? kFurtherData : kFurtherResult;
      all.push_back(changes("0." + transfer(i, (end + "_address").c_str()), position,
                            [=](P& p) { found(p).offset += kFurther; }));
      all.push_back(changes("0." + transfer(i, (end + "_line").c_str()), 0x5a5a5a5a,
                            [=](P& p) { found(p).line_stride = 0x5a5a5a5a; }));
      all.push_back(changes("0." + transfer(i, (end + "_surface").c_str()), 0x7b7b7b7b,
                            [=](P& p) { found(p).surface_stride = 0x7b7b7b7b; }));
    };
    add("line_size", &nvdla_transfer::line_bytes);
    add("line_repeat", &nvdla_transfer::lines);
    add("surface_repeat", &nvdla_transfer::surfaces);
    add_end("source", &nvdla_transfer::source);
    add_end("destination", &nvdla_transfer::destination);
  }
  return all;
}

}  // namespace

std::vector<Base> unit_bases() {
  return {{"pdp", make_pdp, pdp_effects()},
          {"pdp_bands", make_bands, bands_effects()},
          {"cdp", make_cdp, cdp_effects()},
          {"rubik_contract", make_contract, rubik_effects(0)},
          {"rubik_split", make_split, rubik_effects(1)},
          {"rubik_merge", make_merge, rubik_effects(2)},
          {"bdma", make_bdma, bdma_effects()}};
}

}  // namespace nvdla::witness
