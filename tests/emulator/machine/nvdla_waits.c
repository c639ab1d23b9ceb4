// SPDX-License-Identifier: MIT
/*
 * Another driver, as the rules of dma-fence and dma-buf allow it to be: it
 * exports buffers, and waits for fences while it holds their reservation. Test
 * equipment; nvdla_waits.h is its interface.
 */
#include <linux/completion.h>
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/sync_file.h>
#include <linux/uaccess.h>

#include "nvdla_waits.h"

/* MODULE_IMPORT_NS() makes this; its argument is now a name, now a string. */
MODULE_INFO(import_ns, "DMA_BUF");

/* A reservation that several buffers share. */
struct waits_resv {
	struct kref ref;
	struct dma_resv resv;
};

struct waits_buffer {
	struct waits_resv *shared;
	struct page *page;
};

/* The task of an open file. */
struct waits_task {
	/* Guards the start of the task. */
	struct mutex lock;
	struct task_struct *thread;
	struct dma_buf *buffer;
	struct dma_fence *fence;
	u32 seconds;
	u32 state;
	struct completion holds, ended;
};

static void waits_resv_free(struct kref *ref)
{
	struct waits_resv *shared = container_of(ref, struct waits_resv, ref);

	dma_resv_fini(&shared->resv);
	kfree(shared);
}

/* ---------------------------------------------------------------- buffers */

static struct sg_table *waits_map(struct dma_buf_attachment *attachment,
				  enum dma_data_direction dir)
{
	struct waits_buffer *buffer = attachment->dmabuf->priv;
	struct sg_table *sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	int ret;

	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(sgt, 1, GFP_KERNEL);
	if (ret)
		goto free;
	sg_set_page(sgt->sgl, buffer->page, PAGE_SIZE, 0);
	ret = dma_map_sgtable(attachment->dev, sgt, dir, 0);
	if (ret)
		goto free_table;
	return sgt;

free_table:
	sg_free_table(sgt);
free:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void waits_unmap(struct dma_buf_attachment *attachment,
			struct sg_table *sgt, enum dma_data_direction dir)
{
	dma_unmap_sgtable(attachment->dev, sgt, dir, 0);
	sg_free_table(sgt);
	kfree(sgt);
}

static int waits_mmap(struct dma_buf *dma_buf, struct vm_area_struct *vma)
{
	struct waits_buffer *buffer = dma_buf->priv;

	return vm_insert_page(vma, vma->vm_start, buffer->page);
}

static void waits_buffer_free(struct waits_buffer *buffer)
{
	kref_put(&buffer->shared->ref, waits_resv_free);
	__free_page(buffer->page);
	kfree(buffer);
}

static void waits_release(struct dma_buf *dma_buf)
{
	waits_buffer_free(dma_buf->priv);
}

static const struct dma_buf_ops waits_buffer_ops = {
	.map_dma_buf = waits_map,
	.unmap_dma_buf = waits_unmap,
	.mmap = waits_mmap,
	.release = waits_release,
};

/* Return: a file, or an errno. */
static int waits_export(struct waits_resv *shared)
{
	struct waits_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dma_buf;
	int fd;

	if (!buffer)
		return -ENOMEM;
	buffer->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!buffer->page) {
		kfree(buffer);
		return -ENOMEM;
	}
	kref_get(&shared->ref);
	buffer->shared = shared;
	info.ops = &waits_buffer_ops;
	info.size = PAGE_SIZE;
	info.flags = O_RDWR | O_CLOEXEC;
	info.resv = &shared->resv;
	info.priv = buffer;
	dma_buf = dma_buf_export(&info);
	if (IS_ERR(dma_buf)) {
		waits_buffer_free(buffer);
		return PTR_ERR(dma_buf);
	}
	fd = dma_buf_fd(dma_buf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dma_buf);
	return fd;
}

static int waits_create(struct waits_create __user *user)
{
	struct waits_create args;
	struct waits_resv *shared;
	u32 i;

	if (copy_from_user(&args, user, sizeof(args)))
		return -EFAULT;
	if (args.count < 1 || args.count > ARRAY_SIZE(args.fds))
		return -EINVAL;
	shared = kzalloc(sizeof(*shared), GFP_KERNEL);
	if (!shared)
		return -ENOMEM;
	kref_init(&shared->ref);
	dma_resv_init(&shared->resv);
	for (i = 0; i < ARRAY_SIZE(args.fds); i++)
		args.fds[i] = i < args.count ? waits_export(shared) : -1;
	kref_put(&shared->ref, waits_resv_free);
	/* Files that this leaves behind end with the test. */
	for (i = 0; i < args.count; i++)
		if (args.fds[i] < 0)
			return args.fds[i];
	return copy_to_user(user, &args, sizeof(args)) ? -EFAULT : 0;
}

