// SPDX-License-Identifier: GPL-2.0
/*
 * The compiler: layers that it takes and refuses, and its register images.
 */
#include "nvdla_test.h"

#define ATOM		8
#define CUBE_BYTES	(4 * 2 * ATOM)

/**
 * nvdla_test_hw() - the configuration of all suites
 * @test: test, fails without it
 *
 * Return: nv_small.
 */
const struct nvdla_hw *nvdla_test_hw(struct kunit *test)
{
	const struct nvdla_hw *hw = nvdla_hw_find("nv_small");

	KUNIT_ASSERT_NOT_NULL(test, hw);
	KUNIT_ASSERT_EQ(test, hw->atom, ATOM);
	return hw;
}

/**
 * nvdla_test_copy_layer() - SDP copies a cube from slot 0 to slot 1
 * @test: owner of the memory
 *
 * Return: a layer of 4 columns, 2 lines and one atom of channels.
 */
struct nvdla_layer *nvdla_test_copy_layer(struct kunit *test)
{
	struct nvdla_layer *layer = kunit_kzalloc(test, sizeof(*layer),
						  GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, layer);
	layer->kind = NVDLA_LAYER_SDP;
	layer->sdp.width = 4;
	layer->sdp.height = 2;
	layer->sdp.channels = ATOM;
	layer->sdp.out_cvt.scale = 1;
	layer->sdp.input.line_stride = 4 * ATOM;
	layer->sdp.input.surface_stride = CUBE_BYTES;
	layer->sdp.output = layer->sdp.input;
	layer->sdp.output.slot = 1;
	return layer;
}

/**
 * nvdla_test_compile() - compile a program of one layer, again and again
 * @test: owner of the memory
 * @layer: each of the layers
 * @num_layers: how many
 * @program: to be made
 * @error: why not
 *
 * Return: 0 or -1.
 */
