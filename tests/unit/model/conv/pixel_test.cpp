// SPDX-License-Identifier: MIT
//
// Pixels of 8-bit components by tables and in vectors, against each component taken and converted
// alone, and what few channels of atoms become.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/kernel_sets.hpp"
#include "common/random.hpp"
#include "model/conv/cdma_pixel.hpp"

namespace nvdla::model {
namespace {

using test::one_in;
using test::pick;
using test::Random;

class Pixels : public test::KernelSets {};

TEST_P(Pixels, AreWhatTheirElementsAre) {
  Random random(1);
  unsigned formats = 0, vectors = 0, tables = 0;
  for (unsigned code = 0; code < 36; ++code) {
    const PixelFormat& format = *pixel_format(code);
    ASSERT_EQ(BytePixels::fits(format),
              std::string(format.name()).find('8') != std::string::npos && format.planes == 1);
    if (!BytePixels::fits(format)) continue;
    ++formats;
    for (unsigned round = 0; round < 120; ++round) {
      const auto proc = static_cast<Precision>(round % 3);
      const auto flip = static_cast<std::byte>(
          proc == Precision::kInt8 && one_in(random, 2) ? pick(random, 0, 255) : 0);
      InputConverter converter;
      converter.enabled = !one_in(random, 4);
      converter.sign_extend = one_in(random, 2);
      for (auto& offset : converter.offset) offset = static_cast<std::int16_t>(random());
      converter.scale = static_cast<std::int16_t>(random());
      converter.truncate = static_cast<unsigned>(pick(random, 0, 30));
      // As converters of pictures are.
      if (one_in(random, 2)) {
        for (auto& offset : converter.offset)
          offset = static_cast<std::int16_t>(pick(random, -400, 400));
        converter.truncate = static_cast<unsigned>(pick(random, 0, 15));
        converter.scale = static_cast<std::int16_t>(
            std::min<std::int64_t>(pick(random, 1, 4 << converter.truncate), INT16_MAX));
      }
      const auto count = static_cast<std::size_t>(pick(random, 1, 300));
      std::vector<std::byte> pixels(count * format.components);
      for (std::byte& byte : pixels) byte = static_cast<std::byte>(random());

      std::vector<std::uint16_t> elements(pixels.size());
      const std::byte* const planes[2] = {pixels.data(), nullptr};
      unpack_pixels(format, planes, count, elements.data());
      std::vector<std::byte> want;
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::uint16_t value =
            convert_element(converter, elements[i], static_cast<unsigned>(i % format.components),
                            Precision::kInt8, proc);
        want.push_back(static_cast<std::byte>(value) ^ flip);
        if (proc != Precision::kInt8) want.push_back(static_cast<std::byte>(value >> 8));
      }
      std::vector<std::byte> got(want.size());
      const BytePixels by(*kernels_, format, converter, proc, flip);
      ++(by.vectors() ? vectors : tables);
      by.convert(pixels.data(), count, got.data());
      ASSERT_EQ(got, want) << format.name() << ", round " << round;
    }
  }
  EXPECT_EQ(formats, 11u);
  EXPECT_GT(tables, 100u);
  EXPECT_EQ(vectors > 100, kernels_->convert_bytes != nullptr);
}

// Every value of a component, with all that a converter makes of 16 bits.
TEST_P(Pixels, OfAllValuesAreWhatTheirElementsAre) {
  const PixelFormat& format = *pixel_format(0);
  std::vector<std::byte> pixels(256), got(256);
  for (unsigned i = 0; i < 256; ++i) pixels[i] = static_cast<std::byte>(i);
  for (unsigned truncate = 0; truncate <= 17; ++truncate)
    for (const int scale : {-3, 0, 1, 2, 3, 5, 127, 128, 255, 1000, 16383, 16384, 20000, 32767})
      for (const int offset : {-32768, -4000, -127, -1, 0, 1, 127, 128, 129, 255, 8063, 32767})
        for (const bool sign : {false, true}) {
          InputConverter converter;
          converter.enabled = true;
          converter.sign_extend = sign;
          for (auto& one : converter.offset) one = static_cast<std::int16_t>(offset);
          converter.scale = static_cast<std::int16_t>(scale);
          converter.truncate = truncate;
          BytePixels(*kernels_, format, converter, Precision::kInt8)
              .convert(pixels.data(), pixels.size(), got.data());
          for (unsigned i = 0; i < 256; ++i)
            ASSERT_EQ(got[i], static_cast<std::byte>(
                                  convert_element(converter, static_cast<std::uint16_t>(i), 0,
                                                  Precision::kInt8, Precision::kInt8)))
                << i << " less " << offset << " times " << scale << " shifted by " << truncate;
        }
}

// Nothing behind the last word is read, nothing behind the last byte is written.
TEST_P(Pixels, FewChannelsOfAtomsLieSideBySide) {
  if (kernels_->pack_atoms == nullptr) GTEST_SKIP() << "no loop of its own";
  for (unsigned round = 0; round < 2000; ++round) {
    const auto used = static_cast<unsigned>(pick(random_, 1, 4));
    const auto count = static_cast<unsigned>(pick(random_, 1, 70));
    const auto atom = static_cast<std::size_t>(8 << pick(random_, 0, 3));
    const auto flip = static_cast<std::uint8_t>(pick(random_, 0, 255));
    const auto from = numbers<std::uint8_t>((count - 1) * atom + 4, 0, 255);
    std::vector<std::uint8_t> want, got(std::size_t{count} * used);
    for (unsigned i = 0; i < count; ++i)
      for (unsigned c = 0; c < used; ++c) want.push_back(from[i * atom + c] ^ flip);
    kernels_->pack_atoms({from.data(), atom, count, used, got.data(), flip});
    ASSERT_EQ(got, want) << count << " of " << used;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Pixels, test::kAllKernelSets, test::kernel_set_name);

}  // namespace
}  // namespace nvdla::model
