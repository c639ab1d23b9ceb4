/* SPDX-License-Identifier: MIT */
/* Definitions that the files of the library share. */
#ifndef NVDLA_SIM_INTERNAL_H
#define NVDLA_SIM_INTERNAL_H

#include "nvdla_sim.h"
#include "nvdla_sim_protocol.h"

#define ERROR_BYTES	256
/* Limit on the regions of one user. */
#define MAX_REGIONS	65536u
/*
 * Limit on how long a user may take to send or receive the rest of a message;
 * between requests there is no limit.
 */
#define PATIENCE_MS	60000

struct region {
	uint64_t address;
	uint64_t bytes;
	uint32_t reach;
	unsigned char *data;	/* NULL: only the runtime has the bytes */
};

struct nvdla_sim {
	const struct nvdla_sim_callbacks *callbacks;
	void *context;
	char configuration[NVDLA_SIM_CONFIGURATION_BYTES];
	char name[NVDLA_SIM_NAME_BYTES];
	int only_messages;
	char *path;
	int listener;
	int user;		/* -1: no user is connected */
	int broken;		/* nothing more can be sent to the user */
	char error[ERROR_BYTES];

	struct region *regions;	/* by address */
	size_t count;
	size_t room;

	int file;		/* came with the message, -1: none */
	uint32_t type;
	uint32_t bytes;
	unsigned char payload[NVDLA_SIM_MAX_PAYLOAD];
};

static inline uint32_t get32(const unsigned char *bytes)
{
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static inline uint64_t get64(const unsigned char *bytes)
{
	return get32(bytes) | (uint64_t)get32(bytes + 4) << 32;
}

static inline void put32(unsigned char *bytes, uint32_t value)
{
	bytes[0] = (unsigned char)value;
	bytes[1] = (unsigned char)(value >> 8);
	bytes[2] = (unsigned char)(value >> 16);
	bytes[3] = (unsigned char)(value >> 24);
}

static inline void put64(unsigned char *bytes, uint64_t value)
{
	put32(bytes, (uint32_t)value);
	put32(bytes + 4, (uint32_t)(value >> 32));
}

/* Keeps the first error of a user. Always returns -1. */
int nvdla_sim_fail(struct nvdla_sim *sim, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Return 0, or -1 with an error. */
int nvdla_sim_send(struct nvdla_sim *sim, uint32_t type, const void *payload,
	     size_t bytes);
int nvdla_sim_send2(struct nvdla_sim *sim, uint32_t type, const void *head,
	      size_t head_bytes, const void *data, size_t data_bytes);
/*
 * Waits @patience_ms for the message to begin, -1 without limit. Returns 1 if
 * there is a message, 0 if the user left between two messages, -1 on an error.
 */
int nvdla_sim_receive(struct nvdla_sim *sim, int patience_ms);

/* Handle the received MAP or UNMAP. Return 0, or -1 with an error. */
int nvdla_sim_map(struct nvdla_sim *sim);
int nvdla_sim_unmap(struct nvdla_sim *sim);
void nvdla_sim_forget_memory(struct nvdla_sim *sim);

#endif /* NVDLA_SIM_INTERNAL_H */
