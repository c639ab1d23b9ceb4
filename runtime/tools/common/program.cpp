// SPDX-License-Identifier: MIT
#include "tools/common/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>

#include "nvdla/device.hpp"
#include "tools/common/print.hpp"
#include "tools/common/reference.hpp"
#include "tools/common/text.hpp"

namespace nvdla::program {
namespace {

// --help in kColumns, however long the descriptions are.
class Help final : public CLI::Formatter {
 public:
  Help() { column_width(kIndent); }

  std::string make_description(const CLI::App* app) const override {
    return wrap(app->get_description(), 0) + "\n";
  }
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, positional);
    // The value of a flag that is given none: "--json{compact}".
    if (const std::size_t brace = name.find('{'); brace != name.npos) name.erase(brace);
    return name;
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    // A flag that may be given one of these: "--json[={compact,pretty}]".
    const std::string type = option->get_type_name();
    if (option->get_items_expected_min() == 0 && type.starts_with(":{"))
      return "[=" + type.substr(1) + "]";
    return CLI::Formatter::make_option_opts(option);
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return paragraph(option->get_description());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), paragraph(command->get_description()),
                             kIndent);
    return out.str();
  }

 private:
  static constexpr std::size_t kIndent = 28;

  // Without the indentation, which CLI11 adds.
  static std::string paragraph(const std::string& text) {
    std::string lines = wrap(text, kIndent);
    const std::string indent(kIndent, ' ');
    for (std::size_t at = 0; (at = lines.find("\n" + indent, at)) != lines.npos; ++at)
      lines.erase(at + 1, kIndent);
    return lines;
  }
};

// A file that is opened later must not become a standard stream that was closed. What is written to
// such a stream fails, and so is noticed: it is open the wrong way round.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest that is free: this one.
    if (::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) return;
  }
}

// Throws OutputError if something that was printed did not arrive.
void finish_output() {
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (flushed && !failed_before) return;
  throw OutputError(fmt::format("standard output cannot be written{}{}", error != 0 ? ": " : "",
                                error != 0 ? std::strerror(error) : ""));
}

// The subcommand that was given, the innermost, or the program itself.
const CLI::App& parsed(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return given.empty() ? app : parsed(*given.back());
}

std::string full_name(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string suggestion(std::string_view text, const std::vector<std::string>& names) {
  const std::string_view near = closest(text, names);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

// The program has commands, and `text` stands where one is to be.
std::string no_command(const CLI::App& app, std::string_view text) {
  const auto names = command_names(app);
  const std::string list = fmt::format("commands are {}", fmt::join(names, ", "));
  if (text.empty()) return "a command is missing; " + list;
  return fmt::format("'{}' is no command{}\n{}", text, suggestion(text, names), list);
}

std::string parse_message(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extra = app.remaining();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
      app.get_require_subcommand_min() > 0 && app.get_subcommands().empty())
    return no_command(app, extra.empty() ? "" : extra.front());
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || extra.empty()) {
    return error.what();
  }
  return fmt::format("'{}' is not expected{}", extra.front(),
                     suggestion(extra.front(), option_names(app)));
}

void complain(const std::string& name, std::string_view text) {
  // Flush first, so that earlier output precedes the message if both go to the same place.
  std::fflush(stdout);
  print(stderr, "{}: {}\n", name, Lines{text});
}

// Reports the exception that is being handled.
int report(const std::string& name) {
  const auto end = [&](ExitStatus status, std::string_view text) {
    complain(name, text);
    return status;
  };
  try {
    throw;
  } catch (const UsageError& error) {
    return end(kUsage, error.what());
  } catch (const OutputError& error) {
    return end(kOutput, error.what());
  } catch (const Error& error) {
    return end(status_of(static_cast<ErrorCode>(error.code().value())), error.what());
  } catch (const std::invalid_argument& error) {
    // For example an invalid environment variable of the model.
    return end(kUsage, error.what());
  } catch (const std::bad_alloc&) {
    return end(kInternal, "out of memory");
  } catch (const std::exception& error) {
    // Printing throws, too, if the output cannot be written.
    if (std::ferror(stdout) != 0) return end(kOutput, "standard output cannot be written");
    return end(kInternal, error.what());
  }
}

