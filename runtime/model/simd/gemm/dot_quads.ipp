// SPDX-License-Identifier: MIT
//
// What depthwise.ipp wants, by dot products of unsigned with signed bytes: included behind it and
// behind avxvnni_dots.hpp.

template <unsigned kCount>
class DotQuads {
 public:
  static constexpr unsigned kPositions = kCount;
  explicit DotQuads(__m256i weights) : weights_(weights) {}
  __m256i add(__m256i sums, __m256i activations) const {
    return NVDLA_DPBUSD(sums, activations, weights_);
  }

 private:
  __m256i weights_;
};
