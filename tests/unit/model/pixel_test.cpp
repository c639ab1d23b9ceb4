// SPDX-License-Identifier: MIT
//
// Pixels of 8-bit components by tables, against each component taken and converted alone.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "model/cdma_pixel.hpp"
#include "support/random.hpp"

namespace nvdla::model {
namespace {

using test::one_in;
using test::pick;
using test::Random;

TEST(Pixels, TablesGiveWhatElementsGive) {
  Random random(1);
  unsigned formats = 0;
  for (unsigned code = 0; code < 36; ++code) {
    const PixelFormat& format = *pixel_format(code);
    ASSERT_EQ(BytePixels::fits(format),
              std::string(format.name).find('8') != std::string::npos && format.planes == 1);
    if (!BytePixels::fits(format)) continue;
    ++formats;
    for (unsigned round = 0; round < 60; ++round) {
      const auto proc = static_cast<Precision>(round % 3);
      InputConverter converter;
      converter.enabled = !one_in(random, 4);
      converter.sign_extend = one_in(random, 2);
      for (auto& offset : converter.offset) offset = static_cast<std::int16_t>(random());
      converter.scale = static_cast<std::int16_t>(random());
      converter.truncate = static_cast<unsigned>(pick(random, 0, 30));
      constexpr std::size_t kCount = 300;
      std::vector<std::byte> pixels(kCount * format.components);
      for (std::byte& byte : pixels) byte = static_cast<std::byte>(random());

      std::vector<std::uint16_t> elements(pixels.size());
      const std::byte* const planes[2] = {pixels.data(), nullptr};
      unpack_pixels(format, planes, kCount, elements.data());
      std::vector<std::byte> want;
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::uint16_t value =
            convert_element(converter, elements[i], static_cast<unsigned>(i % format.components),
                            Precision::kInt8, proc);
        want.push_back(static_cast<std::byte>(value));
        if (proc != Precision::kInt8) want.push_back(static_cast<std::byte>(value >> 8));
      }
      std::vector<std::byte> got(want.size());
      BytePixels(format, converter, proc).convert(pixels.data(), kCount, got.data());
      ASSERT_EQ(got, want) << format.name << ", round " << round;
    }
  }
  EXPECT_EQ(formats, 11u);
}

}  // namespace
}  // namespace nvdla::model
