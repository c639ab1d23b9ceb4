// SPDX-License-Identifier: MIT
//
// Packed weights and operands against the positions that the formats give, on all configurations.
#include "nvdla/lowlevel/weights.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "common/runtime/expect_error.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/precision.hpp"

namespace nvdla {
namespace {

using test::expect_error;

// Position of an element in the stream, from the order of the axes and not from a loop over them:
// whole groups before it, whole blocks of channels before it in its group, and so on.
std::uint64_t position(std::uint64_t k, std::uint64_t c, std::uint64_t r, std::uint64_t s,
                       const WeightsDesc& d, std::uint64_t group, std::uint64_t block) {
  const std::uint64_t area = std::uint64_t{d.kernel_height} * d.kernel_width;
  const std::uint64_t k0 = k / group * group, c0 = c / block * block;
  const std::uint64_t kernels = std::min<std::uint64_t>(group, d.kernels - k0);
  const std::uint64_t channels = std::min<std::uint64_t>(block, d.channels - c0);
  return k0 * d.channels * area                           // earlier groups
         + kernels * c0 * area                            // earlier blocks of this group
         + (r * d.kernel_width + s) * kernels * channels  // earlier taps of this block
         + (k - k0) * channels + (c - c0);
}

template <typename T>
void check_packing(const DeviceInfo& info, const WeightsDesc& d) {
  std::vector<T> kcrs(d.elements());
  for (std::size_t i = 0; i < kcrs.size(); ++i) kcrs[i] = static_cast<T>(i * 31 + 5);
  std::vector<std::byte> stream(weights_bytes(d), std::byte{0x77});
  ASSERT_EQ(stream.size() % 128, 0U);
  ASSERT_LT(stream.size(), d.elements() * sizeof(T) + 128);
  pack_weights(info, d, kcrs, stream);

  const std::uint64_t group = sizeof(T) == 1 ? info.atomic_k : info.atomic_k / 2;
  std::size_t i = 0;
  for (std::uint32_t k = 0; k < d.kernels; ++k) {
    for (std::uint32_t c = 0; c < d.channels; ++c) {
      for (std::uint32_t r = 0; r < d.kernel_height; ++r) {
        for (std::uint32_t s = 0; s < d.kernel_width; ++s, ++i) {
          T value;
          std::memcpy(&value, &stream[position(k, c, r, s, d, group, info.atomic_c) * sizeof(T)],
                      sizeof value);
          ASSERT_EQ(value, kcrs[i]) << "k " << k << " c " << c << " r " << r << " s " << s;
        }
      }
    }
  }
  for (std::size_t b = d.elements() * sizeof(T); b < stream.size(); ++b) {
    ASSERT_EQ(stream[b], std::byte{0}) << b;
  }
}

class Weights : public ::testing::TestWithParam<std::string> {
 protected:
  DeviceInfo info_ = configuration_info(GetParam());
};

TEST_P(Weights, Int8) {
  check_packing<std::int8_t>(info_, {1, 1, 1, 1});
  check_packing<std::int8_t>(info_, {3, 5, 2, 3});
  check_packing<std::int8_t>(info_, {32, 64, 1, 1});
  check_packing<std::int8_t>(info_, {71, 131, 3, 2});
}

TEST_P(Weights, Int16) {
  check_packing<std::int16_t>(info_, {33, 65, 3, 3, Precision::kInt16});
  check_packing<std::int16_t>(info_, {16, 64, 1, 2, Precision::kFp16});
}

INSTANTIATE_TEST_SUITE_P(All, Weights, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (std::size_t i = 0; i < configuration_count(); ++i) {
                             names.emplace_back(configuration_name(i));
                           }
                           return names;
                         }()),
                         [](const auto& param) { return param.param; });

struct OperandCase {
  OperandDesc desc;
  bool alu, mul;
};

class Operands : public ::testing::TestWithParam<std::tuple<std::uint32_t, int>> {};

