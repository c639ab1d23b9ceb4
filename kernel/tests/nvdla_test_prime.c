// SPDX-License-Identifier: GPL-2.0
/*
 * Imports, of an exporter that counts who is attached and that can be made to
 * stand still, and the release of what is behind a buffer: once, by whoever
 * took it, without a lock of the device.
 */
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/kthread.h>
#include <linux/scatterlist.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

#include "../nvdla_device.h"
#include "../nvdla_drv.h"
#include "../nvdla_gem.h"
#include "nvdla_test.h"

#define DMA_ADDRESS	0x12340000ull
/* Tests wait so long for a thread that should have ended, or stand still. */
#define LONG_MS		10000
#define SHORT_MS	50

/* The buffer that the test exports. */
struct exporter {
	struct nvdla_device *ndev;
	struct dma_buf *dma_buf;
	u32 segments;
	u32 attached;
	u32 mapped;
	u32 unmapped;
	/* the lock of the device's buffers was free at the release */
	bool unlocked;
	/* the release says that it has begun, and waits to go on */
	bool stands;
	struct completion begun;
	struct completion go_on;
	struct completion released;
};

/* Somebody else who does something once. */
struct task {
	struct nvdla_device *ndev;
	struct drm_gem_object *obj;
	struct completion done;
};

static int export_attach(struct dma_buf *dma_buf,
			 struct dma_buf_attachment *attach)
{
	struct exporter *exporter = dma_buf->priv;

	exporter->attached++;
	return 0;
}

static void export_detach(struct dma_buf *dma_buf,
			  struct dma_buf_attachment *attach)
{
	struct exporter *exporter = dma_buf->priv;

	exporter->attached--;
}

/* Segments with a hole behind each. */
static struct sg_table *export_map(struct dma_buf_attachment *attach,
				   enum dma_data_direction direction)
{
	struct exporter *exporter = attach->dmabuf->priv;
	struct scatterlist *sg;
	struct sg_table *sgt;
	unsigned int i;

	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	if (sg_alloc_table(sgt, exporter->segments, GFP_KERNEL)) {
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	for_each_sgtable_dma_sg(sgt, sg, i) {
		sg_dma_address(sg) = DMA_ADDRESS + 2 * i * PAGE_SIZE;
		sg_dma_len(sg) = attach->dmabuf->size / exporter->segments;
	}
	exporter->mapped++;
	return sgt;
}

static void export_unmap(struct dma_buf_attachment *attach,
			 struct sg_table *sgt,
			 enum dma_data_direction direction)
{
	struct exporter *exporter = attach->dmabuf->priv;

	exporter->unlocked = spin_trylock(&exporter->ndev->gem.lock);
	if (exporter->unlocked)
		spin_unlock(&exporter->ndev->gem.lock);
	complete(&exporter->begun);
	if (exporter->stands)
		wait_for_completion_timeout(&exporter->go_on,
					    msecs_to_jiffies(LONG_MS));
	exporter->unmapped++;
	sg_free_table(sgt);
	kfree(sgt);
}

static void export_release(struct dma_buf *dma_buf)
{
	struct exporter *exporter = dma_buf->priv;

	complete(&exporter->released);
}

static const struct dma_buf_ops export_ops = {
	.attach = export_attach,
	.detach = export_detach,
	.map_dma_buf = export_map,
	.unmap_dma_buf = export_unmap,
	.release = export_release,
};

static struct exporter *exporter_create(struct kunit *test, size_t size,
					u32 segments)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct exporter *exporter;

	exporter = kunit_kzalloc(test, sizeof(*exporter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, exporter);
	exporter->ndev = test->priv;
	exporter->segments = segments;
	init_completion(&exporter->begun);
	init_completion(&exporter->go_on);
	init_completion(&exporter->released);
	info.ops = &export_ops;
	info.size = size;
	info.flags = O_RDWR;
	info.priv = exporter;
	exporter->dma_buf = dma_buf_export(&info);
	KUNIT_ASSERT_FALSE(test, IS_ERR(exporter->dma_buf));
	return exporter;
}

/* The test's reference goes, and with it everything: nobody has another. */
static void exporter_end(struct kunit *test, struct exporter *exporter)
{
	dma_buf_put(exporter->dma_buf);
	/* Files of kernel threads are closed by a work. */
	KUNIT_EXPECT_NE(test, 0ul,
			wait_for_completion_timeout(&exporter->released,
						    msecs_to_jiffies(LONG_MS)));
	KUNIT_EXPECT_EQ(test, 0, exporter->attached);
	KUNIT_EXPECT_EQ(test, exporter->mapped, exporter->unmapped);
}

static struct drm_gem_object *import(struct kunit *test,
				     struct exporter *exporter)
{
	struct nvdla_device *ndev = test->priv;
	struct drm_gem_object *obj = nvdla_prime_import(&ndev->drm,
							exporter->dma_buf);

