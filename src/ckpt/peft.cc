#include "ckpt/peft.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "ckpt/atomic_file.h"
#include "ckpt/peft_config.h"
#include "ckpt/safetensors.h"
#include "ckpt/weights.h"

namespace hone::ckpt {
namespace {

constexpr std::string_view kPrefix = "base_model.model.";
constexpr const char* kConfigFile = "adapter_config.json";
constexpr const char* kTensorFile = "adapter_model.safetensors";

std::vector<PeftTensor> read_tensors(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kTensorFile;
  if (!std::filesystem::exists(file) && std::filesystem::exists(folder / "adapter_model.bin"))
    throw FileError(
        "{} is missing; save the adapter as safetensors (adapter_model.bin is not read)",
        file.string());
  const std::unique_ptr<WeightSource> source = open_weights(file);
  std::vector<PeftTensor> tensors;
  for (const Weight& w : source->weights()) {
    if (!std::string_view(w.name).starts_with(kPrefix))
      throw ConfigError("{}: tensor \"{}\" does not begin with {}", source->path(), w.name,
                        kPrefix);
    PeftTensor t{w.name.substr(kPrefix.size()), w.dims, {}};
    t.values.resize(static_cast<size_t>(Type{DType::kF32, w.dims}.size()));
    source->read_f32(w.name, t.values);
    tensors.push_back(std::move(t));
  }
  return tensors;
}

std::string model_card(const PeftAdapter& a) {
  const std::string base = nlohmann::json(a.base_model).dump();
  return fmt::format(
      "---\nbase_model: {}\nlibrary_name: peft\ntags:\n- lora\n- hone\n---\n\n"
      "# {} adapter\n\nA {} adapter of rank {} (alpha {}) for `{}`, trained with hone.\n\n"
      "Load it with PEFT (`PeftModel.from_pretrained(model, folder)`) or with hone "
      "(`hone generate MODEL --adapter FOLDER`).\n",
      base, a.dora ? "DoRA" : "LoRA", a.dora ? "DoRA" : "LoRA", a.rank, a.alpha, a.base_model);
}

}  // namespace

PeftAdapter read_peft(const std::filesystem::path& folder) {
  const std::string file = (folder / kConfigFile).string();
  PeftAdapter a = parse_peft_config(read_json(folder / kConfigFile), file);
  a.source = folder.string();
  a.tensors = read_tensors(folder);
  return a;
}

void write_peft(const std::filesystem::path& folder, const PeftAdapter& a) {
  std::vector<TensorView> views;
  for (const PeftTensor& t : a.tensors)
    views.push_back(
        {std::string(kPrefix) + t.name, {DType::kF32, t.dims}, std::as_bytes(std::span(t.values))});
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw FileError("cannot make {}: {}", folder.string(), failed.message());
  // An old config goes first, so that it is never found beside new tensors.
  std::filesystem::remove(folder / kConfigFile, failed);
  write_safetensors(folder / kTensorFile, views);
  write_atomically(folder / "README.md", model_card(a));
  write_atomically(folder / kConfigFile, peft_config(a).dump(2) + "\n");
}

}  // namespace hone::ckpt