// addr = (c div lanes) * surface + y * line + x * column + (c mod lanes) * unit + part * bytes
TEST_P(Operands, LieWhereTheFormatSays) {
  const auto [atom, variant] = GetParam();
  OperandDesc d;
  d.atom = atom;
  d.channels = 37;
  d.per_element = (variant & 1) != 0;
  d.parts = (variant & 2) != 0 ? 2 : 1;
  d.bytes = (variant & 4) != 0 ? 2 : 1;
  const bool only_mul = (variant & 8) != 0;
  if (d.per_element) {
    d.height = 3;
    d.width = 4;
  }
  const std::size_t columns = std::size_t{d.height} * d.width;
  std::vector<std::int16_t> alu(d.channels * columns), mul(alu.size());
  const int wrap = d.bytes == 1 ? 256 : 65536;
  for (std::size_t i = 0; i < alu.size(); ++i) {
    alu[i] = static_cast<std::int16_t>(static_cast<int>(i * 11 % wrap) - wrap / 2);
    mul[i] = static_cast<std::int16_t>(wrap / 2 - 1 - static_cast<int>(i * 7 % wrap));
  }
  if (d.parts == 1) (only_mul ? alu : mul).clear();
  std::vector<std::byte> stream(operand_bytes(d), std::byte{0x33});
  ASSERT_EQ(stream.size(), (37 + atom - 1) / atom * columns * atom * d.parts * d.bytes);
  pack_operand(d, alu, mul, stream);

  std::vector<std::byte> expected(stream.size());
  const std::size_t unit = std::size_t{d.parts} * d.bytes, column = atom * unit;
  for (std::size_t c = 0; c < d.channels; ++c) {
    for (std::size_t y = 0; y < d.height; ++y) {
      for (std::size_t x = 0; x < d.width; ++x) {
        std::size_t at = c / atom * (d.height * d.width * column) + y * d.width * column +
                         x * column + c % atom * unit;
        for (const auto* part : {&alu, &mul}) {
          if (part->empty()) continue;
          const std::int16_t value = (*part)[(c * d.height + y) * d.width + x];
          std::memcpy(&expected[at], &value, d.bytes);  // little-endian host
          at += d.bytes;
        }
      }
    }
  }
  EXPECT_EQ(stream, expected);
}

INSTANTIATE_TEST_SUITE_P(All, Operands,
                         ::testing::Combine(::testing::Values(8U, 16U, 32U),
                                            ::testing::Range(0, 16)),
                         [](const auto& tested) {
                           return "atom" + std::to_string(std::get<0>(tested.param)) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

class BadWeights : public ::testing::Test {
 protected:
  void refused(const std::string& text) {
    std::vector<std::byte> stream(bytes_);
    expect_error(ErrorCode::kInvalidArgument, text, [&] {
      pack_weights(configuration_info("nv_small"), desc_, std::vector<std::int8_t>(given_), stream);
    });
  }
  WeightsDesc desc_{4, 8, 3, 3};
  std::size_t given_ = 288;
  std::size_t bytes_ = 384;
};

TEST_F(BadWeights, TooFew) {
  given_ = 287;
  refused("287 weights given, 4x8x3x3 (KCRS) are 288");
}

TEST_F(BadWeights, StreamOneByteTooSmall) {
  bytes_ = 383;
  refused("383 bytes for weights that take 384");
}

TEST_F(BadWeights, NoKernels) {
  desc_.kernels = 0;
  refused("kernels 0 is not in 1..8192");
}

TEST_F(BadWeights, KernelTooWide) {
  desc_.kernel_width = 33;
  refused("kernel_width 33 is not in 1..32");
}

TEST_F(BadWeights, WrongPrecision) {
  desc_.precision = Precision::kInt16;
  refused("weights are given in 1 bytes each, the description says 2");
}

class BadOperand : public ::testing::Test {
 protected:
  void refused(const std::string& text) {
    std::vector<std::byte> stream(bytes_);
    expect_error(ErrorCode::kInvalidArgument, text,
                 [&] { pack_operand(desc_, alu_, mul_, stream); });
  }
  OperandDesc desc_{.channels = 4, .atom = 8};
  std::vector<std::int16_t> alu_ = std::vector<std::int16_t>(4), mul_;
  std::size_t bytes_ = 16;
};

TEST_F(BadOperand, TooMany) {
  alu_.resize(5);
  refused("5 ALU operands given, 4 are needed");
}

TEST_F(BadOperand, None) {
  alu_.clear();
  refused("0 ALU and 0 MUL");
}

TEST_F(BadOperand, PartsDiffer) {
  mul_.resize(4);
  refused("1 part described, 4 ALU and 4 MUL operands given");
}

TEST_F(BadOperand, DoesNotFitAByte) {
  desc_.bytes = 1;
  alu_[2] = 128;
  refused("ALU operand 2 is 128, which does not fit 1 byte");
}

TEST_F(BadOperand, StreamTooSmall) {
  bytes_ = 15;
  refused("15 bytes for operands that take 16");
}

TEST_F(BadOperand, SizeWithoutElements) {
  desc_.width = 2;
  refused("operands per channel have no size, found 2x1");
}

TEST_F(BadOperand, ThreeBytes) {
  desc_.bytes = 3;
  refused("bytes 3 is not in 1..2");
}

TEST(Configuration, Unknown) {
  expect_error(ErrorCode::kNoDevice, "no configuration is called 'nv_huge'",
               [] { configuration_info("nv_huge"); });
  expect_error(ErrorCode::kNoDevice, "no configuration",
               [] { configuration_info(std::string_view("nv_full\0x", 9)); });
  EXPECT_EQ(configuration_name(configuration_count()), "");
}

}  // namespace
}  // namespace nvdla
