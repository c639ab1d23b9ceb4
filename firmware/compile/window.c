// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A kernel that moves over a padded input, in one direction: how many results
 * that gives, and what is left over behind its last position.
 */
#include "compile.h"

/* Width and height of the output are registers of 13 bits. */
#define MAX_OUTPUT	8192

static u32 dilated(const struct nvdla_window *w)
{
	return (w->kernel - 1) * w->dilation + 1;
}

/* No position of the kernel lies in the padding as a whole. */
int nvdla_check_padding(struct nvdla_compile *c, const struct nvdla_window *w)
{
	const u32 kernel = dilated(w);

	if (w->before >= kernel)
		return nvdla_refuse(c, NVDLA_RULE_PADDING, w->before_field,
				    w->before, 0, (s64)kernel - 1);
	if (w->after >= kernel)
		return nvdla_refuse(c, NVDLA_RULE_PADDING, w->after_field,
				    w->after, 0, (s64)kernel - 1);
	return 0;
}

/* The kernel fits, and what comes out can be counted. */
int nvdla_check_window(struct nvdla_compile *c, const struct nvdla_window *w,
		       u32 *out)
{
	const u32 kernel = dilated(w);
	const u32 padded = w->before + w->size + w->after;

	if (padded < kernel)
		return nvdla_refuse(c, NVDLA_RULE_KERNEL_FITS, w->kernel_field,
				    padded, kernel, 0);
	*out = (padded - kernel) / w->stride + 1;
	if (*out > MAX_OUTPUT)
		return nvdla_refuse(c, NVDLA_RULE_OUTPUT_SIZE, w->size_field,
				    *out, 1, MAX_OUTPUT);
	return 0;
}

/* Behind the last position of a kernel that fits; less than a stride. */
u32 nvdla_window_rest(const struct nvdla_window *w)
{
	return (w->before + w->size + w->after - dilated(w)) % w->stride;
}
