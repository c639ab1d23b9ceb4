// SPDX-License-Identifier: MIT
/*
 * The machine around the emulated device, as x86 machines are not. Test
 * equipment, loaded before the driver.
 *
 * noncoherent=1: the device does not see the caches of the processor. The DMA
 * API of the device does what it does on such machines: write back what the
 * device is to read, invalidate what it wrote. The caches themselves are the
 * emulator's (nvdla-device-server --stale), which hears of each operation
 * through the fault capability of the function.
 *
 * neighbour=GSI: another device, which never has anything to say, shares the
 * interrupt line.
 */
#include <linux/acpi.h>
#include <linux/dma-map-ops.h>
#include <linux/interrupt.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>

#include "fault_capability.h"

#define MACHINE_VENDOR		0x1234
#define MACHINE_DEVICES		0xd1a0
#define MACHINE_DEVICES_MASK	0xfff0

static bool noncoherent;
module_param(noncoherent, bool, 0444);
MODULE_PARM_DESC(noncoherent, "The device does not see the processor's caches");

static int neighbour = -1;
module_param(neighbour, int, 0444);
MODULE_PARM_DESC(neighbour, "Interrupt (GSI) that another device shares");

static uint neighbour_calls;
module_param(neighbour_calls, uint, 0444);
MODULE_PARM_DESC(neighbour_calls, "Interrupts that it was asked about, to read");

/* One operation takes several writes. */
static DEFINE_SPINLOCK(machine_sync_lock);

static void machine_put(struct pci_dev *pdev, int offset, u32 value)
{
	/* Whatever the state of the device, caches are the processor's. */
	pci_bus_write_config_dword(pdev->bus, pdev->devfn,
				   NVDLA_FAULT_CAPABILITY + offset, value);
}

static void machine_sync(struct device *dev, u64 address, size_t size,
			 u32 operation)
{
	struct pci_dev *pdev = to_pci_dev(dev);
	unsigned long flags;

	spin_lock_irqsave(&machine_sync_lock, flags);
	machine_put(pdev, NVDLA_FAULT_SYNC_ADDRESS, lower_32_bits(address));
	machine_put(pdev, NVDLA_FAULT_SYNC_ADDRESS_HIGH,
		    upper_32_bits(address));
	machine_put(pdev, NVDLA_FAULT_SYNC_BYTES, size);
	machine_put(pdev, NVDLA_FAULT_SYNC, operation);
	spin_unlock_irqrestore(&machine_sync_lock, flags);
}

static void machine_sync_single_for_device(struct device *dev, dma_addr_t dma,
					   size_t size,
					   enum dma_data_direction dir)
{
	machine_sync(dev, dma, size, NVDLA_FAULT_SYNC_CLEAN);
}

static void machine_sync_single_for_cpu(struct device *dev, dma_addr_t dma,
					size_t size,
					enum dma_data_direction dir)
{
	if (dir != DMA_TO_DEVICE)
		machine_sync(dev, dma, size, NVDLA_FAULT_SYNC_INVALIDATE);
}

static void machine_sync_sg_for_device(struct device *dev,
				       struct scatterlist *list, int nents,
				       enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(list, sg, nents, i)
		machine_sync_single_for_device(dev, sg_phys(sg), sg->length,
					       dir);
}

static void machine_sync_sg_for_cpu(struct device *dev,
				    struct scatterlist *list, int nents,
				    enum dma_data_direction dir)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(list, sg, nents, i)
		machine_sync_single_for_cpu(dev, sg_phys(sg), sg->length, dir);
}

static dma_addr_t machine_map_phys(struct device *dev, phys_addr_t phys,
				   size_t size, enum dma_data_direction dir,
				   unsigned long attrs)
{
	if (!(attrs & DMA_ATTR_SKIP_CPU_SYNC))
		machine_sync_single_for_device(dev, phys, size, dir);
	return phys;
}

static void machine_unmap_phys(struct device *dev, dma_addr_t dma, size_t size,
			       enum dma_data_direction dir, unsigned long attrs)
{
	if (!(attrs & DMA_ATTR_SKIP_CPU_SYNC))
		machine_sync_single_for_cpu(dev, dma, size, dir);
}

#ifndef MACHINE_HAVE_MAP_PHYS
static dma_addr_t machine_map_page(struct device *dev, struct page *page,
				   unsigned long offset, size_t size,
				   enum dma_data_direction dir,
				   unsigned long attrs)
{
	return machine_map_phys(dev, page_to_phys(page) + offset, size, dir,
				attrs);
}
#endif

static int machine_map_sg(struct device *dev, struct scatterlist *list,
			  int nents, enum dma_data_direction dir,
			  unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(list, sg, nents, i) {
		sg_dma_address(sg) = machine_map_phys(dev, sg_phys(sg),
						      sg->length, dir, attrs);
		sg_dma_len(sg) = sg->length;
	}
	return nents;
}

static void machine_unmap_sg(struct device *dev, struct scatterlist *list,
			     int nents, enum dma_data_direction dir,
			     unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(list, sg, nents, i)
		machine_unmap_phys(dev, sg_phys(sg), sg->length, dir, attrs);
}

/* As with other implementations, zeroed through the cache and left there. */
static struct page *machine_alloc_pages(struct device *dev, size_t size,
					dma_addr_t *dma,
					enum dma_data_direction dir, gfp_t gfp)
{
	void *vaddr = alloc_pages_exact(size, gfp | __GFP_ZERO);

	if (!vaddr)
		return NULL;
	*dma = virt_to_phys(vaddr);
	return virt_to_page(vaddr);
}

