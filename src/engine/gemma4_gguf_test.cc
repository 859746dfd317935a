// Gemma 4 from a GGUF file: the tiny models under the names and keys of llama.cpp's converter.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ckpt/safetensors.h"
#include "ckpt/test_files.h"
#include "engine/logits.h"

namespace hone::engine {
namespace {

const std::filesystem::path kGolden = "tests/golden";

void put(ckpt::test::GgufBuilder& b, const std::string& key, const std::string& type,
         const nlohmann::json& v) {
  if (type == "f32")
    b.f32(key, v.get<float>());
  else if (type == "bool")
    b.numbers<uint8_t>(key, 7, v.get<std::vector<uint8_t>>());
  else if (v.is_array())
    b.numbers<uint32_t>(key, 4, v.get<std::vector<uint32_t>>());
  else
    b.u32(key, v.get<uint32_t>());
}

std::string bytes(std::span<const std::byte> from) {
  return {reinterpret_cast<const char*>(from.data()), from.size()};
}

std::string gguf_of(const std::string& name, const nlohmann::json& golden) {
  ckpt::test::GgufBuilder b;
  b.text("general.architecture", "gemma4");
  for (const nlohmann::json& k : golden["keys"])
    put(b, "gemma4." + k[0].get<std::string>(), k[1], k[2]);
  const ckpt::Safetensors file(kGolden / name / "model.safetensors");
  for (const auto& [from, to] : golden["tensors"].items()) {
    const ckpt::TensorView* t = file.find(from);
    const Dims& dims = t->type.dims;
    b.tensor({.name = to, .ne = {dims.rbegin(), dims.rend()}, .data = bytes(t->bytes)});
  }
  const std::vector<float> divisors = golden["rope_freqs"];
  b.tensor({.name = "rope_freqs.weight",
            .ne = {divisors.size()},
            .data = bytes(std::as_bytes(std::span(divisors)))});
  return b.build();
}

TEST(Gemma4Gguf, LogitsAreThoseOfTheHuggingFaceFolder) {
  const nlohmann::json golden = read_json(kGolden / "gemma4_gguf.json");
  const ckpt::test::TempFolder folder;
  size_t models = 0;
  for (const auto& [name, wanted] : golden.items()) {
    SCOPED_TRACE(name);
    const auto path = folder / (name + ".gguf");
    ckpt::test::write_file(path, gguf_of(name, wanted));
    const ckpt::Safetensors reference(kGolden / (name + ".safetensors"));
    const ckpt::TensorView *tokens = reference.find("tokens"), *want = reference.find("logits");
    std::vector<int32_t> ids(12);
    std::memcpy(ids.data(), tokens->bytes.data(), ids.size() * sizeof(int32_t));
    const std::vector<float> got =
        logits(Model::open(path.string(), std::optional<std::string>()), ids);
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      float w = 0;
      std::memcpy(&w, want->bytes.data() + i * sizeof w, sizeof w);
      worst = std::max(worst, static_cast<double>(std::abs(got[i] - w)));
    }
    EXPECT_LE(worst, 1e-4);
    std::printf("%s: within %.1e\n", name.c_str(), worst);
    ++models;
  }
  EXPECT_EQ(models, 3u);
}

}  // namespace
}  // namespace hone::engine
