// SPDX-License-Identifier: MIT
//
// Loops of the convolution in integers that the compiler vectorises, included by each instruction
// set's translation unit into an unnamed namespace. Numbers as in the description of the datapath.

// Of signed activations.
[[maybe_unused]] static void loop_depthwise(const DepthwiseTile& tile) {
  for (unsigned position = 0; position < tile.count; ++position) {
    uint32_t sums[kBlock];
    for (unsigned k = 0; k < kBlock; ++k) sums[k] = static_cast<uint32_t>(tile.starts[k]);
    for (unsigned quad = 0; quad < tile.quads; ++quad)
      for (unsigned i = 0; i < 4; ++i) {
        const uint8_t* data = tile.bases[position] + tile.taps[quad * 4 + i];
        const int8_t* weights = tile.weights + size_t{quad} * kBlock * 4 + i;
        for (unsigned k = 0; k < kBlock; ++k)
          sums[k] += static_cast<uint32_t>(static_cast<int8_t>(data[k]) * weights[k * 4]);
      }
    for (unsigned k = 0; k < kBlock; ++k)
      tile.sums[position * kBlock + k] = static_cast<int32_t>(sums[k]);
  }
}

[[maybe_unused]] static void loop_wide(const WideTile& tile) {
  for (unsigned position = 0; position < tile.count; ++position) {
    int64_t sums[kBlock] = {};
    const int16_t* weights = tile.weights;
    for (unsigned run = 0; run < tile.run_count; ++run) {
      const int16_t* data = tile.data + tile.bases[position] + tile.runs[run];
      for (unsigned pair = 0; pair < 2 * tile.steps; ++pair, data += 2, weights += 2 * kBlock)
        for (unsigned k = 0; k < kBlock; ++k)
          sums[k] += int64_t{weights[2 * k] * data[0]} + weights[2 * k + 1] * data[1];
    }
    for (unsigned k = 0; k < kBlock; ++k) tile.sums[position * kBlock + k] = sums[k];
  }
}

static uint32_t loop_wide_clip(const int64_t* sums, unsigned count, const WideClip& clip,
                               int32_t* values) {
  const int64_t half = clip.rounded == 0 ? 0 : int64_t{1} << (clip.rounded - 1);
  const int64_t low = -clip.limit - 1, high = clip.limit;
  uint32_t saturated = 0;
  for (unsigned i = 0; i < count * kBlock; ++i) {
    int64_t sum = sums[i];
    sum = sum < low ? low : sum > high ? high : sum;
    const int64_t kept = sum >> clip.dropped;
    // Half away from zero is half up, less the last bit where the sum is negative.
    const int64_t rounded =
        clip.rounded == 0 ? kept : (kept + half - (kept < 0 ? 1 : 0)) >> clip.rounded;
    const int64_t value = rounded < INT32_MIN   ? INT32_MIN
                          : rounded > INT32_MAX ? INT32_MAX
                                                : rounded;
    saturated += value != rounded;
    values[i] = static_cast<int32_t>(value);
  }
  return saturated;
}

static void loop_clip(int32_t* values, unsigned count, unsigned shift) {
  if (shift == 0) return;
  const uint32_t half = uint32_t{1} << (shift - 1);
  for (unsigned i = 0; i < count * kBlock; ++i) {
    const int32_t value = values[i];
    const uint32_t magnitude =
        value < 0 ? 0u - static_cast<uint32_t>(value) : static_cast<uint32_t>(value);
    const uint32_t rounded = (magnitude + half) >> shift;
    values[i] = static_cast<int32_t>(value < 0 ? 0u - rounded : rounded);
  }
}
