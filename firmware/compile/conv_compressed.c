// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Compressed weights: the zeros are left out of memory, a mask (WMB) has a bit
 * for each weight, a table (WGS) the bytes that are left of each kernel group.
 *
 * CDMA waits for the sums of WGS, CSC takes as many weights as the mask has
 * bits: where the two disagree, one of them waits for ever. So they are part of
 * the proof that a layer ends. They lie in the program's control data, which
 * nobody can change after they were looked at here.
 */
#include "compile.h"

#define FIELD(member) NVDLA_FIELD(conv.member)

/* Surfaces of compressed weights are fetched in multiples of this. */
#define SURFACE_ALIGN	128
/* Room that is kept free beside a kernel group, of weights or of mask bits. */
#define GROUP_MARGIN	128

static u32 group_kernels(const struct nvdla_compile *c)
{
	return c->hw->atomic_k / nvdla_bpe(c->layer->conv.proc_precision);
}

static u32 groups(const struct nvdla_compile *c)
{
	return nvdla_div_up(c->layer->conv.kernels, group_kernels(c));
}

/* Elements of one kernel: at most 2^18, one for each byte. */
static u32 kernel_elements(const struct nvdla_compile *c,
			   const struct nvdla_conv_plan *plan)
{
	return plan->kernel_bytes / nvdla_bpe(c->layer->conv.proc_precision);
}

static u32 bank_bytes(const struct nvdla_compile *c)
{
	return c->hw->cbuf_entries * c->hw->cbuf_entry_bytes;
}

/* Given or left out. */
static int check_bytes(struct nvdla_compile *c, u32 field, u32 value, u32 min,
		       u32 max)
{
	if (value && (value < min || value > max))
		return nvdla_refuse(c, NVDLA_RULE_COMPRESSED, field, value, min,
				    max);
	return 0;
}

/* The last bank holds mask bits, of all groups when they are to be kept. */
static int check_mask_bank(struct nvdla_compile *c,
			   const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 group = nvdla_min(conv->kernels, group_kernels(c));
	/* At most 2^18 elements in at most 2^8 kernels. */
	const u32 bytes = nvdla_div_up(kernel_elements(c, plan) * group, 8);
	const u32 bank = bank_bytes(c);

	if (bytes > bank - GROUP_MARGIN)
		return nvdla_refuse(c, NVDLA_RULE_MASK_BANK, FIELD(channels),
				    bytes, 0, bank - GROUP_MARGIN);
	if (plan->resident && plan->mask_bytes > bank)
		return nvdla_refuse(c, NVDLA_RULE_MASK_BANK, FIELD(flags),
				    plan->mask_bytes, 0, bank);
	return 0;
}

/* Checks the numbers of the descriptor, before any table is looked at. */
int nvdla_compressed_check(struct nvdla_compile *c,
			   struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u32 table = groups(c) * (u32)sizeof(u32);
	const u32 most = nvdla_round_up(plan->kernel_bytes * conv->kernels,
					SURFACE_ALIGN);

	/* At most 2^31 bits. */
	plan->mask_bytes = nvdla_div_up(kernel_elements(c, plan) *
						conv->kernels, 8);
	plan->mask_bytes = nvdla_round_up(plan->mask_bytes, SURFACE_ALIGN);
	plan->table_bytes = nvdla_round_up(table, c->hw->atom);
	plan->weight_bytes = conv->weights.bytes;
	if (nvdla_check_range(c, FIELD(weights.bytes), plan->weight_bytes,
			      SURFACE_ALIGN, most) ||
	    nvdla_check_multiple(c, FIELD(weights.bytes), plan->weight_bytes,
				 SURFACE_ALIGN) ||
	    check_bytes(c, FIELD(wgs.bytes), conv->wgs.bytes, table,
			nvdla_round_up(table, SURFACE_ALIGN)) ||
	    check_bytes(c, FIELD(wmb.bytes), conv->wmb.bytes, plan->mask_bytes,
			plan->mask_bytes))
		return -1;
	return check_mask_bank(c, plan);
}

/* One register tells the memory of all three. */
static int check_memory(struct nvdla_compile *c, u32 field, u32 slot)
{
	const struct nvdla_slot *slots = c->program->slots;
	const u32 weights = c->layer->conv.weights.slot;

	if (slots[slot].memory != slots[weights].memory)
		return nvdla_refuse(c, NVDLA_RULE_SAME_MEMORY, field,
				    slots[slot].memory, slots[weights].memory,
				    slots[weights].memory);
	return 0;
}

