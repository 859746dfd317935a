#include "text/gguf_tokenizer.h"

#include "base/error.h"
#include "base/quote.h"
#include "ckpt/gguf.h"
#include "text/gguf_bpe.h"
#include "text/gguf_spm.h"

namespace hone::text {

GgufTokenizer gguf_tokenizer(const ckpt::Gguf& file) {
  const auto model = file.text("tokenizer.ggml.model");
  if (!model)
    throw FileError(
        "{} has no tokenizer (tokenizer.ggml.model); use the model's Hugging Face folder",
        file.path());
  if (*model == "gpt2") return gguf_byte_level_bpe(file);
  if (*model == "llama") return gguf_sentencepiece(file);
  if (*model == "gemma4") return gguf_gemma4(file);
  throw ConfigError(
      "{}: a vocabulary of the kind {} (tokenizer.ggml.model) is not known: gpt2, llama and gemma4 "
      "are; use the model's Hugging Face folder",
      file.path(), quote(*model));
}

}  // namespace hone::text
