/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The only header that firmware/ takes from outside, besides uapi: fixed-width
 * types and the handful of helpers that replace a C library. In the kernel
 * they are the kernel's own.
 */
#ifndef NVDLA_FIRMWARE_TYPES_H
#define NVDLA_FIRMWARE_TYPES_H

#ifdef __KERNEL__

#include <linux/overflow.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#ifndef __cplusplus
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define check_add_overflow(a, b, d) __builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d) __builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d) __builtin_mul_overflow(a, b, d)
#endif

#endif

#endif /* NVDLA_FIRMWARE_TYPES_H */
