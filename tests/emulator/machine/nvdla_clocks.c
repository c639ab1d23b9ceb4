// SPDX-License-Identifier: MIT
/*
 * Clocks that fail and a clock that changes, as those of the emulated machine
 * cannot: it has none, but the driver of a platform device switches them all
 * the same. Test equipment.
 *
 * failures=N: the next N times that clocks are to be switched on fail.
 * core_hz=N: the rate of the clock "core", 0 at first, which stands for unknown.
 */
#include <linux/atomic.h>
#include <linux/clk.h>
#include <linux/clk-provider.h>
#include <linux/clkdev.h>
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

static unsigned long core_rate;

static unsigned long core_recalc_rate(struct clk_hw *hw,
				      unsigned long parent_rate)
{
	return core_rate;
}

static int core_determine_rate(struct clk_hw *hw, struct clk_rate_request *req)
{
	return 0;
}

static int core_set_rate(struct clk_hw *hw, unsigned long rate,
			 unsigned long parent_rate)
{
	core_rate = rate;
	return 0;
}

static const struct clk_ops core_ops = {
	.recalc_rate = core_recalc_rate,
	.determine_rate = core_determine_rate,
	.set_rate = core_set_rate,
};

static const struct clk_init_data core_init = {
	.name = "nvdla_core",
	.ops = &core_ops,
};

static struct clk_hw core_hw = { .init = &core_init };
static struct clk_lookup *core_lookup;
static struct clk *core_clk;

static int clocks_set_core_hz(const char *value,
			      const struct kernel_param *param)
{
	unsigned long rate;
	int ret = kstrtoul(value, 0, &rate);

	return ret ? ret : clk_set_rate(core_clk, rate);
}

static int clocks_get_core_hz(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%lu\n", clk_get_rate(core_clk));
}

static const struct kernel_param_ops clocks_core_hz_ops = {
	.set = clocks_set_core_hz,
	.get = clocks_get_core_hz,
};

/* The clock is not there yet when parameters of the command line are. */
module_param_cb(core_hz, &clocks_core_hz_ops, NULL, 0644);
MODULE_PARM_DESC(core_hz, "Rate of the clock \"core\"");

static int __init clocks_init(void)
{
	int ret = clk_hw_register(NULL, &core_hw);

	if (ret)
		return ret;
	core_clk = clk_hw_get_clk(&core_hw, "test");
	if (IS_ERR(core_clk)) {
		ret = PTR_ERR(core_clk);
		goto err_clock;
	}
	/* For whichever device asks. */
	core_lookup = clkdev_hw_create(&core_hw, "core", NULL);
	if (!core_lookup) {
		ret = -ENOMEM;
		goto err_get;
	}
	ret = register_kretprobe(&clocks_probe);
	if (!ret)
		return 0;
	clkdev_drop(core_lookup);
err_get:
	clk_put(core_clk);
err_clock:
	clk_hw_unregister(&core_hw);
	return ret;
}
module_init(clocks_init);

static void __exit clocks_exit(void)
{
	unregister_kretprobe(&clocks_probe);
	clkdev_drop(core_lookup);
	clk_put(core_clk);
	clk_hw_unregister(&core_hw);
}
module_exit(clocks_exit);

MODULE_DESCRIPTION("Clocks of an NVDLA that fail and change, for tests");
/* As the functions of probes want it. */
MODULE_LICENSE("Dual MIT/GPL");
