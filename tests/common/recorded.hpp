// SPDX-License-Identifier: MIT
//
// Texts that were recorded: a test compares what comes out today with a file of the tree.
// NVDLA_RECORD=1 in the environment writes the files anew; whoever commits them reads the diff.
#ifndef NVDLA_TESTS_COMMON_RECORDED_HPP
#define NVDLA_TESTS_COMMON_RECORDED_HPP

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace nvdla::test {

// Compares `text` with a file, whose name is relative to the project's root.
inline void expect_recorded(const std::string& file, const std::string& text) {
  const std::string path = std::string(NVDLA_SOURCE_DIR) + "/" + file;
  if (std::getenv("NVDLA_RECORD") != nullptr) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    ASSERT_TRUE(out.flush()) << path << " cannot be written";
    return;
  }
  std::ifstream in(path, std::ios::binary);
  ASSERT_TRUE(in) << path << " cannot be read; NVDLA_RECORD=1 writes it";
  const std::string recorded{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text, recorded) << "not as recorded in " << file << "; NVDLA_RECORD=1 writes it anew";
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_COMMON_RECORDED_HPP
