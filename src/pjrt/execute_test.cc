// Compile, move, execute, read back: on every engine.
#include <gmock/gmock.h>

#include <numeric>

#include "pjrt/engine_for_test.h"

namespace hone::pjrt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Execute : public OnEngine {};
INSTANTIATE_TEST_SUITE_P(Cpu, Execute, testing::ValuesIn(kEngines), engine_name);

constexpr std::string_view kAddAndMatmul = R"(
  module @m {
    func.func public @main(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>)
        -> (tensor<2x3xf32>, tensor<2x2xf32>) {
      %0 = stablehlo.add %x, %x : tensor<2x3xf32>
      %1 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
          : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
      return %0, %1 : tensor<2x3xf32>, tensor<2x2xf32>
    }
  })";

// Row i of the buffer is replaced; the result may take the buffer's place.
constexpr std::string_view kUpdate = R"(
  module @kv {
    func.func public @main(%kv: tensor<4x2xf32> {tf.aliasing_output = 0 : i32},
                           %u: tensor<1x2xf32>, %i: tensor<i32>) -> tensor<4x2xf32> {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %0 = stablehlo.dynamic_update_slice %kv, %u, %i, %z
          : (tensor<4x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
  })";

const std::vector<float> kSix{1, 2, 3, 4, 5, 6};
const std::vector<float> kEight{0, 1, 2, 3, 4, 5, 6, 7};

TEST_P(Execute, NamesItsPlatformAndDevices) {
  const Client one = client();
  EXPECT_EQ(one.platform(), "cpu");
  EXPECT_FALSE(one.platform_version().empty());
  EXPECT_EQ(one.devices().size(), 1U);
  EXPECT_EQ(client(2).devices().size(), 2U);
  EXPECT_EQ(client(2).devices()[1].kind, "cpu");
}

TEST_P(Execute, AddsAndMultiplies) {
  const Client c = client();
  const Executable program = c.compile(kAddAndMatmul);
  EXPECT_THAT(program.outputs(), ElementsAre(Type{DType::kF32, {2, 3}}, Type{DType::kF32, {2, 2}}));
  EXPECT_EQ(program.num_devices(), 1);
  const Buffer x = c.to_device<float>({2, 3}, kSix);
  const Buffer y = c.to_device<float>({3, 2}, kSix);
  const std::vector<Buffer> out = program.execute({x, y});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_THAT(to_host<float>(out[0]), ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_THAT(to_host<float>(out[1]), ElementsAre(22, 28, 49, 64));
}

TEST_P(Execute, EveryElementTypeMakesTheRoundTrip) {
  const Client c = client();
  int cases = 0;
  for (const DType t : {DType::kPred, DType::kS8, DType::kU8, DType::kS32, DType::kU32, DType::kS64,
                        DType::kU64, DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    for (const Dims& dims : {Dims{}, Dims{3}, Dims{2, 3}, Dims{0, 3}}) {
      const Type type{t, dims};
      std::vector<std::byte> sent(type.bytes());
      for (size_t i = 0; i < sent.size(); ++i) sent[i] = std::byte(i % 2);
      std::vector<std::byte> got(type.bytes());
      const Buffer b = c.to_device(type, sent);
      EXPECT_EQ(b.type(), type);
      b.to_host(got);
      EXPECT_EQ(got, sent) << type.str();
      ++cases;
    }
  }
  std::cout << cases << " types made the round trip\n";
  EXPECT_GE(cases, 44);
}

TEST_P(Execute, ChecksSizesAndElementTypes) {
  const Client c = client();
  EXPECT_THROW(c.to_device<float>({2, 2}, kSix), ShapeError);
  EXPECT_THROW(c.to_device<float>({2, 3}, kSix, 1), Error);
  const Buffer b = c.to_device<float>({2, 3}, kSix);
  std::vector<std::byte> wrong(23);
  EXPECT_THROW(b.to_host(wrong), ShapeError);
  EXPECT_THROW(to_host<int32_t>(b), ShapeError);
}

TEST_P(Execute, ABadModuleIsOneLine) {
  for (const std::string_view text :
       {"module @m { func.func public @main(", "not a module", "",
        "module { func.func public @main(%x: tensor<2xf32>) -> tensor<3xf32> { return %x : "
        "tensor<2xf32> } }"}) {
    try {
      client().compile(text);
      ADD_FAILURE() << "compiled: " << text;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr("compile: "));
      EXPECT_THAT(e.what(), Not(HasSubstr("\n")));
      EXPECT_NE(e.code, Code::kOk);
    }
  }
}

TEST_P(Execute, RefusesWrongArguments) {
  const Client c = client();
  const Executable program = c.compile(kAddAndMatmul);
  const Buffer x = c.to_device<float>({2, 3}, kSix);
  const Buffer y = c.to_device<float>({3, 2}, kSix);
  EXPECT_THROW(program.execute({x}), Error);
  EXPECT_THROW(program.execute({x, c.to_device<float>({1}, std::vector<float>{1})}), Error);
  EXPECT_THROW(program.execute({x, Buffer()}), Error);
  EXPECT_THROW(program.execute_on_all(std::vector<std::vector<Arg>>{{x, y}, {x, y}}), Error);
  EXPECT_THROW(Buffer().await(), Error);
  EXPECT_THROW(to_host<float>(Buffer()), Error);
}

TEST_P(Execute, WhatIsGivenAwayIsUpdatedInPlace) {
  const Client c = client();
  const Executable update = c.compile(kUpdate);
  const Buffer row = c.to_device<float>({1, 2}, std::vector<float>{8, 9});
  const Buffer at = c.to_device<int32_t>({}, std::vector<int32_t>{1});
  Buffer kv = c.to_device<float>({4, 2}, kEight);
  kv.await();
  const uintptr_t before = kv.address();
  Buffer updated = std::move(update.execute({std::move(kv), row, at})[0]);
  EXPECT_TRUE(kv.empty());  // NOLINT: given away, not moved from
  EXPECT_THAT(to_host<float>(updated), ElementsAre(0, 1, 8, 9, 4, 5, 6, 7));
  EXPECT_EQ(updated.address(), before);
  EXPECT_THROW(update.execute({kv, row, at}), Error);
}

TEST_P(Execute, WhatIsLentStaysAsItIs) {
  const Client c = client();
  const Executable update = c.compile(kUpdate);
  const Buffer row = c.to_device<float>({1, 2}, std::vector<float>{8, 9});
  const Buffer at = c.to_device<int32_t>({}, std::vector<int32_t>{1});
  const Buffer kv = c.to_device<float>({4, 2}, kEight);
  for (int again = 0; again < 2; ++again) {
    const std::vector<Buffer> out = update.execute({kv, row, at});
    EXPECT_THAT(to_host<float>(out[0]), ElementsAre(0, 1, 8, 9, 4, 5, 6, 7));
    EXPECT_EQ(to_host<float>(kv), kEight);
  }
}

TEST_P(Execute, OneBufferCannotBeGivenAwayTwice) {
  const Client c = client();
  const Executable twice = c.compile(R"(
    module @m {
      func.func public @main(%x: tensor<2xf32> {tf.aliasing_output = 0 : i32},
                             %y: tensor<2xf32> {tf.aliasing_output = 1 : i32})
          -> (tensor<2xf32>, tensor<2xf32>) {
        %0 = stablehlo.add %x, %y : tensor<2xf32>
        %1 = stablehlo.multiply %x, %y : tensor<2xf32>
        return %0, %1 : tensor<2xf32>, tensor<2xf32>
      }
    })");
  Buffer x = c.to_device<float>({2}, std::vector<float>{3, 4});
  EXPECT_THROW(twice.execute({std::move(x), std::move(x)}), Error);  // NOLINT: the point
  EXPECT_TRUE(x.empty());                                            // NOLINT
}

TEST_P(Execute, AFailedCallStillTakesWhatWasGivenAway) {
  const Client c = client();
  const Executable update = c.compile(kUpdate);
  Buffer kv = c.to_device<float>({4, 2}, kEight);
  EXPECT_THROW(update.execute({std::move(kv)}), Error);
  EXPECT_TRUE(kv.empty());  // NOLINT
}

TEST_P(Execute, SharedHostMemoryIsNotCopied) {
  const Client c = client();
  std::weak_ptr<void> watch;
  {
    HostMemory memory = allocate_host(6 * sizeof(float));
    watch = memory.owner;
    std::memcpy(memory.bytes.data(), kSix.data(), memory.bytes.size());
    const auto* in_place = memory.bytes.data();
    const Buffer x =
        c.share_with_device({DType::kF32, {2, 3}}, memory.bytes, std::move(memory.owner));
    EXPECT_EQ(x.address(), reinterpret_cast<uintptr_t>(in_place));
    EXPECT_EQ(to_host<float>(x), kSix);
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST_P(Execute, SharedHostMemoryStaysUntilTheRunThatReadsItIsDone) {
  constexpr int64_t kSize = 512;
  const Client c = client();
  const Executable product = c.compile(fmt::format(R"(
    module @m {{
      func.func public @main(%x: tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32> {{
        %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
            : (tensor<{0}x{0}xf32>, tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
        return %0 : tensor<{0}x{0}xf32>
      }}
    }})",
                                                   kSize));
  std::vector<Buffer> out;
  {
    const Type type{DType::kF32, {kSize, kSize}};
    const HostMemory memory = allocate_host(type.bytes());
    const std::span ones(reinterpret_cast<float*>(memory.bytes.data()), kSize * kSize);
    std::ranges::fill(ones, 1.0F);
    const std::shared_ptr<void> spoil(
        nullptr, [ones, keep = memory.owner](void*) { std::ranges::fill(ones, -1000.0F); });
    out = product.execute({c.share_with_device(type, memory.bytes, spoil)});
  }
  EXPECT_THAT(to_host<float>(out[0]), testing::Each(float{kSize}));
}

TEST_P(Execute, SharedHostMemoryIsNeverUpdatedInPlace) {
  const Client c = client();
  HostMemory memory = allocate_host(8 * sizeof(float));
  std::memcpy(memory.bytes.data(), kEight.data(), memory.bytes.size());
  Buffer kv = c.share_with_device({DType::kF32, {4, 2}}, memory.bytes, memory.owner);
  const Buffer row = c.to_device<float>({1, 2}, std::vector<float>{8, 9});
  const Buffer at = c.to_device<int32_t>({}, std::vector<int32_t>{1});
  const auto out = c.compile(kUpdate).execute({std::move(kv), row, at});
  EXPECT_THAT(to_host<float>(out[0]), ElementsAre(0, 1, 8, 9, 4, 5, 6, 7));
  EXPECT_EQ(std::memcmp(memory.bytes.data(), kEight.data(), memory.bytes.size()), 0);
}

TEST_P(Execute, MisalignedHostMemoryIsCopied) {
  const Client c = client();
  HostMemory memory = allocate_host(7 * sizeof(float));
  const auto shifted = memory.bytes.subspan(sizeof(float));
  std::memcpy(shifted.data(), kSix.data(), shifted.size());
  const Buffer x = c.share_with_device({DType::kF32, {2, 3}}, shifted, memory.owner);
  EXPECT_EQ(to_host<float>(x), kSix);
}

TEST_P(Execute, EverythingMayGoWhileARunIsUnderWay) {
  const Client c = client();
  const Buffer x = c.to_device<float>({2, 3}, kSix);
  const Buffer y = c.to_device<float>({3, 2}, kSix);
  c.compile(kAddAndMatmul).execute({x, y});
}

TEST_P(Execute, BuffersKeepTheirClient) {
  Buffer x;
  {
    x = client().to_device<float>({2, 3}, kSix);
  }
  EXPECT_EQ(to_host<float>(x), kSix);
}

TEST_P(Execute, TwoDevicesEachTakeTheirShard) {
  const Client c = client(2);
  const Executable program = c.compile(R"(
    module @mm {
      sdy.mesh @mesh = <["tp"=2]>
      func.func public @main(
          %a: tensor<2x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}]>},
          %b: tensor<4x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {}]>})
          -> (tensor<2x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
            : (tensor<2x4xf32>, tensor<4x1xf32>) -> tensor<2x1xf32>
        return %0 : tensor<2x1xf32>
      }
    })",
                                       {.replicas = 1, .partitions = 2, .xla_flags = {}});
  EXPECT_EQ(program.num_devices(), 2);
  // a = [[0 1 2 3] [4 5 6 7]], b = [1 10 100 1000]
  const Buffer a0 = c.to_device<float>({2, 2}, std::vector<float>{0, 1, 4, 5}, 0);
  const Buffer a1 = c.to_device<float>({2, 2}, std::vector<float>{2, 3, 6, 7}, 1);
  const Buffer b0 = c.to_device<float>({2, 1}, std::vector<float>{1, 10}, 0);
  const Buffer b1 = c.to_device<float>({2, 1}, std::vector<float>{100, 1000}, 1);
  const auto out = program.execute_on_all(std::vector<std::vector<Arg>>{{a0, b0}, {a1, b1}});
  ASSERT_EQ(out.size(), 2U);
  for (const auto& device : out) EXPECT_THAT(to_host<float>(device[0]), ElementsAre(3210, 7654));
  EXPECT_THROW(program.execute({a0, b0}), Error);
}

