// Stores against bitsandbytes: the bytes that a matrix becomes, and the values that the device
// makes of them again.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/random.h"
#include "ckpt/half.h"
#include "ckpt/safetensors.h"
#include "engine/program.h"
#include "engine/weights.h"
#include "nn/nf4.h"
#include "nn/store.h"
#include "ops/ops.h"

namespace hone::engine {
namespace {

constexpr size_t kMatrices = 6;

const Device& device() {
  static const Device d = Device::open();
  return d;
}

const ckpt::Safetensors& golden() {
  static const ckpt::Safetensors file("tests/golden/stores.safetensors");
  return file;
}

template <class T>
std::vector<T> kept(const std::string& name) {
  const ckpt::TensorView* t = golden().find(name);
  if (t == nullptr) throw FileError("golden has no {}", name);
  std::vector<T> v(t->bytes.size() / sizeof(T));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}

// As tools/golden_nf4.py makes them.
std::vector<float> weights_of(int64_t rows, int64_t columns) {
  std::vector<float> w(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < w.size(); ++i) {
    const uint64_t mixed = (i * 2654435761) % (uint64_t{1} << 32),
                   scale = ((i / 64) * 40503 + 7) % 11;
    w[i] = std::ldexp(static_cast<float>(static_cast<int64_t>(mixed >> 8) - (1 << 23)),
                      -24 - static_cast<int>(scale));
  }
  constexpr int64_t kZeroRow = 2;
  if (rows > kZeroRow) std::fill_n(w.begin() + kZeroRow * columns, columns, 0.0F);
  return w;
}

// Encoded, and widened by the device.
struct Held {
  std::vector<std::vector<std::byte>> parts;
  std::vector<float> values;

  Held(const nn::Store& store, const std::vector<float>& w, const Dims& dims) {
    const auto types = store.parts(dims);
    std::vector<std::span<std::byte>> out;
    for (const auto& part : types) parts.emplace_back(part.type.bytes());
    for (auto& p : parts) out.emplace_back(p);
    store.encode(w, dims, out);
    Graph g;
    Values parameters;
    Buffers buffers;
    for (size_t i = 0; i < types.size(); ++i) {
      const std::string name = fmt::format("w{}", types[i].name);
      parameters.push_back(g.parameter(name, types[i].type));
      buffers[name] = device().client().to_device(types[i].type, parts[i]);
    }
    const Value v = nn::Matrix(store, parameters, dims, DType::kF32)(g);
    const Program program(device(), g, {{v + 0.0}});
    values = pjrt::to_host<float>(
        program.run([&](const std::string& n) -> pjrt::Arg { return buffers.at(n); })[0]);
  }

