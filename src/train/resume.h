// May a run go on from a checkpoint: does its recipe still mean the same run?
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/batch.h"
#include "train/checkpoint.h"
#include "train/recipe.h"

namespace hone::train {

// Throws ConfigError that names the first key whose change makes it another run (model, adapter,
// data, batch, seed, ...), or when the training set itself has changed. Returns what has changed
// that may (the length, how the run is saved and watched, rates and decays), as "optim.lr 0.1, was
// 0.2", but for what has no part in the result.
std::vector<std::string> check_resume(const RunState& from, const Recipe& recipe,
                                      const std::filesystem::path& checkpoint,
                                      const std::string& data_digest);

std::string digest_of(const data::SampleSet& set);

}  // namespace hone::train
