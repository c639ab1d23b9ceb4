/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device for KUnit suites: a few registers that each test moves by hand. A
 * test ends a layer, and moves the clock.
 */
#ifndef NVDLA_TEST_FAKE_H
#define NVDLA_TEST_FAKE_H

#include <linux/device.h>
#include <linux/dma-fence.h>

#include "../nvdla_context.h"
#include "../nvdla_device.h"
#include "../nvdla_job.h"
#include "../nvdla_user.h"
#include "nvdla_test.h"

#define CONTEXTS	8
#define SHORT_NS	(50 * NSEC_PER_USEC)
#define LONG_NS		(20 * NSEC_PER_MSEC)

/** struct fake - the device, its users and what becomes of it */
struct fake {
	struct nvdla_device ndev;
	struct device dev;
	struct nvdla_context contexts[CONTEXTS];
	/* each context is a user's own unless a test moves it to another */
	struct nvdla_client clients[CONTEXTS];
	struct nvdla_user users[CONTEXTS];
	u64 now;

	/* the device: what is enabled, and whose turn it is, of SDP */
	u32 *regs;
	u32 producer;
	u32 consumer;
	u32 enabled;
	u32 layers;
	bool gone;
	bool isolated;

	/* what becomes of the resets that come, and how many worked */
	int reset_result;
	u32 reset_contended;
	u32 resets;
};

extern const struct nvdla_bus_ops fake_bus_ops;
extern const struct nvdla_bus_ops fake_soc_bus_ops;

struct fake *fake_create(struct kunit *test,
			 const struct nvdla_bus_ops *bus_ops);
void fake_destroy(struct fake *fake);
void fake_set_up(struct fake *fake);
void fake_interrupt(struct fake *fake);
void fake_hang(struct kunit *test);
void fake_recover(struct fake *fake);
void share_user(struct fake *fake, u32 index, u32 owner);
u32 running_context(struct fake *fake);

struct nvdla_submission *job_create(struct kunit *test, u32 index, u32 layers);
struct nvdla_submission *job_start(struct kunit *test, u32 index, u32 layers);
void job_ready(struct nvdla_submission *job);
int status_of(struct nvdla_submission *job);
void layer_end(struct kunit *test);
void layer_takes(struct kunit *test, u64 ns);

#endif /* NVDLA_TEST_FAKE_H */