	KUNIT_ASSERT_FALSE(test, IS_ERR(obj));
	KUNIT_EXPECT_EQ(test, 1, exporter->attached);
	KUNIT_EXPECT_EQ(test, 1, exporter->mapped);
	KUNIT_EXPECT_EQ(test, 0, exporter->unmapped);
	return obj;
}

static int task_put(void *data)
{
	struct task *task = data;

	drm_gem_object_put(task->obj);
	complete(&task->done);
	return 0;
}

static int task_unplug(void *data)
{
	struct task *task = data;

	nvdla_gem_unplug(task->ndev);
	complete(&task->done);
	return 0;
}

static struct task *task_start(struct kunit *test, int (*run)(void *data),
			       struct drm_gem_object *obj)
{
	struct task *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, task);
	task->ndev = test->priv;
	task->obj = obj;
	init_completion(&task->done);
	KUNIT_ASSERT_FALSE(test,
			   IS_ERR(kthread_run(run, task, "nvdla-kunit")));
	return task;
}

static bool happens(struct completion *what, unsigned int ms)
{
	return wait_for_completion_timeout(what, msecs_to_jiffies(ms));
}

static int prime_init(struct kunit *test)
{
	struct device *dev = root_device_register("nvdla-kunit-prime");
	struct nvdla_device *ndev;

	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	ndev = devm_drm_dev_alloc(dev, &nvdla_drm_driver, struct nvdla_device,
				  drm);
	if (IS_ERR(ndev)) {
		root_device_unregister(dev);
		KUNIT_FAIL(test, "no device: %ld\n", PTR_ERR(ndev));
		return PTR_ERR(ndev);
	}
	/* nvdla_gem_init() does the same, and asks the DMA API in addition. */
	INIT_LIST_HEAD(&ndev->gem.bos);
	INIT_LIST_HEAD(&ndev->gem.lost);
	spin_lock_init(&ndev->gem.lock);
	init_waitqueue_head(&ndev->gem.released);
	test->priv = ndev;
	return 0;
}

static void prime_exit(struct kunit *test)
{
	struct nvdla_device *ndev = test->priv;

	if (!ndev)
		return;
	KUNIT_EXPECT_TRUE(test, list_empty(&ndev->gem.bos));
	KUNIT_EXPECT_TRUE(test, list_empty(&ndev->gem.lost));
	KUNIT_EXPECT_EQ(test, 0, ndev->gem.releasing);
	root_device_unregister(ndev->drm.dev);
}

static void prime_imports_a_segment(struct kunit *test)
{
	struct exporter *exporter = exporter_create(test, 3 * PAGE_SIZE, 1);
	struct drm_gem_object *obj = import(test, exporter);
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	KUNIT_EXPECT_EQ(test, DMA_ADDRESS, bo->dma);
	KUNIT_EXPECT_EQ(test, 3 * PAGE_SIZE, obj->size);
	KUNIT_EXPECT_NULL(test, bo->vaddr);
	KUNIT_EXPECT_NULL(test, bo->user);
	KUNIT_EXPECT_PTR_EQ(test, exporter->dma_buf->resv, obj->resv);
	drm_gem_object_put(obj);
	KUNIT_EXPECT_TRUE(test, exporter->unlocked);
	exporter_end(test, exporter);
}

static void prime_refuses_what_is_scattered(struct kunit *test)
{
	struct nvdla_device *ndev = test->priv;
	struct exporter *exporter = exporter_create(test, 2 * PAGE_SIZE, 2);
	struct drm_gem_object *obj = nvdla_prime_import(&ndev->drm,
							exporter->dma_buf);

	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(obj));
	exporter_end(test, exporter);
}

static void prime_refuses_what_is_too_large(struct kunit *test)
{
	struct nvdla_device *ndev = test->priv;
	struct exporter *exporter =
		exporter_create(test, NVDLA_BO_BYTES_MAX + PAGE_SIZE, 1);
	struct drm_gem_object *obj = nvdla_prime_import(&ndev->drm,
							exporter->dma_buf);

	KUNIT_EXPECT_EQ(test, -E2BIG, PTR_ERR_OR_ZERO(obj));
	exporter_end(test, exporter);
}

static void prime_exports_no_region(struct kunit *test)
{
	struct nvdla_device *ndev = test->priv;
	struct nvdla_bo *bo = kunit_kzalloc(test, sizeof(*bo), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bo);
	bo->base.dev = &ndev->drm;
	bo->backing = NVDLA_BACKING_REGION;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			PTR_ERR_OR_ZERO(nvdla_prime_export(&bo->base, 0)));
}