void add_version_and_statuses(CLI::App& app, const std::string& version) {
  app.set_version_flag("--version", version, "Print the version and exit");
  const std::string footer = app.get_footer();
  app.footer(footer + (footer.empty() ? "" : "\n\n") + kExitStatusHelp);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    add_version_and_statuses(*command, version);
  }
}

}  // namespace

ExitStatus status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kInvalidProgram:
    case ErrorCode::kInvalidBinding:
    case ErrorCode::kNotAvailable:
      return kUsage;
    case ErrorCode::kNoDevice:
    case ErrorCode::kNoMemory:
    case ErrorCode::kHang:
    case ErrorCode::kCanceled:
    case ErrorCode::kBusFault:
    case ErrorCode::kGone:
    case ErrorCode::kBusy:
    case ErrorCode::kDeadline:
      return kDevice;
    case ErrorCode::kNotWritten:
      return kOutput;
  }
  return kInternal;
}

Program::Program(const std::string& name, const std::string& about) : app_(about, name) {
  app_.formatter(std::make_shared<Help>());
}

int Program::parse(int argc, char** argv) {
  add_version_and_statuses(app_, fmt::format("{} {}", app_.get_name(), NVDLA_VERSION));
  // For the build, so not in --help: what it prints is installed.
  if (argc == 3 && std::string_view(argv[1]) == "--reference") {
    print("{}", Lines{reference(app_, argv[2], NVDLA_VERSION)});
    finish_output();
    return kSuccess;
  }
  try {
    const auto commands = command_names(app_);
    // Before a command there are only flags.
    if (!commands.empty()) {
      int first = 1;
      while (first < argc && argv[first][0] == '-') ++first;
      if (first < argc &&
          std::find(commands.begin(), commands.end(), argv[first]) == commands.end())
        throw UsageError(no_command(app_, argv[first]));
      if (argc == 1) throw UsageError(no_command(app_, ""));
    }
    app_.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    if (app_.exit(error, out, err) == 0) {
      print("{}", Lines{out.str()});
      finish_output();
      return kSuccess;
    }
    const CLI::App& command = parsed(app_);
    complain(full_name(command), parse_message(command, error));
    print(stderr, "Try '{} --help'.\n", full_name(command));
    return kUsage;
  }
}

int Program::run(int argc, char** argv, const std::function<int()>& body) {
  occupy_standard_streams();
  try {
    if (const int status = parse(argc, argv); status >= 0) return status;
    const int status = body();
    finish_output();
    return status;
  } catch (...) {
    return report(app_.get_name());
  }
}

OpenOptions open_options(std::string_view record) {
  OpenOptions options;
  options.record = record;
  options.note = [](std::string_view line) { print(stderr, "nvdla: {}\n", line); };
  return options;
}

BuildOptions build_options(const DeviceInfo& info) {
  BuildOptions options;
  options.sram_bytes = info.has_sram ? info.sram_bytes : 0;
  return options;
}

LoadableOptions loadable_options(const DeviceInfo& info) {
  LoadableOptions options;
  options.weight_gating = info.has_weight_gating;
  options.revision = info.revision;
  options.memory = info.memory;
  options.sram_bytes = build_options(info).sram_bytes;
  return options;
}

std::string_view version() noexcept { return NVDLA_VERSION; }

void add_resize_option(CLI::App& app, std::string& resize) {
  app.add_option("--resize", resize,
                 "How pictures of another size are brought to that of the input: crop, whose edges "
                 "are cut off; stretch; pad, with grey edges. Without it they are refused")
      ->check(CLI::IsMember({"crop", "stretch", "pad"}).description(""))
      ->type_name("NAME");
}

void add_budget_option(CLI::App& app, std::uint64_t& budget) {
  app.add_option("--search-budget", budget,
                 "Forms of layers whose cycles the compiler predicts at most, to choose from; 0: "
                 "all. Layers behind those stay as they are without a choice")
      ->type_name("NUMBER");
}

void add_device_option(CLI::App& app, std::string& device, const std::string& text,
                       const std::string& names) {
  device = "auto";
  app.add_option("--device,-d" + (names.empty() ? "" : "," + names), device, text)
      ->type_name("NAME")
      ->capture_default_str();
  app.callback([&device] {
    try {
      check_device_name(device);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  });
}

}  // namespace nvdla::program
