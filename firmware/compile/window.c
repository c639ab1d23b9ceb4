// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A kernel that moves over a padded input, in one direction: how many results
 * that gives. Whatever is left over when the kernel has moved would never be
 * consumed, so the division must be exact.
 */
#include "compile.h"

/* Width and height of the output are registers of 13 bits. */
#define MAX_OUTPUT	8192

int nvdla_check_window(struct nvdla_compile *c, const struct nvdla_window *w,
		       u32 *out)
{
	const u32 kernel = (w->kernel - 1) * w->dilation + 1;
	const u32 padded = w->before + w->size + w->after;

	if (w->before >= kernel)
		return nvdla_refuse(c, NVDLA_RULE_PADDING, w->before_field,
				    w->before, 0, (s64)kernel - 1);
	if (w->after >= kernel)
		return nvdla_refuse(c, NVDLA_RULE_PADDING, w->after_field,
				    w->after, 0, (s64)kernel - 1);
	if (padded < kernel)
		return nvdla_refuse(c, NVDLA_RULE_KERNEL_FITS, w->kernel_field,
				    padded, kernel, 0);
	if ((padded - kernel) % w->stride) {
		nvdla_refuse(c, NVDLA_RULE_EXACT_DIVISION, w->stride_field,
			     padded - kernel, 0, 0);
		c->error->multiple = w->stride;
		return -1;
	}
	*out = (padded - kernel) / w->stride + 1;
	if (*out > MAX_OUTPUT)
		return nvdla_refuse(c, NVDLA_RULE_OUTPUT_SIZE, w->size_field,
				    *out, 1, MAX_OUTPUT);
	return 0;
}