static void machine_free_pages(struct device *dev, size_t size,
			       struct page *page, dma_addr_t dma,
			       enum dma_data_direction dir)
{
	free_pages_exact(page_address(page), size);
}

/* What dma_alloc_coherent() and dma_alloc_wc() give is in no cache. */
static void *machine_alloc(struct device *dev, size_t size, dma_addr_t *dma,
			   gfp_t gfp, unsigned long attrs)
{
	struct page *page;

	size = PAGE_ALIGN(size);
	page = machine_alloc_pages(dev, size, dma, DMA_BIDIRECTIONAL, gfp);
	if (!page)
		return NULL;
	machine_sync(dev, *dma, size, NVDLA_FAULT_SYNC_UNCACHED);
	return page_address(page);
}

static void machine_free(struct device *dev, size_t size, void *vaddr,
			 dma_addr_t dma, unsigned long attrs)
{
	size = PAGE_ALIGN(size);
	machine_sync(dev, dma, size, NVDLA_FAULT_SYNC_CACHED);
	free_pages_exact(vaddr, size);
}

static int machine_mmap(struct device *dev, struct vm_area_struct *vma,
			void *vaddr, dma_addr_t dma, size_t size,
			unsigned long attrs)
{
	unsigned long pages = PAGE_ALIGN(size) >> PAGE_SHIFT;

	if (vma->vm_pgoff >= pages || vma_pages(vma) > pages - vma->vm_pgoff)
		return -ENXIO;
	return remap_pfn_range(vma, vma->vm_start,
			       PHYS_PFN(virt_to_phys(vaddr)) + vma->vm_pgoff,
			       vma->vm_end - vma->vm_start, vma->vm_page_prot);
}

static int machine_get_sgtable(struct device *dev, struct sg_table *table,
			       void *vaddr, dma_addr_t dma, size_t size,
			       unsigned long attrs)
{
	int ret = sg_alloc_table(table, 1, GFP_KERNEL);

	if (!ret)
		sg_set_page(table->sgl, virt_to_page(vaddr), PAGE_ALIGN(size),
			    0);
	return ret;
}

static const struct dma_map_ops machine_dma_ops = {
	.alloc = machine_alloc,
	.free = machine_free,
#ifdef MACHINE_HAVE_ALLOC_PAGES_OP
	.alloc_pages_op = machine_alloc_pages,
#else
	.alloc_pages = machine_alloc_pages,
#endif
	.free_pages = machine_free_pages,
	.mmap = machine_mmap,
	.get_sgtable = machine_get_sgtable,
#ifdef MACHINE_HAVE_MAP_PHYS
	.map_phys = machine_map_phys,
	.unmap_phys = machine_unmap_phys,
#else
	.map_page = machine_map_page,
	.unmap_page = machine_unmap_phys,
#endif
	.map_sg = machine_map_sg,
	.unmap_sg = machine_unmap_sg,
	.sync_single_for_cpu = machine_sync_single_for_cpu,
	.sync_single_for_device = machine_sync_single_for_device,
	.sync_sg_for_cpu = machine_sync_sg_for_cpu,
	.sync_sg_for_device = machine_sync_sg_for_device,
};

static int machine_set_ops(struct device *dev, void *ops)
{
	struct pci_dev *pdev = to_pci_dev(dev);

	if (pdev->vendor == MACHINE_VENDOR &&
	    (pdev->device & MACHINE_DEVICES_MASK) == MACHINE_DEVICES) {
		set_dma_ops(dev, ops);
		dev_info(dev, "%s\n", ops ? "not coherent" : "coherent");
	}
	return 0;
}

/* One that is plugged in later. */
static int machine_notify(struct notifier_block *block, unsigned long event,
			  void *dev)
{
	if (event == BUS_NOTIFY_ADD_DEVICE)
		machine_set_ops(dev, (void *)&machine_dma_ops);
	return NOTIFY_OK;
}

static struct notifier_block machine_notifier = {
	.notifier_call = machine_notify,
};

static irqreturn_t machine_neighbour(int irq, void *data)
{
	neighbour_calls++;
	return IRQ_NONE;
}

static int machine_irq;

static int __init machine_init(void)
{
	int ret;

	if (neighbour >= 0) {
		machine_irq = acpi_register_gsi(NULL, neighbour,
						ACPI_LEVEL_SENSITIVE,
						ACPI_ACTIVE_HIGH);
		if (machine_irq < 0)
			return machine_irq;
		ret = request_irq(machine_irq, machine_neighbour, IRQF_SHARED,
				  "nvdla_machine", &machine_irq);
		if (ret) {
			acpi_unregister_gsi(neighbour);
			return ret;
		}
	}
	if (noncoherent) {
		bus_register_notifier(&pci_bus_type, &machine_notifier);
		bus_for_each_dev(&pci_bus_type, NULL, (void *)&machine_dma_ops,
				 machine_set_ops);
	}
	return 0;
}
module_init(machine_init);

static void __exit machine_exit(void)
{
	if (noncoherent) {
		bus_unregister_notifier(&pci_bus_type, &machine_notifier);
		bus_for_each_dev(&pci_bus_type, NULL, NULL, machine_set_ops);
	}
	if (neighbour >= 0) {
		free_irq(machine_irq, &machine_irq);
		acpi_unregister_gsi(neighbour);
	}
}
module_exit(machine_exit);

MODULE_DESCRIPTION("The machine around the emulated NVDLA, for tests");
MODULE_LICENSE("Dual MIT/GPL");