TEST_P(Execute, SaysWhatAProgramNeeds) {
  const Executable program = client().compile(kAddAndMatmul);
  const std::optional<MemoryStats> memory = program.memory_stats();
  ASSERT_TRUE(memory.has_value());
  EXPECT_EQ(memory->arguments, 48);
  EXPECT_GE(memory->outputs, 40);  // and what the engine adds for its tuple
  EXPECT_NO_THROW(program.cost_analysis());
}

// No CPU engine offers a cost analysis, so this one is made up.
TEST(ExecuteOnce, ReadsTheCostAnalysis) {
  static const PJRT_NamedValue kProperties[] = {
      {.struct_size = sizeof(PJRT_NamedValue),
       .extension_start = nullptr,
       .name = "flops",
       .name_size = 5,
       .type = PJRT_NamedValue_kFloat,
       .float_value = 30,
       .value_size = 1},
  };
  static PJRT_Api table = *Plugin::load(find_plugin())->api();
  table.PJRT_Executable_GetCostAnalysis = [](PJRT_Executable_GetCostAnalysis_Args* args) {
    args->num_properties = std::size(kProperties);
    args->properties = kProperties;
    return static_cast<PJRT_Error*>(nullptr);
  };
  const Client c = Client::create(Plugin::adopt(&table, "costly.so"));
  EXPECT_THAT(c.compile(kAddAndMatmul).cost_analysis(),
              ElementsAre(std::pair<std::string, double>("flops", 30)));
}

