/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Users of a device: who they are, what they may have of the driver, and what
 * they had of the engine of late. Their clients, which are open files: what
 * each has and has used.
 */
#ifndef NVDLA_USER_H
#define NVDLA_USER_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/uidgid.h>

struct drm_file;
struct drm_printer;
struct file;
struct nvdla_context;
struct nvdla_device;
struct seq_file;
struct user_namespace;
struct workqueue_struct;

/* The last second of a user is counted in steps, a power of two of them. */
#define NVDLA_USAGE_STEPS	128
#define NVDLA_USAGE_STEP_NS	((u32)(NSEC_PER_SEC / NVDLA_USAGE_STEPS))

/** enum nvdla_resource - what is counted */
enum nvdla_resource {
	NVDLA_RESOURCE_CONTEXTS,	/* until their last job is freed */
	NVDLA_RESOURCE_JOBS,		/* until they end */
	NVDLA_RESOURCE_PROGRAM_BYTES,	/* as they lie in the kernel */
	NVDLA_RESOURCE_REGION_BYTES,	/* memory of the device's own */
	NVDLA_NUM_RESOURCES,
};

/** struct nvdla_usage - the time that a user had the engine of late */
struct nvdla_usage {
	/** @step: number of the last step that is counted */
	u64 step;
	/** @total_ns: sum of @used_ns */
	u64 total_ns;
	/** @used_ns: of each step, by its number modulo NVDLA_USAGE_STEPS */
	u32 used_ns[NVDLA_USAGE_STEPS];
};

/**
 * struct nvdla_user - a user id in a user namespace, on one device
 *
 * Charges count at each owner on the way up to the initial namespace. The
 * engine is shared by those who are at its top.
 */
struct nvdla_user {
	/** @ref: one for each file, charged object and user below */
	struct kref ref;
	/** @ndev: device, which outlives its users */
	struct nvdla_device *ndev;
	/** @node: in the table of the device */
	struct hlist_node node;
	/** @parent: owner of @ns, NULL in the initial namespace */
	struct nvdla_user *parent;
	/** @ns: where @uid is its id; one reference */
	struct user_namespace *ns;
	/** @uid: the id */
	kuid_t uid;
	/** @cgroup: tells apart what belongs to root; else 0 */
	u64 cgroup;
	/** @used: of each resource */
	atomic64_t used[NVDLA_NUM_RESOURCES];

	/** @wq: resolves what its jobs depend on; in the initial namespace */
	struct workqueue_struct *wq;
	/**
	 * @runnable: among the users with contexts in @contexts; this and all
	 * below in the initial namespace, under hw_lock
	 */
	struct list_head runnable;
	/** @contexts: those that wait for the engine, by their virtual time */
	struct rb_root_cached contexts;
	/** @num_runnable: number of contexts in @contexts */
	u32 num_runnable;
	/**
	 * @vruntime: virtual time that its contexts would have in equal shares,
	 * not less than that of the one chosen last
	 */
	u64 vruntime;
	/** @usage: what it had of late */
	struct nvdla_usage usage;
};

/**
 * struct nvdla_client - what an open file has and has used
 *
 * It lives as long as the file or a context of it: jobs may end after the file
 * was closed.
 */
struct nvdla_client {
	/** @ref: one for the file, one for each context */
	struct kref ref;
	/** @client_id: where the kernel's drm_file has none */
	u64 client_id;
	/** @user: whom everything of the file is charged to; one reference */
	struct nvdla_user *user;
	/** @busy_ns: time that its jobs had the engine; under hw_lock */
	atomic64_t busy_ns;
	/** @lock: guards @contexts; taken under hw_lock */
	spinlock_t lock;
	/** @contexts: all that live, destroyed ones with jobs too */
	struct list_head contexts;
};

struct nvdla_user *nvdla_user_get_current(struct nvdla_device *ndev);
struct nvdla_user *nvdla_user_get(struct nvdla_user *user);
void nvdla_user_put(struct nvdla_user *user);
struct nvdla_user *nvdla_user_top(struct nvdla_user *user);
int nvdla_charge(struct nvdla_user *user, enum nvdla_resource what, u64 amount);
void nvdla_uncharge(struct nvdla_user *user, enum nvdla_resource what,
		    u64 amount);

void nvdla_usage_add(struct nvdla_usage *usage, u64 from, u64 to);
u64 nvdla_usage_recent(struct nvdla_usage *usage, u64 now);

struct nvdla_client *nvdla_client_create(struct nvdla_device *ndev);
struct nvdla_client *nvdla_client_get(struct nvdla_client *client);
void nvdla_client_put(struct nvdla_client *client);
void nvdla_client_add(struct nvdla_client *client,
		      struct nvdla_context *context);
void nvdla_client_remove(struct nvdla_client *client,
			 struct nvdla_context *context);
void nvdla_client_cancel(struct nvdla_client *client);
u64 nvdla_client_id(const struct drm_file *file);

void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file);
/* For kernels whose DRM core does not call the above. */
void nvdla_show_file(struct seq_file *seq, struct file *file);

#endif /* NVDLA_USER_H */
