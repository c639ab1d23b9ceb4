// SPDX-License-Identifier: MIT
#include "nvdla/types/error.hpp"

#include <string>

#include "support/fields.hpp"
#include "support/rules.hpp"

namespace nvdla {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "nvdla"; }

  std::string message(int code) const override {
    switch (static_cast<ErrorCode>(code)) {
      case ErrorCode::kInvalidArgument:
        return "invalid argument";
      case ErrorCode::kInvalidProgram:
        return "invalid program";
      case ErrorCode::kInvalidBinding:
        return "invalid binding";
      case ErrorCode::kNoDevice:
        return "no such device";
      case ErrorCode::kNotAvailable:
        return "not available";
      case ErrorCode::kNoMemory:
        return "out of device memory";
      case ErrorCode::kHang:
        return "a layer does not end";
      case ErrorCode::kCanceled:
        return "job canceled";
      case ErrorCode::kBusFault:
        return "access outside of the job's buffers";
      case ErrorCode::kGone:
        return "device is gone";
      case ErrorCode::kBusy:
        return "in use";
      case ErrorCode::kNotWritten:
        return "not written";
      case ErrorCode::kDeadline:
        return "deadline passed";
    }
    return "unknown error " + std::to_string(code);
  }

  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<ErrorCode>(code)) {
      case ErrorCode::kInvalidArgument:
      case ErrorCode::kInvalidProgram:
      case ErrorCode::kInvalidBinding:
        return std::errc::invalid_argument;
      case ErrorCode::kNoDevice:
      case ErrorCode::kGone:
        return std::errc::no_such_device;
      case ErrorCode::kNotAvailable:
        return std::errc::not_supported;
      case ErrorCode::kNoMemory:
        return std::errc::not_enough_memory;
      case ErrorCode::kHang:
      case ErrorCode::kDeadline:
        return std::errc::timed_out;
      case ErrorCode::kCanceled:
        return std::errc::operation_canceled;
      case ErrorCode::kBusFault:
        return std::errc::bad_address;
      case ErrorCode::kBusy:
        return std::errc::device_or_resource_busy;
      case ErrorCode::kNotWritten:
        return std::errc::io_error;
    }
    return {code, *this};
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(ErrorCode code) noexcept {
  return {static_cast<int>(code), error_category()};
}

struct Error::State {
  std::string text;
  nvdla_error detail = {};
  bool has_rule = false;
};

Error::Error(ErrorCode code, std::string_view text) : Error(code, text, nvdla_error{}) {}

Error::Error(ErrorCode code, const nvdla_error& detail, std::string_view layer_name,
             std::string_view configuration)
    : std::system_error(make_error_code(code)),
      state_(std::make_shared<State>(State{
          .text = detail::rule_text(detail, {.layer = layer_name, .configuration = configuration}),
          .detail = detail,
          .has_rule = true})) {}

Error::Error(ErrorCode code, std::string_view text, const nvdla_error& detail)
    : std::system_error(make_error_code(code)),
      state_(std::make_shared<State>(State{.text = std::string(text),
                                           .detail = detail,
                                           .has_rule = detail.rule != NVDLA_RULE_NONE})) {}

Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;
Error::~Error() = default;

const char* Error::what() const noexcept { return state_->text.c_str(); }

std::int64_t Error::layer() const noexcept {
  return state_->detail.object == NVDLA_OBJECT_LAYER ? std::int64_t{state_->detail.index} : -1;
}

std::string_view Error::field() const noexcept {
  return state_->has_rule ? field_name(state_->detail.object, state_->detail.field)
                          : std::string_view();
}

std::uint32_t Error::rule() const noexcept { return state_->detail.rule; }

const nvdla_error& Error::detail() const noexcept { return state_->detail; }

}  // namespace nvdla
