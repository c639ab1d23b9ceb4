// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
// libjpeg's header needs std::size_t and FILE, which the lines above declare.
// clang-format off
#include <jpeglib.h>
// clang-format on

#include "tools/files/decoders.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

// A progressive file of a few bytes may ask for any number of passes over all pixels.
constexpr int kMaxScans = 100;

// `JpegReader` has libjpeg's state. libjpeg leaves by longjmp() when it fails: functions that it
// may leave hold nothing that would have to be destroyed.
class JpegReader {
 public:
  explicit JpegReader(std::span<const std::uint8_t> file) : file_(file) {
    state_.err = jpeg_std_error(&errors_);
    errors_.error_exit = &JpegReader::failed;
    errors_.emit_message = &JpegReader::warned;
    state_.client_data = this;
  }
  ~JpegReader() {
    if (created_) jpeg_destroy_decompress(&state_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // Reads up to the first pixel and makes room for none. Returns false with a message.
  bool read_header() {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&state_);
    created_ = true;
    jpeg_mem_src(&state_, file_.data(), static_cast<unsigned long>(file_.size()));
    jpeg_read_header(&state_, TRUE);
    return true;
  }

  // Reads all lines into rows of `channels` bytes a pixel. Returns false with a message.
  bool read_rows(std::uint32_t channels, std::uint8_t* pixels) {
    if (setjmp(jump_) != 0) return false;
    progress_.progress_monitor = &JpegReader::watch_scans;
    state_.progress = &progress_;
    state_.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    // The same bytes on every machine.
    state_.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&state_);
    const std::size_t row_bytes = std::size_t{state_.output_width} * channels;
    while (state_.output_scanline < state_.output_height) {
      JSAMPROW row = pixels + state_.output_scanline * row_bytes;
      jpeg_read_scanlines(&state_, &row, 1);
    }
    jpeg_finish_decompress(&state_);
    return message_[0] == '\0';
  }

  PictureSize size() const { return {state_.image_width, state_.image_height}; }
  // Returns true if libjpeg converts the colours of the file.
  bool has_known_colours() const {
    return state_.jpeg_color_space == JCS_GRAYSCALE || state_.jpeg_color_space == JCS_RGB ||
           state_.jpeg_color_space == JCS_YCbCr;
  }
  int components() const { return state_.num_components; }
  const char* message() const { return message_.data(); }

 private:
  void keep_message(j_common_ptr state) {
    std::array<char, JMSG_LENGTH_MAX> text;
    errors_.format_message(state, text.data());
    if (message_[0] == '\0') std::snprintf(message_.data(), message_.size(), "%s", text.data());
  }

  [[noreturn]] static void failed(j_common_ptr state) {
    auto& self = *static_cast<JpegReader*>(state->client_data);
    self.keep_message(state);
    std::longjmp(self.jump_, 1);
  }
  // Damage of the data is a warning to libjpeg, which goes on with grey; level -1.
  static void warned(j_common_ptr state, int level) {
    if (level < 0) static_cast<JpegReader*>(state->client_data)->keep_message(state);
  }
  static void watch_scans(j_common_ptr state) {
    auto& self = *static_cast<JpegReader*>(state->client_data);
    if (self.state_.input_scan_number <= kMaxScans) return;
    std::snprintf(self.message_.data(), self.message_.size(), "it has more than %d scans",
                  kMaxScans);
    std::longjmp(self.jump_, 1);
  }

  jpeg_decompress_struct state_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_progress_mgr progress_ = {};
  std::jmp_buf jump_ = {};
  std::span<const std::uint8_t> file_;
  bool created_ = false;
  std::array<char, JMSG_LENGTH_MAX> message_ = {};
};

[[noreturn]] void refuse_jpeg(const std::string& name, const char* message) {
  throw UsageError(fmt::format("{}: not a readable JPEG file: {}", name, message));
}

PictureSize read_jpeg_header(const std::string& name, JpegReader& reader) {
  if (!reader.read_header()) refuse_jpeg(name, reader.message());
  const PictureSize size = reader.size();
  if (size.width > kMaxSide || size.height > kMaxSide) {
    throw UsageError(
        fmt::format("{}: {}x{} pixels; sides are 1..{}", name, size.width, size.height, kMaxSide));
  }
  if (!reader.has_known_colours()) {
    throw UsageError(
        fmt::format("{}: a JPEG file of {} inks or unknown colours; expected grey, RGB "
                    "or YCbCr",
                    name, reader.components()));
  }
  return size;
}

}  // namespace

bool is_jpeg(std::span<const std::uint8_t> file) {
  return file.size() >= 3 && file[0] == 0xff && file[1] == 0xd8 && file[2] == 0xff;
}

PictureSize jpeg_size(const std::string& name, std::span<const std::uint8_t> file) {
  JpegReader reader(file);
  return read_jpeg_header(name, reader);
}

Picture decode_jpeg(const std::string& name, std::span<const std::uint8_t> file,
                    std::uint32_t channels) {
  JpegReader reader(file);
  const PictureSize size = read_jpeg_header(name, reader);
  Picture picture{size.width, size.height, channels, {}};
  picture.pixels.resize(std::size_t{size.width} * size.height * channels);
  if (!reader.read_rows(channels, picture.pixels.data())) refuse_jpeg(name, reader.message());
  return picture;
}

}  // namespace nvdla::program
