/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Layer descriptors in, an immutable program out: per layer a register image,
 * the places in it where buffer addresses go, and the proof of what memory the
 * layer can touch. Everything that does not depend on buffer addresses is
 * computed here, once; nothing that was checked is read again from the user.
 *
 * Pure functions over the caller's memory: no allocation, no globals. Work is
 * linear in the input and comes in steps of one layer, so that a caller may
 * stop between them.
 *
 *   size = nvdla_program_bytes(&desc);      memory the program needs
 *   nvdla_program_begin(&program, hw, &desc, memory, size, &error);
 *   for each layer: nvdla_program_add(&program, &layer, &error);
 *   nvdla_program_end(&program, &error);
 */
#ifndef NVDLA_COMPILE_H
#define NVDLA_COMPILE_H

#include "../nvdla_hw.h"

#ifdef __cplusplus
extern "C" {
#endif

/* nvdla_reloc.high of an address register without a high word */
#define NVDLA_RELOC_NONE	0xffff

/**
 * struct nvdla_reloc - an address that is known at submission only; those of a
 * layer come in the order of its writes
 */
struct nvdla_reloc {
	/** @offset: added to the base of the slot */
	u64 offset;
	/** @slot: whose base */
	u32 slot;
	/** @low: index, in the layer's writes, of the low word */
	u16 low;
	/** @high: index of the high word, or NVDLA_RELOC_NONE */
	u16 high;
};

/** struct nvdla_access - bytes of a slot that one DMA client can touch */
struct nvdla_access {
	/** @begin: first byte */
	u64 begin;
	/** @end: one past the last byte */
	u64 end;
	/** @slot: which slot */
	u32 slot;
	/** @dma: enum nvdla_dma */
	u16 dma;
	/** @write: 1 if the client writes */
	u16 write;
};

/** struct nvdla_layer_image - what running a layer takes */
struct nvdla_layer_image {
	/** @cycles: estimate of the worst case, in device clock cycles */
	u64 cycles;
	/** @counters: bit n set: enum nvdla_counter n is read for it */
	u64 counters;
	/** @kind: enum nvdla_layer_kind */
	u32 kind;
	/** @units: bit per enum nvdla_unit that takes a register group */
	u32 units;
	/** @lut: index of the LUT plus one, 0 without */
	u32 lut;
	/** @first_write: index in nvdla_program.writes */
	u32 first_write;
	/** @num_writes: D_ registers, unit by unit, OP_ENABLE excluded */
	u32 num_writes;
	/** @first_reloc: index in nvdla_program.relocs */
	u32 first_reloc;
	/** @num_relocs: addresses to bind */
	u32 num_relocs;
	/** @first_access: index in nvdla_program.accesses */
	u32 first_access;
	/** @num_accesses: proofs, one per DMA client and plane */
	u32 num_accesses;
	/** @num_waits: entries of @waits in use */
	u32 num_waits;
	/** @waits: earlier layers; one more than the user may name */
	u32 waits[NVDLA_MAX_WAITS + 1];
	/** @first_transfer: BDMA: index in nvdla_program.transfers */
	u32 first_transfer;
	/** @num_transfers: BDMA */
	u32 num_transfers;
	/**
	 * @tied: not 0 if the convolution buffer holds something for this layer
	 * or a later one when the layers before have ended: no other program
	 * may run in between. So many layers from this one on are tied.
	 */
	u32 tied;
};

/* nvdla_program_desc.flags, nvdla_program.flags */
/* Counters are enabled and read for every layer. */
#define NVDLA_PROGRAM_STATS	(1u << 0)

/** struct nvdla_program_desc - all of a program but its layers */
struct nvdla_program_desc {
	const struct nvdla_slot *slots;
	const struct nvdla_lut *luts;
	const struct nvdla_transfer *transfers;
	/*
	 * Contents of the slot with NVDLA_SLOT_CONTROL. Not copied: they are
	 * looked at until nvdla_program_end(), and the caller binds these very
	 * bytes, which from the first look on nobody but him can change.
	 */
	const u8 *control;
	u32 num_layers;
	u32 num_slots;
	u32 num_luts;
	u32 num_transfers;
	/* bytes of control data */
	u32 control_bytes;
	/* NVDLA_PROGRAM_* */
	u32 flags;
	/* device clock, for the bound on a layer's time; 0: 1 GHz */
	u32 clock_khz;
};

/**
 * struct nvdla_conv_kept - what the last convolution left in the buffer
 *
 * Proof state between the layers of one program, see extents of reuse.
 */
struct nvdla_conv_kept {
	/** @conv: descriptor of that convolution */
	struct nvdla_conv conv;
	/** @lines: input lines that were kept, 0 for none */
	u32 lines;
	/** @weights: 1 if all weights were kept */
	u32 weights;
	/** @layer: index of that convolution */
	u32 layer;
	/** @first: index of the first of the layers that are tied to it */
	u32 first;
	/** @cycles: of all layers from @first on */
	u64 cycles;
};

/** struct nvdla_program - immutable after nvdla_program_end() */
struct nvdla_program {
	const struct nvdla_hw *hw;
	struct nvdla_layer_image *layers;
	struct nvdla_reg_write *writes;
	struct nvdla_reloc *relocs;
	struct nvdla_access *accesses;
	struct nvdla_slot *slots;
	struct nvdla_lut *luts;
	struct nvdla_transfer *transfers;
	u32 num_layers;
	u32 num_writes;
	u32 num_relocs;
	u32 num_accesses;
	u32 num_slots;
	u32 num_luts;
	u32 num_transfers;
	u32 flags;
	u32 clock_khz;
	/* private to compilation */
	u32 max_layers;
	u32 max_writes;
	u32 max_relocs;
	u32 max_accesses;
	const u8 *control;
	struct nvdla_conv_kept kept;
	/* the last layer in which SDP wrote memory, plus one */
	u32 sdp_writer;
};

/** struct nvdla_binding - a buffer for a slot, as the device sees it */
struct nvdla_binding {
	/** @address: of the first byte, in the device's address space */
	u64 address;
	/** @size: bytes from there on */
	u64 size;
	/** @memory: enum nvdla_memory */
	u32 memory;
	/**
	 * @access: NVDLA_SLOT_* that the buffer allows; NVDLA_SLOT_CONTROL, and
	 * that alone, for the control data of this very program
	 */
	u32 access;
};

/**
 * nvdla_program_bytes() - memory that the program @desc needs at most
 *
 * Return: a size for nvdla_program_begin(), 0 if a count is out of limits
 * (which nvdla_program_begin() then reports).
 */
size_t nvdla_program_bytes(const struct nvdla_program_desc *desc);

/**
 * nvdla_program_begin() - check and copy slots, LUTs and transfers
 * @memory: aligned to 8, of @size bytes, owned by the program from now on
 *
 * Return: 0, or -1 with @error filled.
 */
int nvdla_program_begin(struct nvdla_program *program,
			const struct nvdla_hw *hw,
			const struct nvdla_program_desc *desc, void *memory,
			size_t size, struct nvdla_error *error);

/**
 * nvdla_program_add() - check and compile the next layer
 *
 * Return: 0, or -1 with @error filled; the program is then to be dropped.
 */
int nvdla_program_add(struct nvdla_program *program,
		      const struct nvdla_layer *layer,
		      struct nvdla_error *error);

/**
 * nvdla_program_end() - the last checks; all layers were added
 *
 * Return: 0, or -1 with @error filled.
 */
int nvdla_program_end(struct nvdla_program *program,
		      struct nvdla_error *error);

/**
 * nvdla_program_check_bindings() - may these buffers be bound?
 * @bindings: one per slot of the program
 * @count: of @bindings
 *
 * Return: 0, or -1 with @error filled.
 */
int nvdla_program_check_bindings(const struct nvdla_program *program,
				 const struct nvdla_binding *bindings,
				 u32 count, struct nvdla_error *error);

/** struct nvdla_pixel - a pixel format */
struct nvdla_pixel {
	/** @precision: enum nvdla_precision of its components */
	u8 precision;
	/** @components: 1, 3 or 4 */
	u8 components;
	/** @bytes: of a pixel in each plane; 0: there is no second plane */
	u8 bytes[2];
};

/**
 * nvdla_pixel_find() - what a pixel format is
 * @format: enum nvdla_pixel_format
 *
 * Return: NULL for what is no pixel format.
 */
const struct nvdla_pixel *nvdla_pixel_find(u32 format);

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_COMPILE_H */
