// SPDX-License-Identifier: MIT
/*
 * The power domain of the emulated device (device-tree/domain.dts): a switch
 * of the machine. Test equipment, loaded before the driver.
 *
 * switched_off: how often it was, to read.
 */
#include <linux/err.h>
#include <linux/io.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>

static uint switched_off;
module_param(switched_off, uint, 0444);
MODULE_PARM_DESC(switched_off, "How often the power was switched off, to read");

struct machine_domain {
	struct generic_pm_domain genpd;
	void __iomem *power;
};

static struct machine_domain *to_machine_domain(struct generic_pm_domain *genpd)
{
	return container_of(genpd, struct machine_domain, genpd);
}

static int domain_on(struct generic_pm_domain *genpd)
{
	writel(1, to_machine_domain(genpd)->power);
	return 0;
}

static int domain_off(struct generic_pm_domain *genpd)
{
	writel(0, to_machine_domain(genpd)->power);
	switched_off++;
	return 0;
}

static void domain_remove(void *data)
{
	struct machine_domain *domain = data;

	pm_genpd_remove(&domain->genpd);
}

static void domain_del_provider(void *data)
{
	of_genpd_del_provider(data);
}

static int domain_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct machine_domain *domain;
	int ret;

	domain = devm_kzalloc(dev, sizeof(*domain), GFP_KERNEL);
	if (!domain)
		return -ENOMEM;
	domain->power = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(domain->power))
		return PTR_ERR(domain->power);
	domain->genpd.name = "nvdla";
	domain->genpd.power_on = domain_on;
	domain->genpd.power_off = domain_off;
	/* Off until somebody needs it. */
	writel(0, domain->power);
	ret = pm_genpd_init(&domain->genpd, NULL, true);
	if (ret)
		return ret;
	ret = devm_add_action_or_reset(dev, domain_remove, domain);
	if (ret)
		return ret;
	ret = of_genpd_add_provider_simple(dev->of_node, &domain->genpd);
	if (ret)
		return ret;
	return devm_add_action_or_reset(dev, domain_del_provider, dev->of_node);
}

static const struct of_device_id domain_ids[] = {
	{ .compatible = "nvdla-machine,power-domain" },
	{ }
};
MODULE_DEVICE_TABLE(of, domain_ids);

static struct platform_driver domain_driver = {
	.probe = domain_probe,
	.driver = {
		.name = "nvdla_domain",
		.of_match_table = domain_ids,
		/* A driver of a domain that is in use cannot go. */
		.suppress_bind_attrs = true,
	},
};
module_platform_driver(domain_driver);

MODULE_DESCRIPTION("The power domain of an emulated NVDLA, for tests");
MODULE_LICENSE("Dual MIT/GPL");
