// SPDX-License-Identifier: MIT
/*
 * The device's memory, as the runtime announced it: shared, or fetched and
 * stored by messages.
 */
#define _GNU_SOURCE
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The place of the first region that begins behind @address. */
static size_t place_behind(const struct nvdla_sim *sim, uint64_t address)
{
	size_t low = 0, high = sim->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sim->regions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct region *find(const struct nvdla_sim *sim, uint64_t address)
{
	size_t place = place_behind(sim, address);
	struct region *region;

	if (!place)
		return NULL;
	region = &sim->regions[place - 1];
	return address - region->address < region->bytes ? region : NULL;
}

static int has_file(struct nvdla_sim *sim, uint64_t bytes)
{
	struct stat file;
	int seals;

	if (sim->file < 0)
		return nvdla_sim_fail(sim, "MAP: the file did not come with it");
	/* A user that shortens it later would end this process with a signal. */
	seals = fcntl(sim->file, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return nvdla_sim_fail(sim,
				"MAP: the file can be made shorter: seal it with F_SEAL_SHRINK");
	/* Beyond the end of a file are no bytes, but a signal. */
	if (fstat(sim->file, &file) || file.st_size < 0 ||
	    (uint64_t)file.st_size < bytes)
		return nvdla_sim_fail(sim, "MAP: the file is shorter than %llu bytes",
				(unsigned long long)bytes);
	return 0;
}

static int make_room(struct nvdla_sim *sim)
{
	struct region *more;

	if (sim->count < sim->room)
		return 0;
	if (sim->count >= MAX_REGIONS)
		return nvdla_sim_fail(sim, "MAP: there are %u regions, more cannot be",
				MAX_REGIONS);
	more = realloc(sim->regions, (2 * sim->room + 16) * sizeof(*more));
	if (!more)
		return nvdla_sim_fail(sim, "MAP: no memory");
	sim->regions = more;
	sim->room = 2 * sim->room + 16;
	return 0;
}

int nvdla_sim_map(struct nvdla_sim *sim)
{
	struct region region = { 0 };
	size_t place;
	uint32_t flags;

	if (sim->bytes != 24)
		return nvdla_sim_fail(sim, "MAP has 24 bytes, not %u", sim->bytes);
	region.address = get64(sim->payload);
	region.bytes = get64(sim->payload + 8);
	region.reach = get32(sim->payload + 16);
	flags = get32(sim->payload + 20);
	place = place_behind(sim, region.address);
	if (!region.bytes || region.bytes - 1 > UINT64_MAX - region.address ||
	    region.bytes > SIZE_MAX / 2 || find(sim, region.address) ||
	    (place < sim->count &&
	     sim->regions[place].address - region.address < region.bytes))
		return nvdla_sim_fail(sim, "MAP: %llu bytes at %#llx cannot be, or are there",
				(unsigned long long)region.bytes,
				(unsigned long long)region.address);
	if (make_room(sim))
		return -1;
	if (flags & NVDLA_SIM_WITH_FILE) {
		void *data;

		if (has_file(sim, region.bytes))
			return -1;
		data = mmap(NULL, (size_t)region.bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED, sim->file, 0);
		if (data == MAP_FAILED)
			return nvdla_sim_fail(sim, "MAP: %s", strerror(errno));
		region.data = data;
	}
	memmove(sim->regions + place + 1, sim->regions + place,
		(sim->count - place) * sizeof(region));
	sim->regions[place] = region;
	sim->count++;
	return 0;
}

static void release(const struct region *region)
{
	if (region->data)
		munmap(region->data, (size_t)region->bytes);
}

int nvdla_sim_unmap(struct nvdla_sim *sim)
{
	struct region *region;
	uint64_t address;

	if (sim->bytes != 8)
		return nvdla_sim_fail(sim, "UNMAP has 8 bytes, not %u", sim->bytes);
	address = get64(sim->payload);
	region = find(sim, address);
	if (!region || region->address != address)
		return nvdla_sim_fail(sim, "UNMAP: nothing begins at %#llx",
				(unsigned long long)address);
	release(region);
	sim->count--;
	memmove(region, region + 1,
		(size_t)(sim->regions + sim->count - region) * sizeof(*region));
	return 0;
}

void nvdla_sim_forget_memory(struct nvdla_sim *sim)
{
	while (sim->count)
		release(&sim->regions[--sim->count]);
}

/*
 * Returns how many bytes from @address on, @bytes at most, are alike: memory of
 * *region that the interface reaches, or, where that is NULL, no memory.
 */
static size_t extent(const struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		     uint64_t address, size_t bytes, struct region **region)
{
	uint32_t bit = memory == NVDLA_SIM_SRAM ? NVDLA_SIM_REACH_SRAM :
						  NVDLA_SIM_REACH_DRAM;
	size_t place = place_behind(sim, address);
	uint64_t left = bytes;

	*region = find(sim, address);
	if (*region) {
		left = (*region)->bytes - (address - (*region)->address);
		if (!((*region)->reach & bit))
			*region = NULL;
	} else if (place < sim->count) {
		left = sim->regions[place].address - address;
	}
	return left < bytes ? (size_t)left : bytes;
}

static int has_memory(const struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		      uint64_t address, size_t bytes)
{
	while (bytes) {
		struct region *region;
		size_t alike = extent(sim, memory, address, bytes, &region);

		if (region)
			return 1;
		address += alike;
		bytes -= alike;
	}
	return 0;
}

static int strobed(const uint8_t *strobe, size_t byte)
{
	return !strobe || strobe[byte / 8] >> (byte % 8) & 1;
}

/*
 * Looks for the first byte of an access that cannot be: one of a beat without
 * any memory, or one that is written and is no memory. Returns its place, or
 * @bytes if there is none. The other bytes of a beat come along.
 */
static size_t find_stray(const struct nvdla_sim *sim,
			 enum nvdla_sim_memory memory, uint64_t address,
			 size_t bytes, int write, const uint8_t *strobe)
{
	size_t at = 0;

	if (bytes && bytes - 1 > UINT64_MAX - address)
		return 0;
	while (at < bytes) {
		struct region *region;
		size_t alike = extent(sim, memory, address + at, bytes - at,
				      &region);
		size_t before, begin, end, i;

		if (region) {
			at += alike;
			continue;
		}
		for (i = at; write && i < at + alike; i++)
			if (strobed(strobe, i))
				return i;
		/* The beat around this byte, as far as it is accessed. */
		before = (size_t)((address + at) % NVDLA_SIM_BEAT);
		begin = at > before ? at - before : 0;
		end = at - before + NVDLA_SIM_BEAT;
		end = end < bytes ? end : bytes;
		if (!has_memory(sim, memory, address + begin, end - begin))
			return at;
		/* Further beats of the gap, or what is behind it. */
		at = end < at + alike ? end : at + alike;
	}
	return bytes;
}

/* 0 if the access can be; tells the user if not. */
static int check(struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		 uint64_t address, size_t bytes, int write,
		 const uint8_t *strobe)
{
	unsigned char told[16];
	size_t stray;

	if (sim->user < 0)
		return -1;
	stray = find_stray(sim, memory, address, bytes, write, strobe);
	if (stray == bytes)
		return 0;
	put64(told, address + stray);
	put32(told + 8, memory);
	put32(told + 12, write ? 1 : 0);
	nvdla_sim_send(sim, NVDLA_SIM_REFUSED, told, sizeof(told));
	return -1;
}

static void put_place(unsigned char *head, enum nvdla_sim_memory memory,
		      uint64_t address, size_t bytes)
{
	put64(head, address);
	put32(head + 8, memory);
	put32(head + 12, (uint32_t)bytes);
}

/* A part, which is no longer than a message. */
static int fetch(struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		 uint64_t address, void *data, size_t bytes)
{
	unsigned char head[16];

	put_place(head, memory, address, bytes);
	if (nvdla_sim_send(sim, NVDLA_SIM_FETCH, head, sizeof(head)))
		return -1;
	if (nvdla_sim_receive(sim, PATIENCE_MS) <= 0) {
		sim->broken = 1;
		return nvdla_sim_fail(sim, "the user left while memory was fetched");
	}
	if (sim->type != NVDLA_SIM_DATA || sim->bytes != bytes) {
		sim->broken = 1;
		return nvdla_sim_fail(sim, "message %u of %u bytes instead of DATA of %zu",
				sim->type, sim->bytes, bytes);
	}
	memcpy(data, sim->payload, bytes);
	return 0;
}

static int store(struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		 uint64_t address, const void *data, size_t bytes)
{
	unsigned char head[16];

	put_place(head, memory, address, bytes);
	return nvdla_sim_send2(sim, NVDLA_SIM_STORE, head, sizeof(head), data, bytes);
}

static size_t part(size_t bytes)
{
	return bytes < NVDLA_SIM_MAX_DATA ? bytes : NVDLA_SIM_MAX_DATA;
}

int nvdla_sim_read(struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		   uint64_t address, void *data, size_t bytes)
{
	unsigned char *at = data;

	if (check(sim, memory, address, bytes, 0, NULL))
		return -1;
	while (bytes) {
		struct region *region;
		size_t alike =
			extent(sim, memory, address, part(bytes), &region);

		if (!region)
			memset(at, 0, alike);
		else if (region->data)
			memcpy(at, region->data + (address - region->address),
			       alike);
		else if (fetch(sim, memory, address, at, alike))
			return -1;
		at += alike;
		address += alike;
		bytes -= alike;
	}
	return 0;
}

/* All of it is memory. */
static int write_all(struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		     uint64_t address, const unsigned char *at, size_t bytes)
{
	while (bytes) {
		struct region *region;
		size_t alike =
			extent(sim, memory, address, part(bytes), &region);

		if (region->data)
			memcpy(region->data + (address - region->address), at,
			       alike);
		else if (store(sim, memory, address, at, alike))
			return -1;
		at += alike;
		address += alike;
		bytes -= alike;
	}
	return 0;
}

int nvdla_sim_write(struct nvdla_sim *sim, enum nvdla_sim_memory memory,
		    uint64_t address, const void *data, size_t bytes,
		    const uint8_t *strobe)
{
	size_t begin, end;

	if (check(sim, memory, address, bytes, 1, strobe))
		return -1;
	if (!strobe)
		return write_all(sim, memory, address, data, bytes);
	for (begin = 0; begin < bytes; begin = end) {
		end = begin + 1;
		if (!strobed(strobe, begin))
			continue;
		while (end < bytes && strobed(strobe, end))
			end++;
		if (write_all(sim, memory, address + begin,
			      (const unsigned char *)data + begin, end - begin))
			return -1;
	}
	return 0;
}