/* After the weights themselves were claimed. */
int nvdla_compressed_claim(struct nvdla_compile *c,
			   const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;

	if (nvdla_claim_run(c, FIELD(wgs), conv->wgs.slot, conv->wgs.offset,
			    plan->table_bytes, NVDLA_DMA_CDMA_WGS) ||
	    nvdla_claim_run(c, FIELD(wmb), conv->wmb.slot, conv->wmb.offset,
			    plan->mask_bytes, NVDLA_DMA_CDMA_WMB))
		return -1;
	/* The mask lies where the table does: there is one control slot. */
	return check_memory(c, FIELD(wgs.slot), conv->wgs.slot);
}

static u32 load_word(const u8 *at)
{
	return (u32)at[0] | (u32)at[1] << 8 | (u32)at[2] << 16 |
	       (u32)at[3] << 24;
}

static u32 count_ones(u32 word)
{
	word -= word >> 1 & 0x55555555;
	word = (word & 0x33333333) + (word >> 2 & 0x33333333);
	word = (word + (word >> 4)) & 0x0f0f0f0f;
	return word * 0x01010101 >> 24;
}

/* Ones of @bits bits; what follows them in the last byte does not count. */
static u32 count_mask(const u8 *mask, u32 bits)
{
	u32 ones = 0;

	for (; bits >= 32; bits -= 32, mask += 4)
		ones += count_ones(load_word(mask));
	for (; bits >= 8; bits -= 8)
		ones += count_ones(*mask++);
	if (bits)
		ones += count_ones(*mask & ((1u << bits) - 1));
	return ones;
}

/* Bits that belong to no weight: nobody knows what they would do. */
static int check_padding(struct nvdla_compile *c,
			 const struct nvdla_conv_plan *plan, const u8 *mask,
			 u32 bits)
{
	const u32 partial = bits / 8;
	u32 at;

	for (at = partial; at < plan->mask_bytes; at++) {
		u32 byte = mask[at];

		if (at == partial)
			byte >>= bits % 8;
		if (byte)
			return nvdla_refuse(c, NVDLA_RULE_MASK_PADDING,
					    FIELD(wmb), at, 0, 0);
	}
	return 0;
}

/*
 * The tables themselves. They were claimed, so they lie in the control data.
 * Groups have a multiple of 8 kernels, so their mask bits begin with a byte.
 */
int nvdla_compressed_check_tables(struct nvdla_compile *c,
				  const struct nvdla_conv_plan *plan)
{
	const struct nvdla_conv *conv = &c->layer->conv;
	const u8 *words = c->program->control + (size_t)conv->wgs.offset;
	const u8 *mask = c->program->control + (size_t)conv->wmb.offset;
	const u32 bpe = nvdla_bpe(conv->proc_precision);
	const u32 banks = conv->weight_banks * bank_bytes(c);
	const u32 group_bits = kernel_elements(c, plan) * group_kernels(c);
	const u32 bits = kernel_elements(c, plan) * conv->kernels;
	u32 largest = 0;
	u32 sum = 0;
	u32 i;

	for (i = 0; i < groups(c); i++) {
		const u32 first = i * group_bits;
		const u32 size = bpe * count_mask(mask + first / 8,
						  nvdla_min(bits - first,
							    group_bits));
		const u32 word = load_word(words + (size_t)i * sizeof(u32));

		if (!size)
			return nvdla_refuse(c, NVDLA_RULE_GROUP_EMPTY,
					    FIELD(wmb), i, 0, 0);
		if (word != size)
			return nvdla_refuse(c, NVDLA_RULE_GROUP_SIZE,
					    FIELD(wgs), word, size, i);
		largest = nvdla_max(largest, size);
		sum += size;
	}
	if (check_padding(c, plan, mask, bits))
		return -1;
	sum = nvdla_round_up(sum, SURFACE_ALIGN);
	if (plan->weight_bytes != sum)
		return nvdla_refuse(c, NVDLA_RULE_COMPRESSED,
				    FIELD(weights.bytes), plan->weight_bytes,
				    sum, sum);
	if (largest + GROUP_MARGIN > banks)
		return nvdla_refuse(c, NVDLA_RULE_WEIGHT_BANKS,
				    FIELD(weight_banks), conv->weight_banks,
				    nvdla_div_up(largest + GROUP_MARGIN,
						 bank_bytes(c)),
				    (s64)c->hw->cbuf_banks - 1 -
					    conv->data_banks);
	return 0;
}
