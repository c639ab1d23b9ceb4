// SPDX-License-Identifier: MIT
//
// What a file says about how it was made.
#include <gtest/gtest.h>

#include <string>

#include "common/runtime/expect_error.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla {
namespace {

Network copy_network() {
  Network net;
  net.output(net.pointwise(net.input("in", {8, 2, 2}), {.name = "copy"}), "out");
  return net;
}

TEST(LoadableNote, IsKept) {
  const Network net = copy_network();
  const auto plain = make_loadable(net, "nv_small");
  EXPECT_EQ(Loadable::load(plain).note(), "");
  EXPECT_EQ(make_loadable(net, "nv_small", LoadableOptions{}), plain);
  const std::string text = std::string("made by hand\n\xff\0.", 16);
  const Loadable file = Loadable::load(make_loadable(net, "nv_small", {.note = text}));
  EXPECT_EQ(file.note(), text);
  EXPECT_EQ(file.inputs(), 1U);
}

TEST(LoadableNote, HasALimit) {
  const Network net = copy_network();
  EXPECT_EQ(Loadable::load(make_loadable(net, "nv_small", {.note = std::string(65536, 'x')}))
                .note()
                .size(),
            65536U);
  test::expect_error(
      ErrorCode::kInvalidArgument, "a note of 65537 bytes; expected at most 65536",
      [&] { (void)make_loadable(net, "nv_small", {.note = std::string(65537, 'x')}); });
}

}  // namespace
}  // namespace nvdla
