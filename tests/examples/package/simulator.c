// SPDX-License-Identifier: MIT
/*
 * The smallest simulator: all registers are zero, and time passes. It listens
 * and ends.
 */
#include <nvdla_sim.h>
#include <stdio.h>

static uint64_t now;

static uint32_t csb_read(void *context, uint32_t offset)
{
	(void)context;
	(void)offset;
	return 0;
}

static void csb_write(void *context, uint32_t offset, uint32_t value)
{
	(void)context;
	(void)offset;
	(void)value;
}

static void run(void *context, uint64_t cycles)
{
	(void)context;
	now += cycles;
}

static uint64_t cycle(void *context)
{
	(void)context;
	return now;
}

static int interrupt(void *context)
{
	(void)context;
	return 0;
}

static void reset(void *context)
{
	(void)context;
}

int main(int argc, char **argv)
{
	static const struct nvdla_sim_callbacks callbacks = {
		.csb_read = csb_read,
		.csb_write = csb_write,
		.run = run,
		.cycle = cycle,
		.interrupt = interrupt,
		.reset = reset,
	};
	struct nvdla_sim *sim;
	int failed;

	if (argc != 2)
		return 2;
	sim = nvdla_sim_open(argv[1], NULL, &callbacks, NULL);
	failed = !sim || nvdla_sim_error(sim)[0];
	printf("simulator: %s\n", failed ? "cannot listen" : "listens");
	nvdla_sim_close(sim);
	return failed;
}
