// SPDX-License-Identifier: MIT
//
// The register tile of fp32 convolution, included by each instruction set's translation unit into
// an unnamed namespace. Vector has the set's instructions: kLanes, Register, zero(), load(),
// spread(), fma() and store().

// Positions from the `first` on and two registers of kernels. A function of its own, or the
// compiler runs out of registers.
template <typename Vector, unsigned kCount>
[[gnu::noinline]] static void float_part(const FloatTile& tile, unsigned first, unsigned kernel) {
  typename Vector::Register low[kCount], high[kCount];
#pragma GCC unroll 14
  for (unsigned p = 0; p < kCount; ++p) low[p] = high[p] = Vector::zero();
  const float* weights = tile.weights + kernel;
  for (unsigned run = 0; run < tile.run_count; ++run) {
    const float* data[kCount];
#pragma GCC unroll 14
    for (unsigned p = 0; p < kCount; ++p)
      data[p] = tile.data + tile.bases[first + p] + tile.runs[run];
    for (size_t i = 0; i < tile.elements; ++i, weights += kBlock) {
      const auto w0 = Vector::load(weights);
      const auto w1 = Vector::load(weights + Vector::kLanes);
#pragma GCC unroll 14
      for (unsigned p = 0; p < kCount; ++p) {
        const auto a = Vector::spread(data[p] + i);
        low[p] = Vector::fma(a, w0, low[p]);
        high[p] = Vector::fma(a, w1, high[p]);
      }
    }
  }
#pragma GCC unroll 14
  for (unsigned p = 0; p < kCount; ++p) {
    float* const sums = tile.sums + (first + p) * kBlock + kernel;
    Vector::store(sums, low[p]);
    Vector::store(sums + Vector::kLanes, high[p]);
  }
}

// `kMost` positions at once, of the rest `kFew`, then one.
template <typename Vector, unsigned kMost, unsigned kFew>
static void float_tile(const FloatTile& tile) {
  for (unsigned kernel = 0; kernel < kBlock; kernel += 2 * Vector::kLanes) {
    unsigned first = 0;
    for (; first + kMost <= tile.count; first += kMost)
      float_part<Vector, kMost>(tile, first, kernel);
    for (; first + kFew <= tile.count; first += kFew) float_part<Vector, kFew>(tile, first, kernel);
    for (; first < tile.count; ++first) float_part<Vector, 1>(tile, first, kernel);
  }
}
