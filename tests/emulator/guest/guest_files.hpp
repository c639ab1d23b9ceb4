// SPDX-License-Identifier: MIT
#ifndef NVDLA_TESTS_EMULATOR_GUEST_GUEST_FILES_HPP
#define NVDLA_TESTS_EMULATOR_GUEST_GUEST_FILES_HPP

#include <filesystem>

namespace nvdla::emulator_test {

// Pictures and weights of the digit network in the guest.
inline const std::filesystem::path kDigits = "/digits";

}  // namespace nvdla::emulator_test

#endif  // NVDLA_TESTS_EMULATOR_GUEST_GUEST_FILES_HPP
