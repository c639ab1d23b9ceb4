// SPDX-License-Identifier: MIT
#include "tools/common/reference.hpp"

#include <fmt/format.h>

#include "tools/files/status.hpp"

namespace nvdla::program {

std::string reference(const CLI::App& app, const std::string& form, const std::string& version) {
  const CommandDescription program = describe(app);
  if (form == "man") return man_page(program, version);
  if (form == "bash") return bash_completion(program);
  if (form == "fish") return fish_completion(program);
  if (form == "zsh") return zsh_completion(program);
  throw UsageError(
      fmt::format("no reference is called '{}'; there are man, bash, fish, zsh", form));
}

}  // namespace nvdla::program
