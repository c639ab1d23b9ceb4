// SPDX-License-Identifier: MIT
//
// `ConvData` has the activations of one convolution: the data that CDMA fetches (feature cubes,
// images, cubes folded for Winograd; converted, with NaNs flushed and counted) and the data that
// earlier layers left in the convolution buffer. They are laid out with their padding, so that the
// multipliers' loops read runs of consecutive elements.
#ifndef NVDLA_MODEL_CONV_CONV_DATA_HPP
#define NVDLA_MODEL_CONV_CONV_DATA_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/conv/cdma_pixel.hpp"
#include "model/conv/conv_layer.hpp"
#include "model/conv/conv_lines.hpp"
#include "model/core/dma.hpp"
#include "model/simd/kernels.hpp"
#include "support/float.hpp"

namespace nvdla::model {

class ConvData {
 public:
  ConvData(const nvdla_hw& hw, Dma& dma, const Kernels& kernels, Quirks quirks) noexcept
      : hw_(hw), dma_(dma), kernels_(kernels), quirks_(quirks) {}

  // `flipped` adds 128 to each byte, see MacForm::biased.
  void fetch(const ConvLayer& layer, const ConvFetch& fetch, const CbufState& cbuf, bool flipped);
  // Returns the int8 input in memory if open() can be used: Bus::window() maps it, each output sees
  // one position, and no later layer finds the data in the buffer. Else returns an empty span.
  std::span<const std::byte> open_input(const ConvLayer& layer, const ConvFetch& fetch) noexcept;
  // Replaces fetch(): only gather() copies data, so nothing may write to the input until the layer
  // ends.
  void open(const ConvLayer& layer, std::span<const std::byte> input, bool flipped);
  bool is_open() const noexcept { return window_ != nullptr; }
  // Copies the inputs of `count` outputs in raster order, one behind the other.
  void gather(const ConvLayer& layer, std::uint32_t first, std::uint32_t count,
              std::byte* to) const noexcept;
  // Returns the int8 input in memory if open_lines() can be used: Bus::window() maps the cube or
  // the single plane of the image, no later layer finds the data in the buffer, and no earlier
  // layer left data there. Else returns an empty span.
  std::span<const std::byte> line_input(const ConvLayer& layer, const ConvFetch& fetch) noexcept;
  // Replaces fetch(): threads copy lines when they need() them, so nothing may write to the input
  // until the layer ends.
  void open_lines(const ConvLayer& layer, const ConvFetch& fetch, std::span<const std::byte> input,
                  bool flipped);
  bool opens_lines() const noexcept { return opens_lines_; }
  // Ensures that the lines first..end of a batch are copied. If the kernels want to know, returns
  // whether any of their bytes, which are not flipped, is negative.
  bool need(const ConvLayer& layer, std::uint32_t batch, std::uint32_t first, std::uint32_t end);
  // Moves the data that the layer does not release to `cbuf`, with their sizes.
  void keep(const ConvLayer& layer, const ConvFetch& fetch, CbufState& cbuf);

  // Return the positions of a padded line, the lines of a batch, and the elements and bytes of a
  // position.
  std::uint32_t width() const noexcept { return left_ + inner_width_ + right_; }
  std::uint32_t height() const noexcept { return top_ + lines_ + bottom_; }
  // Return the distances from one output to the next, in positions and lines.
  std::uint32_t stride_width() const noexcept { return stride_x_ / held_x_; }
  std::uint32_t stride_height() const noexcept { return stride_y_ / held_y_; }
  std::uint32_t elements() const noexcept { return elements_; }
  std::size_t pixel_bytes() const noexcept { return pixel_bytes_; }
  // Returns a batch, [line][x][channel], with channels without gaps. At least kSlack readable bytes
  // follow the last one.
  const std::byte* batch(std::uint32_t number) const noexcept {
    return data_.data() + number * batch_bytes();
  }
  std::size_t batch_bytes() const noexcept { return line_bytes() * height(); }
  // Returns true if no int8 value of a batch, which must not be flipped, is negative.
  bool nonnegative(std::uint32_t batch) const noexcept;

  // Returns the NaNs and infinities among the fetched fp16 values.
  const fp::Specials& specials() const noexcept { return specials_; }

  // The last step of a run may exceed the run by this much.
  static constexpr std::size_t kSlack = kMostStep;

