#include "pjrt/custom_calls.h"

#include <gmock/gmock.h>

#include "pjrt/engine_for_test.h"
#include "xla/ffi/api/ffi.h"

namespace hone::pjrt {
namespace {

namespace ffi = xla::ffi;
using testing::ElementsAre;
using testing::HasSubstr;

class CustomCalls : public OnEngine {};
INSTANTIATE_TEST_SUITE_P(Cpu, CustomCalls, testing::ValuesIn(kEngines), engine_name);

XLA_FFI_Error* scale(XLA_FFI_CallFrame* frame) {
  static const auto kBound =
      ffi::Ffi::Bind()
          .Arg<ffi::Buffer<ffi::F32>>()
          .Ret<ffi::Buffer<ffi::F32>>()
          .Attr<float>("by")
          .To([](ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y, float by) {
            if (by == 0.0F) return ffi::Error::InvalidArgument("scale by nothing");
            for (size_t i = 0; i < x.element_count(); ++i)
              y->typed_data()[i] = by * x.typed_data()[i];
            return ffi::Error::Success();
          });
  return kBound->Call(frame);
}

XLA_FFI_Error* another(XLA_FFI_CallFrame* frame) { return scale(frame); }

// Above 1 x 1 there is enough work that the engine does not do it within the call.
std::string scale_module(float by, int64_t size = 1) {
  return fmt::format(R"(
    module @m {{
      func.func public @main(%x: tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32> {{
        %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
            : (tensor<{0}x{0}xf32>, tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
        %1 = stablehlo.custom_call @hone_test_scale(%0)
            {{api_version = 4 : i32, backend_config = {{by = {1:.1f} : f32}}}}
            : (tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
        return %1 : tensor<{0}x{0}xf32>
      }}
    }})",
                     size, by);
}

const std::vector<float> kOne{3};

TEST_P(CustomCalls, RunInsideAProgram) {
  const Client c = client();
  register_custom_call(c.plugin(), "hone_test_scale", scale);
  register_custom_call(c.plugin(), "hone_test_scale", scale);
  const Buffer x = c.to_device<float>({1, 1}, kOne);
  EXPECT_THAT(to_host<float>(c.compile(scale_module(2)).execute({x})[0]), ElementsAre(18));
}

TEST_P(CustomCalls, OneNameIsOneHandler) {
  register_custom_call(*plugin_, "hone_test_taken", scale);
  EXPECT_THROW(register_custom_call(*plugin_, "hone_test_taken", another), Error);
}

TEST_P(CustomCalls, TheirErrorsSurfaceAtTheLatestWithTheResult) {
  const Client c = client();
  register_custom_call(c.plugin(), "hone_test_scale", scale);
  for (const int64_t size : {1, 256}) {
    const Executable program = c.compile(scale_module(0, size));
    const Buffer x =
        c.to_device<float>({size, size}, std::vector<float>(static_cast<size_t>(size * size)));
    for (const bool read : {true, false}) {
      try {
        const std::vector<Buffer> out = program.execute({x});
        read ? void(to_host<float>(out[0])) : out[0].await();
        ADD_FAILURE() << "no error";
      } catch (const Error& e) {
        EXPECT_THAT(e.what(), HasSubstr("execute: "));
        EXPECT_THAT(e.what(), HasSubstr("scale by nothing"));
        EXPECT_EQ(e.code, Code::kInvalidArgument);
      }
    }
  }
}

TEST_P(CustomCalls, TheProbeSaysYes) {
  EXPECT_TRUE(supports_custom_calls(client()));
  EXPECT_TRUE(supports_custom_calls(client(2)));
}

// An engine whose extension takes handlers and forgets them.
TEST(CustomCallsProbe, SaysNoWhereHandlersAreForgotten) {
  struct Deaf {
    PJRT_Extension_Base base;
    void* others[2];
    PJRT_Error* (*register_handler)(void*);
  };
  static Deaf deaf{{sizeof(Deaf), PJRT_Extension_Type_FFI, nullptr}, {}, [](void*) -> PJRT_Error* {
                     return nullptr;
                   }};
  // The real engine must not know the probe's handler from another test: a name it never saw.
  static PJRT_Api table = *Plugin::load(find_plugin())->api();
  table.extension_start = &deaf.base;
  const Client c = Client::create(Plugin::adopt(&table, "deaf.so"));
  EXPECT_NO_THROW(register_custom_call(c.plugin(), "hone_test_forgotten", scale));
  std::string module = scale_module(2);
  module.replace(module.find("hone_test_scale"), 15, "hone_test_forgotten");
  const Buffer x = c.to_device<float>({1, 1}, kOne);
  EXPECT_THROW(to_host<float>(c.compile(module).execute({x})[0]), Error);
}

TEST(CustomCallsProbe, SaysNoWhereThereIsNoExtension) {
  static PJRT_Api table = *Plugin::load(find_plugin())->api();
  table.extension_start = nullptr;
  const auto plugin = Plugin::adopt(&table, "plain.so");
  EXPECT_FALSE(supports_custom_calls(Client::create(plugin)));
  EXPECT_THROW(register_custom_call(*plugin, "hone_test_scale", scale), Error);
}

TEST(CustomCallsProbe, SaysNoOnAnEngineWithoutWorkingCustomCalls) {
  const char* deaf = std::getenv("HONE_TEST_DEAF_PLUGIN");
  if (deaf == nullptr) GTEST_SKIP() << "HONE_TEST_DEAF_PLUGIN names no such engine";
  EXPECT_FALSE(supports_custom_calls(Client::create(Plugin::load(deaf))));
}

}  // namespace
}  // namespace hone::pjrt
