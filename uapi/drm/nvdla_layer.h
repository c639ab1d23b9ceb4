/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * NVDLA layer descriptors: the contract between an application and whatever
 * runs its layers (kernel driver, in-process device model, user-space MMIO).
 *
 * DOC: Rules
 *
 * - A descriptor carries intent: geometry, formats, operands, surfaces and
 *   the few choices that are the user's (convolution buffer banks, what to
 *   keep there). A register that repeats another or follows from others has
 *   no field here, so it cannot be wrong.
 * - Numbers are plain: a width of 8 is written 8, never 7.
 * - A field that the chosen kind, mode or flag does not use must be zero.
 *   Unknown flags and enumerators are refused. Zero means old behaviour, so
 *   a later version can give meaning to what must be zero today.
 * - Fixed-width types, naturally aligned, explicit padding, sizes that are
 *   multiples of 8, no unions, no bit fields: one layout for C and C++, 32
 *   and 64 bit.
 * - Memory is named by (slot, byte offset). A program declares its slots;
 *   buffers are bound to them at submission.
 * - All surface bases, strides and sizes are in bytes, all sizes of cubes in
 *   elements, all values of integer operands in the unit's input type.
 * - The axes of a cube are width, height and channels. What exists once for each
 *   of the first two is called by them: kernel_width and kernel_height,
 *   stride_width and stride_height, dilation_width and dilation_height. The ends
 *   of the width are left and right, those of the height top and bottom: pad_left,
 *   pad_top. Only positions have coordinates, (x, y, c). A line holds what has
 *   one y, a surface the lines of the channels of one atom: line_stride,
 *   surface_stride.
 *
 * Notation: A is the memory atom of the configuration in bytes (8, 16 or
 * 32), bpe the bytes of an element (int8 1, int16 and fp16 2).
 */
#ifndef NVDLA_LAYER_H
#define NVDLA_LAYER_H

#include <linux/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Limits of one program. QUERY reports them too. */
#define NVDLA_MAX_LAYERS	4096
#define NVDLA_MAX_SLOTS		256
#define NVDLA_MAX_LUTS		64
#define NVDLA_MAX_TRANSFERS	4096
#define NVDLA_MAX_WAITS		8
#define NVDLA_MAX_CONTROL_BYTES	(4u << 20)
/* One BDMA layer is one launch; the command queue holds 20. */
#define NVDLA_MAX_LAYER_TRANSFERS	20

/**
 * enum nvdla_layer_kind - one launch of one pipeline
 *
 * Units that work on the fly belong to one layer, so a fusion that the
 * hardware does not have cannot be written down.
 */
enum nvdla_layer_kind {
	NVDLA_LAYER_CONV_SDP = 1,
	NVDLA_LAYER_CONV_SDP_PDP = 2,
	NVDLA_LAYER_SDP = 3,
	NVDLA_LAYER_SDP_PDP = 4,
	NVDLA_LAYER_PDP = 5,
	NVDLA_LAYER_CDP = 6,
	NVDLA_LAYER_RUBIK = 7,
	NVDLA_LAYER_BDMA = 8,
};

/** enum nvdla_precision - element type */
enum nvdla_precision {
	NVDLA_PRECISION_INT8 = 0,
	NVDLA_PRECISION_INT16 = 1,
	NVDLA_PRECISION_FP16 = 2,
};

/** enum nvdla_memory - which memory interface reaches a slot */
enum nvdla_memory {
	NVDLA_MEMORY_DRAM = 0,	/* primary, every configuration has it */
	NVDLA_MEMORY_SRAM = 1,	/* secondary (CVSRAM), not on all */
};

/* A program may do this to a slot. */
#define NVDLA_SLOT_READ		(1u << 0)
#define NVDLA_SLOT_WRITE	(1u << 1)
/*
 * The program brings the contents, see &struct nvdla_slot; excludes the others.
 */
#define NVDLA_SLOT_CONTROL	(1u << 2)

/**
 * struct nvdla_slot - a place where SUBMIT binds a buffer
 *
 * Every layer is checked against @size, so a bound buffer that is at least
 * as large, in the same memory and as aligned needs no further check.
 *
 * The tables of compressed weights decide whether a layer ends, so nobody may
 * change them once they were checked. They are control data: given with the
 * program, which keeps a copy, and in the one slot with NVDLA_SLOT_CONTROL.
 * SUBMIT binds that slot itself; the user's binding of it is empty.
 */
