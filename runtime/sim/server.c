// SPDX-License-Identifier: MIT
/*
 * Listens for the runtime and does what it asks for.
 */
#define _GNU_SOURCE
#include "sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* The time between two signs of life of a long run. */
#define BEAT_NS		1000000000ull
/* Clock cycles between two looks at the host's clock. */
#define SLICE_CYCLES	1000u

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Removes a socket that a killed simulator left, at which nobody listens. */
static void remove_stale(const struct sockaddr_un *address)
{
	struct stat file;
	int probe;

	if (stat(address->sun_path, &file) || !S_ISSOCK(file.st_mode))
		return;
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (probe < 0)
		return;
	if (connect(probe, (const struct sockaddr *)address,
		    sizeof(*address)) && errno == ECONNREFUSED)
		unlink(address->sun_path);
	close(probe);
}

static int listener_at(const struct sockaddr_un *address)
{
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listener >= 0 &&
	    !bind(listener, (const struct sockaddr *)address,
		  sizeof(*address)) &&
	    !listen(listener, 1))
		return listener;
	if (listener >= 0)
		close(listener);
	return -1;
}

/*
 * Listens under a name beside @path and gives the socket its own name then:
 * whoever waits for the path to appear would be refused between bind() and
 * listen(). Returns -1 where
 * the path is taken, too long for this, or the file system has no links.
 */
