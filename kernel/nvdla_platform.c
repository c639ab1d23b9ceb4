// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of systems on chip, by device tree or ACPI PRP0001.
 */
#include <linux/acpi.h>
#include <linux/clk.h>
#include <linux/delay.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/reset.h>

#include "nvdla_bus.h"
#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_power.h"
#include "nvdla_reset.h"
#include "nvdla_sched.h"

/* Microseconds that a reset line without timing of its own is asserted. */
#define NVDLA_RESET_US	10

static uint clock_khz;
module_param(clock_khz, uint, 0444);
MODULE_PARM_DESC(clock_khz,
		 "Clock of the core, where the system does not say or says wrong");

/**
 * struct nvdla_platform - what a platform device has beside the core
 */
struct nvdla_platform {
	/** @bus_ops: the core's device points here */
	struct nvdla_bus_ops bus_ops;
	/** @resets: reset lines of a device tree, or NULL */
	struct reset_control *resets;
	/** @clks: all that it has, on while the device is awake */
	struct clk_bulk_data *clks;
	/** @num_clks: of them */
	int num_clks;
	/** @clks_on: they are; not where it sleeps, or failed to wake up */
	bool clks_on;
	/** @clock_notifier: is called when the core's clock changes */
	struct notifier_block clock_notifier;
	/** @ndev: what it is for */
	struct nvdla_device *ndev;
};

static struct nvdla_platform *to_nvdla_platform(struct device *dev)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);

	return container_of(ndev->bus_ops, struct nvdla_platform, bus_ops);
}

static bool nvdla_platform_can_reset(struct device *dev)
{
	if (to_nvdla_platform(dev)->resets)
		return true;
#ifdef CONFIG_ACPI
	/* Without the core of reset controllers nobody calls the method. */
	return IS_ENABLED(CONFIG_RESET_CONTROLLER) &&
	       acpi_has_method(ACPI_HANDLE(dev), "_RST");
#else
	return false;
#endif
}

static int nvdla_platform_pulse(struct device *dev)
{
	struct reset_control *resets = to_nvdla_platform(dev)->resets;
	int ret;

	if (!resets)
		return device_reset_optional(dev);	/* _RST of ACPI */
	/* Some controllers have lines, others know how long a reset takes. */
	ret = reset_control_assert(resets);
	if (ret)
		return reset_control_reset(resets);
	usleep_range(NVDLA_RESET_US, 2 * NVDLA_RESET_US);
	return reset_control_deassert(resets);
}

/* Nobody else resets a platform device, so there is no lock to take. */
static int nvdla_platform_reset(struct device *dev, bool locked)
{
	struct nvdla_device *ndev = dev_get_drvdata(dev);
	int ret;

	nvdla_reset_prepare(ndev);
	ret = nvdla_platform_pulse(dev);
	nvdla_reset_done(ndev);
	return ret;
}

static int nvdla_platform_clks_enable(struct nvdla_platform *platform)
{
	int ret = clk_bulk_prepare_enable(platform->num_clks, platform->clks);

	platform->clks_on = !ret;
	return ret;
}

static void nvdla_platform_clks_disable(void *data)
{
	struct nvdla_platform *platform = data;

	if (platform->clks_on)
		clk_bulk_disable_unprepare(platform->num_clks, platform->clks);
	platform->clks_on = false;
}

static int nvdla_platform_power(struct device *dev, bool on)
{
	struct nvdla_platform *platform = to_nvdla_platform(dev);

	if (on)
		return nvdla_platform_clks_enable(platform);
	nvdla_platform_clks_disable(platform);
	return 0;
}

static int nvdla_platform_init_clks(struct device *dev,
				    struct nvdla_platform *platform)
{
	int ret;

	ret = devm_clk_bulk_get_all(dev, &platform->clks);
	if (ret < 0)
		return dev_err_probe(dev, ret, "no clocks\n");
	platform->num_clks = ret;
	ret = nvdla_platform_clks_enable(platform);
	if (ret)
		return dev_err_probe(dev, ret, "clocks stay off\n");
	return devm_add_action_or_reset(dev, nvdla_platform_clks_disable,
					platform);
}