 private:
  // Adding 128 to a byte inverts this bit.
  static constexpr std::byte kSign{0x80};

  std::size_t line_bytes() const noexcept { return width() * pixel_bytes_; }
  std::size_t inner_bytes() const noexcept { return inner_width_ * pixel_bytes_; }
  std::size_t inner_at(std::uint32_t batch, std::uint32_t line) const noexcept {
    return batch * batch_bytes() + (top_ + line) * line_bytes() + left_ * pixel_bytes_;
  }
  std::byte* inner_line(std::uint32_t batch, std::uint32_t line) noexcept {
    return data_.data() + inner_at(batch, line);
  }
  static bool releases_all(const ConvLayer& layer, const ConvFetch& fetch) noexcept {
    return fetch.data && fetch.held_lines == 0 && !layer.keep_data && layer.release == fetch.lines;
  }
  // Returns true if neither an output nor a later layer sees the positions between strides.
  bool sees_strides_alone(const ConvLayer& layer, const ConvFetch& fetch) const noexcept;
  void lay_out(const ConvLayer& layer, bool strides_alone = false);
  void hold();  // allocates what lay_out() needs
  void fetch_lines(const ConvLayer& layer, const ConvFetch& fetch, const CbufState& cbuf);
  void fetch_behind_others(const ConvLayer& layer, const ConvFetch& fetch, const CbufState& cbuf);
  // Copies lines of all batches from the `first` on.
  void copy_lines(std::uint32_t batches, std::uint32_t first, std::uint32_t count,
                  std::vector<std::byte>& to) const;
  void pad(const ConvLayer& layer, std::uint32_t batch);
  // Copies one padded line, numbered through all batches; returns what need() does.
  bool bring(const ConvLayer& layer, std::uint32_t number) noexcept;
  void bring_cube(const ConvLayer& layer, std::uint32_t batch, std::uint32_t y,
                  std::byte* to) const noexcept;
  void bring_image(const ConvLayer& layer, std::uint32_t y, std::byte* to) const noexcept;
  // The bytes that CDMA reads of a line of a plane, and how many of them precede the first pixel.
  struct ImageRun {
    std::uint64_t bytes;
    std::size_t skip;
  };
  ImageRun image_run(const ConvLayer& layer, unsigned plane) const noexcept;
  void fetch_cube(const ConvLayer& layer, std::uint32_t batch, std::byte* first, std::size_t pitch,
                  std::size_t line_pitch);
  void fetch_image(const ConvLayer& layer, std::uint32_t first_line);
  void fetch_winograd(const ConvLayer& layer, std::uint32_t first_line);
  // Converts elements in place; they already have the size of the processing precision.
  void convert(const ConvLayer& layer, std::byte* elements, std::size_t bytes);
  void count_and_flush(const ConvLayer& layer, std::byte* elements, std::size_t bytes);

  const nvdla_hw& hw_;
  Dma& dma_;
  const Kernels& kernels_;
  Quirks quirks_;
  // The columns and lines in the buffer, and the padding that the sequencer adds around them.
  std::uint32_t inner_width_ = 0, lines_ = 0;
  std::uint32_t left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
  // The layer's strides, and the distances between the input positions that are held.
  std::uint32_t stride_x_ = 1, stride_y_ = 1, held_x_ = 1, held_y_ = 1;
  bool strides_alone_ = false;
  std::uint32_t elements_ = 0;
  std::size_t pixel_bytes_ = 0;
  std::size_t size_ = 0;               // bytes of all batches
  std::byte flip_{0};                  // XOR mask of the bytes
  const std::byte* window_ = nullptr;  // of open()
  fp::Specials specials_;
  std::vector<std::byte> data_;
  // For open_lines(): the input that threads copy lines from, the conversion, and the copied lines.
  bool opens_lines_ = false;
  const std::byte* input_ = nullptr;
  std::optional<BytePixels> pixels_of_lines_;
  ConvLines lines_there_;
  // All lines in the buffer, [batch][line][x][channel], if there are more than CSC works on.
  std::vector<std::byte> lines_in_buffer_;
  std::vector<std::byte> atoms_;  // one DMA run
  std::vector<std::byte> plane_;  // the same of a second plane
  std::vector<std::byte> cube_;   // before it is folded
  std::vector<std::uint16_t> pixels_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_DATA_HPP
