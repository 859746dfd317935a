#include "train/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/json.h"
#include "ckpt/atomic_file.h"
#include "ckpt/atomic_folder.h"
#include "ckpt/safetensors.h"

namespace hone::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kVersion = 1;
constexpr const char* kStateFile = "state.json";
constexpr const char* kArrayFile = "state.safetensors";
constexpr const char* kLosses = "run.losses";

// JSON has no NaN, and a validation loss may be one.
Json number(double v) { return std::isfinite(v) ? Json(v) : Json(fmt::format("{}", v)); }

std::optional<double> optional_number(const nlohmann::json& j, const char* key) {
  if (!j.contains(key)) return std::nullopt;
  return j[key].is_number() ? j[key].get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void put(Json& j, const char* key, const std::optional<double>& v) {
  if (v) j[key] = number(*v);
}

std::string state_text(const RunState& s) {
  Json j = {{"version", kVersion},
            {"step", s.step},
            {"cursor", {{"epoch", s.cursor.epoch}, {"index", s.cursor.index}}},
            {"guard", {{"mean", s.guard.mean}, {"seen", s.guard.seen}}},
            {"tokens", s.tokens},
            {"train_seconds", s.train_seconds},
            {"val_step", s.val_step},
            {"best_step", s.best_step},
            {"worse", s.worse},
            {"data", s.data},
            {"recipe", s.recipe}};
  put(j, "val_loss_before", s.val_loss_before);
  put(j, "val_loss", s.val_loss);
  put(j, "best_loss", s.best_loss);
  return j.dump(2) + "\n";
}

RunState state_of(const nlohmann::json& j, const std::string& file) {
  if (j.value("version", int64_t{0}) != kVersion)
    throw FileError("{} is of another version of hone; this one reads version {}", file, kVersion);
  RunState s;
  const nlohmann::json &cursor = j.at("cursor"), &guard = j.at("guard");
  s.step = j.at("step");
  s.cursor = {cursor.at("epoch"), cursor.at("index")};
  s.guard.mean = guard.at("mean");
  s.guard.seen = guard.at("seen");
  s.tokens = j.at("tokens");
  s.train_seconds = j.at("train_seconds");
  s.val_step = j.at("val_step");
  s.best_step = j.at("best_step");
  s.worse = j.at("worse");
  s.data = j.at("data");
  s.recipe = j.at("recipe");
  s.val_loss_before = optional_number(j, "val_loss_before");
  s.val_loss = optional_number(j, "val_loss");
  s.best_loss = optional_number(j, "best_loss");
  return s;
}

void copy_into(std::vector<Snapshot::Array>& to, const engine::Buffers& from) {
  for (const auto& [name, buffer] : from) {
    Snapshot::Array& a =
        to.emplace_back(name, buffer.type(), pjrt::allocate_host(buffer.type().bytes()));
    buffer.to_host(a.memory.bytes);
  }
}

void restore(const ckpt::Safetensors& file, const engine::Device& device, engine::Buffers& to) {
  for (auto& [name, buffer] : to) {
    const ckpt::TensorView* t = file.find(name);
    if (t == nullptr || t->type != buffer.type())
      throw ConfigError("{}: \"{}\" is {} where the run wants {}", file.path(), name,
                        t == nullptr ? "missing" : t->type.str(), buffer.type().str());
    buffer = device.client().to_device(t->type, t->bytes);
  }
}

}  // namespace

std::vector<Snapshot::Array> copy_to_host(const engine::Buffers& trained,
                                          const engine::Buffers& optimizer) {
  std::vector<Snapshot::Array> arrays;
  copy_into(arrays, trained);
  copy_into(arrays, optimizer);
  return arrays;
}

void write_checkpoint(const fs::path& path, const Snapshot& s) {
  ckpt::AtomicFolder folder(path);
  if (s.adapter) ckpt::write_peft(folder.staging(), *s.adapter);
  std::vector<ckpt::TensorView> views;
  for (const Snapshot::Array& a : s.arrays) views.push_back({a.name, a.type, a.memory.bytes});
  views.push_back({kLosses,
                   {DType::kF64, {std::ssize(s.state.losses)}},
                   std::as_bytes(std::span(s.state.losses))});
  ckpt::write_safetensors(folder.staging() / kArrayFile, views);
  ckpt::write_atomically(folder.staging() / kStateFile, state_text(s.state));
  folder.commit();
}

RunState read_state(const fs::path& folder) {
  const std::vector<std::string> whole = ckpt::verify_folder(folder);
  for (const char* name : {kStateFile, kArrayFile})
    if (std::ranges::find(whole, name) == whole.end())
      throw FileError("{} has no digest of {}", (folder / ckpt::kDigestFile).string(), name);
  const std::string file = (folder / kStateFile).string();
  RunState s;
  try {
    s = state_of(read_json(file), file);
  } catch (const nlohmann::json::exception&) {
    throw FileError("{} lacks a value, or has one of another type", file);
  }
  const ckpt::Safetensors arrays(folder / kArrayFile);
  const ckpt::TensorView* losses = arrays.find(kLosses);
  if (losses == nullptr || losses->type.dtype != DType::kF64)
    throw FileError("{} has no {}", arrays.path(), kLosses);
  s.losses.resize(losses->bytes.size() / sizeof(double));
  std::memcpy(s.losses.data(), losses->bytes.data(), losses->bytes.size());
  return s;
}

void restore_arrays(const fs::path& folder, const engine::Device& device, engine::Buffers& trained,
                    engine::Buffers& optimizer) {
  const ckpt::Safetensors file(folder / kArrayFile);
  const size_t wanted = trained.size() + optimizer.size() + 1;
  if (file.tensors().size() != wanted)
    throw ConfigError("{} has {} arrays where the run wants {}", file.path(), file.tensors().size(),
                      wanted);
  restore(file, device, trained);
  restore(file, device, optimizer);
}

}  // namespace hone::train
