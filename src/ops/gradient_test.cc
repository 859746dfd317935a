// Every operation against finite differences in f64, and against plain C++ where the table says
// what must come out.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "base/random.h"
#include "ir/emit.h"
#include "ir/grad.h"
#include "ops/all_ops.h"
#include "ops/op_cases.h"
#include "ops/ops.h"
#include "pjrt/client.h"

namespace hone {
namespace {

constexpr size_t kCaseFloor = 249;
constexpr double kStep = 1e-5;
constexpr double kTolerance = 2e-7;  // central differences in f64 with that step: about 1e-9

const pjrt::Client& client() {
  static const pjrt::Client c = pjrt::Client::create(pjrt::Plugin::load(pjrt::find_plugin()));
  return c;
}

template <class T>
std::vector<std::byte> packed(const Numbers& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T v = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
  }
  return bytes;
}

pjrt::Buffer upload(const Type& t, const Numbers& values) {
  switch (t.dtype) {
    case DType::kF64:
      return client().to_device(t, packed<double>(values));
    case DType::kS32:
      return client().to_device(t, packed<int32_t>(values));
    case DType::kU32:
      return client().to_device(t, packed<uint32_t>(values));
    default:
      throw ShapeError("no test input of {}", t.str());
  }
}

Numbers inputs_for(const Type& t, Domain domain, Random& random) {
  Numbers values;
  for (int64_t i = 0; i < t.size(); ++i) {
    if (domain == Domain::kBits)
      values.push_back(static_cast<double>(random.below(200)));
    else if (!is_float(t.dtype))
      values.push_back(static_cast<double>(random.below(3)));
    else if (domain == Domain::kPositive)
      values.push_back(random.uniform(0.5, 2.5));
    else
      values.push_back(random.normal());
  }
  return values;
}

// One case compiled: outputs are the loss, y in f64, and the gradient of each f64 input.
struct Compiled {
  std::vector<Type> types;  // of the inputs, then of the cotangent
  std::vector<size_t> differentiated;
  std::optional<pjrt::Executable> exe;

  explicit Compiled(const OpCase& c) {
    Graph g;
    Values in, wrt;
    for (const Type& t : c.inputs) {
      in.push_back(g.parameter("", t));
      if (t.dtype == DType::kF64) {
        differentiated.push_back(types.size());
        wrt.push_back(in.back());
      }
      types.push_back(t);
    }
    const Value result = c.build(g, in);
    const Value y = convert(result, DType::kF64);
    const Value cotangent = g.parameter("cotangent", y.type());
    types.push_back(y.type());
    Dims all;
    for (int64_t i = 0; i < y.rank(); ++i) all.push_back(i);
    const Value loss = sum(y * cotangent, all);
    Values outs = grad(loss, wrt);
    outs.insert(outs.begin(), {loss, y, result});
    exe = client().compile(emit(g, outs));
    EXPECT_EQ(exe->outputs()[2], result.type()) << c.op << " " << c.name;
  }

  std::vector<pjrt::Buffer> run(const std::vector<Numbers>& values) const {
    std::vector<pjrt::Buffer> buffers;
    for (size_t i = 0; i < values.size(); ++i) buffers.push_back(upload(types[i], values[i]));
    std::vector<pjrt::Arg> args(buffers.begin(), buffers.end());
    return exe->execute(args);
  }
};

void check_case(const OpCase& c, uint64_t seed) {
  SCOPED_TRACE(c.op + " " + c.name + ", seed " + std::to_string(seed));
  const Compiled compiled(c);
  Random random(seed);
  std::vector<Numbers> at;
  for (const Type& t : c.inputs) at.push_back(inputs_for(t, c.domain, random));
  at.push_back(inputs_for(compiled.types.back(), Domain::kNormal, random));

  const std::vector<pjrt::Buffer> here = compiled.run(at);
  if (c.expected) {
    const Numbers want = c.expected(at), got = pjrt::to_host<double>(here[1]);
    ASSERT_EQ(want.size(), got.size());
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 1e-6 * std::max(1.0, std::abs(want[i]))) << "element " << i;
  }
  std::vector<Numbers> direction(at.size());
  double exact = 0;
  for (size_t k = 0; k < compiled.differentiated.size(); ++k) {
    const size_t input = compiled.differentiated[k];
    const Numbers gradient = pjrt::to_host<double>(here[3 + k]);
    for (double d : gradient) {
      direction[input].push_back(random.normal());
      exact += d * direction[input].back();
    }
  }
  auto loss_at = [&](double step) {
    std::vector<Numbers> moved = at;
    for (size_t i = 0; i < moved.size(); ++i)
      for (size_t j = 0; j < direction[i].size(); ++j) moved[i][j] += step * direction[i][j];
    return pjrt::to_host<double>(compiled.run(moved)[0])[0];
  };
  // Ops without a gradient are constant between their jumps: both sides are zero.
  const bool flat = c.op == "floor" || c.op == "stop_gradient" || c.op == "bit_cast" ||
                    c.op == "remainder" || c.name == "arg_max_last" || c.name == "bf16" ||
                    c.name == "f16" || c.name == "f32";
  if (flat) return;
  const double numeric = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
  EXPECT_NEAR(exact, numeric, kTolerance * std::max(1.0, std::abs(numeric)));
}

TEST(Ops, GradientsEqualFiniteDifferences) {
  const std::vector<OpCase> cases = op_cases();
  uint64_t seed = 1;
  for (const OpCase& c : cases) check_case(c, seed++);
  std::printf("%zu op cases\n", cases.size());
  EXPECT_GE(cases.size(), kCaseFloor);
}

TEST(Ops, EveryOpHasACase) {
  std::set<std::string, std::less<>> covered;
  for (const OpCase& c : op_cases()) covered.insert(c.op);
  for (const Op* op : all_ops()) EXPECT_TRUE(covered.contains(op->name)) << op->name;
}

}  // namespace
}  // namespace hone
