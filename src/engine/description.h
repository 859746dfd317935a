// What a model is, told from its config and the names of its weights; none is read.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/model_files.h"

namespace hone::engine {

struct Description {
  std::string path, family;
  uint64_t file_bytes = 0;  // of the files that hold the weights
  ModelShape shape;
  int64_t parameters = 0;
  std::map<std::string, int64_t> stored;  // parameters by the format they are stored in, "Q4_1"
  bool tied = false;                      // the head is the embedding
  std::string skipped;                    // weights of towers that hone does not run

  struct Token {
    std::string role, text;
    int32_t id;
  };
  std::string tokenizer_problem;  // why there is none: the rest is then empty
  int32_t tokens = 0;             // of the vocabulary
  std::vector<Token> special;     // bos, eos, ..., and what else stops an answer
  bool adds_bos = false, has_template = false;
};

// Throws FileError, ConfigError, also where the weights are not those that the config asks for.
Description describe_model(const ModelFiles& files);

// Bytes of keys and values for one sequence of `tokens` as generation holds them: in f32, and
// layers with a window little more than that.
int64_t cache_bytes(const ModelShape& shape, int64_t tokens);

nlohmann::ordered_json to_json(const Description& d);
std::string to_text(const Description& d);

}  // namespace hone::engine
