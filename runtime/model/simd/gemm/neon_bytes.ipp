// SPDX-License-Identifier: MIT
//
// Activations of int8 for NEON, included by translation units into an unnamed namespace.

[[maybe_unused]] static inline int8x16_t load_bytes(const uint8_t* from) {
  return vreinterpretq_s8_u8(vld1q_u8(from));
}

// A step's four bytes, wherever they begin, in all fours of a register.
[[maybe_unused]] static inline int8x16_t spread_step(const uint8_t* from) {
  uint32_t four;
  __builtin_memcpy(&four, from, sizeof(four));
  return vreinterpretq_s8_u32(vdupq_n_u32(four));
}
