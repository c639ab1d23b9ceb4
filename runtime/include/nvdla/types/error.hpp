// SPDX-License-Identifier: MIT
//
/// @file
/// One exception type reports what was wrong, where, and
/// what would be right, as text for people and as fields for programs.
#ifndef NVDLA_TYPES_ERROR_HPP
#define NVDLA_TYPES_ERROR_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>

#include "nvdla/types/export.hpp"

namespace nvdla {

/// The kinds of failure. Each compares equal to the std::errc in brackets.
enum class ErrorCode {
  kInvalidArgument = 1,  ///< [invalid_argument] an argument of a call
  kInvalidProgram = 2,   ///< [invalid_argument] a layer, slot or table; rule() says why
  kInvalidBinding = 3,   ///< [invalid_argument] a buffer bound at submission; rule() says why
  kNoDevice = 4,         ///< [no_such_device] no device goes by that name
  kNotAvailable = 5,     ///< [not_supported] not in this version, or not in this configuration
  kNoMemory = 6,         ///< [not_enough_memory] device memory or address space used up
  kHang = 7,             ///< [timed_out] a layer does not end; layer() says which
  kCanceled = 8,     ///< [operation_canceled] it was canceled, or a job that it waits for failed
  kBusFault = 9,     ///< [bad_address] the device touched memory that is not its own
  kGone = 10,        ///< [no_such_device] the device does not answer any more
  kBusy = 11,        ///< [device_or_resource_busy] an object is in use where it must not be
  kNotWritten = 12,  ///< [io_error] a record of what ran could not be written
  kDeadline = 13,    ///< [timed_out] a job did not end by its deadline
};

/// Returns the category of ErrorCode in std::error_code; an ErrorCode converts to that by itself.
NVDLA_API const std::error_category& error_category() noexcept;
/// Returns `code` as a std::error_code of error_category().
NVDLA_API std::error_code make_error_code(ErrorCode code) noexcept;

/// The exception of every call that fails, but for std::bad_alloc: code() is an ErrorCode, what()
/// says what is wrong, where, and what would be right.
class NVDLA_API Error : public std::system_error {
 public:
  /// An error of a call; `text` is the whole message.
  Error(ErrorCode code, std::string_view text);
  /// A rule that was broken. The message comes from the rule table, `layer_name` (may be empty)
  /// completes it: "layer 3 'conv2' (conv): line_stride 100 is not a multiple of 32; nearest
  /// valid: 128"; so does `configuration` where that lacks a feature.
  Error(ErrorCode code, const nvdla_error& detail, std::string_view layer_name = {},
        std::string_view configuration = {});
  /// The same in other words, or a failure of a job: `text` is the message, `detail` what programs
  /// may want to know.
  Error(ErrorCode code, std::string_view text, const nvdla_error& detail);
  Error(const Error&) noexcept;             ///< Copies the error.
  Error& operator=(const Error&) noexcept;  ///< Copies the error.
  ~Error() override;                        ///< Releases what it refers to.

  /// Returns the message, which lives as long as the error.
  const char* what() const noexcept override;
  /// Index of the layer that it is about, or -1.
  std::int64_t layer() const noexcept;
  /// Name of the field such as "conv.input.line_stride"; empty when it is about no field.
  std::string_view field() const noexcept;
  /// enum nvdla_rule; NVDLA_RULE_NONE when no rule of the table was broken.
  std::uint32_t rule() const noexcept;
  /// The numbers. For kBusFault: value is the address, dma the client.
  const nvdla_error& detail() const noexcept;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Returns the name of an enum nvdla_rule, e.g. "line_stride"; empty for none.
NVDLA_API std::string_view rule_name(std::uint32_t rule) noexcept;
/// Returns the name of the field of an object (enum nvdla_object) at a byte offset, e.g.
/// "conv.input.line_stride"; empty for none.
NVDLA_API std::string_view field_name(std::uint32_t object, std::uint32_t offset) noexcept;
/// Returns the name of an enum nvdla_layer_kind, e.g. "conv+sdp"; empty for none.
NVDLA_API std::string_view layer_kind_name(std::uint32_t kind) noexcept;
/// Returns the name of a DMA client (enum nvdla_dma); empty for none.
NVDLA_API std::string_view dma_name(std::uint32_t dma) noexcept;
/// Returns the name of a feature bit (NVDLA_HW_...); empty for none.
NVDLA_API std::string_view feature_name(std::uint32_t feature) noexcept;
/// enum nvdla_counter, e.g. "sdp.saturation".
NVDLA_API std::string_view counter_name(std::uint32_t counter) noexcept;
/// enum nvdla_pixel_format, as CDMA.D_DATAIN_FORMAT calls it, e.g. "T_Y8___U8V8_N444".
NVDLA_API std::string_view pixel_format_name(std::uint32_t format) noexcept;

}  // namespace nvdla

template <>
struct std::is_error_code_enum<nvdla::ErrorCode> : std::true_type {};

#endif  // NVDLA_TYPES_ERROR_HPP