  // The part's elements; what fills it up at the end is cut off.
  template <class T>
  std::vector<T> part(size_t i, size_t size) const {
    std::vector<T> v(parts[i].size() / sizeof(T));
    std::memcpy(v.data(), parts[i].data(), parts[i].size());
    EXPECT_GE(v.size(), size);
    v.resize(size);
    return v;
  }
};

// Bit for bit, but for the sign of zero.
size_t differences(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::max(a.size(), b.size());
  size_t n = 0;
  for (size_t i = 0; i < a.size(); ++i) n += a[i] != b[i];
  return n;
}

void check_nf4(const std::string& name, const std::vector<float>& w, const Dims& dims) {
  const Held held(nn::kStoreNf4, w, dims);
  const auto codes = kept<uint8_t>(name + "/nf4.codes");
  const auto absmax = kept<uint8_t>(name + "/nf4.absmax");
  const auto absmax2 = kept<float>(name + "/nf4.absmax2");
  EXPECT_EQ(held.part<uint8_t>(0, codes.size()), codes);
  EXPECT_EQ(held.part<uint8_t>(1, absmax.size()), absmax);
  EXPECT_EQ(held.part<float>(2, absmax2.size()), absmax2);
  EXPECT_EQ(held.part<float>(3, 1), kept<float>(name + "/nf4.offset"));
  EXPECT_EQ(differences(held.values, kept<float>(name + "/nf4.values")), 0U);
}

void check_int8(const std::string& name, const std::vector<float>& w, const Dims& dims) {
  const Held held(nn::kStoreInt8, w, dims);
  // bitsandbytes divides by 0 at a row of zeros; the golden file leaves those out.
  const auto codes = held.part<int8_t>(0, w.size());
  const auto absmax = held.part<float>(1, static_cast<size_t>(dims[0]));
  std::vector<int8_t> codes_left;
  std::vector<float> absmax_left, values_left;
  const auto columns = static_cast<size_t>(dims[1]);
  for (size_t r = 0; r < absmax.size(); ++r) {
    for (size_t i = r * columns; i < (r + 1) * columns && absmax[r] == 0; ++i)
      EXPECT_EQ(held.values[i], 0.0F);
    if (absmax[r] == 0) continue;
    absmax_left.push_back(absmax[r]);
    for (size_t i = r * columns; i < (r + 1) * columns; ++i) {
      codes_left.push_back(codes[i]);
      values_left.push_back(held.values[i]);
    }
  }
  EXPECT_EQ(codes_left, kept<int8_t>(name + "/int8.codes"));
  EXPECT_EQ(absmax_left, kept<float>(name + "/int8.absmax"));
  EXPECT_EQ(differences(values_left, kept<float>(name + "/int8.values")), 0U);
}

TEST(Stores, Nf4AndInt8EqualBitsandbytes) {
  const std::pair<int64_t, int64_t> shapes[] = {{1, 64},  {5, 13},    {7, 96},
                                                {33, 64}, {130, 128}, {137, 121}};
  size_t matrices = 0;
  for (const auto& [rows, columns] : shapes) {
    const std::string name = fmt::format("{}x{}", rows, columns);
    SCOPED_TRACE(name);
    const std::vector<float> w = weights_of(rows, columns);
    check_nf4(name, w, {rows, columns});
    check_int8(name, w, {rows, columns});
    ++matrices;
  }
  std::printf("%zu matrices\n", matrices);
  EXPECT_EQ(matrices, kMatrices);
}

TEST(Stores, FloatsComeBackRoundedOnce) {
  Random random(1);
  std::vector<float> w;
  for (int i = 0; i < 600; ++i)
    w.push_back(std::ldexp(static_cast<float>(random.uniform(-1, 1)),
                           static_cast<int>(random.below(20)) - 10));
  const Dims dims{20, 30};
  EXPECT_EQ(Held(nn::kStoreF32, w, dims).values, w);
  const Held bf16(nn::kStoreBF16, w, dims), f16(nn::kStoreF16, w, dims);
  for (size_t i = 0; i < w.size(); ++i) {
    const double size = static_cast<double>(std::abs(w[i]));
    EXPECT_LE(std::abs(static_cast<double>(bf16.values[i] - w[i])), size / 256);
    EXPECT_LE(std::abs(static_cast<double>(f16.values[i] - w[i])), size / 2048 + 1e-7);
  }
  // What a file holds in a type comes back from it unchanged.
  EXPECT_EQ(Held(nn::kStoreBF16, bf16.values, dims).values, bf16.values);
  EXPECT_EQ(Held(nn::kStoreF16, f16.values, dims).values, f16.values);
  EXPECT_EQ(ckpt::bf16_to_f32(bf16.part<uint16_t>(0, 1)[0]), bf16.values[0]);
  EXPECT_EQ(ckpt::f16_to_f32(f16.part<uint16_t>(0, 1)[0]), f16.values[0]);
}

TEST(Stores, BytesOfAMatrix) {
  const std::map<std::string_view, double> bits = {{"f32", 32},
                                                   {"bf16", 16},
                                                   {"f16", 16},
                                                   {"int8", 8.0 + 32.0 / 1024},
                                                   {"nf4", 4.0 + 8.0 / 64 + 32.0 / (64 * 256)}};
  size_t cases = 0;
  for (const nn::Store* s : nn::stores()) {
    const Dims dims{1024, 1024};
    double bytes = 0;
    for (const auto& part : s->parts(dims)) bytes += static_cast<double>(part.type.bytes());
    EXPECT_NEAR(bytes * 8 / (1024 * 1024), bits.at(s->name), 1e-4) << s->name;
    ++cases;
  }
  EXPECT_EQ(cases, bits.size());
}

}  // namespace
}  // namespace hone::engine
