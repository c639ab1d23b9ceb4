/* SPDX-License-Identifier: MIT */
/*
 *
 * With this vendor-specific PCI capability (id 0x09, version FAULT_VERSION), a
 * test in the guest makes the emulated device misbehave. It has 32-bit
 * registers in configuration space, which user space reaches (sysfs "config")
 * while a driver owns the function. Write whole registers. Resets of the
 * function do not change the registers, but end the blocking of a layer.
 *
 * No silicon has this capability. The file is C, so that tests of any kind can
 * include it.
 *
 */
#ifndef NVDLA_FAULT_CAPABILITY_H
#define NVDLA_FAULT_CAPABILITY_H

#define NVDLA_FAULT_CAPABILITY 0x60 /* where it is in configuration space */
#define NVDLA_FAULT_LENGTH 0x64
#define NVDLA_FAULT_VERSION 3

/* Offsets from the capability's start. */

/* The next N interrupts are not delivered; S_INTR_STATUS shows them. */
#define NVDLA_FAULT_SWALLOW_INTERRUPTS 0x04
/* The next N completions vanish: S_INTR_STATUS never shows them. */
#define NVDLA_FAULT_SWALLOW_COMPLETIONS 0x08
/*
 * 0: none; N: the N-th layer from now does not run until the function is reset.
 */
#define NVDLA_FAULT_BLOCK 0x0c
/*
 * With BLOCK: milliseconds after which the blocked layer runs after all, with
 * its output overwritten by the byte PATTERN. 0: never. May also be written
 * while a layer is blocked.
 */
#define NVDLA_FAULT_LATE_MS 0x10
/* A delay before each layer runs, in microseconds. */
#define NVDLA_FAULT_DELAY_US 0x14
/* 1: registers read as ones, no interrupt, no DMA; 2: configuration space too. */
#define NVDLA_FAULT_GONE 0x18
#define NVDLA_FAULT_PATTERN 0x1c

/* Counters since the server's start, read only. */
#define NVDLA_FAULT_COMPLETIONS 0x20 /* unmasked bits of S_INTR_STATUS set */
#define NVDLA_FAULT_INTERRUPTS 0x24  /* messages sent, rising edges of INTx */
#define NVDLA_FAULT_DMA_REFUSED 0x28 /* accesses outside of memory or bus mastering */
/* Bits of the current state, read only. */
#define NVDLA_FAULT_STATE 0x2c
#define NVDLA_FAULT_STATE_BLOCKED 0x1 /* a layer is blocked now */
#define NVDLA_FAULT_STATE_LATE 0x2    /* the layer blocked last ran late */
#define NVDLA_FAULT_STATE_CUT_OFF 0x4 /* asleep, in reset or off: no register is reached */

/*
 * A link that fails and recovers: the next N register reads return ones, or all
 * reads within N milliseconds, in which writes are lost, too. The device keeps
 * working.
 */
#define NVDLA_FAULT_ONES_READS 0x30
#define NVDLA_FAULT_ONES_MS 0x34
/*
 * The next N register reads return random words; the seed starts their
 * sequence.
 */
#define NVDLA_FAULT_GARBAGE_READS 0x38
#define NVDLA_FAULT_GARBAGE_SEED 0x3c
/* These bits of S_INTR_STATUS are set at once. Reads as 0. */
#define NVDLA_FAULT_RAISE 0x40
/* Interrupts per second without a reason in any status register. */
#define NVDLA_FAULT_STORM_HZ 0x44
/* The behaviour of function-level resets. */
#define NVDLA_FAULT_RESET 0x48
#define NVDLA_FAULT_RESET_WORKS 0
#define NVDLA_FAULT_RESET_FAILS 1  /* the function says that it has none */
#define NVDLA_FAULT_RESET_BARELY 2 /* configuration space is reset, the device works on */
/* For N milliseconds after a reset, everything reads as ones. */
#define NVDLA_FAULT_RESET_MS 0x4c

/*
 * With --stale, the device has its own view of memory: device and guest see
 * each other's writes only after a cache operation. The guest's code for cache
 * operations writes the range to these registers, and the operation to
 * NVDLA_FAULT_SYNC.
 */
#define NVDLA_FAULT_SYNC_ADDRESS 0x50
#define NVDLA_FAULT_SYNC_ADDRESS_HIGH 0x54
#define NVDLA_FAULT_SYNC_BYTES 0x58
#define NVDLA_FAULT_SYNC 0x5c
#define NVDLA_FAULT_SYNC_CLEAN 1      /* the device sees what the guest wrote */
#define NVDLA_FAULT_SYNC_INVALIDATE 2 /* the guest sees what the device wrote */
#define NVDLA_FAULT_SYNC_UNCACHED 3   /* from now on they see the same in these pages */
#define NVDLA_FAULT_SYNC_CACHED 4     /* no longer */

/*
 * Register accesses while the function was cut off, counted like the others
 * above.
 */
#define NVDLA_FAULT_UNREACHED 0x60

#endif /* NVDLA_FAULT_CAPABILITY_H */
