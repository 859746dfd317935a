#include "text/gguf_spm.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "text/gguf_vocabulary.h"
#include "text/utf8.h"

namespace hone::text {
namespace {

using nlohmann::json;

constexpr std::string_view kSpace = "▁";  // how pieces spell a space

std::vector<double> read_scores(const ckpt::Gguf& file, size_t pieces) {
  const char* const key = "tokenizer.ggml.scores";
  auto scores = file.reals(key);
  if (scores.size() < pieces)
    throw FileError("{}: {} scores ({}) for {} tokens; convert the model again", file.path(),
                    scores.size(), key, pieces);
  return scores;
}

// A pair of pieces whose union is a piece.
struct Merge {
  std::string_view left, right;
  double score;
  size_t size;  // of the union
};

// Every way to put a piece together from two others.
std::vector<Merge> find_merges(const GgufVocabulary& vocabulary,
                               const std::vector<double>& scores) {
  const std::unordered_set<std::string_view> pieces(vocabulary.pieces.begin(),
                                                    vocabulary.pieces.end());
  std::vector<Merge> merges;
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    const std::string_view piece = vocabulary.pieces[id];
    for (size_t cut = utf8_step(piece).bytes; cut < piece.size();
         cut += utf8_step(piece.substr(cut)).bytes) {
      const std::string_view left = piece.substr(0, cut), right = piece.substr(cut);
      if (pieces.contains(left) && pieces.contains(right))
        merges.push_back({left, right, scores[id], piece.size()});
    }
  }
  return merges;
}

// The engine ranks pairs and knows no equal ranks. Where scores are equal, and the leftmost pair
// should go first, the larger union goes first: then the leftmost piece of a run keeps growing.
json ranked(std::vector<Merge> merges) {
  std::ranges::stable_sort(merges, [](const Merge& a, const Merge& b) {
    if (a.score != b.score) return a.score > b.score;
    if (a.size != b.size) return a.size > b.size;
    return a.left.size() > b.left.size();
  });
  json result = json::array();
  for (const Merge& merge : merges) result.push_back({merge.left, merge.right});
  return result;
}

json replace_json(std::string_view from, std::string_view to) {
  return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}

json normalizer_json(bool space_before) {
  json steps = json::array();
  if (space_before) steps.push_back({{"type", "Prepend"}, {"prepend", kSpace}});
  steps.push_back(replace_json(" ", kSpace));
  return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
}

json decoder_json(bool space_before) {
  json steps = {replace_json(kSpace, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
  if (space_before)
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return {{"type", "Sequence"}, {"decoders", std::move(steps)}};
}

json document(const GgufVocabulary& vocabulary, AddedEnds ends, bool space_before, json merges) {
  const auto& unk = vocabulary.special.unk;
  return {{"version", "1.0"},
          {"normalizer", normalizer_json(space_before)},
          {"pre_tokenizer", nullptr},
          {"post_processor", ends_json(vocabulary, ends)},
          {"decoder", decoder_json(space_before)},
          {"model",
           {{"type", "BPE"},
            {"unk_token", unk ? json(vocabulary.pieces[static_cast<size_t>(*unk)]) : json()},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"vocab", vocabulary_json(vocabulary)},
            {"merges", std::move(merges)}}}};
}

bool strips_nothing(std::string_view, PieceType) { return false; }

// Phi 3 drops the white space after its special tokens, but for those it took from Llama.
bool strips_as_phi3(std::string_view piece, PieceType) {
  return piece != "<unk>" && piece != "<s>" && piece != "<|endoftext|>";
}

// The ids that SentencePiece gives by default.
void set_default_ids(GgufVocabulary& vocabulary) {
  const auto set = [&](std::optional<int32_t>& id, int32_t value) {
    if (!id && static_cast<size_t>(value) < vocabulary.pieces.size()) id = value;
  };
  set(vocabulary.special.unk, 0);
  set(vocabulary.special.bos, 1);
  set(vocabulary.special.eos, 2);
}

}  // namespace

GgufTokenizer gguf_sentencepiece(const ckpt::Gguf& file) {
  GgufVocabulary vocabulary = read_vocabulary(file);
  set_default_ids(vocabulary);
  const bool space_before = file.flag("tokenizer.ggml.add_space_prefix").value_or(true);
  const AddedEnds ends = read_added_ends(file, {.bos = true, .eos = false});
  const bool phi3 = file.text("general.architecture") == "phi3";
  json result =
      document(vocabulary, ends, space_before,
               ranked(find_merges(vocabulary, read_scores(file, vocabulary.pieces.size()))));
  result["added_tokens"] = added_tokens_json(vocabulary, phi3 ? strips_as_phi3 : strips_nothing);
  return {result.dump(), vocabulary.special};
}

GgufTokenizer gguf_gemma4(const ckpt::Gguf& file) {
  const GgufVocabulary vocabulary = read_vocabulary(file);
  // Converters have written add_bos_token = false here; the model has seen every text with BOS.
  json result =
      document(vocabulary, {.bos = true, .eos = false}, /*space_before=*/false, merges_json(file));
  result["added_tokens"] = added_tokens_json(vocabulary, strips_nothing);
  return {result.dump(), vocabulary.special};
}

}  // namespace hone::text
