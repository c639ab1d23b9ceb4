// SPDX-License-Identifier: MIT
/*
 * Clocks that fail, as those of the emulated machine cannot: it has none, but
 * the driver of a platform device switches them all the same. Test equipment.
 *
 * failures=N: the next N times that clocks are to be switched on fail.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static atomic_t failures;

static int clocks_set_failures(const char *value,
			       const struct kernel_param *param)
{
	int count;
	int ret = kstrtoint(value, 0, &count);

	if (!ret)
		atomic_set(&failures, count);
	return ret;
}

static int clocks_get_failures(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&failures));
}

static const struct kernel_param_ops clocks_failures_ops = {
	.set = clocks_set_failures,
	.get = clocks_get_failures,
};

module_param_cb(failures, &clocks_failures_ops, NULL, 0644);
MODULE_PARM_DESC(failures, "How often clocks fail from now on");

static int clocks_return(struct kretprobe_instance *instance,
			 struct pt_regs *regs)
{
	if (atomic_dec_if_positive(&failures) >= 0)
		regs_set_return_value(regs, -EIO);
	return 0;
}

/* Before clk_bulk_enable(), and with nothing to be undone. */
static struct kretprobe clocks_probe = {
	.kp.symbol_name = "clk_bulk_prepare",
	.handler = clocks_return,
};

static int __init clocks_init(void)
{
	return register_kretprobe(&clocks_probe);
}
module_init(clocks_init);

static void __exit clocks_exit(void)
{
	unregister_kretprobe(&clocks_probe);
}
module_exit(clocks_exit);

MODULE_DESCRIPTION("Clocks of an NVDLA that fail, for tests");
/* As the functions of probes want it. */
MODULE_LICENSE("Dual MIT/GPL");
