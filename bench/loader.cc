// How fast training data comes: tokenised with 1 thread and with all, and batches out of the store.
// One JSON object a line. A step of the demo takes 2,048 tokens a second or so; the loader must
// give ten times what a step takes.
//
//   ninja -C build/release bench_loader && build/release/src/data/bench_loader [FOLDER]
#include "data/loader.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "ckpt/gguf.h"
#include "data/token_cache.h"

namespace hone {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

// Chats of common words, 30 MB of them.
void write_chats(const fs::path& file) {
  const std::vector<std::string> words{"the",     "module", "counts", "every", "clock", "edge",
                                       "and",     "holds",  "its",    "value", "when",  "reset",
                                       "is high", "\n",     "= 1;",   "x",     "12",    "return"};
  Random random(1);
  std::ofstream out(file);
  for (int i = 0; i < 10'000; ++i) {
    nlohmann::ordered_json messages;
    for (const char* role : {"user", "assistant"}) {
      std::string text;
      for (int64_t n = random.between(50, 500); n > 0; --n) text += random.pick(words) + " ";
      messages.push_back({{"role", role}, {"content", text}});
    }
    out << nlohmann::ordered_json{{"messages", messages}}.dump() << "\n";
  }
}

std::shared_ptr<const data::TokenStore> tokenise(const fs::path& chats, const fs::path& folder,
                                                 int threads) {
  const ckpt::Gguf model(".deps/models/smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf");
  const auto tokenizer = text::Tokenizer::from_gguf(model);
  const auto chat = text::ChatTemplate::from_gguf(model, tokenizer);
  const auto start = Clock::now();
  auto store = data::open_tokens({chats.string(), "messages"}, {tokenizer, &*chat},
                                 {.folder = folder / std::to_string(threads), .threads = threads});
  const double seconds = since(start);
  std::printf(
      "{\"what\": \"tokenise\", \"threads\": %d, \"tokens_per_second\": %.0f, "
      "\"mb_per_second\": %.2f}\n",
      threads, static_cast<double>(store->tokens()) / seconds,
      static_cast<double>(fs::file_size(chats)) / 1e6 / seconds);
  return store;
}

void load(const std::shared_ptr<const data::TokenStore>& store, bool packing) {
  const data::SampleSet set({{store}}, {.batch = 8, .seq_len = 3072}, {.packing = packing}, "set");
  const auto start = Clock::now();
  constexpr int64_t kBatches = 300;
  data::Loader loader(set, 1, kBatches);
  int64_t tokens = 0;
  for (int64_t i = 0; i < kBatches; ++i) tokens += loader.next().real_tokens;
  const double seconds = since(start);
  std::printf(
      "{\"what\": \"batches\", \"packing\": %s, \"tokens_per_second\": %.0f, "
      "\"places_per_second\": %.0f}\n",
      packing ? "true" : "false", static_cast<double>(tokens) / seconds,
      static_cast<double>(kBatches * 8 * 3072) / seconds);
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  const std::filesystem::path folder =
      argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "hone_bench_loader";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  hone::write_chats(folder / "chats.jsonl");
  hone::tokenise(folder / "chats.jsonl", folder, 1);
  const auto store = hone::tokenise(folder / "chats.jsonl", folder,
                                    static_cast<int>(std::thread::hardware_concurrency()));
  for (const bool packing : {false, true}) hone::load(store, packing);
  std::filesystem::remove_all(folder);
}
