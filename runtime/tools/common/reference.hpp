// SPDX-License-Identifier: MIT
//
// Manual page and completions of a program, made from its description of the command line: what
// --help says is all that is written by hand.
#ifndef NVDLA_TOOLS_COMMON_REFERENCE_HPP
#define NVDLA_TOOLS_COMMON_REFERENCE_HPP

#include <string>

#include "tools/common/reference_description.hpp"

namespace nvdla::program {

// In roff, for section 1. The date is that of SOURCE_DATE_EPOCH or today's.
std::string man_page(const CommandDescription& program, const std::string& version);

std::string bash_completion(const CommandDescription& program);
std::string fish_completion(const CommandDescription& program);
std::string zsh_completion(const CommandDescription& program);

// The one that is called `form`: "man", "bash", "fish" or "zsh". Throws UsageError.
std::string reference(const CLI::App& app, const std::string& form, const std::string& version);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_REFERENCE_HPP
