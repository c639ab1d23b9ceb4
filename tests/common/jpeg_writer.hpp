// SPDX-License-Identifier: MIT
//
// JPEG files of blocks that are one colour each, written without libjpeg: every coefficient but the
// first of a block is zero, so that the numbers of a block are exactly what was written.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace nvdla::test {

struct JpegImage {
  // Whole blocks of eight by eight pixels.
  std::uint32_t blocks_across = 1, blocks_down = 1;
  unsigned components = 1;
  // Numbers 0..255 of the components of each block: Y, or Y Cb Cr.
  std::vector<std::uint8_t> blocks;
  // More than 1: a progressive file that sends its blocks so many times.
  unsigned scans = 1;
};

// Appends bits to the entropy-coded data of a scan.
class JpegBits {
 public:
  explicit JpegBits(std::string& out) : out_(out) {}
  void put(std::uint32_t value, unsigned count) {
    for (unsigned i = count; i-- > 0;) {
      byte_ = byte_ << 1 | (value >> i & 1);
      if (++filled_ == 8) flush();
    }
  }
  void fill() {
    while (filled_ != 0) put(1, 1);
  }

 private:
  void flush() {
    out_ += static_cast<char>(byte_);
    // A byte of ones is no marker.
    if ((byte_ & 0xff) == 0xff) out_ += '\0';
    byte_ = filled_ = 0;
  }
  std::string& out_;
  unsigned byte_ = 0, filled_ = 0;
};

inline void put_segment(std::string& out, unsigned marker, const std::string& body) {
  const std::size_t size = body.size() + 2;
  out += '\xff';
  out += static_cast<char>(marker);
  out += static_cast<char>(size >> 8);
  out += static_cast<char>(size);
  out += body;
}

inline std::string bytes_of_numbers(std::initializer_list<unsigned> numbers) {
  std::string text;
  for (const unsigned number : numbers) text += static_cast<char>(number);
  return text;
}

// Writes the first coefficient of each block: its difference from the one before, in as many bits
// as it needs. The code of so many bits has four bits itself, that of the end of a block one.
inline void put_scan(std::string& out, const JpegImage& image) {
  JpegBits bits(out);
  std::vector<int> before(image.components, 0);
  for (std::size_t i = 0; i < image.blocks.size(); ++i) {
    const int value = (image.blocks[i] - 128) * 8;
    int& last = before[i % image.components];
    const int difference = value - last;
    last = value;
    unsigned size = 0;
    for (int rest = difference < 0 ? -difference : difference; rest != 0; rest >>= 1) ++size;
    bits.put(size, 4);
    bits.put(static_cast<std::uint32_t>(difference < 0 ? difference - 1 : difference), size);
    if (image.scans == 1) bits.put(0, 1);
  }
  bits.fill();
}

inline std::string make_jpeg(const JpegImage& image) {
  std::string out = "\xff\xd8";
  put_segment(out, 0xdb, std::string(1, '\0') + std::string(64, '\1'));
  const unsigned height = image.blocks_down * 8, width = image.blocks_across * 8;
  std::string frame =
      bytes_of_numbers({8, height >> 8, height & 255, width >> 8, width & 255, image.components});
  std::string scan = bytes_of_numbers({image.components});
  for (unsigned i = 1; i <= image.components; ++i) {
    frame += bytes_of_numbers({i, 0x11, 0});
    scan += bytes_of_numbers({i, 0});
  }
  put_segment(out, image.scans == 1 ? 0xc0 : 0xc2, frame);
  // Twelve codes of four bits: their numbers are the sizes of differences.
  std::string dc = bytes_of_numbers({0, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  for (unsigned i = 0; i < 12; ++i) dc += static_cast<char>(i);
  put_segment(out, 0xc4, dc);
  // One code of one bit: nothing follows in this block.
  put_segment(out, 0xc4,
              bytes_of_numbers({0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  scan += bytes_of_numbers({0, image.scans == 1 ? 63U : 0U, 0});
  for (unsigned i = 0; i < image.scans; ++i) {
    put_segment(out, 0xda, scan);
    put_scan(out, image);
  }
  return out + "\xff\xd9";
}

}  // namespace nvdla::test
