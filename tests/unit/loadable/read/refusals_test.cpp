// SPDX-License-Identifier: MIT
//
// Every check of the reader: a file in which one number is wrong is refused with exactly the text
// that says so, and where. A check without such a file is found, too.
#include "refusals.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "bases.hpp"
#include "loadable/read/convert.hpp"
#include "loadable/read/cpu_step.hpp"
#include "nvdla/types/error.hpp"
#include "unit/loadable/witness/own.hpp"

namespace nvdla::witness {
namespace {

std::vector<Refusal> all_refusals() {
  std::vector<Refusal> all;
  for (auto* some :
       {container_refusals, task_refusals, conversion_refusals, emulation_refusals, own_refusals}) {
    for (Refusal& refusal : some()) all.push_back(std::move(refusal));
  }
  return all;
}

// What the reader says of a file; nothing if it takes it.
std::string read(const std::vector<std::byte>& bytes) {
  try {
    const loadable::Container c = loadable::parse_container(bytes);
    for (std::uint16_t i = 0; i < c.tasks.size(); ++i) {
      const loadable::Task task = decode_task(c, i);
      if (task.of_hardware()) {
        convert_task(c, task, *nvdla_hw_find("nv_full"));
      } else {
        resolve_cpu(c, task, *nvdla_hw_find("nv_full"));
      }
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// "{}" of a format is anything.
bool made_of(const std::string& text, const std::string& format) {
  std::string pattern;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '{') {
      pattern += ".*";
      i = format.find('}', i);
    } else {
      if (std::string("()[]|.*+?^$\\").find(format[i]) != std::string::npos) pattern += '\\';
      pattern += format[i];
    }
  }
  return std::regex_match(text, std::regex("(?:.*: )?" + pattern));
}

TEST(Refusals, OneWrongNumberIsNamedExactly) {
  for (const Refusal& refusal : all_refusals()) {
    SCOPED_TRACE(refusal.message);
    EXPECT_EQ(read(refusal.file()), "loadable: " + refusal.message);
    EXPECT_TRUE(made_of("loadable: " + refusal.message, refusal.format)) << refusal.format;
  }
}

TEST(Refusals, TheFilesAreTakenAsTheyWere) {
  for (const Base& base : bases()) {
    EXPECT_EQ(read(make_task(base.name).bytes()), "") << base.name;
  }
  for (const char* name : {"two", "many", "pair", "chain", "image_chain"}) {
    EXPECT_EQ(read(make_task(name).bytes()), "") << name;
  }
  for (const bool old : {false, true}) {
    EXPECT_EQ(read(write(Emulated(old).file())), "") << old;
  }
  for (const std::string& name : own_names()) {
    Own own = Own::of(name);
    own.needs = {"nvdla-cpu:" + name + "/1"};
    EXPECT_EQ(read(write(own.file())), "") << name;
  }
}

// Checks that no file of these reaches, and why.
const std::map<std::string, std::string>& elsewhere() {
  static const std::map<std::string, std::string> all = {
      {"{}: {}", "puts a place before the text of another"},
      {"loadable: {}: {}", "puts a place before the text of another"},
      {"cannot open '{}': {}", "of files: LoadableCli"},
      {"cannot read '{}': {}", "of files: LoadableCli"},
      {"cannot read '{}': not a file", "of files: LoadableCli"},
      {"cannot read '{}': it is a folder; expected a file", "of files: LoadableCli"},
      {"'{}' has {} bytes, more than {}", "takes a file of 2 GiB"},
      {"{} bytes exceed {}", "takes 2 GiB"},
      {"tensor {} '{}': {} axes; expected at most {}",
       "of files that are written: LoadableQuantization.SizesOfTheModel"},
      {"{} waits for {} layers; {} at most", "order.cpp leaves at most one for each type"},
      {"loadable: {}: the compiler sets no such register for the layer on {}",
       "takes a compiled program: Convert.DerivedNumbersAreCompared"},
      {"loadable: {} is {}, but {} follows from the layer on {}",
       "takes a compiled program: Convert.DerivedNumbersAreCompared"},
  };
  return all;
}

// The texts of all checks in a source, and how often each is there.
std::map<std::string, std::size_t> formats_of(const std::string& source) {
  std::map<std::string, std::size_t> found;
  const std::regex call(
      R"re((?:\b(?:throw_error|throw_invalid(?:_argument)?|throw_in_\w+)\((?:k\w+,\s*)?|fmt::format\(\s*(?="loadable: ))\s*((?:"(?:[^"\\]|\\.)*"\s*)+))re");
  const std::regex literal(R"re("((?:[^"\\]|\\.)*)")re");
  for (std::sregex_iterator i(source.begin(), source.end(), call), end; i != end; ++i) {
    const std::string literals = (*i)[1];
    std::string text;
    for (std::sregex_iterator k(literals.begin(), literals.end(), literal); k != end; ++k) {
      text += (*k)[1];
    }
    ++found[text];
  }
  // As an argument that is made before.
  const std::regex made(R"re(\bthrow_error\(\s*fmt::format\(\s*"((?:[^"\\]|\\.)*)")re");
  for (std::sregex_iterator i(source.begin(), source.end(), made), end; i != end; ++i) {
    ++found[(*i)[1]];
  }
  return found;
}

TEST(Refusals, EveryCheckHasAFile) {
  std::map<std::string, std::size_t> rows;
  for (const Refusal& refusal : all_refusals()) ++rows[refusal.format];
  std::size_t checks = 0;
  std::set<std::string> seen;
  for (const char* name :
       {"format/container.cpp", "read/convert.cpp", "read/convert_conv.cpp", "read/convert_lut.cpp",
        "read/convert_memory.cpp", "read/convert_move.cpp", "read/convert_pool.cpp",
        "read/convert_sdp.cpp", "read/cpu_step.cpp", "format/cpu_task.cpp", "read/derived.cpp",
        "read/emulate.cpp", "read/order.cpp", "format/model_sizes.cpp", "format/quantization.cpp",
        "format/task.cpp", "read/task_converter.hpp"}) {
    std::ifstream stream(std::string(NVDLA_SOURCE_DIR "/runtime/loadable/") + name);
    std::stringstream text;
    text << stream.rdbuf();
    ASSERT_GT(text.str().size(), 100U) << name;
    for (const auto& [format, count] : formats_of(text.str())) {
      checks += count;
      seen.insert(format);
      if (elsewhere().contains(format)) continue;
      EXPECT_GE(rows[format], count) << name << " has checks without a file: " << format;
    }
  }
  EXPECT_GT(checks, 90U);
  for (const auto& [format, why] : elsewhere()) EXPECT_TRUE(seen.contains(format)) << format;
  for (const auto& [format, count] : rows) EXPECT_TRUE(seen.contains(format)) << format;
}

}  // namespace
}  // namespace nvdla::witness
