// For tests only: runs of a tiny model on sequences that count upwards.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "train/trainer.h"

namespace hone::train::test {

// This process's own folder: the suite may run twice at a time. In memory where that goes: these
// tests flush some ten thousand files.
inline std::string run_folder(const std::string& name) {
  const std::string memory = "/dev/shm/";
  const std::string base = access(memory.c_str(), W_OK) == 0 ? memory : testing::TempDir();
  return fmt::format("{}hone_run_{}_{}", base, getpid(), name);
}

// Six steps of two micro-batches that save nothing but the end; the folder is not there yet.
inline Recipe tiny_recipe(const std::string& name) {
  Recipe r;
  r.model = "tests/golden/llama_tiny";
  r.adapter.rank = 4;
  r.batch = {.sequences = 4, .micro = 2};
  r.data.seq_len = 16;
  r.length = {.epochs = std::nullopt, .steps = 6};
  r.optim.lr = 1e-2;
  r.save = {.dir = run_folder(name), .every = 0, .keep = 3};
  r.eval.every = 0;
  r.log.every = 2;
  std::filesystem::remove_all(r.save.dir);
  return r;
}

// Something that can be learned: numbers that rise by `stride`.
inline data::SampleSet counting(int64_t batch, int32_t stride = 1) {
  std::vector<data::Sample> samples;
  for (int32_t i = 0; i < 12; ++i) {
    data::Sample s;
    for (int32_t t = 0; t < 10 + i % 5; ++t) {
      s.ids.push_back((i * 7 + t * stride) % 100);
      s.mask.push_back(t > 2);
    }
    samples.push_back(s);
  }
  return {samples, {.batch = batch, .seq_len = 16}, "training set"};
}

inline engine::Model open(const Recipe& r) {
  return engine::Model::open(r.model, tuning_of(r.adapter), static_cast<uint64_t>(r.seed));
}

inline Callbacks quiet() {
  return {.on_step = [](const Progress&) {},
          .say = [](const std::string&) {},
          .stop = [] { return false; }};
}

inline std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace hone::train::test