static int nvdla_platform_init_resets(struct device *dev,
				      struct nvdla_platform *platform)
{
	struct reset_control *resets;
	int ret;

	resets = devm_reset_control_array_get_optional_exclusive(dev);
	if (IS_ERR(resets))
		return dev_err_probe(dev, PTR_ERR(resets), "no resets\n");
	platform->resets = resets;
	ret = reset_control_deassert(resets);
	return ret ? dev_err_probe(dev, ret, "stays in reset\n") : 0;
}

/* The clock "core", or the only one; to be put, or an ERR_PTR. */
static struct clk *nvdla_platform_core_clock(struct device *dev)
{
	struct clk *clk = clk_get(dev, "core");

	return IS_ERR(clk) ? clk_get(dev, NULL) : clk;
}

/**
 * nvdla_bus_clock_khz() - how fast the core is clocked
 * @dev: device on any bus, its clocks on
 *
 * By the module's parameter; else by the clock "core", or the only one; else
 * by the property "clock-frequency", in Hz.
 *
 * Return: kHz, 0 if nothing says it.
 */
u32 nvdla_bus_clock_khz(struct device *dev)
{
	struct clk *clk;
	unsigned long rate = 0;
	u32 frequency;

	if (clock_khz)
		return clock_khz;
	clk = nvdla_platform_core_clock(dev);
	if (!IS_ERR(clk)) {
		rate = clk_get_rate(clk);
		clk_put(clk);
	}
	if (!rate && !device_property_read_u32(dev, "clock-frequency",
					       &frequency))
		rate = frequency;
	return rate / 1000;
}

static const struct nvdla_bus_ops nvdla_platform_ops = {
	.can_reset = nvdla_platform_can_reset,
	.reset = nvdla_platform_reset,
	.power = nvdla_platform_power,
	.clock_khz = nvdla_bus_clock_khz,
};

static void nvdla_platform_set_clock(struct nvdla_device *ndev, u32 khz)
{
	nvdla_hw_lock(ndev);
	WRITE_ONCE(ndev->clock_khz, khz);
	nvdla_engine_set_clock(&ndev->engine, khz);
	nvdla_hw_unlock(ndev);
}

/* A clock that becomes slower is slower from before the change on. */
static int nvdla_platform_clock_changes(struct notifier_block *block,
					unsigned long event, void *data)
{
	const struct clk_notifier_data *change = data;
	struct nvdla_platform *platform =
		container_of(block, struct nvdla_platform, clock_notifier);
	unsigned long rate = event == ABORT_RATE_CHANGE ? change->old_rate :
							  change->new_rate;

	if (event == PRE_RATE_CHANGE && change->new_rate > change->old_rate)
		return NOTIFY_DONE;
	nvdla_platform_set_clock(platform->ndev, rate / 1000);
	return NOTIFY_OK;
}

static void nvdla_platform_put_clock(void *clk)
{
	clk_put(clk);
}

/* Unless the parameter says what the system does not know. */
static int nvdla_platform_follow_clock(struct device *dev,
				       struct nvdla_platform *platform)
{
	struct clk *clk;
	int ret;

	/* Clocks of old kinds tell nobody. */
	if (clock_khz || !IS_ENABLED(CONFIG_COMMON_CLK))
		return 0;
	clk = nvdla_platform_core_clock(dev);
	if (IS_ERR_OR_NULL(clk))
		return 0;
	ret = devm_add_action_or_reset(dev, nvdla_platform_put_clock, clk);
	if (ret)
		return ret;
	platform->ndev = dev_get_drvdata(dev);
	platform->clock_notifier.notifier_call = nvdla_platform_clock_changes;
	ret = devm_clk_notifier_register(dev, clk, &platform->clock_notifier);
	if (ret)
		return dev_err_probe(dev, ret, "its clock cannot be followed\n");
	/* The clock may have changed before the notifier was there. */
	nvdla_platform_set_clock(platform->ndev, nvdla_bus_clock_khz(dev));
	return 0;
}

