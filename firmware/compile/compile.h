/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The files of the compiler share this: the state of compiling one layer, how
 * a rule is reported, how memory is claimed, how registers are emitted.
 *
 * Private to firmware/compile. A unit has a file that checks (conv.c, sdp.c)
 * and one that writes its registers (conv_regs.c, sdp_regs.c); the checks of a
 * layer all run before its first register is emitted.
 *
 * All functions that check return 0, or -1 with the error filled.
 */
#ifndef NVDLA_COMPILE_INTERNAL_H
#define NVDLA_COMPILE_INTERNAL_H

#include "nvdla_compile.h"
#include "../registers/nvdla_regs.h"

/* Offset of a field of struct nvdla_layer, as errors name it. */
#define NVDLA_FIELD(member) ((u32)offsetof(struct nvdla_layer, member))

/* Value of one register field, in place. */
#define NVDLA_SET(field, value) \
	(((u32)(value) << NVDLA_##field##_SHIFT) & NVDLA_##field##_MASK)

/*
 * The most that one layer of any kind emits. A conv+sdp layer writes about
 * 170 registers; pooling adds 60. At most ten addresses; as many DMA clients,
 * or two for each of NVDLA_MAX_LAYER_TRANSFERS.
 */
#define NVDLA_LAYER_MAX_WRITES		240
#define NVDLA_LAYER_MAX_RELOCS		12
#define NVDLA_LAYER_MAX_ACCESSES	(2 * NVDLA_MAX_LAYER_TRANSFERS)

/* A program may take this many bytes. */
#define NVDLA_MAX_PROGRAM_BYTES		(16u << 20)

/* Seconds that one layer, or a run of tied ones, may take in the worst case. */
#define NVDLA_MAX_LAYER_SECONDS		5

/*
 * Cycles of a beat of memory in the worst case. Measured with 100 cycles of
 * latency and 16 outstanding requests: a little more than 6.
 */
#define NVDLA_CYCLES_PER_BEAT		8

/** struct nvdla_compile - compiling one object of a program */
struct nvdla_compile {
	struct nvdla_program *program;
	const struct nvdla_hw *hw;
	/** @layer: the descriptor; NULL outside of layers */
	const struct nvdla_layer *layer;
	/** @image: what becomes of it */
	struct nvdla_layer_image *image;
	struct nvdla_error *error;
	/** @object: enum nvdla_object that fields belong to */
	u32 object;
	/** @index: of that object */
	u32 index;
	/** @unit_base: of the unit whose registers are being emitted */
	u32 unit_base;
	/** @full: 1 if something did not fit into the program's memory */
	u32 full;
};

/* ---------------------------------------------------------- error.c --- */

int nvdla_refuse(struct nvdla_compile *c, u32 rule, u32 field, s64 value,
		 s64 min, s64 max);
int nvdla_refuse_multiple(struct nvdla_compile *c, u32 field, s64 value,
			  u32 multiple);
int nvdla_refuse_memory(struct nvdla_compile *c, u32 rule, u32 field, u32 dma,
			u32 slot, s64 value, s64 min, s64 max);
int nvdla_refuse_feature(struct nvdla_compile *c, u32 field, u32 feature);
s64 nvdla_clamp(u64 value);

/* ---------------------------------------------------------- check.c --- */

int nvdla_check_range(struct nvdla_compile *c, u32 field, s64 value, s64 min,
		      s64 max);
int nvdla_check_choice(struct nvdla_compile *c, u32 field, u32 value, u32 max);
int nvdla_check_flags(struct nvdla_compile *c, u32 field, u32 value, u32 mask);
int nvdla_check_zero(struct nvdla_compile *c, u32 field, s64 value);
int nvdla_check_zero_bytes(struct nvdla_compile *c, u32 field, u32 bytes);
int nvdla_check_multiple(struct nvdla_compile *c, u32 field, u32 value,
			 u32 multiple);
int nvdla_check_convert(struct nvdla_compile *c, u32 field,
			const struct nvdla_convert *convert, u32 max_truncate);
int nvdla_check_precision(struct nvdla_compile *c, u32 field, u32 precision);

/* --------------------------------------------------------- window.c --- */

/** struct nvdla_window - one direction in which a kernel moves */
struct nvdla_window {
	u32 size;
	u32 size_field;
	u32 before;
	u32 before_field;
	u32 after;
	u32 after_field;
	u32 kernel;
	u32 kernel_field;
	u32 dilation;
	u32 stride;
	u32 stride_field;
};

int nvdla_check_padding(struct nvdla_compile *c, const struct nvdla_window *w);
int nvdla_check_window(struct nvdla_compile *c, const struct nvdla_window *w,
		       u32 *out);
u32 nvdla_window_rest(const struct nvdla_window *w);

/* ---------------------------------------------------------- claim.c --- */

/** struct nvdla_cube - how a client walks a surface */
struct nvdla_cube {
	/** @surfaces: planes of one atom (one operand column) per position */
	u32 surfaces;
	/** @lines: per plane */
	u32 lines;
	/** @line_bytes: touched in each line; a multiple of the atom */
	u32 line_bytes;
	/** @packed: 1 if all is one run of bytes and strides are not used */
	u32 packed;
	/** @batch: such cubes, one batch stride apart; 0 is one */
	u32 batch;
	/** @repeats: 1 if a stride of 0, the same bytes again, is legal */
	u32 repeats;
};

int nvdla_claim_cube(struct nvdla_compile *c, u32 field,
		     const struct nvdla_surface *surface,
		     const struct nvdla_cube *cube, u32 dma);
int nvdla_check_placed(struct nvdla_compile *c, u32 field, u32 slot, u64 offset,
		       u32 alignment, u32 dma);
int nvdla_claim_run(struct nvdla_compile *c, u32 field, u32 slot, u64 offset,
		    u64 bytes, u32 dma);
int nvdla_check_overlap(struct nvdla_compile *c, u32 field, u32 in_place);

/* ----------------------------------------------------------- emit.c --- */

void nvdla_emit_unit(struct nvdla_compile *c, u32 unit);
void nvdla_emit(struct nvdla_compile *c, u32 reg, u32 value);
void nvdla_emit_address(struct nvdla_compile *c, u32 low, u32 high, u32 slot,
			u64 offset);
u32 nvdla_ram_type(const struct nvdla_compile *c, u32 slot);

/* ---------------------------------------------------------- conv.c --- */

/** struct nvdla_conv_plan - what follows from the descriptor */
struct nvdla_conv_plan {
	/** @out_width: of the output */
	u32 out_width;
	/** @out_height: of the output */
	u32 out_height;
	/** @ext_width: columns of the input, as the sequencer counts them */
	u32 ext_width;
	/** @ext_height: lines of the input, as the sequencer counts them */
	u32 ext_height;
	/** @ext_channels: of the input, as the sequencer counts them */
	u32 ext_channels;
	/** @weight_width: columns of a kernel as it lies in memory */
	u32 weight_width;
	/** @weight_height: lines of a kernel as it lies in memory */
	u32 weight_height;
	/** @weight_channels: of a kernel as it lies in memory */
	u32 weight_channels;
	/** @kept: lines at the top that are in the buffer already */
	u32 kept;
	/** @fetched: lines that are fetched, as programmed */
	u32 fetched;
	/** @surfaces: atoms in the channel direction */
	u32 surfaces;
	/** @entries: of the buffer per line */
	u32 entries;
	/** @kernel_bytes: of one kernel */
	u32 kernel_bytes;
	/** @weight_bytes: fetched */
	u32 weight_bytes;
	/** @resident: 1 if weights stay until the next convolution starts */
	u32 resident;
	/** @table_bytes: of group sizes, fetched; 0 unless compressed */
	u32 table_bytes;
	/** @mask_bytes: fetched; 0 unless compressed */
	u32 mask_bytes;
	/** @grain: lines per fetch */
	u32 grain;
	/** @release: lines freed at the end */
	u32 release;
	/** @line_packed: lines follow each other without a gap */
	u32 line_packed;
	/** @surface_packed: surfaces follow each other without a gap */
	u32 surface_packed;
};

int nvdla_conv_check(struct nvdla_compile *c, struct nvdla_conv_plan *plan);
void nvdla_conv_emit(struct nvdla_compile *c,
		     const struct nvdla_conv_plan *plan);

/* ---------------------------------------------------- conv_buffer.c --- */

int nvdla_conv_check_data_banks(struct nvdla_compile *c,
				struct nvdla_conv_plan *plan);
int nvdla_conv_check_weights(struct nvdla_compile *c,
			     struct nvdla_conv_plan *plan);
int nvdla_conv_check_grain(struct nvdla_compile *c,
			   struct nvdla_conv_plan *plan);
int nvdla_conv_check_release(struct nvdla_compile *c,
			     struct nvdla_conv_plan *plan);

/* ------------------------------------------------ conv_compressed.c --- */

int nvdla_compressed_check(struct nvdla_compile *c,
			   struct nvdla_conv_plan *plan);
int nvdla_compressed_claim(struct nvdla_compile *c,
			   const struct nvdla_conv_plan *plan);
int nvdla_compressed_check_tables(struct nvdla_compile *c,
				  const struct nvdla_conv_plan *plan);

/* ----------------------------------------------------- conv_image.c --- */

u32 nvdla_image_planes(const struct nvdla_conv *conv);
u32 nvdla_image_flags(const struct nvdla_conv *conv);
int nvdla_image_check(struct nvdla_compile *c);
int nvdla_image_check_extension(struct nvdla_compile *c);
int nvdla_image_check_converter(struct nvdla_compile *c);
int nvdla_image_claim(struct nvdla_compile *c);

/* -------------------------------------------------- conv_winograd.c --- */

int nvdla_winograd_check(struct nvdla_compile *c);
int nvdla_winograd_extend(struct nvdla_compile *c, const struct nvdla_window *x,
			  const struct nvdla_window *y,
			  struct nvdla_conv_plan *plan);
u32 nvdla_winograd_entries(const struct nvdla_compile *c,
			   const struct nvdla_conv_plan *plan);

/* ----------------------------------------------------- conv_reuse.c --- */

/* The flags of nvdla_conv that reuse what a layer before has left. */
#define NVDLA_CONV_REUSE	(NVDLA_CONV_REUSE_DATA | NVDLA_CONV_REUSE_WEIGHTS)

int nvdla_conv_check_reuse(struct nvdla_compile *c,
			   struct nvdla_conv_plan *plan);
int nvdla_conv_check_run(struct nvdla_compile *c);
void nvdla_conv_keep(struct nvdla_compile *c,
		     const struct nvdla_conv_plan *plan);

/* ------------------------------------------------------------ sdp.c --- */

/** struct nvdla_sdp_plan - size and precision, wherever they come from */
struct nvdla_sdp_plan {
	/** @width: of the cube */
	u32 width;
	/** @height: of the cube */
	u32 height;
	/** @channels: of the cube */
	u32 channels;
	/** @in: precision of what comes in */
	u32 in;
	/** @proc: precision of the operators */
	u32 proc;
	/** @out: precision of what goes out */
	u32 out;
	/** @flying: 1 after a convolution */
	u32 flying;
	/** @winograd: 1 if it comes in blocks of four lines */
	u32 winograd;
	/** @batch: cubes, all with the operands of one */
	u32 batch;
	/** @rdma: 1 if anything is read from memory */
	u32 rdma;
	/** @pooled: 1 before a pooling */
	u32 pooled;
	/** @silent: 1 if nothing is written to memory */
	u32 silent;
};

int nvdla_sdp_check(struct nvdla_compile *c, struct nvdla_sdp_plan *plan);
void nvdla_sdp_emit(struct nvdla_compile *c, const struct nvdla_sdp_plan *plan);
u32 nvdla_sdp_x_reads(const struct nvdla_sdp_x *x);

/* ---------------------------------------------------- sdp_operand.c --- */

/* With a batch it aligns addresses and strides: pairs of atoms are delivered. */
#define NVDLA_SDP_BATCH_ALIGN	64

/** struct nvdla_operand - operands of X1, X2 or Y, and the fields that set them */
struct nvdla_operand {
	const struct nvdla_surface *surface;
	u32 surface_field;
	u32 mode;
	u32 mode_field;
	/* of one part in memory */
	u32 bytes;
	u32 bytes_field;
	/* that are active */
	u32 parts;
	u32 dma;
};

int nvdla_sdp_check_operand(struct nvdla_compile *c,
			    const struct nvdla_operand *operand,
			    const struct nvdla_sdp_plan *plan);

/* ---------------------------------------------------------- sdp_y.c --- */

int nvdla_sdp_check_y(struct nvdla_compile *c,
		      const struct nvdla_sdp_plan *plan);
u32 nvdla_sdp_y_reads(const struct nvdla_sdp_y *y);

/* ------------------------------------------------------------ pdp.c --- */

/** struct nvdla_pdp_plan - size and precision, wherever they come from */
struct nvdla_pdp_plan {
	/** @width: of the input */
	u32 width;
	/** @height: of the input */
	u32 height;
	/** @channels: of input and output */
	u32 channels;
	/** @precision: of input and output */
	u32 precision;
	/** @flying: 1 after SDP */
	u32 flying;
	/** @out_width: of the output */
	u32 out_width;
	/** @out_height: of the output */
	u32 out_height;
	/** @pad_right: of the padding, what the last window reaches */
	u32 pad_right;
	/** @pad_bottom: of the padding, what the last window reaches */
	u32 pad_bottom;
	/** @in: new columns of the first, an inner and the last band */
	u32 in[3];
	/** @out: output columns of the same */
	u32 out[3];
};

int nvdla_pdp_check(struct nvdla_compile *c, struct nvdla_pdp_plan *plan);
void nvdla_pdp_emit(struct nvdla_compile *c, const struct nvdla_pdp_plan *plan);

/* ------------------------------------------------------------ cdp.c --- */

int nvdla_cdp_check(struct nvdla_compile *c);
void nvdla_cdp_emit(struct nvdla_compile *c);

/* ---------------------------------------------------------- rubik.c --- */

/** struct nvdla_rubik_plan - what follows from the descriptor */
struct nvdla_rubik_plan {
	/** @out_channels: of the output */
	u32 out_channels;
	/** @contract_stride: from one block of input channels to the next */
	u32 contract_stride;
};

int nvdla_rubik_check(struct nvdla_compile *c, struct nvdla_rubik_plan *plan);
void nvdla_rubik_emit(struct nvdla_compile *c,
		      const struct nvdla_rubik_plan *plan);

/* ----------------------------------------------------------- bdma.c --- */

int nvdla_transfer_check(struct nvdla_compile *c,
			 const struct nvdla_transfer *transfer);
int nvdla_bdma_check(struct nvdla_compile *c);

/* ------------------------------------------------------------ lut.c --- */

int nvdla_lut_check(struct nvdla_compile *c, const struct nvdla_lut *lut);
int nvdla_lut_use(struct nvdla_compile *c, u32 unit, u32 precision);

/* ------------------------------------------------------------ layer.c - */

int nvdla_layer_compile(struct nvdla_compile *c);

/* ------------------------------------------------------------ inline -- */

static inline u32 nvdla_div_up(u32 a, u32 b)
{
	return a / b + (a % b != 0);
}

static inline u32 nvdla_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 nvdla_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline u32 nvdla_round_up(u32 value, u32 multiple)
{
	return nvdla_div_up(value, multiple) * multiple;
}

/* Cycles that a layer may take; kHz times 1000 are those of a second. */
static inline u64 nvdla_max_cycles(const struct nvdla_program *program)
{
	return (u64)program->clock_khz * (1000 * NVDLA_MAX_LAYER_SECONDS);
}

/* Bytes of an element. */
static inline u32 nvdla_bpe(u32 precision)
{
	return precision == NVDLA_PRECISION_INT8 ? 1 : 2;
}

#endif /* NVDLA_COMPILE_INTERNAL_H */
