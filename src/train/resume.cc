#include "train/resume.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/sha256.h"

namespace hone::train {
namespace {

// May change: how the run is kept and watched, and how long it is. Not told.
constexpr std::array kFree = {"length", "save", "eval", "log", "resume"};
// May change, and the result with it: told.
constexpr std::array kTold = {"guard",          "mesh",         "device",
                              "compute",        "remat",        "optim.lr",
                              "optim.schedule", "optim.warmup", "optim.floor",
                              "optim.cooldown", "optim.clip",   "optim.weight_decay"};

struct Change {
  std::string path, was, is;
};

void find_changes(const Yaml& was, const Yaml& is, const std::string& path,
                  std::vector<Change>& out) {
  if (was.kind != Yaml::Kind::kMap || is.kind != Yaml::Kind::kMap) {
    if (yaml_flow(was) != yaml_flow(is)) out.push_back({path, yaml_flow(was), yaml_flow(is)});
    return;
  }
  auto at = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  static const Yaml kNothing;
  for (size_t i = 0; i < was.keys.size(); ++i) {
    const Yaml* now = is.find(was.keys[i]);
    find_changes(was.items[i], now != nullptr ? *now : kNothing, at(was.keys[i]), out);
  }
  for (size_t i = 0; i < is.keys.size(); ++i)
    if (was.find(is.keys[i]) == nullptr)
      out.push_back({at(is.keys[i]), "absent", yaml_flow(is.items[i])});
}

bool is_of(std::string_view path, std::span<const char* const> keys) {
  return std::ranges::any_of(keys, [&](std::string_view key) {
    return path == key || (path.starts_with(key) && path[key.size()] == '.');
  });
}

}  // namespace

std::vector<std::string> check_resume(const RunState& from, const Recipe& recipe,
                                      const std::filesystem::path& checkpoint,
                                      const std::string& data_digest) {
  Recipe was;
  read_fields(parse_yaml(from.recipe, (checkpoint / "state.json").string()), was);
  std::vector<Change> changes;
  find_changes(to_yaml(was), to_yaml(recipe), "", changes);
  std::vector<std::string> told;
  for (const Change& c : changes) {
    if (is_of(c.path, kFree)) continue;
    if (!is_of(c.path, kTold))
      throw ConfigError(
          "recipe: {} is {}, but {} was made with {}; take that back, or give another save.dir",
          c.path, c.is, checkpoint.string(), c.was);
    told.push_back(fmt::format("{} {}, was {}", c.path, c.is, c.was));
  }
  if (from.data != data_digest)
    throw ConfigError(
        "the training data is not what {} was made with; take that back, or give another save.dir",
        checkpoint.string());
  return told;
}

std::string digest_of(const data::SampleSet& set) {
  Sha256 digest;
  auto add = [&](const auto& values) {
    const uint64_t count = values.size();
    digest.add({reinterpret_cast<const char*>(&count), sizeof count});
    digest.add(
        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values.front())});
  };
  for (size_t i = 0; i < set.samples.size(); ++i) {
    const data::Sample& s = set.samples[i];
    add(s.ids);
    add(s.mask);
  }
  return digest.hex();
}

}  // namespace hone::train
