// SPDX-License-Identifier: MIT
/*
 * Messages on the socket, whole or not at all.
 */
#define _GNU_SOURCE
#include "sim.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int nvdla_sim_fail(struct nvdla_sim *sim, const char *format, ...)
{
	va_list arguments;

	if (!sim->error[0]) {
		va_start(arguments, format);
		vsnprintf(sim->error, sizeof(sim->error), format, arguments);
		va_end(arguments);
	}
	return -1;
}

/* 0 once the user can take or has sent something, or -1 with an error. */
static int wait_for(struct nvdla_sim *sim, short events, int patience_ms)
{
	struct pollfd user = { .fd = sim->user, .events = events };
	int ready;

	do {
		ready = poll(&user, 1, patience_ms);
	} while (ready < 0 && errno == EINTR);
	if (ready > 0)
		return 0;
	sim->broken = 1;
	if (ready < 0)
		return nvdla_sim_fail(sim, "cannot wait for the user: %s",
				strerror(errno));
	return nvdla_sim_fail(sim, "the user did nothing for %d s",
			patience_ms / 1000);
}

static int send_all(struct nvdla_sim *sim, const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t sent;

		if (wait_for(sim, POLLOUT, PATIENCE_MS))
			return -1;
		sent = send(sim->user, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (sent <= 0) {
			sim->broken = 1;
			return nvdla_sim_fail(sim, "cannot send to the user: %s",
					strerror(errno));
		}
		at += sent;
		bytes -= (size_t)sent;
	}
	return 0;
}

int nvdla_sim_send2(struct nvdla_sim *sim, uint32_t type, const void *head,
	      size_t head_bytes, const void *data, size_t data_bytes)
{
	unsigned char start[NVDLA_SIM_HEADER_BYTES + 128];

	if (sim->broken)
		return -1;
	put32(start, type);
	put32(start + 4, (uint32_t)(head_bytes + data_bytes));
	memcpy(start + NVDLA_SIM_HEADER_BYTES, head, head_bytes);
	if (send_all(sim, start, NVDLA_SIM_HEADER_BYTES + head_bytes))
		return -1;
	return send_all(sim, data, data_bytes);
}

int nvdla_sim_send(struct nvdla_sim *sim, uint32_t type, const void *payload,
	     size_t bytes)
{
	return nvdla_sim_send2(sim, type, payload, bytes, NULL, 0);
}

/* One file may come with a message; all others are closed. */
static int take_files(struct nvdla_sim *sim, struct msghdr *message)
{
	struct cmsghdr *control;
	int more = 0;

	for (control = CMSG_FIRSTHDR(message); control;
	     control = CMSG_NXTHDR(message, control)) {
		size_t count, i;

		if (control->cmsg_level != SOL_SOCKET ||
		    control->cmsg_type != SCM_RIGHTS)
			continue;
		count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < count; i++) {
			int file;

			memcpy(&file, CMSG_DATA(control) + i * sizeof(int),
			       sizeof(int));
			if (sim->file < 0) {
				sim->file = file;
				continue;
			}
			close(file);
			more = 1;
		}
	}
	/* The kernel has closed the files that did not fit. */
	if (more || message->msg_flags & MSG_CTRUNC)
		return nvdla_sim_fail(sim, "more than one file came with a message");
	return 0;
}

/* Returns how many of the bytes arrived before the end of the stream. */
static ssize_t receive_all(struct nvdla_sim *sim, void *data, size_t bytes,
			   int patience_ms)
{
	size_t done = 0;

	while (done < bytes) {
		union {
			char bytes[CMSG_SPACE(sizeof(int))];
			struct cmsghdr align;
		} control;
		struct iovec part = { (char *)data + done, bytes - done };
		struct msghdr message = { .msg_iov = &part,
					  .msg_iovlen = 1,
					  .msg_control = control.bytes,
					  .msg_controllen =
						  sizeof(control.bytes) };
		ssize_t came;

		if (wait_for(sim, POLLIN, done ? PATIENCE_MS : patience_ms))
			return -1;
		came = recvmsg(sim->user, &message,
			       MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
		if (came < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (came < 0) {
			sim->broken = 1;
			return nvdla_sim_fail(sim, "cannot receive: %s",
					strerror(errno));
		}
		if (came == 0)
			break;
		if (take_files(sim, &message))
			return -1;
		done += (size_t)came;
	}
	return (ssize_t)done;
}

int nvdla_sim_receive(struct nvdla_sim *sim, int patience_ms)
{
	unsigned char header[NVDLA_SIM_HEADER_BYTES];
	ssize_t came;

	if (sim->file >= 0)
		close(sim->file);
	sim->file = -1;
	came = receive_all(sim, header, sizeof(header), patience_ms);
	if (came <= 0)
		return (int)came;
	if (came < (ssize_t)sizeof(header))
		return nvdla_sim_fail(sim, "the user left in the middle of a message");
	sim->type = get32(header);
	sim->bytes = get32(header + 4);
	if (sim->bytes > sizeof(sim->payload))
		return nvdla_sim_fail(sim,
				"message %u of %u bytes: more than %zu cannot be",
				sim->type, sim->bytes, sizeof(sim->payload));
	came = receive_all(sim, sim->payload, sim->bytes, PATIENCE_MS);
	if (came < 0)
		return -1;
	if ((uint32_t)came < sim->bytes)
		return nvdla_sim_fail(sim, "the user left in the middle of a message");
	return 1;
}