/* ------------------------------------------------------------------ tasks */

static int waits_thread(void *data)
{
	struct waits_task *task = data;
	long left;

	dma_resv_lock(task->buffer->resv, NULL);
	complete(&task->holds);
	/* Interruptible, so that nobody takes the wait for a task that hangs. */
	left = dma_fence_wait_timeout(task->fence, true, task->seconds * HZ);
	dma_resv_unlock(task->buffer->resv);
	WRITE_ONCE(task->state, left > 0 ? WAITS_SIGNALLED : WAITS_GAVE_UP);
	complete_all(&task->ended);
	return 0;
}

static int waits_start(struct waits_task *task, const struct waits_hold *args)
{
	struct task_struct *thread;
	struct dma_fence *fence;
	struct dma_buf *buffer;

	if (task->thread)
		return -EBUSY;
	if (!args->seconds || args->seconds > 600)
		return -EINVAL;
	fence = sync_file_get_fence(args->fence);
	if (!fence)
		return -EINVAL;
	buffer = dma_buf_get(args->buffer);
	if (IS_ERR(buffer)) {
		dma_fence_put(fence);
		return PTR_ERR(buffer);
	}
	task->fence = fence;
	task->buffer = buffer;
	task->seconds = args->seconds;
	thread = kthread_create(waits_thread, task, "nvdla_waits");
	if (IS_ERR(thread)) {
		dma_buf_put(buffer);
		dma_fence_put(fence);
		return PTR_ERR(thread);
	}
	/* kthread_stop() needs it, also after the thread has ended. */
	get_task_struct(thread);
	task->thread = thread;
	wake_up_process(thread);
	return wait_for_completion_interruptible(&task->holds);
}

static int waits_hold(struct waits_task *task,
		      const struct waits_hold __user *user)
{
	struct waits_hold args;
	int ret;

	if (copy_from_user(&args, user, sizeof(args)))
		return -EFAULT;
	ret = mutex_lock_interruptible(&task->lock);
	if (ret)
		return ret;
	ret = waits_start(task, &args);
	mutex_unlock(&task->lock);
	return ret;
}

static int waits_result(struct waits_task *task, u32 __user *user)
{
	int ret;

	if (!task->thread)
		return -EINVAL;
	ret = wait_for_completion_interruptible(&task->ended);
	return ret ? ret : put_user(READ_ONCE(task->state), user);
}

static int waits_open(struct inode *inode, struct file *file)
{
	struct waits_task *task = kzalloc(sizeof(*task), GFP_KERNEL);

	if (!task)
		return -ENOMEM;
	mutex_init(&task->lock);
	init_completion(&task->holds);
	init_completion(&task->ended);
	file->private_data = task;
	return 0;
}

static int waits_close(struct inode *inode, struct file *file)
{
	struct waits_task *task = file->private_data;

	if (task->thread) {
		/* Its time-out ends it at the latest. */
		wait_for_completion(&task->ended);
		kthread_stop(task->thread);
		put_task_struct(task->thread);
		dma_buf_put(task->buffer);
		dma_fence_put(task->fence);
	}
	mutex_destroy(&task->lock);
	kfree(task);
	return 0;
}

static long waits_ioctl(struct file *file, unsigned int command,
			unsigned long argument)
{
	struct waits_task *task = file->private_data;
	void __user *user = (void __user *)argument;

	switch (command) {
	case WAITS_CREATE:
		return waits_create(user);
	case WAITS_HOLD:
		return waits_hold(task, user);
	case WAITS_STATE:
		return put_user(READ_ONCE(task->state), (u32 __user *)user);
	case WAITS_RESULT:
		return waits_result(task, user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations waits_fops = {
	.owner = THIS_MODULE,
	.open = waits_open,
	.release = waits_close,
	.unlocked_ioctl = waits_ioctl,
};

static struct miscdevice waits_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "nvdla_waits",
	.fops = &waits_fops,
};
module_misc_device(waits_device);

MODULE_DESCRIPTION("Waits for fences under the reservation of a buffer, for tests of NVDLA");
/* The functions of dma-buf are for GPL modules alone. */
MODULE_LICENSE("Dual MIT/GPL");
