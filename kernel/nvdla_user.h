/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a user may have of the driver, in all open files together.
 */
#ifndef NVDLA_USER_H
#define NVDLA_USER_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/uidgid.h>

#define NVDLA_USER_CONTEXTS_MAX		1024
#define NVDLA_USER_JOBS_MAX		4096
#define NVDLA_USER_PROGRAM_BYTES_MAX	SZ_128M

/** enum nvdla_resource - what is counted */
enum nvdla_resource {
	NVDLA_RESOURCE_CONTEXTS,	/* until they are destroyed */
	NVDLA_RESOURCE_JOBS,		/* until their last reference */
	NVDLA_RESOURCE_PROGRAM_BYTES,	/* as they lie in the kernel */
	NVDLA_RESOURCE_BUFFER_BYTES,	/* imported ones, too */
	NVDLA_NUM_RESOURCES,
};

/** struct nvdla_user - one for each user with open files or what they left */
struct nvdla_user {
	/** @ref: one for each file and each object that is charged */
	struct kref ref;
	/** @node: in the list of users */
	struct list_head node;
	/** @uid: who it is */
	kuid_t uid;
	/** @used: of each resource */
	atomic64_t used[NVDLA_NUM_RESOURCES];
};

struct nvdla_user *nvdla_user_get_current(void);
struct nvdla_user *nvdla_user_get(struct nvdla_user *user);
void nvdla_user_put(struct nvdla_user *user);
u64 nvdla_user_limit(enum nvdla_resource what);
int nvdla_charge(struct nvdla_user *user, enum nvdla_resource what, u64 amount);
void nvdla_uncharge(struct nvdla_user *user, enum nvdla_resource what,
		    u64 amount);

#endif /* NVDLA_USER_H */