TEST_P(Execute, TakesXlaFlags) {
  EXPECT_NO_THROW(
      client().compile(kAddAndMatmul, {.xla_flags = {{"xla_cpu_enable_fast_math", false}}}));
  EXPECT_THROW(client().compile(kAddAndMatmul, {.xla_flags = {{"xla_no_such_flag", true}}}), Error);
}

TEST_P(Execute, ProgramsSurviveSerialisation) {
  const Client c = client();
  const Executable update = client().deserialize(c.compile(kUpdate).serialize());
  EXPECT_THAT(update.outputs(), ElementsAre(Type{DType::kF32, {4, 2}}));
  EXPECT_EQ(update.memory_stats()->arguments, 32 + 8 + 4);
  EXPECT_THROW(c.deserialize("no program"), Error);
}

TEST_P(Execute, LoadedProgramsStillUpdateInPlace) {
  const Client c = client();
  const Executable update = c.deserialize(c.compile(kUpdate).serialize());
  const Buffer row = c.to_device<float>({1, 2}, std::vector<float>{8, 9});
  const Buffer at = c.to_device<int32_t>({}, std::vector<int32_t>{1});
  Buffer kv = c.to_device<float>({4, 2}, kEight);
  EXPECT_NE(update.execute({kv, row, at})[0].address(), kv.address());
  EXPECT_EQ(to_host<float>(kv), kEight);
  const uintptr_t before = kv.address();
  EXPECT_EQ(update.execute({std::move(kv), row, at})[0].address(), before);
}

}  // namespace
}  // namespace hone::pjrt