struct nvdla_slot {
	/**
	 * @size: bytes that the program may touch, from the bound address; with
	 * NVDLA_SLOT_CONTROL exactly those of the control data
	 */
	__u64 size;
	/** @alignment: of the bound address; power of two, at least A */
	__u32 alignment;
	/** @memory: enum nvdla_memory */
	__u32 memory;
	/** @access: NVDLA_SLOT_READ, _WRITE or both; or NVDLA_SLOT_CONTROL */
	__u32 access;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct nvdla_surface - where a cube, an image or an operand lies
 *
 * Element (x, y, c) of a feature cube is at
 * offset + (c / E) * surface_stride + y * line_stride + x * A + (c % E) * bpe
 * with E = A / bpe elements per atom. Offset and strides are multiples of A.
 * Strides are at least what they step over, so lines and surfaces lie apart: a
 * line stride a line, a surface stride all lines with what is between them.
 * What is not stepped over, as there is one only, may be any multiple.
 * SDP takes a cube of one position (1x1) as one run of atoms: where it has
 * several surfaces, their stride is A.
 */
struct nvdla_surface {
	/** @offset: of the first byte in the slot */
	__u64 offset;
	/** @slot: index of the slot */
	__u32 slot;
	/** @line_stride: bytes from line to line */
	__u32 line_stride;
	/** @surface_stride: bytes from surface to surface (plane to plane) */
	__u32 surface_stride;
	/**
	 * @batch_stride: bytes from cube to cube, at least all surfaces of
	 * one; zero unless batch > 1, and for operands, which all cubes share
	 */
	__u32 batch_stride;
};

/** struct nvdla_span - a run of bytes without inner structure */
struct nvdla_span {
	/** @offset: of the first byte in the slot; a multiple of A */
	__u64 offset;
	/** @slot: index of the slot */
	__u32 slot;
	/** @bytes: length; 0 where it follows from the geometry */
	__u32 bytes;
};

/* ------------------------------------------------------- convolution --- */

/** enum nvdla_conv_mode - how the input reaches the multipliers */
enum nvdla_conv_mode {
	NVDLA_CONV_DIRECT = 0,		/* feature cube */
	NVDLA_CONV_IMAGE = 1,		/* pixels, channels pre-extended */
	NVDLA_CONV_WINOGRAD = 2,	/* 3x3 after channel extension */
};

/* nvdla_conv.flags */
/* Weights are sparse: only those that are not zero, and two tables. */
#define NVDLA_CONV_COMPRESSED	(1u << 0)
/* Input lines that the previous convolution of this program kept. */
#define NVDLA_CONV_REUSE_DATA	(1u << 1)
/* Weights that the previous convolution of this program kept, the same ones. */
#define NVDLA_CONV_REUSE_WEIGHTS (1u << 2)
/* Keep all input lines in the convolution buffer for the next one. */
#define NVDLA_CONV_KEEP_DATA	(1u << 3)
/*
 * Keep all weights in the convolution buffer for the next one. Where
 * DRM_NVDLA_DEVICE_WEIGHT_GATING says so they stay anyhow, until the next
 * convolution starts; only with this flag may that one reuse them.
 */
#define NVDLA_CONV_KEEP_WEIGHTS	(1u << 4)
/* Input passes (x - offset) * scale >> truncate. */
#define NVDLA_CONV_CONVERT	(1u << 5)
/* mean[] replaces cvt_offset, per component (image only). */
#define NVDLA_CONV_MEAN		(1u << 6)
/* Pixel components are signed whatever the format says (image only). */
#define NVDLA_CONV_SIGNED_PIXELS (1u << 7)
/* fp16 NaN inputs read as zero. */
#define NVDLA_CONV_NAN_TO_ZERO	(1u << 8)

/**
 * enum nvdla_pixel_format - pixel layouts, as in CDMA.D_DATAIN_FORMAT
 *
 * A name lists components from the most to the least significant end. N444 has
 * two planes, and as many U and V as Y.
 */
enum nvdla_pixel_format {
	NVDLA_PIXEL_R8 = 0,
	NVDLA_PIXEL_R10 = 1,
	NVDLA_PIXEL_R12 = 2,
	NVDLA_PIXEL_R16 = 3,
	NVDLA_PIXEL_R16_I = 4,
	NVDLA_PIXEL_R16_F = 5,
	NVDLA_PIXEL_A16B16G16R16 = 6,
	NVDLA_PIXEL_X16B16G16R16 = 7,
	NVDLA_PIXEL_A16B16G16R16_F = 8,
	NVDLA_PIXEL_A16Y16U16V16 = 9,
	NVDLA_PIXEL_V16U16Y16A16 = 10,
	NVDLA_PIXEL_A16Y16U16V16_F = 11,
	NVDLA_PIXEL_A8B8G8R8 = 12,
	NVDLA_PIXEL_A8R8G8B8 = 13,
	NVDLA_PIXEL_B8G8R8A8 = 14,
	NVDLA_PIXEL_R8G8B8A8 = 15,
	NVDLA_PIXEL_X8B8G8R8 = 16,
	NVDLA_PIXEL_X8R8G8B8 = 17,
	NVDLA_PIXEL_B8G8R8X8 = 18,
	NVDLA_PIXEL_R8G8B8X8 = 19,
	NVDLA_PIXEL_A2B10G10R10 = 20,
	NVDLA_PIXEL_A2R10G10B10 = 21,
	NVDLA_PIXEL_B10G10R10A2 = 22,
	NVDLA_PIXEL_R10G10B10A2 = 23,
	NVDLA_PIXEL_A2Y10U10V10 = 24,
	NVDLA_PIXEL_V10U10Y10A2 = 25,
	NVDLA_PIXEL_A8Y8U8V8 = 26,
	NVDLA_PIXEL_V8U8Y8A8 = 27,
	NVDLA_PIXEL_Y8_U8V8_N444 = 28,
	NVDLA_PIXEL_Y8_V8U8_N444 = 29,
	NVDLA_PIXEL_Y10_U10V10_N444 = 30,
	NVDLA_PIXEL_Y10_V10U10_N444 = 31,
	NVDLA_PIXEL_Y12_U12V12_N444 = 32,
	NVDLA_PIXEL_Y12_V12U12_N444 = 33,
	NVDLA_PIXEL_Y16_U16V16_N444 = 34,
	NVDLA_PIXEL_Y16_V16U16_N444 = 35,
};

/**
 * struct nvdla_conv - a convolution, always followed by SDP
 *
 * Output width = (pad_left + width + pad_right - dilated kernel width) /
 * stride_width + 1, rounded down: what is left over behind the last position of
 * the kernel takes part in nothing. So is the height. Output channels =
 * kernels.
 *
 * NVDLA_CONV_WINOGRAD works on tiles: kernels of three strides after the last
 * one is filled up with zeros, (pad_left + width + pad_right) / stride_width an
 * exact multiple of 4, at least 8, and an output width of 4 less. So are the
 * heights. Padding on the right and at the bottom makes it so.
 */
struct nvdla_conv {
	/** @mode: enum nvdla_conv_mode */
	__u32 mode;
	/** @flags: NVDLA_CONV_* */
	__u32 flags;
	/** @in_precision: enum nvdla_precision of the input in memory */
	__u32 in_precision;
	/** @proc_precision: enum nvdla_precision of weights and arithmetic */
	__u32 proc_precision;
	/** @width: of the input, 1..8192 */
	__u32 width;
	/**
	 * @height: lines of the input that this layer computes on, 1..4095
	 * (the convolution buffer counts lines in 12 bits); with
	 * NVDLA_CONV_REUSE_DATA the lines kept before come first
	 */
	__u32 height;
	/** @channels: of the input; components of the pixel format in an image */
	__u32 channels;
	/**
	 * @batch: cubes, 1..32; more than 1 needs direct mode, goes to no
	 * pooling, and wants offset and strides of SDP's output, offsets of
	 * operands and the alignment of their slots to be multiples of 64
	 */
	__u32 batch;
	/** @kernels: 1..8192 */
	__u32 kernels;
	/** @kernel_width: 1..32; Winograd: above 2, up to 3 times stride_width */
	__u32 kernel_width;
	/** @kernel_height: 1..32; Winograd: above 2, up to 3 times stride_height */
	__u32 kernel_height;
	/** @stride_width: 1..8 */
	__u32 stride_width;
	/** @stride_height: 1..8 */
	__u32 stride_height;
	/** @dilation_width: 1..32; 1 unless direct */
	__u32 dilation_width;
	/** @dilation_height: 1..32; 1 unless direct */
	__u32 dilation_height;
	/**
	 * @pad_left: at most 31; of an image less than the kernel; Winograd:
	 * less than 3 times the stride, at most 1 with a stride of 1
	 */
	__u32 pad_left;
	/** @pad_right: at most 63; of an image less than the kernel */
	__u32 pad_right;
	/** @pad_top: as @pad_left */
	__u32 pad_top;
	/** @pad_bottom: at most 63; of an image less than the kernel */
	__u32 pad_bottom;
	/** @pad_value: in processing precision (fp16: bits 15..0) */
	__s32 pad_value;
	/** @data_banks: convolution buffer banks that hold the input */
	__u32 data_banks;
	/**
	 * @weight_banks: convolution buffer banks that hold weights: a kernel
	 * group; all kernels with NVDLA_CONV_KEEP_WEIGHTS, and on devices with
	 * DRM_NVDLA_DEVICE_WEIGHT_GATING. 128 bytes more than these take unless
	 * one group is all that there is
	 */
	__u32 weight_banks;
	/**
	 * @fetch_grain: lines per fetch; 0 lets the compiler choose. At most 1
	 * where there is a gap between the lines, and outside of direct mode.
	 */
	__u32 fetch_grain;
	/**
	 * @release: input lines freed at the end; 0 frees all. Fewer leave
	 * the last lines for a layer with NVDLA_CONV_REUSE_DATA. 0 with
	 * NVDLA_CONV_KEEP_DATA and in Winograd mode.
	 */
	__u32 release;
	/** @post_extension: kernel lines per step, 1, 2 or 4 (image; else 1) */
	__u32 post_extension;
	/** @pra_truncate: right shift after the Winograd transform of integers, 0..2 */
	__u32 pra_truncate;
	/** @clip_truncate: right shift of the accumulator, 0..16 */
	__u32 clip_truncate;
	/** @pixel_format: enum nvdla_pixel_format (image) */
	__u32 pixel_format;
	/** @pixel_offset: pixels before the first in its atom (image) */
	__u32 pixel_offset;
	/** @cvt_offset: signed 16 bit */
	__s32 cvt_offset;
	/** @cvt_scale: signed 16 bit */
	__s32 cvt_scale;
	/** @cvt_truncate: right shift, 0..34 */
	__u32 cvt_truncate;
	/** @mean: R/Y, G/U, B/V, A/X, signed 16 bit */
	__s32 mean[4];
	/**
	 * @input: feature cube, image or first plane. All @height lines of it,
	 * also those that NVDLA_CONV_REUSE_DATA does not fetch again: the flag
	 * saves time and changes nothing else.
	 */
	struct nvdla_surface input;
	/** @input_uv: second plane of two-plane pixel formats */
	struct nvdla_surface input_uv;
	/**
	 * @weights: packed as the mode asks. Without compression bytes is 0
	 * or what follows from the other fields: the packed size, rounded up
	 * to the width of an entry of the convolution buffer. Compressed, those
	 * of all kernel groups that are not zero, in order and without gaps:
	 * bytes is their size rounded up to 128.
	 */
	struct nvdla_span weights;
	/**
	 * @wgs: weight group sizes, when compressed: a 32-bit word for each
	 * kernel group, the bytes that it has in @weights, not 0. Control data,
	 * in the memory of @weights, read in whole atoms. bytes may be 0.
	 */
	struct nvdla_span wgs;
	/**
	 * @wmb: weight mask bits, when compressed: a bit for each element of
	 * the packed weights, set where it is not zero, the first one in bit 0
	 * of byte 0; zeros up to a multiple of 128 bytes. Control data, in the
	 * memory of @weights. bytes may be 0.
	 */
	struct nvdla_span wmb;
};

/* --------------------------------------------------------------- SDP --- */

/** enum nvdla_alu - adder of an SDP operator */
enum nvdla_alu {
	NVDLA_ALU_NONE = 0,
	NVDLA_ALU_MAX = 1,
	NVDLA_ALU_MIN = 2,
	NVDLA_ALU_SUM = 3,
	NVDLA_ALU_EQUAL = 4,	/* Y only, last: compare, output is zero */
};

/** enum nvdla_mul - multiplier of an SDP operator */
enum nvdla_mul {
	NVDLA_MUL_NONE = 0,
	NVDLA_MUL_MUL = 1,
	NVDLA_MUL_PRELU = 2,	/* multiplies negative values only */
};

/** enum nvdla_operand_mode - where operands of an SDP operator come from */
enum nvdla_operand_mode {
	NVDLA_OPERAND_LAYER = 0,	/* one value, from a register */
	NVDLA_OPERAND_CHANNEL = 1,	/* memory, one per channel */
	NVDLA_OPERAND_ELEMENT = 2,	/* memory, one per element */
};

/* nvdla_sdp_x.flags, nvdla_sdp_y.flags */
/* The operator exists; without this flag every field of it is zero. */
#define NVDLA_SDP_ENABLE	(1u << 0)
/* Negative results become zero (X only). */
#define NVDLA_SDP_RELU		(1u << 1)
/* The result passes the layer's look-up table (Y only). */
#define NVDLA_SDP_LUT		(1u << 2)
/* Integer ALU operands from memory pass alu_cvt (Y only). */
#define NVDLA_SDP_CONVERT_ALU	(1u << 3)
/* Integer MUL operands from memory pass mul_cvt (Y only). */
#define NVDLA_SDP_CONVERT_MUL	(1u << 4)

/**
 * struct nvdla_sdp_x - operator X1 (BS) or X2 (BN)
 *
 * y = (alu(x, operand << alu_shift) * operand) >> mul_shift, then ReLU.
 * mul_shift acts even without a multiplier; shifts are 0 in fp16.
 *
 * In memory an element is 1 or 2 bytes, or twice that when both parts come
 * from memory, the ALU part first.
 */
struct nvdla_sdp_x {
	/** @flags: NVDLA_SDP_ENABLE, NVDLA_SDP_RELU */
	__u32 flags;
	/** @alu: enum nvdla_alu */
	__u32 alu;
	/** @mul: enum nvdla_mul */
	__u32 mul;
	/** @mode: enum nvdla_operand_mode of all parts that are active */
	__u32 mode;
	/** @operand_bytes: of one part in memory, 1 or 2; 0 without memory */
	__u32 operand_bytes;
	/** @alu_value: operand with mode LAYER (fp16: bits 15..0) */
	__s32 alu_value;
	/** @mul_value: operand with mode LAYER (fp16: bits 15..0) */
	__s32 mul_value;
	/** @alu_shift: left shift of the ALU operand, saturating, 0..63 */
	__u32 alu_shift;
	/** @mul_shift: right shift after the multiplier, 0..63 */
	__u32 mul_shift;
	/** @pad: zero */
	__u32 pad;
	/** @operand: where operands lie; strides only with mode ELEMENT */
	struct nvdla_surface operand;
};

/** struct nvdla_convert - (x - offset) * scale >> truncate, rounded */
struct nvdla_convert {
	/** @offset: 32 bit */
	__s32 offset;
	/** @scale: signed 16 bit */
	__s32 scale;
	/** @truncate: right shift */
	__u32 truncate;
	/** @pad: zero */
	__u32 pad;
};

/**
 * struct nvdla_sdp_y - operator Y (EW): multiplier, ALU, look-up table
 *
 * y = lut(alu((x * operand) >> mul_truncate, operand)).
 */
struct nvdla_sdp_y {
	/** @flags: NVDLA_SDP_ENABLE, _LUT, _CONVERT_ALU, _CONVERT_MUL */
	__u32 flags;
	/** @alu: enum nvdla_alu */
	__u32 alu;
	/** @mul: enum nvdla_mul */
	__u32 mul;
	/** @mode: enum nvdla_operand_mode of all parts that are active */
	__u32 mode;
	/** @operand_bytes: of one part in memory, 1 or 2; 0 without memory */
	__u32 operand_bytes;
	/** @alu_value: operand with mode LAYER, 32 bit (fp16: fp32 bits) */
	__s32 alu_value;
	/** @mul_value: operand with mode LAYER, 32 bit (fp16: fp32 bits) */
	__s32 mul_value;
	/** @mul_truncate: right shift of the product, 0..1023 */
	__u32 mul_truncate;
	/** @alu_cvt: of ALU operands from memory, truncate 0..48 */
	struct nvdla_convert alu_cvt;
	/** @mul_cvt: of MUL operands from memory, truncate 0..48 */
	struct nvdla_convert mul_cvt;
	/** @operand: where operands lie; strides only with mode ELEMENT */
	struct nvdla_surface operand;
};

/* nvdla_sdp.flags */
/* fp16 NaN inputs read as zero. */
#define NVDLA_SDP_NAN_TO_ZERO	(1u << 0)

/**
 * struct nvdla_sdp - single point processing
 *
 * After a convolution the input, its size and its precision are those of
 * the convolution's output: @in_precision, @width, @height, @channels and
 * @input are zero. Before a pooling @output is zero.
 */
struct nvdla_sdp {
	/** @flags: NVDLA_SDP_NAN_TO_ZERO */
	__u32 flags;
	/** @in_precision: enum nvdla_precision of a cube in memory */
	__u32 in_precision;
	/** @proc_precision: enum nvdla_precision of the operators */
	__u32 proc_precision;
	/** @out_precision: enum nvdla_precision */
	__u32 out_precision;
	/** @width: 1..8192 */
	__u32 width;
	/** @height: 1..8192 */
	__u32 height;
	/** @channels: 1..8192 */
	__u32 channels;
	/** @pad: zero */
	__u32 pad;
	/** @x1: first operator */
	struct nvdla_sdp_x x1;
	/** @x2: second operator */
	struct nvdla_sdp_x x2;
	/** @y: third operator */
	struct nvdla_sdp_y y;
	/**
	 * @out_cvt: output converter, truncate 0..63; scale is not implied;
	 * zero with fp16 operators, whose results are only rounded
	 */
	struct nvdla_convert out_cvt;
	/** @input: feature cube, when not after a convolution */
	struct nvdla_surface input;
	/** @output: feature cube, when not before a pooling */
	struct nvdla_surface output;
};

/* --------------------------------------------------------------- PDP --- */

/** enum nvdla_pool - pooling function */
enum nvdla_pool {
	NVDLA_POOL_AVERAGE = 0,
	NVDLA_POOL_MAX = 1,
	NVDLA_POOL_MIN = 2,
};

/* nvdla_pdp.flags */
/* fp16 NaN inputs read as zero; not on the fly. */
#define NVDLA_PDP_NAN_TO_ZERO	(1u << 0)

/**
 * struct nvdla_pdp - pooling
 *
 * On the fly (after SDP) @precision, @width, @height, @channels and @input
 * are zero: they are those of SDP's output.
 *
 * Output width = (pad_left + width + pad_right - kernel_width) / stride_width + 1,
 * rounded down; so is the height. What a stride leaves over on the right or at
 * the bottom may be padding, never input.
 */
struct nvdla_pdp {
	/** @flags: NVDLA_PDP_NAN_TO_ZERO */
	__u32 flags;
	/** @method: enum nvdla_pool */
	__u32 method;
	/** @precision: enum nvdla_precision of input and output */
	__u32 precision;
	/** @width: of the input */
	__u32 width;
	/** @height: of the input */
	__u32 height;
	/** @channels: of input and output */
	__u32 channels;
	/** @kernel_width: 1..8 */
	__u32 kernel_width;
	/** @kernel_height: 1..8 */
	__u32 kernel_height;
	/** @stride_width: 1..16 */
	__u32 stride_width;
	/** @stride_height: 1..16 */
	__u32 stride_height;
	/** @pad_left: 0..7, less than the kernel */
	__u32 pad_left;
	/** @pad_right: 0..7, less than the kernel */
	__u32 pad_right;
	/** @pad_top: 0..7, less than the kernel */
	__u32 pad_top;
	/** @pad_bottom: 0..7, less than the kernel */
	__u32 pad_bottom;
	/**
	 * @pad_value: what 1..7 padded elements add to an average: in int8
	 * what so many int8 can add up to, in int16 signed 19 bit, in fp16
	 * fp17 numbers; 0 unless an average is padded
	 */
	__s32 pad_value[7];
	/**
	 * @recip_width: factor of an average, 0x10000 is 1 (fp16: fp17); 0
	 * unless an average
	 */
	__u32 recip_width;
	/** @recip_height: the same, of the other direction */
	__u32 recip_height;
	/**
	 * @bands: vertical bands that a wide cube is worked on in, 1..64;
	 * 1 is none; more only from memory
	 */
	__u32 bands;
	/** @first_out: output width of the first band; 0 without bands */
	__u32 first_out;
	/** @mid_out: output width of inner bands; 0 with fewer than 3 */
	__u32 mid_out;
	/** @input: feature cube, when not on the fly */
	struct nvdla_surface input;
	/** @output: feature cube */
	struct nvdla_surface output;
};

/* --------------------------------------------------------------- CDP --- */

/* nvdla_cdp.flags */
/* The table sees the value instead of the sum of squares. */
#define NVDLA_CDP_BYPASS_SQUARE_SUM	(1u << 0)
/* The table's result is not multiplied by the value. */
#define NVDLA_CDP_BYPASS_MUL	(1u << 1)
/* fp16 NaN inputs read as zero. */
#define NVDLA_CDP_NAN_TO_ZERO	(1u << 2)

/** struct nvdla_cdp - normalisation across channels, through a table */
struct nvdla_cdp {
	/** @flags: NVDLA_CDP_* */
	__u32 flags;
	/** @precision: enum nvdla_precision of input and output */
	__u32 precision;
	/** @width: 1..8192 */
	__u32 width;
	/** @height: 1..8192 */
	__u32 height;
	/** @channels: 1..8192 */
	__u32 channels;
	/**
	 * @window: channels in a sum, 3, 5, 7 or 9; 0 with
	 * NVDLA_CDP_BYPASS_SQUARE_SUM
	 */
	__u32 window;
	/** @in_cvt: input converter (zero in fp16), truncate 0..31 */
	struct nvdla_convert in_cvt;
	/** @out_cvt: output converter (zero in fp16), truncate 0..63 */
	struct nvdla_convert out_cvt;
	/** @input: feature cube */
	struct nvdla_surface input;
	/** @output: feature cube; may be the input exactly */
	struct nvdla_surface output;
};

/* ------------------------------------------------------------- Rubik --- */

/** enum nvdla_rubik_mode - reshaping */
enum nvdla_rubik_mode {
	NVDLA_RUBIK_CONTRACT = 0,	/* channels to positions */
	NVDLA_RUBIK_SPLIT = 1,		/* feature cube to planes */
	NVDLA_RUBIK_MERGE = 2,		/* planes to feature cube */
};

/**
 * struct nvdla_rubik - data reshaping; planes use surface_stride
 *
 * Offset and strides of planes are multiples of 64, and so is the alignment of
 * their slot.
 */
struct nvdla_rubik {
	/** @mode: enum nvdla_rubik_mode */
	__u32 mode;
	/** @precision: enum nvdla_precision */
	__u32 precision;
	/** @width: of the input */
	__u32 width;
	/** @height: of the input */
	__u32 height;
	/** @channels: of the input */
	__u32 channels;
	/** @stride_width: contract: output columns per input column, 1..32; or 0 */
	__u32 stride_width;
	/** @stride_height: contract: output lines per input line, 1..32; or 0 */
	__u32 stride_height;
	/** @pad: zero */
	__u32 pad;
	/** @input: feature cube, or planes to merge */
	struct nvdla_surface input;
	/** @output: feature cube, or planes of a split */
	struct nvdla_surface output;
};

/* -------------------------------------------------------------- BDMA --- */

/**
 * struct nvdla_transfer - one copy; all sizes and offsets multiples of 32
 *
 * Copies @surfaces x @lines x @line_bytes. On both sides lines and surfaces lie
 * apart, as they do in cubes; with a stride of 0 at the source the same line, or
 * surface, is read again.
 */
struct nvdla_transfer {
	/** @line_bytes: 32..262144 */
	__u32 line_bytes;
	/** @lines: 1..8192 */
	__u32 lines;
	/** @surfaces: 1..8192 */
	__u32 surfaces;
	/** @pad: zero */
	__u32 pad;
	/** @source: where to read */
	struct nvdla_surface source;
	/** @destination: where to write; one memory for a whole layer */
	struct nvdla_surface destination;
};

/** struct nvdla_bdma - one launch of a row of transfers */
struct nvdla_bdma {
	/** @first_transfer: index in the program's transfers */
	__u32 first_transfer;
	/** @num_transfers: 1..NVDLA_MAX_LAYER_TRANSFERS */
	__u32 num_transfers;
};

/* --------------------------------------------------------------- LUT --- */

#define NVDLA_LUT_LE_ENTRIES	65
#define NVDLA_LUT_LO_ENTRIES	257

/** enum nvdla_lut_unit - which unit's tables */
enum nvdla_lut_unit {
	NVDLA_LUT_SDP = 0,
	NVDLA_LUT_CDP = 1,
};

/* nvdla_lut.flags */
/* The LE table is linear; otherwise its entries are powers of two apart. */
#define NVDLA_LUT_LE_LINEAR	(1u << 0)
/* LO instead of LE decides where both tables underflow. */
#define NVDLA_LUT_UNDERFLOW_LO	(1u << 1)
/* LO instead of LE decides where both tables overflow. */
#define NVDLA_LUT_OVERFLOW_LO	(1u << 2)
/* LO instead of LE decides where both hit, or miss on different sides. */
#define NVDLA_LUT_HYBRID_LO	(1u << 3)

/** struct nvdla_lut_slope - extrapolation beyond one end of a table */
struct nvdla_lut_slope {
	/** @scale: signed 16 bit, or bits of a finite fp16 number */
	__s32 scale;
	/** @shift: right shift, -16..15; 0 in fp16 */
	__s32 shift;
};

/** struct nvdla_lut - both tables of one unit, and how they are indexed */
struct nvdla_lut {
	/** @unit: enum nvdla_lut_unit */
	__u32 unit;
	/** @flags: NVDLA_LUT_* */
	__u32 flags;
	/** @le_index_offset: log2 of the first step, exponential LE only */
	__s32 le_index_offset;
	/** @le_index_select: log2 of the step, linear LE only */
	__s32 le_index_select;
	/** @lo_index_select: log2 of the step */
	__s32 lo_index_select;
	/** @pad: zero */
	__u32 pad;
	/**
	 * @le_start: first input of LE; SDP 32, CDP 38 bit (fp16: fp32, below
	 * 2^(@le_index_select + 30) in a linear LE, unless that is its end)
	 */
	__s64 le_start;
	/** @le_end: last input of LE, not below the first */
	__s64 le_end;
	/**
	 * @lo_start: first input of LO (fp16: below 2^(@lo_index_select + 32),
	 * unless that is its end)
	 */
	__s64 lo_start;
	/** @lo_end: last input of LO, not below the first */
	__s64 lo_end;
	/** @le_underflow: slope below LE */
	struct nvdla_lut_slope le_underflow;
	/** @le_overflow: slope above LE */
	struct nvdla_lut_slope le_overflow;
	/** @lo_underflow: slope below LO */
	struct nvdla_lut_slope lo_underflow;
	/** @lo_overflow: slope above LO */
	struct nvdla_lut_slope lo_overflow;
	/** @le: int16, or bits of finite fp16 numbers */
	__u16 le[NVDLA_LUT_LE_ENTRIES];
	/** @lo: int16, or bits of finite fp16 numbers */
	__u16 lo[NVDLA_LUT_LO_ENTRIES];
	/** @pad2: zero */
	__u16 pad2[2];
};

/* ------------------------------------------------------------- layer --- */

/**
 * struct nvdla_layer - one layer of a program
 *
 * Sections that @kind does not name are all zero.
 */
struct nvdla_layer {
	/** @kind: enum nvdla_layer_kind */
	__u32 kind;
	/** @flags: zero */
	__u32 flags;
	/** @num_waits: entries of @waits in use */
	__u32 num_waits;
	/** @lut: index in the program's LUTs plus one; 0 is none */
	__u32 lut;
	/** @waits: earlier layers that must have ended before this starts */
	__u32 waits[NVDLA_MAX_WAITS];
	/** @conv: kinds CONV_SDP, CONV_SDP_PDP */
	struct nvdla_conv conv;
	/** @sdp: kinds CONV_SDP, CONV_SDP_PDP, SDP, SDP_PDP */
	struct nvdla_sdp sdp;
	/** @pdp: kinds CONV_SDP_PDP, SDP_PDP, PDP */
	struct nvdla_pdp pdp;
	/** @cdp: kind CDP */
	struct nvdla_cdp cdp;
	/** @rubik: kind RUBIK */
	struct nvdla_rubik rubik;
	/** @bdma: kind BDMA */
	struct nvdla_bdma bdma;
};

/* ------------------------------------------------------------- error --- */

/** enum nvdla_object - what a refused field belongs to */
enum nvdla_object {
	NVDLA_OBJECT_PROGRAM = 0,	/* field: enum nvdla_program_part */
	NVDLA_OBJECT_LAYER = 1,		/* field: offset in struct nvdla_layer */
	NVDLA_OBJECT_SLOT = 2,		/* ... in struct nvdla_slot */
	NVDLA_OBJECT_LUT = 3,		/* ... in struct nvdla_lut */
	NVDLA_OBJECT_TRANSFER = 4,	/* ... in struct nvdla_transfer */
	NVDLA_OBJECT_BINDING = 5,	/* a buffer bound at submission */
};

/** enum nvdla_program_part - what of a program an error is about */
enum nvdla_program_part {
	NVDLA_PART_MEMORY = 0,		/* bytes that it takes */
	NVDLA_PART_LAYERS = 1,		/* number of layers */
	NVDLA_PART_SLOTS = 2,		/* number of slots */
	NVDLA_PART_LUTS = 3,		/* number of look-up tables */
	NVDLA_PART_TRANSFERS = 4,	/* number of transfers */
	NVDLA_PART_FLAGS = 5,
	NVDLA_PART_CONTROL = 6,		/* bytes of control data */
};

/** enum nvdla_feature - value of an error with NVDLA_RULE_FEATURE */
enum nvdla_feature {
	NVDLA_FEATURE_INT16 = 1,
	NVDLA_FEATURE_FP16 = 2,
	NVDLA_FEATURE_WINOGRAD = 3,
	NVDLA_FEATURE_BATCH = 4,
	NVDLA_FEATURE_COMPRESSION = 5,
	NVDLA_FEATURE_SRAM = 6,
	NVDLA_FEATURE_BDMA = 7,
	NVDLA_FEATURE_RUBIK = 8,
	NVDLA_FEATURE_SDP_Y = 9,
	NVDLA_FEATURE_LUT = 10,
	NVDLA_FEATURE_PIXEL_FORMAT = 11,
	/* Not the hardware: this version of the software has no such layer. */
	NVDLA_FEATURE_NOT_IMPLEMENTED = 12,
};

/** enum nvdla_dma - memory clients, for errors about extents */
enum nvdla_dma {
	NVDLA_DMA_NONE = 0,
	NVDLA_DMA_CDMA_DATA = 1,
	NVDLA_DMA_CDMA_DATA_UV = 2,
	NVDLA_DMA_CDMA_WEIGHT = 3,
	NVDLA_DMA_CDMA_WGS = 4,
	NVDLA_DMA_CDMA_WMB = 5,
	NVDLA_DMA_SDP_RDMA = 6,
	NVDLA_DMA_SDP_BRDMA = 7,
	NVDLA_DMA_SDP_NRDMA = 8,
	NVDLA_DMA_SDP_ERDMA = 9,
	NVDLA_DMA_SDP_WDMA = 10,
	NVDLA_DMA_PDP_RDMA = 11,
	NVDLA_DMA_PDP_WDMA = 12,
	NVDLA_DMA_CDP_RDMA = 13,
	NVDLA_DMA_CDP_WDMA = 14,
	NVDLA_DMA_RUBIK_READ = 15,
	NVDLA_DMA_RUBIK_WRITE = 16,
	NVDLA_DMA_BDMA_READ = 17,
	NVDLA_DMA_BDMA_WRITE = 18,
};

/**
 * enum nvdla_rule - why a descriptor was refused
 *
 * The rule table: what each rule means and what value, min, max and
 * multiple of struct nvdla_error hold. New rules are added at the end.
 */
enum nvdla_rule {
	NVDLA_RULE_NONE = 0,
	/* value is not in min..max */
	NVDLA_RULE_RANGE = 1,
	/* value is not a multiple of multiple */
	NVDLA_RULE_MULTIPLE = 2,
	/* value must be zero: reserved, or not used by this layer */
	NVDLA_RULE_ZERO = 3,
	/* value is no enumerator of the field, or a combination not offered */
	NVDLA_RULE_CHOICE = 4,
	/* value has flags outside the mask max */
	NVDLA_RULE_FLAGS = 5,
	/* the configuration lacks the feature in value */
	NVDLA_RULE_FEATURE = 6,
	/* a layer waits for value, which is not earlier than itself */
	NVDLA_RULE_WAIT_ORDER = 7,
	/* value layers (slots, luts, transfers) exceed max */
	NVDLA_RULE_LIMIT = 8,
	/* slot value is not declared; max is the last one */
	NVDLA_RULE_SLOT_INDEX = 9,
	/* the slot does not allow the access in value (NVDLA_SLOT_*) */
	NVDLA_RULE_SLOT_ACCESS = 10,
	/* alignment value is not a power of two of at least min */
	NVDLA_RULE_SLOT_ALIGNMENT = 11,
	/* the client in dma would touch bytes min..value of a slot of max */
	NVDLA_RULE_EXTENT = 12,
	/* the last byte, at value, is beyond an address of max bits */
	NVDLA_RULE_ADDRESS = 13,
	/*
	 * the client in dma writes slot from byte value on, over bytes
	 * min..max that the layer reads; only exactly in place is allowed
	 */
	NVDLA_RULE_OVERLAP = 14,
	/* a padding of value is not less than the dilated kernel, max + 1 */
	NVDLA_RULE_PADDING = 15,
	/* padded input of value is smaller than the dilated kernel, min */
	NVDLA_RULE_KERNEL_FITS = 16,
	/*
	 * behind the last window of a pooling value columns or lines are left
	 * over, of which max are padding: input would never be read
	 */
	NVDLA_RULE_EXACT_DIVISION = 17,
	/* data + weight banks value exceed max */
	NVDLA_RULE_BANK_SUM = 18,
	/*
	 * data banks value hold less than all lines: min are needed, max are
	 * left by the weights; with min above max split the layer in height
	 */
	NVDLA_RULE_DATA_BANKS = 19,
	/*
	 * weight banks value hold less than the largest kernel group: min are
	 * needed, max are left by the data
	 */
	NVDLA_RULE_WEIGHT_BANKS = 20,
	/*
	 * weight banks value hold less than all weights, which are to be kept:
	 * min are needed, max are left by the data
	 */
	NVDLA_RULE_KEEP_WEIGHTS = 21,
	/* value lines per fetch exceed max */
	NVDLA_RULE_GRAIN = 22,
	/*
	 * what the flag in value reuses was not kept by the previous
	 * convolution of the program
	 */
	NVDLA_RULE_REUSE_NOTHING = 23,
	/* value differs from min, with which the kept data were loaded */
	NVDLA_RULE_REUSE_DIFFERS = 24,
	/*
	 * value lines were kept, the layer takes min..max; all of them after
	 * NVDLA_CONV_KEEP_DATA, less than its height after a partial release
	 */
	NVDLA_RULE_REUSE_LINES = 25,
	/*
	 * precisions value, min, max do not complete together: input,
	 * processing, output (in a convolution input, processing, processing)
	 */
	NVDLA_RULE_PRECISIONS = 26,
	/* an operand part is active without memory or value, or the reverse */
	NVDLA_RULE_OPERAND = 27,
	/* operands per element of a 1x1 cube: use per channel */
	NVDLA_RULE_OPERAND_1X1 = 28,
	/*
	 * an exponent, step or range of a LUT does not fit the others, or a
	 * number of it is not finite
	 */
	NVDLA_RULE_LUT_RANGE = 29,
	/* the layer uses a LUT but names none, or the reverse */
	NVDLA_RULE_LUT_NAMED = 30,
	/* worst case cycles value exceed max, five seconds: split the layer */
	NVDLA_RULE_CYCLES = 31,
	/* a stride of value is smaller than what it steps over, min */
	NVDLA_RULE_STRIDE = 32,
	/* the program needs value bytes, max are allowed */
	NVDLA_RULE_PROGRAM_SIZE = 33,
	/*
	 * compressed weights or one of their tables take min bytes (the least,
	 * where max is more), not value
	 */
	NVDLA_RULE_COMPRESSED = 34,
	/*
	 * bands of a pooling do not add up: columns of a band, of its output
	 * or of its input, value; expected min..max
	 */
	NVDLA_RULE_BANDS = 35,
	/* binding: the buffer has value bytes, the slot declares min */
	NVDLA_RULE_BINDING_SIZE = 36,
	/* binding: the buffer is in memory value, the slot declares min */
	NVDLA_RULE_BINDING_MEMORY = 37,
	/* binding: address value is no multiple of the slot's alignment */
	NVDLA_RULE_BINDING_ALIGNMENT = 38,
	/* binding: value buffers are bound, there are min slots */
	NVDLA_RULE_BINDING_MISSING = 39,
	/*
	 * binding: from address value on this slot and the one in slot, whose
	 * addresses are min..max, share bytes, and one of them is written
	 */
	NVDLA_RULE_BINDING_OVERLAP = 40,
	/* output width or height value exceeds max: split the layer */
	NVDLA_RULE_OUTPUT_SIZE = 41,
	/* one kernel takes value bytes, max are allowed */
	NVDLA_RULE_KERNEL_BYTES = 42,
	/* a transfer writes memory value, the first of its layer memory min */
	NVDLA_RULE_TRANSFER_MEMORY = 43,
	/*
	 * a second plane, or a table of compressed weights, is in memory value;
	 * the first one, or the weights, in memory min
	 */
	NVDLA_RULE_SAME_MEMORY = 44,
	/*
	 * padded width or height value of a Winograd convolution is not in
	 * min..max or no multiple of multiple, four times the stride
	 */
	NVDLA_RULE_WINOGRAD_TILES = 45,
	/* the control slot has value bytes, the program brings min */
	NVDLA_RULE_CONTROL_SIZE = 46,
	/* slot value is a second one for control data, after slot min */
	NVDLA_RULE_CONTROL_SLOT = 47,
	/* compressed: of kernel group max WGS says value bytes, WMB min */
	NVDLA_RULE_GROUP_SIZE = 48,
	/* compressed: kernel group value has no weight that is not zero */
	NVDLA_RULE_GROUP_EMPTY = 49,
	/* compressed: byte value of WMB has bits behind the last weight's */
	NVDLA_RULE_MASK_PADDING = 50,
	/*
	 * compressed: the mask bits of a kernel group (of all of them, when
	 * they are to be kept) take value bytes, max are allowed
	 */
	NVDLA_RULE_MASK_BANK = 51,
	/* binding: a buffer is bound to the slot of the control data */
	NVDLA_RULE_BINDING_CONTROL = 52,
	/*
	 * weight banks value hold less than all weights, which have to stay
	 * until the next convolution starts, as the device loses what is freed
	 * earlier: min are needed, max are left by the data
	 */
	NVDLA_RULE_RESIDENT_WEIGHTS = 53,
	/*
	 * a convolution reuses what layers from min on left in the buffer, and
	 * nobody else may run in between: worst case cycles value of all these
	 * layers exceed max, five seconds
	 */
	NVDLA_RULE_TIED_CYCLES = 54,
	NVDLA_RULE_COUNT
};

/**
 * struct nvdla_error - the first rule that a program breaks
 *
 * Numbers only; the runtime turns them into text. With rule
 * NVDLA_RULE_NONE there is no error and everything else is zero.
 */
struct nvdla_error {
	/** @rule: enum nvdla_rule */
	__u32 rule;
	/** @object: enum nvdla_object */
	__u32 object;
	/** @index: of the object */
	__u32 index;
	/**
	 * @field: byte offset of the refused field in the object's struct, or
	 * enum nvdla_program_part
	 */
	__u32 field;
	/** @dma: enum nvdla_dma, for rules about memory */
	__u32 dma;
	/** @slot: for rules about memory */
	__u32 slot;
	/** @value: what was found */
	__s64 value;
	/** @min: least value that would be right */
	__s64 min;
	/** @max: greatest value that would be right */
	__s64 max;
	/** @multiple: of which a right value is a multiple */
	__s64 multiple;
};

/* -------------------------------------------------------- statistics --- */

/** enum nvdla_counter - counters of a layer, by name */
enum nvdla_counter {
	NVDLA_COUNTER_CDMA_NAN_DATA = 0,
	NVDLA_COUNTER_CDMA_NAN_WEIGHT = 1,
	NVDLA_COUNTER_CDMA_INF_DATA = 2,
	NVDLA_COUNTER_CDMA_INF_WEIGHT = 3,
	NVDLA_COUNTER_CDMA_DATA_STALL = 4,
	NVDLA_COUNTER_CDMA_WEIGHT_STALL = 5,
	NVDLA_COUNTER_CDMA_DATA_LATENCY = 6,
	NVDLA_COUNTER_CDMA_WEIGHT_LATENCY = 7,
	NVDLA_COUNTER_CACC_SATURATION = 8,
	NVDLA_COUNTER_SDP_RDMA_NAN = 9,
	NVDLA_COUNTER_SDP_RDMA_INF = 10,
	NVDLA_COUNTER_SDP_MRDMA_STALL = 11,
	NVDLA_COUNTER_SDP_BRDMA_STALL = 12,
	NVDLA_COUNTER_SDP_NRDMA_STALL = 13,
	NVDLA_COUNTER_SDP_ERDMA_STALL = 14,
	NVDLA_COUNTER_SDP_UNEQUAL = 15,
	NVDLA_COUNTER_SDP_NAN_OUT = 16,
	NVDLA_COUNTER_SDP_WRITE_STALL = 17,
	NVDLA_COUNTER_SDP_SATURATION = 18,
	NVDLA_COUNTER_SDP_LUT_UNDERFLOW = 19,
	NVDLA_COUNTER_SDP_LUT_OVERFLOW = 20,
	NVDLA_COUNTER_SDP_LUT_HYBRID = 21,
	NVDLA_COUNTER_SDP_LUT_LE_HIT = 22,
	NVDLA_COUNTER_SDP_LUT_LO_HIT = 23,
	NVDLA_COUNTER_PDP_RDMA_STALL = 24,
	NVDLA_COUNTER_PDP_NAN_IN = 25,
	NVDLA_COUNTER_PDP_INF_IN = 26,
	NVDLA_COUNTER_PDP_NAN_OUT = 27,
	NVDLA_COUNTER_PDP_WRITE_STALL = 28,
	NVDLA_COUNTER_CDP_RDMA_STALL = 29,
	NVDLA_COUNTER_CDP_NAN_IN = 30,
	NVDLA_COUNTER_CDP_INF_IN = 31,
	NVDLA_COUNTER_CDP_NAN_OUT = 32,
	NVDLA_COUNTER_CDP_SATURATION = 33,
	NVDLA_COUNTER_CDP_WRITE_STALL = 34,
	NVDLA_COUNTER_CDP_LUT_UNDERFLOW = 35,
	NVDLA_COUNTER_CDP_LUT_OVERFLOW = 36,
	NVDLA_COUNTER_CDP_LUT_HYBRID = 37,
	NVDLA_COUNTER_CDP_LUT_LE_HIT = 38,
	NVDLA_COUNTER_CDP_LUT_LO_HIT = 39,
	NVDLA_COUNTER_RUBIK_READ_STALL = 40,
	NVDLA_COUNTER_RUBIK_WRITE_STALL = 41,
	NVDLA_COUNTER_BDMA_READ_STALL = 42,
	NVDLA_COUNTER_BDMA_WRITE_STALL = 43,
	NVDLA_COUNTER_COUNT = 44,
	/* room in struct nvdla_layer_stats */
	NVDLA_COUNTER_MAX = 48
};

/**
 * struct nvdla_layer_stats - what one layer took, and what hardware counted
 *
 * Times of layers in different units may overlap. Along a chain, in which each
 * layer waits for the one before or runs in its units, each starts where the
 * one before ends, and the times add up to that of the run. Ends that are seen
 * at once are one time: the first layer of such a row has it all.
 */
struct nvdla_layer_stats {
	/**
	 * @start_ns: engine's clock when the layer could start: when what it
	 * waits for, and every earlier layer in its units, was seen to end
	 */
	__u64 start_ns;
	/** @end_ns: engine's clock when its completion was seen */
	__u64 end_ns;
	/** @valid: bit n set: counter n was read for this layer */
	__u64 valid;
	/** @counter: by enum nvdla_counter */
	__u32 counter[NVDLA_COUNTER_MAX];
};

#if defined(__cplusplus)
}
#endif

#endif /* NVDLA_LAYER_H */
