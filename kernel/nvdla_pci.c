// SPDX-License-Identifier: GPL-2.0
/*
 * PCI front end: FPGA cards and the emulator's device.
 *
 * The device id says which configuration it is: 0xd1a0 plus the index of the
 * configuration in nvdla_hw_get(). The vendor is the one that emulators use
 * for devices without a vendor.
 */
#include <linux/module.h>
#include <linux/pci.h>

#include "nvdla_device.h"
#include "nvdla_front.h"

#define NVDLA_PCI_VENDOR	0x1234
#define NVDLA_PCI_DEVICE	0xd1a0
#define NVDLA_PCI_BAR		0
#define NVDLA_PCI_BAR_SIZE	SZ_256K

static bool nvdla_pci_can_reset(struct device *dev)
{
	return to_pci_dev(dev)->reset_methods[0];
}

/* Never waits for the device lock: removal may hold it and wait for us. */
static int nvdla_pci_reset(struct device *dev, bool locked)
{
	struct pci_dev *pdev = to_pci_dev(dev);

	return locked ? pci_reset_function_locked(pdev) :
			pci_try_reset_function(pdev);
}

static void nvdla_pci_isolate(struct device *dev, bool isolated)
{
	struct pci_dev *pdev = to_pci_dev(dev);

	if (isolated)
		pci_clear_master(pdev);
	else
		pci_set_master(pdev);
}

static const struct nvdla_front_ops nvdla_pci_front_ops = {
	.can_reset = nvdla_pci_can_reset,
	.reset = nvdla_pci_reset,
	.isolate = nvdla_pci_isolate,
};

/* Around each reset of the function, whoever asks for it. */
static void nvdla_pci_reset_prepare(struct pci_dev *pdev)
{
	struct nvdla_device *ndev = pci_get_drvdata(pdev);

	if (ndev)
		nvdla_reset_prepare(ndev);
}

static void nvdla_pci_reset_done(struct pci_dev *pdev)
{
	struct nvdla_device *ndev = pci_get_drvdata(pdev);

	if (ndev)
		nvdla_reset_done(ndev);
}

static const struct pci_error_handlers nvdla_pci_error_handlers = {
	.reset_prepare = nvdla_pci_reset_prepare,
	.reset_done = nvdla_pci_reset_done,
};

static void nvdla_pci_free_vectors(void *data)
{
	pci_free_irq_vectors(data);
}

static int nvdla_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device *dev = &pdev->dev;
	const struct nvdla_hw *hw;
	int ret;

	/* Of the device: an id of user space (new_id) may say anything. */
	hw = pdev->device < NVDLA_PCI_DEVICE ? NULL :
	     nvdla_hw_get(pdev->device - NVDLA_PCI_DEVICE);
	if (!hw)
		return dev_err_probe(dev, -ENODEV,
				     "device id %04x is no configuration\n",
				     pdev->device);
	ret = pcim_enable_device(pdev);
	if (ret)
		return dev_err_probe(dev, ret, "cannot be enabled\n");
	if (pci_resource_len(pdev, NVDLA_PCI_BAR) < NVDLA_PCI_BAR_SIZE)
		return dev_err_probe(dev, -ENODEV,
				     "BAR %d has %llu bytes, not %u\n",
				     NVDLA_PCI_BAR, (unsigned long long)
				     pci_resource_len(pdev, NVDLA_PCI_BAR),
				     NVDLA_PCI_BAR_SIZE);
	ret = pcim_iomap_regions(pdev, BIT(NVDLA_PCI_BAR), "nvdla");
	if (ret)
		return dev_err_probe(dev, ret, "registers cannot be mapped\n");
	/* Who had it before may have left it running. */
	pci_clear_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_ALL_TYPES);
	if (ret < 0)
		return dev_err_probe(dev, ret, "no interrupt\n");
	ret = devm_add_action_or_reset(dev, nvdla_pci_free_vectors, pdev);
	if (ret)
		return ret;
	return nvdla_device_create(dev, hw, pcim_iomap_table(pdev)[NVDLA_PCI_BAR],
				   pci_irq_vector(pdev, 0),
				   &nvdla_pci_front_ops);
}

static void nvdla_pci_remove(struct pci_dev *pdev)
{
	nvdla_device_remove(pci_get_drvdata(pdev));
}

static void nvdla_pci_shutdown(struct pci_dev *pdev)
{
	nvdla_device_shutdown(pci_get_drvdata(pdev));
}

#define NVDLA_PCI_ID(index) \
	{ PCI_DEVICE(NVDLA_PCI_VENDOR, NVDLA_PCI_DEVICE + (index)) }

static const struct pci_device_id nvdla_pci_ids[] = {
	NVDLA_PCI_ID(0),
	NVDLA_PCI_ID(1),
	NVDLA_PCI_ID(2),
	NVDLA_PCI_ID(3),
	NVDLA_PCI_ID(4),
	NVDLA_PCI_ID(5),
	NVDLA_PCI_ID(6),
	{ }
};
MODULE_DEVICE_TABLE(pci, nvdla_pci_ids);

static struct pci_driver nvdla_pci_driver = {
	.name = "nvdla",
	.id_table = nvdla_pci_ids,
	.probe = nvdla_pci_probe,
	.remove = nvdla_pci_remove,
	.shutdown = nvdla_pci_shutdown,
	.err_handler = &nvdla_pci_error_handlers,
	.driver.pm = pm_ptr(&nvdla_pm_ops),
};

int nvdla_pci_register(void)
{
	return pci_register_driver(&nvdla_pci_driver);
}

void nvdla_pci_unregister(void)
{
	pci_unregister_driver(&nvdla_pci_driver);
}
