// Each family's tiny random model: decoding with a cache, and batches with padding, against whole
// sequences alone. The models' windows are 4 keys, the texts many times as long.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/forward.h"
#include "engine/generator.h"
#include "engine/logits.h"
#include "engine/program.h"
#include "ops/ops.h"

namespace hone::engine {
namespace {

constexpr size_t kFloor = 17;  // models
constexpr int64_t kVocab = 128;

const std::filesystem::path kGolden = "tests/golden";

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden))
    if (std::filesystem::exists(entry.path() / "config.json"))
      names.push_back(entry.path().string());
  std::ranges::sort(names);
  return names;
}

std::vector<int32_t> text_of(size_t length, int seed) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < length; ++i)
    ids.push_back(static_cast<int32_t>((i * i * 31 + i * 17 + static_cast<size_t>(seed)) % kVocab));
  return ids;
}

// Greedy choices of a batch whose rows are padded on the left, each step from the cache, are the
// best tokens of one pass over the whole text. A near tie may go either way.
void check_decoding(const Model& model, const std::vector<size_t>& lengths, int64_t new_tokens,
                    int64_t chunk) {
  SCOPED_TRACE(fmt::format("prompts of {}, chunks of {}", fmt::join(lengths, " and "), chunk));
  std::vector<std::vector<int32_t>> prompts;
  for (const size_t length : lengths) prompts.push_back(text_of(length, static_cast<int>(length)));
  Generator generator(model);
  GenerateOptions options{
      .max_new_tokens = new_tokens, .sampling = {}, .stop_tokens = {}, .chunk = chunk};
  options.sampling.temperature = 0;
  const auto rows = generator.run(prompts, options);
  for (size_t r = 0; r < rows.size(); ++r) {
    ASSERT_EQ(rows[r].size(), static_cast<size_t>(new_tokens));
    std::vector<int32_t> text = prompts[r];
    text.insert(text.end(), rows[r].begin(), rows[r].end() - 1);
    const std::vector<float> all = logits(model, text);
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const auto at = all.begin() + static_cast<long>((prompts[r].size() + i - 1) * kVocab);
      const float best = *std::max_element(at, at + kVocab);
      EXPECT_GE(at[rows[r][i]], best - 1e-4F) << "row " << r << ", new token " << i;
    }
  }
}

TEST(FamilyDecode, CachedChoicesAreThoseOfTheWholeText) {
  size_t checked = 0;
  for (const std::string& path : models()) {
    SCOPED_TRACE(path);
    check_decoding(Model::open(path, std::optional<std::string>()), {3, 11}, 24, kPrefillChunk);
    ++checked;
  }
  std::printf("%zu models\n", checked);
  EXPECT_GE(checked, kFloor);
}

// Layers with a window keep little more than that: their slots are written over again and again.
TEST(FamilyDecode, AShortCacheIsAsGoodAsAWholeOne) {
  size_t checked = 0;
  for (const std::string& path : models()) {
    const Model model = Model::open(path, std::optional<std::string>());
    if (std::ranges::all_of(model.files.shape().kv, [](auto& kv) { return kv.window == 0; }))
      continue;
    SCOPED_TRACE(path);
    for (const int64_t chunk : {3, 4})
      for (const size_t length : {1, 4, 5, 13}) {
        check_decoding(model, {length, 2}, 12, chunk);
        ++checked;
      }
  }
  std::printf("%zu runs\n", checked);
  EXPECT_GE(checked, 8u * 8);
}

// Two texts in one row, and a text with padding behind it: their logits are those of each alone.
void check_padding(const Model& model) {
  const std::vector<int32_t> a = text_of(7, 1), b = text_of(5, 9);
  Graph g;
  const Dims dims{2, 12};
  std::vector<double> ids, positions, segments;
  const auto put = [&](const std::vector<int32_t>& text, int segment, size_t length) {
    for (size_t i = 0; i < length; ++i) {
      ids.push_back(i < text.size() ? text[i] : 0);
      positions.push_back(static_cast<double>(i));
      segments.push_back(i < text.size() ? segment : 0);
    }
  };
  put(a, 1, a.size());
  put(b, 2, b.size());
  put(b, 1, 12);
  const auto array = [&](const std::vector<double>& v) {
    return literal(g, {DType::kS32, dims}, v);
  };
  nn::Params params{.graph = g, .tuning = model.tuning};
  const Decoder d = model.build(params);
  const Value x = sequence_states(d, array(ids), array(positions), array(segments));
  const Program program(model.device, g, {{convert(d.head(x), DType::kF32)}});
  const auto outs = program.run([&](const std::string& n) -> pjrt::Arg { return model.weight(n); });
  const std::vector<float> got = pjrt::to_host<float>(outs[0]);
  const auto same = [&](const std::vector<int32_t>& text, size_t from) {
    const std::vector<float> want = logits(model, text);
    double worst = 0;
    for (size_t i = 0; i < want.size(); ++i)
      worst = std::max(worst, static_cast<double>(std::abs(got[from * kVocab + i] - want[i])));
    EXPECT_LE(worst, 1e-4) << "from " << from;
  };
  same(a, 0);
  same(b, a.size());
  same(b, 12);
}

TEST(FamilyDecode, PackedAndPaddedRowsAreAsAlone) {
  size_t checked = 0;
  for (const std::string& path : models()) {
    SCOPED_TRACE(path);
    check_padding(Model::open(path, std::optional<std::string>()));
    ++checked;
  }
  EXPECT_GE(checked, kFloor);
}

}  // namespace
}  // namespace hone::engine
