/* SPDX-License-Identifier: MIT */
/*
 * The interface of nvdla_waits.ko, test equipment: ioctls of /dev/nvdla_waits.
 */
#ifndef NVDLA_WAITS_H
#define NVDLA_WAITS_H

#include <linux/ioctl.h>
#include <linux/types.h>

/** struct waits_create - buffers of one page each that share one reservation */
struct waits_create {
  /** @count: 1 or 2 buffers */
  __u32 count;
  /** @fds: out: their files; -1 where there is none */
  __s32 fds[2];
};

/**
 * struct waits_hold - a kernel task waits for a fence under a reservation
 *
 * The call returns when the task holds the reservation. The task gives up
 * after a while, so that a machine which deadlocks comes back.
 */
struct waits_hold {
  /** @buffer: file of any dma-buf */
  __s32 buffer;
  /** @fence: sync_file */
  __s32 fence;
  /** @seconds: after which the task gives up */
  __u32 seconds;
};

/* The task has not ended yet. */
#define WAITS_RUNNING 0
/* The fence signalled while the task held the reservation. */
#define WAITS_SIGNALLED 1
/* The task gave up: whoever signals waited for the reservation. */
#define WAITS_GAVE_UP 2

/* One task for each open file; WAITS_RESULT waits for its end. */
#define WAITS_CREATE _IOWR('W', 0, struct waits_create)
#define WAITS_HOLD _IOW('W', 1, struct waits_hold)
#define WAITS_STATE _IOR('W', 2, __u32)
#define WAITS_RESULT _IOR('W', 3, __u32)

#endif /* NVDLA_WAITS_H */
