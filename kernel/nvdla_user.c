// SPDX-License-Identifier: GPL-2.0
/*
 * Users of a device: who they are, what they may have of the driver, and what
 * they had of the engine of late. Their clients, which are open files: what
 * each has and has used, for fdinfo with the keys of drm-usage-stats.
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
#include <linux/dma-resv.h>
#include <linux/hashtable.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nvdla_context.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
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

/**
 * nvdla_client_create() - create the client of a file that is opened
 * @ndev: device
 *
 * Return: a client with one reference, or NULL.
 */
struct nvdla_client *nvdla_client_create(struct nvdla_device *ndev)
{
	static atomic64_t last_client = ATOMIC64_INIT(0);
	struct nvdla_client *client;

	client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	if (!client)
		return NULL;
	client->user = nvdla_user_get_current(ndev);
	if (!client->user) {
		kfree(client);
		return NULL;
	}
	kref_init(&client->ref);
	spin_lock_init(&client->lock);
	INIT_LIST_HEAD(&client->contexts);
	client->client_id = atomic64_inc_return(&last_client);
	return client;
}

/**
 * nvdla_client_get() - take one more reference
 * @client: client
 *
 * Return: @client.
 */
struct nvdla_client *nvdla_client_get(struct nvdla_client *client)
{
	kref_get(&client->ref);
	return client;
}

static void nvdla_client_release(struct kref *ref)
{
	struct nvdla_client *client =
		container_of(ref, struct nvdla_client, ref);

	nvdla_user_put(client->user);
	kfree(client);
}

/**
 * nvdla_client_put() - drop a reference; may sleep, as nvdla_user_put()
 * @client: client
 */
void nvdla_client_put(struct nvdla_client *client)
{
	kref_put(&client->ref, nvdla_client_release);
}

/**
 * nvdla_client_add() - add a context to those that closing the file cancels
 * @client: client
 * @context: context
 */
void nvdla_client_add(struct nvdla_client *client,
		      struct nvdla_context *context)
{
	spin_lock(&client->lock);
	list_add_tail(&context->node, &client->contexts);
	spin_unlock(&client->lock);
}

/**
 * nvdla_client_remove() - remove a context, whose last job was freed
 * @client: client
 * @context: context
 */
void nvdla_client_remove(struct nvdla_client *client,
			 struct nvdla_context *context)
{
	spin_lock(&client->lock);
	list_del_init(&context->node);
	spin_unlock(&client->lock);
}

/**
 * nvdla_client_cancel() - cancel all jobs of a file that is closed
 * @client: client
 *
 * Nobody is left who could tell a good result from another: what has not begun
 * ends, and what runs stops at the next layer. Contexts that were destroyed
 * before are among those that this is about.
 */
void nvdla_client_cancel(struct nvdla_client *client)
{
	struct nvdla_context *context;

	spin_lock(&client->lock);
	while (!list_empty(&client->contexts)) {
		context = list_first_entry(&client->contexts,
					   struct nvdla_context, node);
		list_del_init(&context->node);
		if (!kref_get_unless_zero(&context->ref))
			continue;
		spin_unlock(&client->lock);
		nvdla_sched_cancel(context);
		nvdla_context_put(context);
		spin_lock(&client->lock);
	}
	spin_unlock(&client->lock);
}

/**
 * nvdla_client_id() - the number that fdinfo gives a file
 * @file: file
 *
 * Return: the number.
 */
u64 nvdla_client_id(const struct drm_file *file)
{
#ifdef NVDLA_HAVE_SHOW_FDINFO
	return file->client_id;
#else
	const struct nvdla_file *nfile = file->driver_priv;

	return nfile->client->client_id;
#endif
}

#ifdef NVDLA_HAVE_SHOW_FDINFO
static const char * const memory_names[] = {
	[NVDLA_MEMORY_DRAM] = "dram",
	[NVDLA_MEMORY_SRAM] = "sram",
};

