/* SPDX-License-Identifier: MIT */
/* The asserts as C11; layout_test.cpp has them as C++20. */
#include "layout_asserts.h"
