// SPDX-License-Identifier: MIT
#include "refusals.hpp"

#include <utility>

#include "bases.hpp"

namespace nvdla::witness {

namespace {

// Another operation like one that is there.
void again(Task& t, std::size_t i) {
  Operation& added = t.add(static_cast<Type>(t[i].get("common.op_type")));
  added.op = t[i].op;
  added.surface = t[i].surface;
}

// Once more the convolution and the SDP of a base, which takes the lines that the first one left.
void chain(Task& t) {
  t[0].set("op.skip_data_rls", 1);
  again(t, 0);
  again(t, 1);
  t.fuse(2, 3);
  t[2].set("op.data_reuse", 1);
}

}  // namespace

Task make_task(const std::string& name) {
  Task t;
  if (name == "two") {
    base("sdp_values").make(t);
    again(t, 0);
  } else if (name == "many") {
    base("sdp_values").make(t);
    while (t.size() < NVDLA_MAX_LAYERS) again(t, 0);
  } else if (name == "pair") {
    base("sdp_values").make(t);
    base("pdp").make(t);
  } else if (name == "large_tables") {
    base("compressed").make(t);
    t[0].set("surface.wgs_data.size", NVDLA_MAX_CONTROL_BYTES);
    t[0].set("surface.wmb_data.size", 1);
  } else if (name == "chain") {
    base("conv").make(t);
    chain(t);
  } else if (name == "image_chain") {
    // The second plane lies before the first.
    base("image").make(t);
    t[0].set("surface.src_data.offset", 0x400);
    t[0].set("surface.offset_u", -0x300);
    chain(t);
  } else {
    base(name).make(t);
  }
  return t;
}

Refusal one_more(const char* format, const char* base, const std::string& message) {
  return in_task(
      format, base, [](Task& t) { again(t, 0); }, message);
}

Refusal in_task(const char* format, const char* base, std::function<void(Task&)> change,
                const std::string& message) {
  return {format,
          [base = std::string(base), change = std::move(change)] {
            Task t = make_task(base);
            change(t);
            return t.bytes();
          },
          message};
}

Refusal in_file(const char* format, const char* base, std::function<void(File&)> change,
                const std::string& message) {
  return {format,
          [base = std::string(base), change = std::move(change)] {
            File f = make_task(base).file();
            change(f);
            return write(f);
          },
          message};
}

}  // namespace nvdla::witness