static int listener_beside(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener, size, linked, error;

	size = snprintf(address.sun_path, sizeof(address.sun_path),
			"%.*s.nvdla-sim-%ld", folder, path, (long)getpid());
	if (size < 0 || (size_t)size >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	listener = listener_at(&address);
	if (listener < 0)
		return -1;
	linked = link(address.sun_path, path);
	error = errno;
	unlink(address.sun_path);
	if (!linked)
		return listener;
	close(listener);
	errno = error;
	return -1;
}

static int listen_at(struct nvdla_sim *sim, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return nvdla_sim_fail(sim, "%s: a path of a socket has less than %zu bytes",
				path, sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	remove_stale(&address);
	sim->listener = listener_beside(path);
	if (sim->listener < 0)
		sim->listener = listener_at(&address);
	if (sim->listener < 0)
		return nvdla_sim_fail(sim, "%s: %s", path, strerror(errno));
	sim->path = strdup(path);
	if (!sim->path) {
		unlink(path);
		return nvdla_sim_fail(sim, "%s: no memory", path);
	}
	return 0;
}

struct nvdla_sim *nvdla_sim_open(const char *path,
				 const struct nvdla_sim_options *options,
				 const struct nvdla_sim_callbacks *callbacks,
				 void *context)
{
	struct nvdla_sim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return NULL;
	sim->callbacks = callbacks;
	sim->context = context;
	sim->listener = -1;
	sim->user = -1;
	sim->file = -1;
	if (options && options->configuration)
		strncpy(sim->configuration, options->configuration,
			sizeof(sim->configuration) - 1);
	if (options && options->name)
		strncpy(sim->name, options->name, sizeof(sim->name) - 1);
	sim->only_messages = options && options->only_messages;
	listen_at(sim, path);
	return sim;
}

const char *nvdla_sim_error(const struct nvdla_sim *sim)
{
	return sim->error;
}

void nvdla_sim_close(struct nvdla_sim *sim)
{
	if (!sim)
		return;
	if (sim->listener >= 0)
		close(sim->listener);
	if (sim->path)
		unlink(sim->path);
	free(sim->path);
	free(sim->regions);
	free(sim);
}

static int expect(struct nvdla_sim *sim, const char *what, uint32_t bytes)
{
	if (sim->bytes == bytes)
		return 0;
	return nvdla_sim_fail(sim, "%s has %u bytes, not %u", what, bytes,
			sim->bytes);
}

static int answer(struct nvdla_sim *sim, uint32_t value)
{
	unsigned char payload[16];

	put64(payload, sim->callbacks->cycle(sim->context));
	put32(payload + 8, value);
	put32(payload + 12, sim->callbacks->interrupt(sim->context) ? 1 : 0);
	return nvdla_sim_send(sim, NVDLA_SIM_ANSWER, payload, sizeof(payload));
}

static int welcome(struct nvdla_sim *sim)
{
	unsigned char payload[16 + NVDLA_SIM_CONFIGURATION_BYTES +
			      NVDLA_SIM_NAME_BYTES] = { 0 };
	uint32_t version;

	if (sim->type != NVDLA_SIM_HELLO || expect(sim, "HELLO", 16) ||
	    get64(sim->payload) != NVDLA_SIM_MAGIC)
		return nvdla_sim_fail(sim, "the user is no runtime of NVDLA");
	version = get32(sim->payload + 8);
	put64(payload, NVDLA_SIM_MAGIC);
	put32(payload + 8, NVDLA_SIM_VERSION);
	put32(payload + 12, sim->only_messages ? 0 : NVDLA_SIM_FILES);
	memcpy(payload + 16, sim->configuration, sizeof(sim->configuration));
	memcpy(payload + 16 + sizeof(sim->configuration), sim->name,
	       sizeof(sim->name));
	if (nvdla_sim_send(sim, NVDLA_SIM_WELCOME, payload, sizeof(payload)))
		return -1;
	/*
	 * A user of another version has read ours, and reports the mismatch,
	 * too.
	 */
	if (version != NVDLA_SIM_VERSION)
		return nvdla_sim_fail(sim, "the user speaks version %u, this is %u",
				version, NVDLA_SIM_VERSION);
	return 0;
}

static int write_registers(struct nvdla_sim *sim)
{
	/* Memory fetched during the writes overwrites the message. */
	unsigned char pairs[NVDLA_SIM_MAX_PAYLOAD];
	uint32_t bytes = sim->bytes, at;

	if (!bytes || bytes % 8)
		return nvdla_sim_fail(sim, "WRITE has pairs of 8 bytes, not %u bytes",
				bytes);
	memcpy(pairs, sim->payload, bytes);
	for (at = 0; at < bytes; at += 8)
		sim->callbacks->csb_write(sim->context, get32(pairs + at),
					  get32(pairs + at + 4));
	return answer(sim, 0);
}

static int run(struct nvdla_sim *sim)
{
	const struct nvdla_sim_callbacks *core = sim->callbacks;
	uint64_t now = core->cycle(sim->context), end, beat = wall_ns();
	uint32_t flags;

	if (expect(sim, "RUN", 16))
		return -1;
	end = get64(sim->payload);
	end = end > UINT64_MAX - now ? UINT64_MAX : now + end;
	flags = get32(sim->payload + 8);
	while (now < end && !sim->broken &&
	       !(flags & NVDLA_SIM_UNTIL_LINE &&
		 core->interrupt(sim->context))) {
		uint64_t before = now;

		core->run(sim->context, end - now < SLICE_CYCLES ?
						end - now : SLICE_CYCLES);
		now = core->cycle(sim->context);
		if (now <= before)
			return nvdla_sim_fail(sim, "run() let no cycle pass after %llu",
					(unsigned long long)before);
		if (wall_ns() - beat >= BEAT_NS) {
			unsigned char cycle[8];

			put64(cycle, now);
			if (nvdla_sim_send(sim, NVDLA_SIM_ALIVE, cycle,
				     sizeof(cycle)))
				return -1;
			beat = wall_ns();
		}
	}
	return answer(sim, 0);
}

static int handle(struct nvdla_sim *sim)
{
	uint32_t offset;

	switch (sim->type) {
	case NVDLA_SIM_READ:
		if (expect(sim, "READ", 4))
			return -1;
		offset = get32(sim->payload);
		return answer(sim,
			      sim->callbacks->csb_read(sim->context, offset));
	case NVDLA_SIM_WRITE:
		return write_registers(sim);
	case NVDLA_SIM_RUN:
		return run(sim);
	case NVDLA_SIM_RESET:
		if (expect(sim, "RESET", 0))
			return -1;
		sim->callbacks->reset(sim->context);
		return answer(sim, 0);
	case NVDLA_SIM_MAP:
		return nvdla_sim_map(sim);
	case NVDLA_SIM_UNMAP:
		return nvdla_sim_unmap(sim);
	default:
		return nvdla_sim_fail(sim, "message %u is not known", sim->type);
	}
}

static int serve_user(struct nvdla_sim *sim)
{
	int came = nvdla_sim_receive(sim, PATIENCE_MS);

	if (came <= 0)
		return came;
	if (welcome(sim))
		return -1;
	while ((came = nvdla_sim_receive(sim, -1)) > 0)
		if (handle(sim) || sim->broken)
			return -1;
	return came;
}

int nvdla_sim_serve(struct nvdla_sim *sim)
{
	int result;

	if (!sim->path)
		return -1;
	sim->error[0] = '\0';
	sim->broken = 0;
	do {
		sim->user = accept4(sim->listener, NULL, NULL, SOCK_CLOEXEC);
	} while (sim->user < 0 && errno == EINTR);
	if (sim->user < 0)
		return nvdla_sim_fail(sim, "%s: %s", sim->path, strerror(errno));
	result = serve_user(sim);
	if (result)
		nvdla_sim_send(sim, NVDLA_SIM_FAILED, sim->error,
			 strlen(sim->error) < 120 ? strlen(sim->error) : 120);
	nvdla_sim_forget_memory(sim);
	if (sim->file >= 0)
		close(sim->file);
	sim->file = -1;
	close(sim->user);
	sim->user = -1;
	return result;
}
