// The weights that each published size of Gemma 4 declares, beside the names, shapes and count of
// those that transformers builds on its meta device. Nothing is loaded.
#include <gtest/gtest.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "models/family.h"

namespace hone {
namespace {

constexpr size_t kFloor = 5;  // sizes

using Shapes = std::map<std::string, Dims>;

// "0-4,6" -> 0, 1, 2, 3, 4, 6
std::vector<int64_t> numbers(std::string_view ranges) {
  std::vector<int64_t> out;
  const char *at = ranges.data(), *end = at + ranges.size();
  while (at < end) {
    int64_t first = 0;
    at = std::from_chars(at, end, first).ptr;
    int64_t last = first;
    if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    for (int64_t i = first; i <= last; ++i) out.push_back(i);
    if (at < end) ++at;
  }
  return out;
}

Shapes reference(const nlohmann::json& golden) {
  Shapes shapes;
  for (const nlohmann::json& w : golden["weights"]) {
    const std::string name = w["name"];
    const Dims dims = w["dims"];
    if (!w.contains("layers")) shapes[name] = dims;
    for (const int64_t layer : numbers(w.value("layers", "")))
      shapes[std::string(name).replace(name.find("{}"), 2, std::to_string(layer))] = dims;
  }
  return shapes;
}

Shapes declared(const nlohmann::json& config) {
  Graph g;
  nn::Params params{.graph = g};
  const Family& family = family_of(config["model_type"].get<std::string>());
  read_architecture(family, "config.json", config).build(nn::Scope(params));
  Shapes shapes;
  for (const nn::FrozenWeight& w : params.frozen) shapes[w.name] = w.dims;
  return shapes;
}

TEST(Gemma4Weights, EverySizeDeclaresWhatTransformersBuilds) {
  size_t sizes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/gemma4_weights")) {
    if (entry.path().filename() == "MANIFEST.json") continue;
    SCOPED_TRACE(entry.path().stem().string());
    const nlohmann::json golden = read_json(entry.path());
    const Shapes got = declared(golden["config"]);
    EXPECT_EQ(got, reference(golden));
    EXPECT_EQ(got.size(), golden["tensors"].get<size_t>());
    int64_t parameters = 0, scalars = 0;
    for (const auto& [name, dims] : got)
      (name.ends_with("layer_scalar") ? scalars : parameters) += Type{DType::kF32, dims}.size();
    EXPECT_EQ(parameters, golden["parameters"].get<int64_t>());
    EXPECT_EQ(scalars, golden["layer_scalars"].get<int64_t>());
    std::printf("%s: %zu weights, %lld parameters, %lld layer scalars\n",
                entry.path().stem().c_str(), got.size(), static_cast<long long>(parameters),
                static_cast<long long>(scalars));
    ++sizes;
  }
  EXPECT_GE(sizes, kFloor);
}

}  // namespace
}  // namespace hone