static void nvdla_show_memory(struct drm_printer *p, struct drm_file *file)
{
	struct drm_memory_stats stats[ARRAY_SIZE(memory_names)] = {};
	enum drm_gem_object_status shown = DRM_GEM_OBJECT_RESIDENT;
	struct drm_gem_object *obj;
	unsigned int i;
	int id;

	spin_lock(&file->table_lock);
	idr_for_each_entry(&file->object_idr, obj, id) {
		struct drm_memory_stats *stat;

		/* A handle may have been given a number, but no buffer yet. */
		if (!obj)
			continue;
		stat = &stats[to_nvdla_bo(obj)->memory];
		if (drm_gem_object_is_shared_for_memory_stats(obj))
			stat->shared += obj->size;
		else
			stat->private += obj->size;
		stat->resident += obj->size;
		if (!dma_resv_test_signaled(obj->resv,
					    dma_resv_usage_rw(true)))
			stat->active += obj->size;
	}
	spin_unlock(&file->table_lock);

#ifdef NVDLA_HAVE_OBJECT_ACTIVE
	shown |= DRM_GEM_OBJECT_ACTIVE;
#endif
	for (i = 0; i < ARRAY_SIZE(memory_names); i++)
		if (i == NVDLA_MEMORY_DRAM || stats[i].resident)
			drm_print_memory_stats(p, &stats[i], shown,
					       memory_names[i]);
}
#endif

/**
 * nvdla_show_fdinfo() - what a file has used
 * @p: where to print it
 * @file: file
 *
 * The time of a job that runs counts up to now.
 */
void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	struct nvdla_device *ndev = to_nvdla_device(file->minor->dev);
	struct nvdla_file *nfile = file->driver_priv;

	nvdla_hw_lock(ndev);
	nvdla_sched_account(ndev);
	nvdla_hw_unlock(ndev);
	drm_printf(p, "drm-engine-dla:\t%lld ns\n",
		   atomic64_read(&nfile->client->busy_ns));
	if (ndev->clock_khz)
		drm_printf(p, "drm-maxfreq-dla:\t%u KHz\n", ndev->clock_khz);
#ifdef NVDLA_HAVE_SHOW_FDINFO
	nvdla_show_memory(p, file);
#endif
}

#ifndef NVDLA_HAVE_SHOW_FDINFO
/**
 * nvdla_show_file() - fdinfo where the DRM core has none
 * @seq: where to print it
 * @file: file
 */
void nvdla_show_file(struct seq_file *seq, struct file *file)
{
	struct drm_file *drm_file = file->private_data;
	struct device *dev = drm_file->minor->dev->dev;
	struct drm_printer p = drm_seq_file_printer(seq);
	u64 bytes[] = { [NVDLA_MEMORY_DRAM] = 0, [NVDLA_MEMORY_SRAM] = 0 };
	struct drm_gem_object *obj;
	int id;

	drm_printf(&p, "drm-driver:\t%s\n", nvdla_drm_driver.name);
	drm_printf(&p, "drm-client-id:\t%llu\n", nvdla_client_id(drm_file));
	if (dev_is_pci(dev))
		drm_printf(&p, "drm-pdev:\t%s\n", dev_name(dev));
	nvdla_show_fdinfo(&p, drm_file);

	spin_lock(&drm_file->table_lock);
	idr_for_each_entry(&drm_file->object_idr, obj, id)
		if (obj)
			bytes[to_nvdla_bo(obj)->memory] += obj->size;
	spin_unlock(&drm_file->table_lock);
	drm_printf(&p, "drm-memory-dram:\t%llu KiB\n",
		   bytes[NVDLA_MEMORY_DRAM] >> 10);
	drm_printf(&p, "drm-memory-sram:\t%llu KiB\n",
		   bytes[NVDLA_MEMORY_SRAM] >> 10);
}
#endif
