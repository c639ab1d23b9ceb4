/* SPDX-License-Identifier: MIT */
/*
 * A simulation of NVDLA links this library to serve as the runtime's device
 * "sim:PATH". Plain C, no dependency; docs/simulator.md has an example.
 *
 * The simulator listens, and the runtime connects. Between two messages the
 * simulation stands still: time passes only in the callbacks, so a run is the
 * same each time. All calls come from the thread that calls nvdla_sim_serve().
 */
#ifndef NVDLA_SIM_H
#define NVDLA_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum nvdla_sim_memory - the memory interface of an access */
enum nvdla_sim_memory {
	NVDLA_SIM_DRAM = 0,	/* DBBIF, the primary one */
	NVDLA_SIM_SRAM = 1,	/* the secondary one, where it is built */
};

/** struct nvdla_sim_callbacks - the simulated core, as its pins show it */
struct nvdla_sim_callbacks {
	/** @csb_read: read a register, byte offset; may let time pass */
	uint32_t (*csb_read)(void *context, uint32_t offset);
	/** @csb_write: until the bus has taken it; may let time pass */
	void (*csb_write)(void *context, uint32_t offset, uint32_t value);
	/**
	 * @run: let time pass: one clock cycle at least, and no more than
	 * @cycles. Ends early when the interrupt line rises.
	 */
	void (*run)(void *context, uint64_t cycles);
	/** @cycle: how many clock cycles have passed; never falls */
	uint64_t (*cycle)(void *context);
	/** @interrupt: level of the interrupt line, not 0 if it is up */
	int (*interrupt)(void *context);
	/** @reset: drive the reset line for as long as the core needs */
	void (*reset)(void *context);
};

/** struct nvdla_sim_options - how the simulator identifies itself */
struct nvdla_sim_options {
	/** @configuration: "nv_small", ...; NULL lets the user name it */
	const char *configuration;
	/** @name: name of the simulator, for messages; NULL for none */
	const char *name;
	/** @only_messages: do not share memory, as with another machine */
	int only_messages;
};

struct nvdla_sim;

/**
 * nvdla_sim_open() - listen at a path of the file system
 * @path: path of the socket; a stale socket is replaced. The socket appears
 *	when a user can connect, so that a script may wait for it
 * @options: NULL for none; not kept
 * @callbacks: kept, must live until nvdla_sim_close()
 * @context: handed to them
 *
 * Return: NULL if there is no memory; else a handle, whose nvdla_sim_error()
 * says what is wrong, if anything.
 */
struct nvdla_sim *nvdla_sim_open(const char *path,
				 const struct nvdla_sim_options *options,
				 const struct nvdla_sim_callbacks *callbacks,
				 void *context);

/**
 * nvdla_sim_serve() - wait for one user and serve it until it leaves
 *
 * Return: 0 when it left as it should, -1 with nvdla_sim_error() otherwise. In
 * both cases the next one may be served.
 */
int nvdla_sim_serve(struct nvdla_sim *sim);

/** nvdla_sim_error() - what went wrong, "" if nothing did */
const char *nvdla_sim_error(const struct nvdla_sim *sim);

/** nvdla_sim_close() - stop listening, and remove the socket */
void nvdla_sim_close(struct nvdla_sim *sim);

/*
 * The widest beat of a memory interface in bytes. Beats are aligned, and those
 * at the ends of a buffer reach beyond it: nv_full reads 64 bytes where the
 * buffer has 32 left, and writes 64 of which it strobes 32. A harness cannot
 * know where buffers end, so it passes on what the core asks for.
 */
#define NVDLA_SIM_BEAT	64

/**
 * nvdla_sim_read() - serve a read of the core's memory interface
 *
 * From callbacks only. Any size; AXI bursts come as one access or as several.
 * Bytes that are no memory of the device read as 0 where a beat brings them
 * along: where other bytes of the access in the same aligned NVDLA_SIM_BEAT
 * bytes are memory.
 *
 * Return: 0, or -1 if the access has a beat without any memory of the device:
 * answer with DECERR. The runtime is told.
 */
int nvdla_sim_read(struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		   uint64_t address, void *data, size_t bytes);

/**
 * nvdla_sim_write() - serve a write of the core's memory interface
 * @strobe: a bit for each byte, from the lowest one of strobe[0]; NULL: all
 *
 * Bytes without a strobe need not be memory, if a beat brings them along as in
 * nvdla_sim_read().
 *
 * Return: 0, or -1 if a byte with a strobe, or all of a beat, is no memory of
 * the device: nothing is written then; answer with DECERR. The runtime is told.
 */
int nvdla_sim_write(struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		    uint64_t address, const void *data, size_t bytes,
		    const uint8_t *strobe);

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_SIM_H */
