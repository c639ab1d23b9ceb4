// SPDX-License-Identifier: MIT
//
// Operations of our own, in files of the tests' own writer: each field has a value that no other
// has.
#include <gtest/gtest.h>

#include <bit>

#include "loadable/format/task.hpp"
#include "loadable/read/cpu_step.hpp"
#include "nvdla/types/error.hpp"
#include "unit/loadable/witness/own.hpp"

namespace nvdla::witness {
namespace {

using loadable::CpuTask;

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

CpuTask read_own(const Own& own) {
  const loadable::Container c = loadable::parse_container(write(own.file()));
  return std::get<CpuTask>(decode_task(c, 0).work);
}

template <typename Operation>
Operation operation_of(const Own& own) {
  return std::get<Operation>(read_own(own).operation.kind);
}

TEST(OwnOperations, EachHasItsName) {
  for (const std::string& name : own_names())
    EXPECT_EQ(operation_name(read_own(Own::of(name)).operation), name);
}

TEST(OwnOperations, CubesAreWhereTheyWereWritten) {
  Own own = Own::of("argmax");
  own.cubes[0] = {.address = 2,
                  .offset = 96,
                  .precision = 1,
                  .batch = 3,
                  .channels = 33,
                  .height = 4,
                  .width = 6,
                  .atom = 32,
                  .line_stride = 224,
                  .surface_stride = 928,
                  .batch_stride = 2880};
  own.cubes[1].batch = 3;
  own.cubes[1].height = 4;
  own.cubes[1].width = 6;
  own.cubes[1].line_stride = own.cubes[1].surface_stride = 0;
  const CpuTask task = read_own(own);
  ASSERT_EQ(task.inputs.size(), 1U);
  EXPECT_EQ(task.inputs[0].address, 2U);
  EXPECT_EQ(task.inputs[0].offset, 96U);
  const TensorDesc& desc = task.inputs[0].desc;
  EXPECT_EQ(desc.precision, Precision::kInt16);
  EXPECT_EQ(desc.shape, (Shape{.channels = 33, .height = 4, .width = 6, .batch = 3}));
  EXPECT_EQ(desc.atom, 32U);
  EXPECT_EQ(desc.line_stride, 224U);
  EXPECT_EQ(desc.surface_stride, 928U);
  EXPECT_EQ(desc.batch_stride, 2880U);
  EXPECT_EQ(task.output.address, 3U);
  // Strides of 0 are those of a packed cube.
  EXPECT_EQ(task.output.desc.line_stride, 192U);
  EXPECT_EQ(task.output.desc.surface_stride, 768U);
}

TEST(OwnOperations, EachFieldIsWhereItWasWritten) {
  Own own = Own::of("softmax");
  own.fields = {0, bits_of(0.5F), 7, bits_of(0.25F), static_cast<std::uint32_t>(-9)};
  const auto softmax = operation_of<cpu::SoftmaxOperation>(own);
  EXPECT_EQ(softmax.rounding, cpu::Elements::Rounding::kNearest);
  EXPECT_EQ(softmax.input, (Quantization{0.5F, 7}));
  EXPECT_EQ(softmax.output, (Quantization{0.25F, -9}));
  own.fields[0] = 1;
  own.fields[4] = 0;
  EXPECT_EQ(operation_of<cpu::SoftmaxOperation>(own).rounding, cpu::Elements::Rounding::kLoadable);

  own = Own::of("power");
  own.fields = {0, bits_of(0.5F), 7, bits_of(0.25F), 8, bits_of(2), bits_of(3), bits_of(-4)};
  const auto power = operation_of<cpu::PowerOperation>(own);
  EXPECT_EQ(power.input, (Quantization{0.5F, 7}));
  EXPECT_EQ(power.output, (Quantization{0.25F, 8}));
  EXPECT_EQ(power.numbers.power, 2);
  EXPECT_EQ(power.numbers.scale, 3);
  EXPECT_EQ(power.numbers.shift, -4);

  own = Own::of("table");
  for (std::size_t i = 0; i < 256; ++i) own.bytes_behind[i] = static_cast<std::byte>(i * 7);
  EXPECT_EQ(*operation_of<cpu::TableOperation>(own).results, own.bytes_behind);

  own = Own::of("layer-normalization");
  own.fields[1] = 1;
  own.fields[3] = 2;
  own.fields.erase(own.fields.begin() + 6, own.fields.end());
  std::vector<float> gamma, beta;
  for (std::vector<float>* list : {&gamma, &beta}) {
    own.fields.push_back(40);
    for (int i = 0; i < 40; ++i) {
      list->push_back(static_cast<float>(i + (list == &beta ? 100 : 0)));
      own.fields.push_back(bits_of(list->back()));
    }
  }
  const auto normal = operation_of<cpu::NormalOperation>(own);
  EXPECT_EQ(normal.input.zero_point, 1);
  EXPECT_EQ(normal.output.zero_point, 2);
  EXPECT_EQ(normal.epsilon, 0.25);
  EXPECT_EQ(normal.gamma, gamma);
  EXPECT_EQ(normal.beta, beta);

  const auto product = operation_of<cpu::ProductOperation>(Own::of("product"));
  EXPECT_EQ(product.a_zero_point, 1);
  EXPECT_EQ(product.b_zero_point, 2);
  EXPECT_EQ(product.output_zero_point, 3);
  EXPECT_TRUE(product.transposed);
  EXPECT_EQ(product.factor, 0.25);

  own = Own::of("transpose");
  EXPECT_EQ(operation_of<cpu::TransposeOperation>(own).order,
            (std::array<std::uint32_t, 3>{1, 0, 2}));
}

TEST(OwnOperations, FieldsOfAveragesAreWhereTheyWereWritten) {
  Own own = Own::of("average");
  own.cubes[1] = {.address = 3, .height = 1, .width = 2, .line_stride = 64, .surface_stride = 64};
  own.fields = {4,
                5,
                2,
                3,
                1,
                2,
                1,
                99,
                1,
                bits_of(0.5F),
                7,
                bits_of(0.25F),
                8,
                2,
                static_cast<std::uint32_t>(-11),
                12,
                13,
                14,
                15,
                16,
                17,
                18};
  const auto average = operation_of<cpu::AverageOperation>(own).window;
  EXPECT_EQ(average.height, 4U);
  EXPECT_EQ(average.width, 5U);
  EXPECT_EQ(average.stride_height, 2U);
  EXPECT_EQ(average.stride_width, 3U);
  EXPECT_EQ(average.pad_top, 1U);
  EXPECT_EQ(average.pad_left, 2U);
  EXPECT_EQ(average.pad_value, 99);
  ASSERT_TRUE(average.scale);
  EXPECT_EQ(average.scale->input, (Quantization{0.5F, 7}));
  EXPECT_EQ(average.scale->output, (Quantization{0.25F, 8}));
  ASSERT_EQ(average.scale->steps, 2U);
  const auto& step = average.scale->step;
  EXPECT_EQ(step[0].addend, -11);
  EXPECT_EQ(step[0].left_shift, 12U);
  EXPECT_EQ(step[0].factor, 13);
  EXPECT_EQ(step[0].right_shift, 14U);
  EXPECT_EQ(step[1].addend, 15);
  EXPECT_EQ(step[1].left_shift, 16U);
  EXPECT_EQ(step[1].factor, 17);
  EXPECT_EQ(step[1].right_shift, 18U);
  // Fields that are not there are not read.
  own.fields = {4, 5, 2, 3, 1, 2, 0, 0};
  const auto plain = operation_of<cpu::AverageOperation>(own).window;
  EXPECT_FALSE(plain.pad_value);
  EXPECT_FALSE(plain.scale);
}

// Runs what the file has, on memories of exactly their sizes.
void run_file(const File& file) {
  const loadable::Container c = loadable::parse_container(write(file));
  for (const loadable::CpuStep& step :
       resolve_cpu(c, decode_task(c, 0), *nvdla_hw_find("nv_full"))) {
    std::vector<std::vector<std::byte>> memories;
    for (const auto& source : step.sources)
      memories.emplace_back(c.memories[source.memory].size, std::byte{0x5a});
    const std::vector<std::span<const std::byte>> sources(memories.begin(), memories.end());
    std::vector<std::byte> destination(c.memories[step.destination.memory].size);
    step.run(sources, destination);
  }
}

TEST(OwnOperations, EveryTruncationIsRefused) {
  for (const std::string& name : own_names()) {
    const std::vector<std::byte> bytes = Own::of(name).operation();
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_THROW(loadable::read_cpu_task(std::span(bytes).first(size), name), Error) << size;
  }
}

// Whatever is overwritten, there is an error that says so, or the file still means something and
// runs.
TEST(OwnOperations, DamagedOnesAreRefusedOrRun) {
  std::size_t refused = 0, run = 0;
  for (const std::string& name : own_names()) {
    const Own own = Own::of(name);
    File file = own.file();
    const std::vector<std::byte> bytes = own.operation();
    for (std::size_t at = 0; at < bytes.size() - own.bytes_behind.size(); ++at) {
      for (const unsigned value : {0U, 1U, 0x7fU, 0x80U, 0xffU}) {
        std::vector<std::byte> damaged = bytes;
        damaged[at] = static_cast<std::byte>(value);
        file.at("blobs", 0).bytes["data"] = damaged;
        try {
          run_file(file);
          ++run;
        } catch (const Error& error) {
          EXPECT_TRUE(std::string(error.what()).starts_with("loadable: task 0")) << error.what();
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(run, 1000U);
}

// The fuzzer starts from a file of each operation.
TEST(OwnOperations, TheCorpusOfTheFuzzerHasEach) {
  for (const std::string& name : own_names()) {
    Own own = Own::of(name);
    own.needs = {"nvdla-cpu:" + name + "/1"};
    const detail::HostPages file =
        loadable::read_loadable(NVDLA_SOURCE_DIR "/tests/fuzz/corpus/loadable/cpu-" + name);
    EXPECT_EQ(std::vector<std::byte>(file.data(), file.data() + file.size()), write(own.file()))
        << name;
  }
}

}  // namespace
}  // namespace nvdla::witness
