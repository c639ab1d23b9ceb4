// SPDX-License-Identifier: GPL-2.0
/*
 * What a user may have of the driver, in all open files together.
 *
 * Control groups see the memory, which is allocated with GFP_KERNEL_ACCOUNT,
 * but not every system has them, and contexts, jobs and contiguous pages are
 * scarcer than bytes. So each user has a share that leaves the device usable by
 * others.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "nvdla_user.h"

static unsigned int user_buffer_mib;
module_param(user_buffer_mib, uint, 0644);
MODULE_PARM_DESC(user_buffer_mib,
		 "MiB of buffers that one user may have (default: half of the memory)");

/* Guards the list, and the last reference to a user against a new one. */
static DEFINE_MUTEX(nvdla_users_lock);
static LIST_HEAD(nvdla_users);

/**
 * nvdla_user_get_current() - the user of the calling process
 *
 * Return: a reference, or NULL without memory.
 */
struct nvdla_user *nvdla_user_get_current(void)
{
	kuid_t uid = current_uid();
	struct nvdla_user *user;

	mutex_lock(&nvdla_users_lock);
	list_for_each_entry(user, &nvdla_users, node) {
		if (uid_eq(user->uid, uid)) {
			kref_get(&user->ref);
			goto unlock;
		}
	}
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (user) {
		kref_init(&user->ref);
		user->uid = uid;
		list_add(&user->node, &nvdla_users);
	}
unlock:
	mutex_unlock(&nvdla_users_lock);
	return user;
}

/**
 * nvdla_user_get() - one more reference
 * @user: user
 *
 * Return: @user.
 */
struct nvdla_user *nvdla_user_get(struct nvdla_user *user)
{
	kref_get(&user->ref);
	return user;
}

static void nvdla_user_release(struct kref *ref)
{
	struct nvdla_user *user = container_of(ref, struct nvdla_user, ref);

	list_del(&user->node);
	mutex_unlock(&nvdla_users_lock);
	kfree(user);
}

/**
 * nvdla_user_put() - drop a reference
 * @user: user
 *
 * May sleep.
 */
void nvdla_user_put(struct nvdla_user *user)
{
	kref_put_mutex(&user->ref, nvdla_user_release, &nvdla_users_lock);
}

/**
 * nvdla_user_limit() - how much one user may have
 * @what: of which resource
 *
 * Return: number or bytes.
 */
u64 nvdla_user_limit(enum nvdla_resource what)
{
	u64 mib = READ_ONCE(user_buffer_mib);

	switch (what) {
	case NVDLA_RESOURCE_CONTEXTS:
		return NVDLA_USER_CONTEXTS_MAX;
	case NVDLA_RESOURCE_JOBS:
		return NVDLA_USER_JOBS_MAX;
	case NVDLA_RESOURCE_PROGRAM_BYTES:
		return NVDLA_USER_PROGRAM_BYTES_MAX;
	case NVDLA_RESOURCE_BUFFER_BYTES:
		return mib ? mib * SZ_1M :
			     (u64)totalram_pages() / 2 * PAGE_SIZE;
	default:
		return 0;
	}
}

/**
 * nvdla_charge() - before a user gets something
 * @user: who gets it
 * @what: resource
 * @amount: number or bytes
 *
 * Takes no lock.
 *
 * Return: 0, or -EDQUOT when it would be more than the user may have.
 */
int nvdla_charge(struct nvdla_user *user, enum nvdla_resource what, u64 amount)
{
	u64 limit = nvdla_user_limit(what);
	s64 used = atomic64_read(&user->used[what]);

	do {
		/* The limit may have been lowered since. */
		if (amount > limit || used > limit - amount)
			return -EDQUOT;
	} while (!atomic64_try_cmpxchg(&user->used[what], &used,
				       used + amount));
	return 0;
}

/**
 * nvdla_uncharge() - after a user gave something back
 * @user: who had it
 * @what: resource
 * @amount: as it was charged
 *
 * Takes no lock.
 */
void nvdla_uncharge(struct nvdla_user *user, enum nvdla_resource what,
		    u64 amount)
{
	WARN_ON_ONCE(atomic64_sub_return(amount, &user->used[what]) < 0);
}
