// SPDX-License-Identifier: MIT
//
// The activations of one convolution: what CDMA brings (feature cubes, images, cubes folded for
// Winograd; converted, NaNs flushed and counted) and what the convolution buffer still holds, laid
// out with its padding so that the multipliers' loops see runs of consecutive elements.
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

  // `flipped`: 128 is added to each byte, as MacForm::biased says.
  void fetch(const ConvLayer& layer, const ConvFetch& fetch, const CbufState& cbuf, bool flipped);
  // Where int8 lies open of which each output sees one position, and which no later layer finds in
  // the buffer; empty where there is none such.
  std::span<const std::byte> open_input(const ConvLayer& layer, const ConvFetch& fetch) noexcept;
  // In place of fetch(): nothing is copied but by gather(), so until the layer ends nobody may
  // write there.
  void open(const ConvLayer& layer, std::span<const std::byte> input, bool flipped);
  bool is_open() const noexcept { return window_ != nullptr; }
  // What outputs see, `count` of them in raster order, side by side.
  void gather(const ConvLayer& layer, std::uint32_t first, std::uint32_t count,
              std::byte* to) const noexcept;
  // Where int8 of a cube or an image of one plane lies open that no later layer finds in the
  // buffer, apart from what other layers left there; empty where there is none such.
  std::span<const std::byte> line_input(const ConvLayer& layer, const ConvFetch& fetch) noexcept;
  // In place of fetch(): threads copy lines when they need() them, so until the layer ends nobody
  // may write there.
  void open_lines(const ConvLayer& layer, const ConvFetch& fetch, std::span<const std::byte> input,
                  bool flipped);
  bool opens_lines() const noexcept { return opens_lines_; }
  // Lines of a batch are there from now on, from the `first` to `end`; returns whether any byte of
  // them, which are not flipped, is negative, if the kernels want to know.
  bool need(const ConvLayer& layer, std::uint32_t batch, std::uint32_t first, std::uint32_t end);
  // Hands what the layer does not release to `cbuf`, sizes included.
  void keep(const ConvLayer& layer, const ConvFetch& fetch, CbufState& cbuf);

  // Positions of a padded line, lines of a batch, elements and bytes of a position.
  std::uint32_t width() const noexcept { return left_ + inner_width_ + right_; }
  std::uint32_t height() const noexcept { return top_ + lines_ + bottom_; }
  // From one output to the next, in these.
  std::uint32_t stride_width() const noexcept { return stride_x_ / held_x_; }
  std::uint32_t stride_height() const noexcept { return stride_y_ / held_y_; }
  std::uint32_t elements() const noexcept { return elements_; }
  std::size_t pixel_bytes() const noexcept { return pixel_bytes_; }
  // [line][x][channel], channels without gaps; at least kSlack readable bytes follow the last.
  const std::byte* batch(std::uint32_t number) const noexcept {
    return data_.data() + number * batch_bytes();
  }
  std::size_t batch_bytes() const noexcept { return line_bytes() * height(); }
  // Whether no int8 of a batch, which is not flipped, is negative.
  bool nonnegative(std::uint32_t batch) const noexcept;

  // Of what was fetched as fp16.
  const fp::Specials& specials() const noexcept { return specials_; }

  // A run's last step may not be full.
  static constexpr std::size_t kSlack = kMostStep;

 private:
  // What biased activations differ by.
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
  // Whether no output sees what lies between the positions that are strides apart, nor a later
  // layer.
  bool sees_strides_alone(const ConvLayer& layer, const ConvFetch& fetch) const noexcept;
  void lay_out(const ConvLayer& layer, bool strides_alone = false);
  void hold();  // makes room for what was laid out
  void fetch_lines(const ConvLayer& layer, const ConvFetch& fetch, const CbufState& cbuf);
  void fetch_behind_others(const ConvLayer& layer, const ConvFetch& fetch, const CbufState& cbuf);
  // Lines of all batches from the `first` on.
  void copy_lines(std::uint32_t batches, std::uint32_t first, std::uint32_t count,
                  std::vector<std::byte>& to) const;
  void pad(const ConvLayer& layer, std::uint32_t batch);
  // Of padded lines of all batches; returns what need() does.
  bool bring(const ConvLayer& layer, std::uint32_t number) noexcept;
  void bring_cube(const ConvLayer& layer, std::uint32_t batch, std::uint32_t y,
                  std::byte* to) const noexcept;
  void bring_image(const ConvLayer& layer, std::uint32_t y, std::byte* to) const noexcept;
  // Bytes that CDMA reads of a line of a plane, and which is the first that is wanted.
  struct ImageRun {
    std::uint64_t bytes;
    std::size_t skip;
  };
  ImageRun image_run(const ConvLayer& layer, unsigned plane) const noexcept;
  void fetch_cube(const ConvLayer& layer, std::uint32_t batch, std::byte* first, std::size_t pitch,
                  std::size_t line_pitch);
  void fetch_image(const ConvLayer& layer, std::uint32_t first_line);
  void fetch_winograd(const ConvLayer& layer, std::uint32_t first_line);
  // In place, in the processing precision's size.
  void convert(const ConvLayer& layer, std::byte* elements, std::size_t bytes);
  void count_and_flush(const ConvLayer& layer, std::byte* elements, std::size_t bytes);

  const nvdla_hw& hw_;
  Dma& dma_;
  const Kernels& kernels_;
  Quirks quirks_;
  // What the buffer holds of a line and what the sequencer adds around it.
  std::uint32_t inner_width_ = 0, lines_ = 0;
  std::uint32_t left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
  // The layer's strides, and those between the positions of the input that are held.
  std::uint32_t stride_x_ = 1, stride_y_ = 1, held_x_ = 1, held_y_ = 1;
  bool strides_alone_ = false;
  std::uint32_t elements_ = 0;
  std::size_t pixel_bytes_ = 0;
  std::size_t size_ = 0;               // of all batches
  std::byte flip_{0};                  // what bytes differ by from what they stand for
  const std::byte* window_ = nullptr;  // of what is open
  fp::Specials specials_;
  std::vector<std::byte> data_;
  // What threads copy lines from, how they convert them, and the lines.
  bool opens_lines_ = false;
  const std::byte* input_ = nullptr;
  std::optional<BytePixels> pixels_of_lines_;
  ConvLines lines_there_;
  // All lines in the buffer, [batch][line][x][channel], where these are more than CSC works on.
  std::vector<std::byte> lines_in_buffer_;
  std::vector<std::byte> atoms_;  // one DMA run
  std::vector<std::byte> plane_;  // the same of a second plane
  std::vector<std::byte> cube_;   // before it is folded
  std::vector<std::uint16_t> pixels_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CONV_CONV_DATA_HPP
