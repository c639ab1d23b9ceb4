// SPDX-License-Identifier: GPL-2.0
/*
 * Devices on PCI: FPGA cards and the emulator's device.
 *
 * NVDLA has no PCI id of its own: each card has the one of its maker, and
 * emulators make one up. So the driver claims none, as pci-stub does, and the
 * administrator binds functions to it by new_id or driver_override. Registers
 * do not tell the configuration either: the last number that is written to
 * new_id does (1 for the first one of nvdla_hw_get()), or, where that is
 * missing or 0, the module's parameter pci_configuration=.
 */
#include <linux/module.h>
#include <linux/pci.h>

#include "nvdla_bus.h"
#include "nvdla_device.h"
#include "nvdla_power.h"
#include "nvdla_reset.h"

#define NVDLA_PCI_BAR		0
#define NVDLA_PCI_BAR_SIZE	SZ_256K

static char *pci_configuration;
module_param(pci_configuration, charp, 0444);
MODULE_PARM_DESC(pci_configuration,
		 "Configuration of PCI functions that new_id gives none, as nv_small");

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

static const struct nvdla_bus_ops nvdla_pci_ops = {
	.can_reset = nvdla_pci_can_reset,
	.reset = nvdla_pci_reset,
	.isolate = nvdla_pci_isolate,
	.clock_khz = nvdla_bus_clock_khz,
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

/* Lists every name, as a wrong one is most often a misspelled one. */
static void nvdla_pci_print_names(struct device *dev)
{
	u32 i;

	for (i = 0; i < nvdla_hw_count(); i++)
		dev_err(dev, "configuration %u is %s\n", i + 1,
			nvdla_hw_get(i)->name);
}

/* @number is the last one of new_id, 0 after driver_override. */
static const struct nvdla_hw *nvdla_pci_configuration(struct device *dev,
						      unsigned long number)
{
	const struct nvdla_hw *hw = NULL;

	if (number) {
		if (number <= nvdla_hw_count())
			hw = nvdla_hw_get(number - 1);
		if (!hw)
			dev_err(dev, "configuration %#lx of new_id is not in 1..%u\n",
				number, nvdla_hw_count());
	} else if (pci_configuration) {
		hw = nvdla_hw_find(pci_configuration);
		if (!hw)
			dev_err(dev, "pci_configuration=%s is no configuration\n",
				pci_configuration);
	} else {
		dev_err(dev, "no configuration in pci_configuration= or as new_id's last number\n");
	}
	if (!hw)
		nvdla_pci_print_names(dev);
	return hw;
}

static int nvdla_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device *dev = &pdev->dev;
	const struct nvdla_hw *hw;
	int ret;

	hw = nvdla_pci_configuration(dev, id->driver_data);
	if (!hw)
		return -ENODEV;
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
	/* Somebody before may have left it running. */
	pci_clear_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_ALL_TYPES);
	if (ret < 0)
		return dev_err_probe(dev, ret, "no interrupt\n");
	ret = devm_add_action_or_reset(dev, nvdla_pci_free_vectors, pdev);
	if (ret)
		return ret;
	return nvdla_device_create(dev, hw, pcim_iomap_table(pdev)[NVDLA_PCI_BAR],
				   pci_irq_vector(pdev, 0),
				   &nvdla_pci_ops);
}

static void nvdla_pci_remove(struct pci_dev *pdev)
{
	nvdla_device_remove(pci_get_drvdata(pdev));
}

static void nvdla_pci_shutdown(struct pci_dev *pdev)
{
	nvdla_device_shutdown(pci_get_drvdata(pdev));
}

static struct pci_driver nvdla_pci_driver = {
	.name = "nvdla",
	/*
	 * With a table, even an empty one, new_id takes only the driver_data
	 * that are in it.
	 */
	.id_table = NULL,
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