static int nvdla_platform_probe(struct platform_device *pdev)
{
	const char *name = device_get_match_data(&pdev->dev);
	const struct nvdla_hw *hw = name ? nvdla_hw_find(name) : NULL;
	struct device *dev = &pdev->dev;
	struct nvdla_platform *platform;
	void __iomem *regs;
	int irq, ret;

	if (!hw)
		return dev_err_probe(dev, -ENODEV, "no known configuration\n");
	platform = devm_kzalloc(dev, sizeof(*platform), GFP_KERNEL);
	if (!platform)
		return -ENOMEM;
	platform->bus_ops = nvdla_platform_ops;
	regs = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(regs))
		return PTR_ERR(regs);
	irq = platform_get_irq(pdev, 0);
	if (irq < 0)
		return irq;
	ret = nvdla_platform_init_clks(dev, platform);
	if (ret)
		return ret;
	ret = nvdla_platform_init_resets(dev, platform);
	if (ret)
		return ret;
	ret = nvdla_device_create(dev, hw, regs, irq, &platform->bus_ops);
	if (ret)
		return ret;
	ret = nvdla_platform_follow_clock(dev, platform);
	if (ret)
		nvdla_device_remove(dev_get_drvdata(dev));
	return ret;
}

static void nvdla_platform_shutdown(struct platform_device *pdev)
{
	nvdla_device_shutdown(platform_get_drvdata(pdev));
}

static void nvdla_platform_remove(struct platform_device *pdev)
{
	nvdla_device_remove(platform_get_drvdata(pdev));
}

/* Not wrapped in of_match_ptr(): ACPI's PRP0001 uses it without CONFIG_OF. */
static const struct of_device_id nvdla_of_ids[] = {
	{ .compatible = "nvidia,nvdla-nv-full",
	  .data = "nv_full" },
	{ .compatible = "nvidia,nvdla-nv-large",
	  .data = "nv_large" },
	{ .compatible = "nvidia,nvdla-nv-medium-1024-full",
	  .data = "nv_medium_1024_full" },
	{ .compatible = "nvidia,nvdla-nv-medium-512",
	  .data = "nv_medium_512" },
	{ .compatible = "nvidia,nvdla-nv-small-256-full",
	  .data = "nv_small_256_full" },
	{ .compatible = "nvidia,nvdla-nv-small-256",
	  .data = "nv_small_256" },
	{ .compatible = "nvidia,nvdla-nv-small",
	  .data = "nv_small" },
#ifdef NVDLA_OUT_OF_TREE
	/* Deprecated: device trees that were published with the hardware. */
	{ .compatible = "nvidia,nvdla_os_initial", .data = "nv_full" },
	{ .compatible = "nvidia,nv_full", .data = "nv_full" },
	{ .compatible = "nvidia,nv_large", .data = "nv_large" },
	{ .compatible = "nvidia,nv_medium_1024_full",
	  .data = "nv_medium_1024_full" },
	{ .compatible = "nvidia,nv_medium_512", .data = "nv_medium_512" },
	{ .compatible = "nvidia,nv_small_256_full",
	  .data = "nv_small_256_full" },
	{ .compatible = "nvidia,nv_small_256", .data = "nv_small_256" },
	{ .compatible = "nvidia,nv_small", .data = "nv_small" },
#endif
	{ }
};
MODULE_DEVICE_TABLE(of, nvdla_of_ids);

static struct platform_driver nvdla_platform_driver = {
	.probe = nvdla_platform_probe,
	.nvdla_platform_remove_op = nvdla_platform_remove,
	.shutdown = nvdla_platform_shutdown,
	.driver = {
		.name = "nvdla",
		.of_match_table = nvdla_of_ids,
		.pm = pm_ptr(&nvdla_pm_ops),
	},
};

int nvdla_platform_register(void)
{
	return platform_driver_register(&nvdla_platform_driver);
}

void nvdla_platform_unregister(void)
{
	platform_driver_unregister(&nvdla_platform_driver);
}
