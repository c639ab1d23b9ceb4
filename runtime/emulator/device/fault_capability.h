/* SPDX-License-Identifier: MIT */
/*
 * How a test in the guest makes the emulated device misbehave: a vendor-specific
 * PCI capability (id 0x09, version FAULT_VERSION) of 32-bit registers in
 * configuration space, where user space reaches it (sysfs "config") while a
 * driver owns the function. Write whole registers. It is test equipment: resets
 * of the function leave it alone, except that they end what is blocked.
 *
 * No silicon has it. C, so that tests of any kind can include it.
 */
#ifndef NVDLA_FAULT_CAPABILITY_H
#define NVDLA_FAULT_CAPABILITY_H

#define NVDLA_FAULT_CAPABILITY 0x60 /* where it is in configuration space */
#define NVDLA_FAULT_LENGTH 0x64
#define NVDLA_FAULT_VERSION 3

/* Offsets from the capability's start. */

/* So many coming interrupts are not delivered; S_INTR_STATUS shows them. */
#define NVDLA_FAULT_SWALLOW_INTERRUPTS 0x04
/* So many coming completions vanish: S_INTR_STATUS never shows them. */
#define NVDLA_FAULT_SWALLOW_COMPLETIONS 0x08
/* 0: none; n: the n-th layer from now does not run until the function is reset. */
#define NVDLA_FAULT_BLOCK 0x0c
/*
 * With BLOCK: milliseconds after which the blocked layer runs all the same; what
 * it writes is overwritten with the byte PATTERN. 0: never. May be written while a
 * layer is blocked, too.
 */
#define NVDLA_FAULT_LATE_MS 0x10
/* Microseconds that pass before each layer runs. */
#define NVDLA_FAULT_DELAY_US 0x14
/* 1: registers read as ones, no interrupt, no DMA; 2: configuration space too. */
#define NVDLA_FAULT_GONE 0x18
#define NVDLA_FAULT_PATTERN 0x1c

/* Counters since the server's start, read only. */
#define NVDLA_FAULT_COMPLETIONS 0x20 /* unmasked bits of S_INTR_STATUS set */
#define NVDLA_FAULT_INTERRUPTS 0x24  /* messages sent, rising edges of INTx */
#define NVDLA_FAULT_DMA_REFUSED 0x28 /* accesses outside of memory or bus mastering */
/* Bits of what goes on, read only. */
#define NVDLA_FAULT_STATE 0x2c
#define NVDLA_FAULT_STATE_BLOCKED 0x1 /* a layer is blocked now */
#define NVDLA_FAULT_STATE_LATE 0x2    /* the layer blocked last ran late */
#define NVDLA_FAULT_STATE_CUT_OFF 0x4 /* asleep, in reset or off: no register is reached */

/*
 * A link that comes back: so many coming register reads give ones, or all reads
 * of so many milliseconds, in which writes are lost, too. The device works on.
 */
#define NVDLA_FAULT_ONES_READS 0x30
#define NVDLA_FAULT_ONES_MS 0x34
/* So many coming register reads give random words; the seed starts their row. */
#define NVDLA_FAULT_GARBAGE_READS 0x38
#define NVDLA_FAULT_GARBAGE_SEED 0x3c
/* These bits of S_INTR_STATUS rise at once. Reads as 0. */
#define NVDLA_FAULT_RAISE 0x40
/* So many interrupts in a second for which no status says a reason. */
#define NVDLA_FAULT_STORM_HZ 0x44
/* What function-level resets do. */
#define NVDLA_FAULT_RESET 0x48
#define NVDLA_FAULT_RESET_WORKS 0
#define NVDLA_FAULT_RESET_FAILS 1  /* the function says that it has none */
#define NVDLA_FAULT_RESET_BARELY 2 /* configuration space is reset, the device works on */
/* So many milliseconds after one everything reads as ones. */
#define NVDLA_FAULT_RESET_MS 0x4c

/*
 * With a view of memory of its own (--stale) the device and the guest see what
 * the other wrote only where a cache operation was done in between. Whoever does
 * them in the guest writes where, and what to NVDLA_FAULT_SYNC.
 */
#define NVDLA_FAULT_SYNC_ADDRESS 0x50
#define NVDLA_FAULT_SYNC_ADDRESS_HIGH 0x54
#define NVDLA_FAULT_SYNC_BYTES 0x58
#define NVDLA_FAULT_SYNC 0x5c
#define NVDLA_FAULT_SYNC_CLEAN 1      /* the device sees what the guest wrote */
#define NVDLA_FAULT_SYNC_INVALIDATE 2 /* the guest sees what the device wrote */
#define NVDLA_FAULT_SYNC_UNCACHED 3   /* from now on they see the same in these pages */
#define NVDLA_FAULT_SYNC_CACHED 4     /* no longer */

/* Register accesses while it was cut off, counted like the others above. */
#define NVDLA_FAULT_UNREACHED 0x60

#endif /* NVDLA_FAULT_CAPABILITY_H */
