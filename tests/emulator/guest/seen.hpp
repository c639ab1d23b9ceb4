// SPDX-License-Identifier: MIT
//
// What the driver shows of itself: debugfs and fdinfo, for tests in the guest.
#ifndef NVDLA_TESTS_EMULATOR_GUEST_SEEN_HPP
#define NVDLA_TESTS_EMULATOR_GUEST_SEEN_HPP

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace nvdla::emulator_test {

std::string read_text(const std::filesystem::path& path);
std::vector<std::string> paths_like(const std::string& pattern);

// A file of the device, of those beside others that the DRM core makes.
std::string debugfs(const std::string& name);

// Keys of an open file in /proc/self/fdinfo, with their values.
std::map<std::string, std::string> fdinfo(int fd);

// Whether a job of an open file waits for the device, and for nothing else.
bool has_ready_job(int fd);

}  // namespace nvdla::emulator_test

#endif  // NVDLA_TESTS_EMULATOR_GUEST_SEEN_HPP
