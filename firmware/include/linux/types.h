/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Types of the uapi headers for who compiles without Linux' own headers:
 * freestanding, or for another system. Its folder goes into the search path.
 */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

#include <stdint.h>

typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef int32_t __s32;
typedef uint64_t __u64;
typedef int64_t __s64;

#endif /* _LINUX_TYPES_H */
