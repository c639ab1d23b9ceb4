// SPDX-License-Identifier: MIT
//
// Files in which one number is wrong, for every check of the reader.
#ifndef NVDLA_TESTS_LOADABLE_REFUSALS_HPP
#define NVDLA_TESTS_LOADABLE_REFUSALS_HPP

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "unit/loadable/witness/emulated.hpp"
#include "unit/loadable/witness/task.hpp"

namespace nvdla::witness {

struct Refusal {
  // As the source has it, to tell which checks have a row.
  std::string format;
  std::function<std::vector<std::byte>()> file;
  // All of it, behind "loadable: ".
  std::string message;
};

// Of addresses and contents, which all that is read has.
constexpr const char* kAddress = "{}: address {} is not in 0..{}";
constexpr const char* kUnset = "{}: no blob sets {} bytes at {} of memory {}";

std::vector<Refusal> container_refusals();
std::vector<Refusal> task_refusals();
std::vector<Refusal> conversion_refusals();
std::vector<Refusal> emulation_refusals();
std::vector<Refusal> own_refusals();

// A base of bases.hpp; or "two" of one type, as "many" as there may be, a "pair" of different ones,
// a "chain" of convolutions (an "image_chain") of which the second takes what the first left.
Task make_task(const std::string& name);
// Such a task with another operation like the first.
Refusal one_more(const char* format, const char* base, const std::string& message);
// Such a task after a change; such a file after a change of its container.
Refusal in_task(const char* format, const char* base, std::function<void(Task&)> change,
                const std::string& message);
Refusal in_file(const char* format, const char* base, std::function<void(File&)> change,
                const std::string& message);

}  // namespace nvdla::witness

#endif  // NVDLA_TESTS_LOADABLE_REFUSALS_HPP
