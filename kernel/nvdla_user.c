// SPDX-License-Identifier: GPL-2.0
/*
 * Users of a device: who they are, what they may have of the driver, and what
 * they had of the engine of late.
 *
 * A user is a user id in the user namespace of the process that opened the
 * file. Who owns that namespace is its parent, and so on up to the initial
 * namespace, as with ucounts. A charge counts at each of them, so the 65,536
 * ids that one account can map to itself have together what that account may
 * have. The engine is shared by those at the top for the same reason.
 *
 * Where the top is root, all containers of a machine may be: there the control
 * group (of the unified hierarchy) of the opening process tells users apart.
 * Whoever delegates a control group bounds with cgroup.max.descendants how many
 * users its owner can make of himself.
 *
 * Ordinary memory is not counted here: its pages are charged to the memory
 * control group. Contexts, jobs, programs and memory of the device's own are
 * scarcer than bytes, and not every system has control groups.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>

#include "nvdla_device.h"
#include "nvdla_sched.h"
#include "nvdla_user.h"

#ifdef NVDLA_HAVE_SCHED_THREAD
/* Each context is a thread. */
#define NVDLA_USER_CONTEXTS	1024
#else
#define NVDLA_USER_CONTEXTS	8192
#endif

static unsigned int user_contexts = NVDLA_USER_CONTEXTS;
module_param(user_contexts, uint, 0644);
MODULE_PARM_DESC(user_contexts,
		 "Contexts that one user may have (default: "
		 __stringify(NVDLA_USER_CONTEXTS) ")");

static unsigned int user_jobs = 16384;
module_param(user_jobs, uint, 0644);
MODULE_PARM_DESC(user_jobs,
		 "Jobs of one user that have not ended (default: 16384)");

static unsigned int user_program_mib = 128;
module_param(user_program_mib, uint, 0644);
MODULE_PARM_DESC(user_program_mib,
		 "MiB of programs that one user may have (default: 128)");

static unsigned int user_region_mib;
module_param(user_region_mib, uint, 0644);
MODULE_PARM_DESC(user_region_mib,
		 "MiB of carved-out memory and SRAM that one user may have (default: all)");

/* Control group that tells users apart who belong to root. */
static u64 nvdla_current_cgroup(void)
{
	u64 id = 0;

#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
#endif
	return id;
}

/* The owner in the initial namespace of whoever has @uid in @ns. */
static kuid_t nvdla_top_uid(struct user_namespace *ns, kuid_t uid)
{
	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

static struct nvdla_user *nvdla_user_find(struct nvdla_device *ndev,
					  struct user_namespace *ns, kuid_t uid,
					  u64 cgroup)
{
	struct nvdla_user *user;

	lockdep_assert_held(&ndev->users_lock);
	hash_for_each_possible(ndev->users, user, node, __kuid_val(uid))
		if (user->ns == ns && uid_eq(user->uid, uid) &&
		    user->cgroup == cgroup)
			return user;
	return NULL;
}

static struct nvdla_user *nvdla_user_create(struct nvdla_device *ndev,
					    struct user_namespace *ns,
					    kuid_t uid, u64 cgroup)
{
	struct nvdla_user *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);

	if (!user)
		return NULL;
	if (ns == &init_user_ns) {
		user->wq = alloc_ordered_workqueue("nvdla-user",
						   WQ_MEM_RECLAIM |
						   WQ_HIGHPRI);
		if (!user->wq) {
			kfree(user);
			return NULL;
		}
	}
	kref_init(&user->ref);
	INIT_LIST_HEAD(&user->runnable);
	user->contexts = RB_ROOT_CACHED;
	user->ndev = ndev;
	user->ns = get_user_ns(ns);
	user->uid = uid;
	user->cgroup = cgroup;
	return user;
}

static void nvdla_user_free(struct nvdla_user *user)
{
	if (user->wq) {
		nvdla_sched_forget(user);
		destroy_workqueue(user->wq);
	}
	put_user_ns(user->ns);
	kfree(user);
}

/**
 * nvdla_user_get_current() - the user of the calling process
 * @ndev: device
 *
 * Return: a reference, or NULL without memory.
 */
struct nvdla_user *nvdla_user_get_current(struct nvdla_device *ndev)
{
	struct user_namespace *ns = current_user_ns();
	struct nvdla_user *first = NULL, *below = NULL, *user;
	kuid_t uid = current_uid();
	u64 cgroup = 0;

	if (uid_eq(nvdla_top_uid(ns, uid), GLOBAL_ROOT_UID))
		cgroup = nvdla_current_cgroup();

	mutex_lock(&ndev->users_lock);
	for (;; uid = ns->owner, ns = ns->parent) {
		bool known;

		user = nvdla_user_find(ndev, ns, uid, cgroup);
		known = user;
		if (known)
			kref_get(&user->ref);
		else
			user = nvdla_user_create(ndev, ns, uid, cgroup);
		if (!user)
			break;
		/* The one below holds this reference, the caller the first. */
		if (below)
			below->parent = user;
		else
			first = user;
		if (known)
			break;
		hash_add(ndev->users, &user->node, __kuid_val(uid));
		if (ns == &init_user_ns)
			break;
		below = user;
	}
	mutex_unlock(&ndev->users_lock);
	if (user || !first)
		return first;
	nvdla_user_put(first);
	return NULL;
}

