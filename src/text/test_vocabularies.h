// Where tests find the vocabularies and templates that llama.cpp ships; they are not committed.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "ckpt/gguf.h"

namespace hone::text {

inline std::filesystem::path vocabularies() {
  const char* const folder = std::getenv("HONE_VOCABS");
  return folder != nullptr ? folder : ".deps/vocabs";
}

inline ckpt::Gguf open_vocabulary(const std::string& name) {
  return ckpt::Gguf(vocabularies() / ("ggml-vocab-" + name + ".gguf"));
}

}  // namespace hone::text
