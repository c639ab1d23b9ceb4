// SPDX-License-Identifier: MIT
/*
 * The emulated platform device for user space, as uio_pdrv_genirq gives it,
 * which Debian's kernels do not have. Test equipment, loaded in the place of
 * the driver.
 */
#include <linux/interrupt.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/uio_driver.h>

struct nvdla_uio {
	struct uio_info info;
	spinlock_t lock;	/* disabled */
	bool disabled;
};

/* The line is a level: silent until user space has seen to its cause. */
static irqreturn_t nvdla_uio_handler(int irq, struct uio_info *info)
{
	struct nvdla_uio *uio = info->priv;

	spin_lock(&uio->lock);
	if (!uio->disabled)
		disable_irq_nosync(irq);
	uio->disabled = true;
	spin_unlock(&uio->lock);
	return IRQ_HANDLED;
}

static int nvdla_uio_control(struct uio_info *info, s32 on)
{
	struct nvdla_uio *uio = info->priv;
	unsigned long flags;

	spin_lock_irqsave(&uio->lock, flags);
	if (on && uio->disabled)
		enable_irq(info->irq);
	else if (!on && !uio->disabled)
		disable_irq_nosync(info->irq);
	uio->disabled = !on;
	spin_unlock_irqrestore(&uio->lock, flags);
	return 0;
}

static int nvdla_uio_probe(struct platform_device *pdev)
{
	struct resource *res = platform_get_resource(pdev, IORESOURCE_MEM, 0);
	struct nvdla_uio *uio;
	int irq;

	uio = devm_kzalloc(&pdev->dev, sizeof(*uio), GFP_KERNEL);
	if (!uio)
		return -ENOMEM;
	irq = platform_get_irq(pdev, 0);
	if (irq < 0)
		return irq;
	if (!res)
		return -ENXIO;

	spin_lock_init(&uio->lock);
	uio->info.name = "nvdla_uio";
	uio->info.version = "1";
	uio->info.irq = irq;
	uio->info.handler = nvdla_uio_handler;
	uio->info.irqcontrol = nvdla_uio_control;
	uio->info.priv = uio;
	uio->info.mem[0].name = "registers";
	uio->info.mem[0].memtype = UIO_MEM_PHYS;
	uio->info.mem[0].addr = res->start & PAGE_MASK;
	uio->info.mem[0].offs = res->start & ~PAGE_MASK;
	uio->info.mem[0].size = resource_size(res);
	return devm_uio_register_device(&pdev->dev, &uio->info);
}

static const struct of_device_id nvdla_uio_of_match[] = {
	{ .compatible = "nvidia,nvdla-nv-full" },
	{ .compatible = "nvidia,nvdla-nv-small" },
	{ }
};
MODULE_DEVICE_TABLE(of, nvdla_uio_of_match);

static struct platform_driver nvdla_uio_driver = {
	.driver = {
		.name = "nvdla_uio",
		.of_match_table = nvdla_uio_of_match,
	},
	.probe = nvdla_uio_probe,
};
module_platform_driver(nvdla_uio_driver);

MODULE_DESCRIPTION("The emulated device for user space");
MODULE_LICENSE("Dual MIT/GPL");
