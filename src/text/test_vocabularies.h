// Where tests find the vocabularies and templates that llama.cpp ships; they are not committed.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ckpt/gguf.h"
#include "text/tokenizer.h"

namespace hone::text {

inline const char* const kSmolLm2 = ".deps/models/smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf";

inline std::filesystem::path vocabularies() {
  const char* const folder = std::getenv("HONE_VOCABS");
  return folder != nullptr ? folder : ".deps/vocabs";
}

inline std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline ckpt::Gguf open_vocabulary(const std::string& name) {
  return ckpt::Gguf(vocabularies() / ("ggml-vocab-" + name + ".gguf"));
}

}  // namespace hone::text