/**
 * nvdla_user_get() - take one more reference
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

	hash_del(&user->node);
	mutex_unlock(&user->ndev->users_lock);
}

/**
 * nvdla_user_put() - drop a reference
 * @user: user
 *
 * Sleeps, and waits for what runs in the queue of the user: so it is not called
 * from there.
 */
void nvdla_user_put(struct nvdla_user *user)
{
	while (user && kref_put_mutex(&user->ref, nvdla_user_release,
				      &user->ndev->users_lock)) {
		struct nvdla_user *parent = user->parent;

		nvdla_user_free(user);
		user = parent;
	}
}

/**
 * nvdla_user_top() - whose share of the engine a user has
 * @user: user
 *
 * Return: the owner in the initial namespace, who lives as long as @user.
 */
struct nvdla_user *nvdla_user_top(struct nvdla_user *user)
{
	while (user->parent)
		user = user->parent;
	return user;
}

static u64 nvdla_user_limit(enum nvdla_resource what)
{
	u32 mib;

	switch (what) {
	case NVDLA_RESOURCE_CONTEXTS:
		return READ_ONCE(user_contexts);
	case NVDLA_RESOURCE_JOBS:
		return READ_ONCE(user_jobs);
	case NVDLA_RESOURCE_PROGRAM_BYTES:
		return (u64)READ_ONCE(user_program_mib) * SZ_1M;
	case NVDLA_RESOURCE_REGION_BYTES:
		mib = READ_ONCE(user_region_mib);
		return mib ? (u64)mib * SZ_1M : S64_MAX;
	default:
		return 0;
	}
}

static bool nvdla_charge_one(struct nvdla_user *user, enum nvdla_resource what,
			     u64 amount, u64 limit)
{
	s64 used = atomic64_read(&user->used[what]);

	do {
		/* The limit may have been lowered since. */
		if (amount > limit || used > limit - amount)
			return false;
	} while (!atomic64_try_cmpxchg(&user->used[what], &used,
				       used + amount));
	return true;
}

static void nvdla_uncharge_until(struct nvdla_user *user,
				 const struct nvdla_user *end,
				 enum nvdla_resource what, u64 amount)
{
	for (; user != end; user = user->parent)
		WARN_ON_ONCE(atomic64_sub_return(amount, &user->used[what]) <
			     0);
}

/**
 * nvdla_charge() - charge a user, and all above, before it gets something
 * @user: who gets it
 * @what: resource
 * @amount: number or bytes
 *
 * Takes no lock.
 *
 * Return: 0, or -EDQUOT when one of them would have more than a user may.
 */
int nvdla_charge(struct nvdla_user *user, enum nvdla_resource what, u64 amount)
{
	u64 limit = nvdla_user_limit(what);
	struct nvdla_user *one;

	for (one = user; one; one = one->parent) {
		if (!nvdla_charge_one(one, what, amount, limit)) {
			nvdla_uncharge_until(user, one, what, amount);
			return -EDQUOT;
		}
	}
	return 0;
}

/**
 * nvdla_uncharge() - undo nvdla_charge() after a user gave something back
 * @user: who had it
 * @what: resource
 * @amount: as it was charged
 *
 * Takes no lock.
 */
void nvdla_uncharge(struct nvdla_user *user, enum nvdla_resource what,
		    u64 amount)
{
	nvdla_uncharge_until(user, NULL, what, amount);
}

/* Forgets what is older than NVDLA_USAGE_STEPS at @step. */
static void nvdla_usage_move(struct nvdla_usage *usage, u64 step)
{
	if (step >= usage->step + NVDLA_USAGE_STEPS) {
		memset(usage->used_ns, 0, sizeof(usage->used_ns));
		usage->total_ns = 0;
		usage->step = step;
	}
	while (usage->step < step) {
		u32 *used = &usage->used_ns[++usage->step % NVDLA_USAGE_STEPS];

		usage->total_ns -= *used;
		*used = 0;
	}
}

/**
 * nvdla_usage_add() - count a time that a user had the engine
 * @usage: of the user
 * @from: begin
 * @to: end, not before the end of the last call
 */
void nvdla_usage_add(struct nvdla_usage *usage, u64 from, u64 to)
{
	u64 window = (u64)NVDLA_USAGE_STEP_NS * NVDLA_USAGE_STEPS;

	if (to - from > window)
		from = to - window;
	while (from < to) {
		u64 step = div_u64(from, NVDLA_USAGE_STEP_NS);
		u64 end = min_t(u64, to, (step + 1) * NVDLA_USAGE_STEP_NS);

		nvdla_usage_move(usage, step);
		usage->used_ns[step % NVDLA_USAGE_STEPS] += end - from;
		usage->total_ns += end - from;
		from = end;
	}
}

/**
 * nvdla_usage_recent() - the time that a user had the engine of late
 * @usage: of the user
 * @now: time
 *
 * Return: ns of the last second, or of up to a step less.
 */
u64 nvdla_usage_recent(struct nvdla_usage *usage, u64 now)
{
	nvdla_usage_move(usage, div_u64(now, NVDLA_USAGE_STEP_NS));
	return usage->total_ns;
}