int nvdla_test_compile(struct kunit *test, const struct nvdla_layer *layer,
		       u32 num_layers, struct nvdla_program *program,
		       struct nvdla_error *error)
{
	const struct nvdla_slot slots[] = {
		{ .size = CUBE_BYTES, .alignment = ATOM,
		  .access = NVDLA_SLOT_READ },
		{ .size = CUBE_BYTES, .alignment = ATOM,
		  .access = NVDLA_SLOT_WRITE },
	};
	const struct nvdla_program_desc desc = {
		.slots = slots,
		.num_slots = ARRAY_SIZE(slots),
		.num_layers = num_layers,
	};
	size_t bytes = nvdla_program_bytes(&desc);
	void *memory = kunit_kzalloc(test, bytes, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	memset(error, 0, sizeof(*error));
	if (nvdla_program_begin(program, nvdla_test_hw(test), &desc, memory,
				bytes, error))
		return -1;
	for (i = 0; i < num_layers; i++)
		if (nvdla_program_add(program, layer, error))
			return -1;
	return nvdla_program_end(program, error);
}

static void program_is_proven(struct kunit *test)
{
	struct nvdla_layer *layer = nvdla_test_copy_layer(test);
	struct nvdla_program program;
	struct nvdla_error error;
	u32 i, written = 0;

	KUNIT_ASSERT_EQ(test, 0,
			nvdla_test_compile(test, layer, 3, &program, &error));
	KUNIT_EXPECT_EQ(test, program.num_layers, 3);
	/* Each layer reads and writes all of its slots. */
	KUNIT_ASSERT_EQ(test, program.num_accesses, 6);
	for (i = 0; i < program.num_accesses; i++) {
		const struct nvdla_access *access = &program.accesses[i];

		KUNIT_EXPECT_EQ(test, access->begin, 0);
		KUNIT_EXPECT_EQ(test, access->end, CUBE_BYTES);
		KUNIT_EXPECT_EQ(test, access->slot, access->write);
		written += access->write;
	}
	KUNIT_EXPECT_EQ(test, written, 3);
}

/* Registers of units, with the addresses and bits of the hardware's manual. */
static const struct nvdla_reg_write golden[] = {
	/* SDP_RDMA: a cube of 4 x 2 x 8, less one each */
	{ 0x800c, 3 }, { 0x8010, 1 }, { 0x8014, 7 },
	/* where it is, to be bound; lines and surfaces */
	{ 0x8018, 0 }, { 0x8020, 32 }, { 0x8024, 64 },
	/* from memory, int8, by the first interface */
	{ 0x8070, 0 }, { 0x8074, 1 },
	/* SDP: the same cube */
	{ 0x903c, 3 }, { 0x9040, 1 }, { 0x9044, 7 },
	{ 0x9048, 0 }, { 0x9050, 32 }, { 0x9054, 64 },
	/* X1 and X2 are passed by, and all that is in them */
	{ 0x9058, 0x53 }, { 0x906c, 0x53 },
	/* to memory, int8, by the first interface, times one */
	{ 0x90b0, 0 }, { 0x90b4, 1 }, { 0x90bc, 0 },
	{ 0x90c0, 0 }, { 0x90c4, 1 }, { 0x90c8, 0 },
};

static u32 count_writes(const struct nvdla_program *program, u32 offset,
			u32 *value)
{
	u32 count = 0, i;

	for (i = 0; i < program->num_writes; i++) {
		if (program->writes[i].offset != offset)
			continue;
		*value = program->writes[i].value;
		count++;
	}
	return count;
}

static void image_is_golden(struct kunit *test)
{
	struct nvdla_layer *layer = nvdla_test_copy_layer(test);
	struct nvdla_program program;
	struct nvdla_error error;
	u32 i, value = 0;

	KUNIT_ASSERT_EQ(test, 0,
			nvdla_test_compile(test, layer, 1, &program, &error));
	for (i = 0; i < ARRAY_SIZE(golden); i++) {
		KUNIT_EXPECT_EQ_MSG(test, 1,
				    count_writes(&program, golden[i].offset,
						 &value),
				    "register %#x", golden[i].offset);
		KUNIT_EXPECT_EQ_MSG(test, golden[i].value, value,
				    "register %#x", golden[i].offset);
	}
	/* Enabled by the engine, when it is its turn. */
	KUNIT_EXPECT_EQ(test, 0, count_writes(&program, 0x8008, &value));
	KUNIT_EXPECT_EQ(test, 0, count_writes(&program, 0x9038, &value));
	for (i = 0; i < program.num_writes; i++) {
		u32 unit = program.writes[i].offset & ~0xfff;

		KUNIT_EXPECT_TRUE(test, unit == 0x8000 || unit == 0x9000);
	}

	KUNIT_ASSERT_EQ(test, program.num_relocs, 2);
	for (i = 0; i < program.num_relocs; i++) {
		const struct nvdla_reloc *reloc = &program.relocs[i];
		u32 low = program.writes[reloc->low].offset;

		KUNIT_EXPECT_EQ(test, low, reloc->slot ? 0x9048 : 0x8018);
		KUNIT_EXPECT_EQ(test, reloc->offset, 0);
	}
}

struct refusal {
	const char *name;
	void (*spoil)(struct nvdla_layer *layer);
	u32 rule;
};

static void spoil_kind(struct nvdla_layer *layer)
{
	layer->kind = 99;
}

static void spoil_feature(struct nvdla_layer *layer)
{
	layer->kind = NVDLA_LAYER_BDMA;
}

static void spoil_width(struct nvdla_layer *layer)
{
	layer->sdp.width = 0;
}

static void spoil_alignment(struct nvdla_layer *layer)
{
	layer->sdp.input.line_stride += ATOM / 2;
}

static void spoil_stride(struct nvdla_layer *layer)
{
	layer->sdp.output.line_stride -= ATOM;
}

static void spoil_slot(struct nvdla_layer *layer)
{
	layer->sdp.input.slot = 2;
}

static void spoil_access(struct nvdla_layer *layer)
{
	layer->sdp.output.slot = 0;
}

static void spoil_extent(struct nvdla_layer *layer)
{
	layer->sdp.output.offset = ATOM;
}

static void spoil_lut(struct nvdla_layer *layer)
{
	layer->lut = 1;
}

static const struct refusal refusals[] = {
	{ "no such kind", spoil_kind, NVDLA_RULE_CHOICE },
	{ "a unit that is not there", spoil_feature, NVDLA_RULE_FEATURE },
	{ "a cube without columns", spoil_width, NVDLA_RULE_RANGE },
	{ "a stride of half an atom", spoil_alignment, NVDLA_RULE_MULTIPLE },
	{ "lines over one another", spoil_stride, NVDLA_RULE_STRIDE },
	{ "no such slot", spoil_slot, NVDLA_RULE_SLOT_INDEX },
	{ "writes what is read only", spoil_access, NVDLA_RULE_SLOT_ACCESS },
	{ "writes past the end", spoil_extent, NVDLA_RULE_EXTENT },
	{ "no such table", spoil_lut, NVDLA_RULE_RANGE },
};

static void refusal_name(const struct refusal *refusal, char *name)
{
	strscpy(name, refusal->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refusals, refusals, refusal_name);

static void wrong_layer_is_refused(struct kunit *test)
{
	const struct refusal *refusal = test->param_value;
	struct nvdla_layer *layer = nvdla_test_copy_layer(test);
	struct nvdla_program program;
	struct nvdla_error error;

	refusal->spoil(layer);
	KUNIT_EXPECT_EQ(test, -1,
			nvdla_test_compile(test, layer, 1, &program, &error));
	KUNIT_EXPECT_EQ(test, error.rule, refusal->rule);
}

static void bindings_are_checked(struct kunit *test)
{
	struct nvdla_layer *layer = nvdla_test_copy_layer(test);
	const struct nvdla_binding good[] = {
		{ .address = 0x1000, .size = CUBE_BYTES,
		  .access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE },
		{ .address = 0x2000, .size = CUBE_BYTES,
		  .access = NVDLA_SLOT_READ | NVDLA_SLOT_WRITE },
	};
	struct nvdla_binding bad[2];
	struct nvdla_program program;
	struct nvdla_error error;

	KUNIT_ASSERT_EQ(test, 0,
			nvdla_test_compile(test, layer, 1, &program, &error));
	KUNIT_EXPECT_EQ(test, 0, nvdla_program_check_bindings(&program, good, 2,
							      &error));
	KUNIT_EXPECT_EQ(test, -1, nvdla_program_check_bindings(&program, good,
							       1, &error));

	memcpy(bad, good, sizeof(bad));
	bad[1].size--;
	KUNIT_EXPECT_EQ(test, -1, nvdla_program_check_bindings(&program, bad, 2,
							       &error));
	KUNIT_EXPECT_EQ(test, error.rule, NVDLA_RULE_BINDING_SIZE);

	memcpy(bad, good, sizeof(bad));
	bad[0].address++;
	KUNIT_EXPECT_EQ(test, -1, nvdla_program_check_bindings(&program, bad, 2,
							       &error));
	KUNIT_EXPECT_EQ(test, error.rule, NVDLA_RULE_BINDING_ALIGNMENT);

	memcpy(bad, good, sizeof(bad));
	bad[0].memory = NVDLA_MEMORY_SRAM;
	KUNIT_EXPECT_EQ(test, -1, nvdla_program_check_bindings(&program, bad, 2,
							       &error));
	KUNIT_EXPECT_EQ(test, error.rule, NVDLA_RULE_BINDING_MEMORY);
}

static struct kunit_case nvdla_program_cases[] = {
	KUNIT_CASE(program_is_proven),
	KUNIT_CASE(image_is_golden),
	KUNIT_CASE_PARAM(wrong_layer_is_refused, refusals_gen_params),
	KUNIT_CASE(bindings_are_checked),
	{}
};

static struct kunit_suite nvdla_program_suite = {
	.name = "nvdla_program",
	.test_cases = nvdla_program_cases,
};

kunit_test_suite(nvdla_program_suite);
