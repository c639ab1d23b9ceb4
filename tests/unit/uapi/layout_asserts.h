/* SPDX-License-Identifier: MIT */
/*
 * Asserts of layout.inc, for C11 and C++20, hosted or not: included in each
 * translation unit that is to agree on one layout.
 */
#include <stddef.h>

#include <drm/nvdla_layer.h>

#ifndef __cplusplus
#define static_assert _Static_assert
#endif

#define VALUE(name, value) static_assert((name) == (value), "value of " #name);
#define STRUCT(type, bytes) static_assert(sizeof(struct type) == (bytes), "size of " #type);
#define MEMBER(type, member, at, bytes)                                                       \
  static_assert(offsetof(struct type, member) == (at), "offset of " #type "." #member); \
  static_assert(sizeof(((struct type *)0)->member) == (bytes), "size of " #type "." #member);
#include "layout.inc"
#undef VALUE
#undef STRUCT
#undef MEMBER
