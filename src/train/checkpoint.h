// What a run needs to go on bit for bit, to a folder and back.
//
//   checkpoint-STEP/state.json         RunState
//                   state.safetensors  what is trained, the optimiser's arrays ("m.NAME" and the
//                                      like), "ema.NAME", and "run.losses"
//                   adapter_*          the adapter as PEFT loads it; for users, not read back
//                   SHA256SUMS         digests of all these
//
// No generator's state is kept: the data's order follows from the seed and the cursor, dropout from
// the seed, the step and the micro-batch, and the learning rate from the step.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/peft.h"
#include "data/batcher.h"
#include "engine/weights.h"
#include "train/loss_guard.h"

namespace hone::train {

// A run at the end of a step, but for its arrays.
struct RunState {
  int64_t step = 0;  // done
  data::Cursor cursor = {};
  LossGuard guard = {};
  std::vector<double> losses = {};  // of the steps done whose loss was finite
  int64_t tokens = 0;               // of the examples in them
  double train_seconds = 0;         // of the steps alone

  std::optional<double> val_loss_before = {};
  std::optional<double> val_loss = {};  // the last, measured after val_step
  int64_t val_step = 0;
  std::optional<double> best_loss = {};  // the lowest, measured after best_step
  int64_t best_step = 0;
  int64_t worse = 0;  // evaluations since

  std::string recipe = {};  // the text of the run's recipe
  std::string data = {};    // the digest of its training set
};

// A copy on the host of all that a checkpoint holds.
struct Snapshot {
  struct Array {
    std::string name;
    Type type;
    pjrt::HostMemory memory;
  };
  RunState state;
  std::vector<Array> arrays;
  std::optional<ckpt::PeftAdapter> adapter;
};

// Copies the arrays; the device may change its own as soon as this returns.
std::vector<Snapshot::Array> copy_to_host(const engine::Buffers& trained,
                                          const engine::Buffers& optimizer);

// Whole and on the disk when it returns. Throws FileError, and then there is no such folder.
void write_checkpoint(const std::filesystem::path& folder, const Snapshot& snapshot);

// Throws FileError when anything in the folder is missing or damaged, or of another version.
RunState read_state(const std::filesystem::path& folder);

// Replaces the arrays by the folder's. Throws ConfigError when it has others than these.
void restore_arrays(const std::filesystem::path& folder, const engine::Device& device,
                    engine::Buffers& trained, engine::Buffers& optimizer);

}  // namespace hone::train
