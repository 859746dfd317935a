#include "pjrt/client.h"

#include <gtest/gtest.h>

namespace hone::pjrt {
namespace {
TEST(Client, Runs) {
  Client c = Client::create(Plugin::load(find_plugin()));
  std::vector<float> v{1, 2, 3, 4};
  auto x = c.to_device<float>({2, 2}, v);
  auto e = c.compile(
      "module @m { func.func public @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> { %0 = "
      "stablehlo.add %x, %x : tensor<2x2xf32> return %0 : tensor<2x2xf32> } }");
  auto y = to_host<float>(e.execute({x})[0]);
  EXPECT_EQ(y[3], 8);
}
}  // namespace
}  // namespace hone::pjrt