static void release_comes_with_the_device(struct kunit *test)
{
	struct exporter *exporter = exporter_create(test, PAGE_SIZE, 1);
	struct drm_gem_object *obj = import(test, exporter);

	nvdla_gem_unplug(test->priv);
	KUNIT_EXPECT_EQ(test, 1, exporter->unmapped);
	KUNIT_EXPECT_TRUE(test, exporter->unlocked);
	KUNIT_EXPECT_EQ(test, NVDLA_BACKING_NONE, to_nvdla_bo(obj)->backing);
	drm_gem_object_put(obj);
	KUNIT_EXPECT_EQ(test, 1, exporter->unmapped);
	exporter_end(test, exporter);
}

static void release_of_one_keeps_nobody_else(struct kunit *test)
{
	struct exporter *slow = exporter_create(test, PAGE_SIZE, 1);
	struct exporter *exporter = exporter_create(test, PAGE_SIZE, 1);
	struct task *task;

	slow->stands = true;
	task = task_start(test, task_put, import(test, slow));
	KUNIT_EXPECT_TRUE(test, happens(&slow->begun, LONG_MS));
	drm_gem_object_put(import(test, exporter));
	KUNIT_EXPECT_EQ(test, 1, exporter->unmapped);
	KUNIT_EXPECT_EQ(test, 0, slow->unmapped);
	complete(&slow->go_on);
	KUNIT_EXPECT_TRUE(test, happens(&task->done, LONG_MS));
	exporter_end(test, slow);
	exporter_end(test, exporter);
}

/* The device may not go while something of it is mapped. */
static void unplug_waits_for_who_releases(struct kunit *test)
{
	struct exporter *exporter = exporter_create(test, PAGE_SIZE, 1);
	struct task *put, *unplug;

	exporter->stands = true;
	put = task_start(test, task_put, import(test, exporter));
	KUNIT_EXPECT_TRUE(test, happens(&exporter->begun, LONG_MS));
	unplug = task_start(test, task_unplug, NULL);
	KUNIT_EXPECT_FALSE(test, happens(&unplug->done, SHORT_MS));
	complete(&exporter->go_on);
	KUNIT_EXPECT_TRUE(test, happens(&unplug->done, LONG_MS));
	KUNIT_EXPECT_TRUE(test, happens(&put->done, LONG_MS));
	KUNIT_EXPECT_EQ(test, 1, exporter->unmapped);
	exporter_end(test, exporter);
}

/* The last reference goes while the device does: the object has to stay. */
static void free_waits_for_unplug(struct kunit *test)
{
	struct exporter *exporter = exporter_create(test, PAGE_SIZE, 1);
	struct drm_gem_object *obj = import(test, exporter);
	struct task *put, *unplug;

	exporter->stands = true;
	unplug = task_start(test, task_unplug, NULL);
	KUNIT_EXPECT_TRUE(test, happens(&exporter->begun, LONG_MS));
	put = task_start(test, task_put, obj);
	KUNIT_EXPECT_FALSE(test, happens(&put->done, SHORT_MS));
	complete(&exporter->go_on);
	KUNIT_EXPECT_TRUE(test, happens(&put->done, LONG_MS));
	KUNIT_EXPECT_TRUE(test, happens(&unplug->done, LONG_MS));
	KUNIT_EXPECT_EQ(test, 1, exporter->unmapped);
	exporter_end(test, exporter);
}

/* A device may still write there: it is released after a reset, or never. */
static void abandoned_waits_for_a_reset(struct kunit *test)
{
	struct exporter *exporter = exporter_create(test, PAGE_SIZE, 1);
	struct drm_gem_object *obj = import(test, exporter);

	nvdla_bo_abandon(to_nvdla_bo(obj));
	nvdla_gem_unplug(test->priv);
	KUNIT_EXPECT_EQ(test, 0, exporter->unmapped);
	drm_gem_object_put(obj);
	KUNIT_EXPECT_EQ(test, 0, exporter->unmapped);
	nvdla_gem_reclaim(test->priv);
	KUNIT_EXPECT_EQ(test, 1, exporter->unmapped);
	KUNIT_EXPECT_TRUE(test, exporter->unlocked);
	exporter_end(test, exporter);
}

static struct kunit_case nvdla_prime_cases[] = {
	KUNIT_CASE(prime_imports_a_segment),
	KUNIT_CASE(prime_refuses_what_is_scattered),
	KUNIT_CASE(prime_refuses_what_is_too_large),
	KUNIT_CASE(prime_exports_no_region),
	KUNIT_CASE(release_comes_with_the_device),
	KUNIT_CASE(release_of_one_keeps_nobody_else),
	KUNIT_CASE(unplug_waits_for_who_releases),
	KUNIT_CASE(free_waits_for_unplug),
	KUNIT_CASE(abandoned_waits_for_a_reset),
	{}
};

static struct kunit_suite nvdla_prime_suite = {
	.name = "nvdla_prime",
	.init = prime_init,
	.exit = prime_exit,
	.test_cases = nvdla_prime_cases,
};

kunit_test_suite(nvdla_prime_suite);
