// SPDX-License-Identifier: MIT
/*
 * Memory of the kernel that was overwritten: the compiler of programs makes no
 * register image that the engine refuses, and no device can change one. Test
 * equipment, loaded after the driver.
 *
 * layers=N: the image of the n-th layer from now that is written to the device
 * begins with a register of no unit. Afterwards it is 0.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "../firmware/engine/nvdla_engine.h"

/* Beyond all units of any configuration. */
#define SPOIL_OFFSET	0x3f000

static atomic_t layers;

static int spoil_set_layers(const char *value, const struct kernel_param *param)
{
	int count;
	int ret = kstrtoint(value, 0, &count);

	if (!ret)
		atomic_set(&layers, count);
	return ret;
}

static int spoil_get_layers(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&layers));
}

static const struct kernel_param_ops spoil_layers_ops = {
	.set = spoil_set_layers,
	.get = spoil_get_layers,
};

module_param_cb(layers, &spoil_layers_ops, NULL, 0644);
MODULE_PARM_DESC(layers, "Which layer from now on is spoiled");

/* Before nvdla_image_write(engine, image, flight). */
static int spoil_image(struct kprobe *probe, struct pt_regs *regs)
{
	const struct nvdla_engine *engine =
		(void *)regs_get_kernel_argument(regs, 0);
	const struct nvdla_layer_image *image =
		(void *)regs_get_kernel_argument(regs, 1);

	if (atomic_dec_if_positive(&layers) == 0)
		engine->job->program->writes[image->first_write].offset =
			SPOIL_OFFSET;
	return 0;
}

static struct kprobe spoil_probe = {
	.symbol_name = "nvdla_image_write",
	.pre_handler = spoil_image,
};

static int __init spoil_init(void)
{
	return register_kprobe(&spoil_probe);
}
module_init(spoil_init);

static void __exit spoil_exit(void)
{
	unregister_kprobe(&spoil_probe);
}
module_exit(spoil_exit);

MODULE_DESCRIPTION("Register images of the NVDLA driver that are spoiled, for tests");
/* As the functions of probes want it. */
MODULE_LICENSE("Dual MIT/GPL");
