// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

#include "tools/files/decoders.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

constexpr std::array<std::uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

// libpng's state, and the file where it is. libpng leaves by longjmp() when it fails: functions
// that it may leave hold nothing that would have to be destroyed.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> file) : rest_(file) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &Reader::failed, &Reader::warned);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, this, &Reader::more);
    // The limits are ours, with a message of ours.
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Reads up to the first pixel and makes room for none; false with a message.
  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_info(png_, info_);
    return true;
  }

  // Asks for bytes; channels() and row_bytes() are known from here on. False with a message.
  bool prepare_rows() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    // Palettes and depths below eight bits to bytes, a transparent colour to alpha.
    png_set_expand(png_);
    png_set_scale_16(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  // Into rows of row_bytes() each, up to the end of the file; false with a message.
  bool read_rows(png_bytep* rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  PictureSize size() const {
    return {png_get_image_width(png_, info_), png_get_image_height(png_, info_)};
  }
  // 1 grey, 2 with alpha, 3 colours, 4 with alpha.
  std::uint32_t channels() const { return png_get_channels(png_, info_); }
  std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  const char* message() const { return message_.data(); }

 private:
  [[noreturn]] static void failed(png_structp png, png_const_charp text) {
    auto& self = *static_cast<Reader*>(png_get_error_ptr(png));
    std::snprintf(self.message_.data(), self.message_.size(), "%s", text);
    png_longjmp(png, 1);
  }
  static void warned(png_structp, png_const_charp) {}
  static void more(png_structp png, png_bytep target, std::size_t bytes) {
    auto& self = *static_cast<Reader*>(png_get_io_ptr(png));
    if (bytes > self.rest_.size()) png_error(png, "the file ends early");
    std::memcpy(target, self.rest_.data(), bytes);
    self.rest_ = self.rest_.subspan(bytes);
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::span<const std::uint8_t> rest_;
  std::array<char, 128> message_ = {};
};

[[noreturn]] void throw_error(const std::string& name, const Reader& reader) {
  throw UsageError(fmt::format("{}: not a readable PNG file: {}", name, reader.message()));
}

PictureSize read_header(const std::string& name, Reader& reader) {
  if (!reader.read_header()) throw_error(name, reader);
  const PictureSize size = reader.size();
  if (size.width > kMaxSide || size.height > kMaxSide) {
    throw UsageError(
        fmt::format("{}: {}x{} pixels; sides are 1..{}", name, size.width, size.height, kMaxSide));
  }
  return size;
}

// `value` seen through `alpha` before black.
std::uint8_t on_black(std::uint32_t value, std::uint32_t alpha) {
  return static_cast<std::uint8_t>((value * alpha + 127) / 255);
}

// ITU-R BT.601, in 16 bits that add up to one: grey stays what it is.
std::uint8_t grey(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return static_cast<std::uint8_t>((red * 19595 + green * 38470 + blue * 7471 + 32768) >> 16);
}

// A pixel of the file, `from`, as one or three channels behind the others.
void append(const std::uint8_t* from, std::uint32_t channels, Picture& picture) {
  const std::uint32_t colours = channels < 3 ? 1 : 3;
  const std::uint32_t alpha = channels == colours ? 255 : from[colours];
  std::array<std::uint8_t, 3> rgb;
  for (std::uint32_t i = 0; i < 3; ++i) rgb[i] = on_black(from[i % colours], alpha);
  if (picture.channels == 1) {
    picture.pixels.push_back(grey(rgb[0], rgb[1], rgb[2]));
  } else {
    picture.pixels.insert(picture.pixels.end(), rgb.begin(), rgb.end());
  }
}

}  // namespace

bool is_png(std::span<const std::uint8_t> file) {
  // Checks only the bytes of the signature that damage in text-mode transfers leaves intact, so
  // that such a file is reported as a damaged PNG.
  return file.size() >= 4 && std::memcmp(file.data(), kSignature.data(), 4) == 0;
}

PictureSize png_size(const std::string& name, std::span<const std::uint8_t> file) {
  Reader reader(file);
  return read_header(name, reader);
}

Picture decode_png(const std::string& name, std::span<const std::uint8_t> file,
                   std::uint32_t channels) {
  Reader reader(file);
  const PictureSize size = read_header(name, reader);
  if (!reader.prepare_rows()) throw_error(name, reader);
  std::vector<std::uint8_t> bytes(reader.row_bytes() * size.height);
  std::vector<png_bytep> rows(size.height);
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = bytes.data() + y * reader.row_bytes();
  if (!reader.read_rows(rows.data())) throw_error(name, reader);

  Picture picture{size.width, size.height, channels, {}};
  picture.pixels.reserve(std::size_t{size.width} * size.height * channels);
  for (const png_bytep row : rows) {
    for (std::size_t x = 0; x < size.width; ++x) {
      append(row + x * reader.channels(), reader.channels(), picture);
    }
  }
  return picture;
}

std::vector<std::byte> encode_png(const Picture& picture) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = picture.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> bytes(size);
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.pixels.data(), 0,
                                nullptr) == 0) {
    throw std::runtime_error(fmt::format("libpng cannot write a picture: {}", image.message));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace nvdla::program
