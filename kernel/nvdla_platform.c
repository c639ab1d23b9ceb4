// SPDX-License-Identifier: GPL-2.0
/*
 * Platform front end: systems on chip, by device tree or ACPI PRP0001.
 */
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/reset.h>

#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_front.h"

static bool nvdla_platform_can_reset(struct device *dev)
{
	struct reset_control *reset;
	bool found;

	reset = reset_control_get_optional_exclusive(dev, NULL);
	found = !IS_ERR_OR_NULL(reset);
	if (found)
		reset_control_put(reset);
	return found;
}

static int nvdla_platform_reset(struct device *dev, bool locked)
{
	struct reset_control *reset;
	int ret;

	reset = reset_control_get_exclusive(dev, NULL);
	if (IS_ERR(reset))
		return PTR_ERR(reset);
	ret = reset_control_reset(reset);
	reset_control_put(reset);
	return ret;
}

static const struct nvdla_front_ops nvdla_platform_front_ops = {
	.can_reset = nvdla_platform_can_reset,
	.reset = nvdla_platform_reset,
};

static int nvdla_platform_probe(struct platform_device *pdev)
{
	const char *name = device_get_match_data(&pdev->dev);
	const struct nvdla_hw *hw = name ? nvdla_hw_find(name) : NULL;
	void __iomem *regs;
	int irq;

	if (!hw)
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "no known configuration\n");
	regs = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(regs))
		return PTR_ERR(regs);
	irq = platform_get_irq(pdev, 0);
	if (irq < 0)
		return irq;
	return nvdla_device_create(&pdev->dev, hw, regs, irq, 0,
				   &nvdla_platform_front_ops);
}

static void nvdla_platform_remove(struct platform_device *pdev)
{
	nvdla_device_remove(platform_get_drvdata(pdev));
}

/* Not wrapped in of_match_ptr(): ACPI's PRP0001 uses it without CONFIG_OF. */
static const struct of_device_id nvdla_of_ids[] = {
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
	{ }
};
MODULE_DEVICE_TABLE(of, nvdla_of_ids);

static struct platform_driver nvdla_platform_driver = {
	.probe = nvdla_platform_probe,
	.nvdla_platform_remove_op = nvdla_platform_remove,
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
