/* SPDX-License-Identifier: MIT */
/*
 * The messages between the runtime and a simulator, as docs/simulator.md
 * describes them. All numbers are little endian.
 */
#ifndef NVDLA_SIM_PROTOCOL_H
#define NVDLA_SIM_PROTOCOL_H

#define NVDLA_SIM_MAGIC		0x4d4953414c44564eull	/* "NVDLASIM" */
#define NVDLA_SIM_VERSION	1

/* Before each payload: type (u32), bytes of the payload (u32). */
#define NVDLA_SIM_HEADER_BYTES	8
#define NVDLA_SIM_MAX_DATA	65536
#define NVDLA_SIM_MAX_PAYLOAD	(NVDLA_SIM_MAX_DATA + 16)

/* Flag of HELLO and WELCOME: memory may come as file descriptors. */
#define NVDLA_SIM_FILES		1u
/* Flag of RUN: stop where the interrupt line rises. */
#define NVDLA_SIM_UNTIL_LINE	1u
/* Flag of MAP: a file descriptor comes with the message. */
#define NVDLA_SIM_WITH_FILE	1u
/* Flags of MAP: the memory interfaces that reach the memory. */
#define NVDLA_SIM_REACH_DRAM	1u
#define NVDLA_SIM_REACH_SRAM	2u

#define NVDLA_SIM_CONFIGURATION_BYTES	32
#define NVDLA_SIM_NAME_BYTES		64

enum nvdla_sim_message {
	/* from the runtime */
	NVDLA_SIM_HELLO = 1,	/* u64 magic, u32 version, u32 flags */
	NVDLA_SIM_READ = 2,	/* u32 offset */
	NVDLA_SIM_WRITE = 3,	/* u32 offset, u32 value; again and again */
	NVDLA_SIM_RUN = 4,	/* u64 cycles, u32 flags, u32 0 */
	NVDLA_SIM_RESET = 5,	/* nothing */
	NVDLA_SIM_MAP = 6,	/* u64 address, u64 bytes, u32 reach, u32 flags */
	NVDLA_SIM_UNMAP = 7,	/* u64 address */
	NVDLA_SIM_DATA = 8,	/* the bytes of FETCH */

	/* from the simulator */
	NVDLA_SIM_WELCOME = 101, /* u64 magic, u32 version, u32 flags, names */
	NVDLA_SIM_ANSWER = 102,	/* u64 cycle, u32 value, u32 line */
	NVDLA_SIM_ALIVE = 103,	/* u64 cycle */
	NVDLA_SIM_FETCH = 104,	/* u64 address, u32 memory, u32 bytes */
	NVDLA_SIM_STORE = 105,	/* u64 address, u32 memory, u32 bytes, bytes */
	NVDLA_SIM_REFUSED = 106, /* u64 address, u32 memory, u32 is a write */
	NVDLA_SIM_FAILED = 107,	/* text */
};

#endif /* NVDLA_SIM_PROTOCOL_H */
