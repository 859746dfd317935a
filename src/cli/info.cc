// hone info: what a model is, without loading it.
#include <cstdio>

#include "cli/command.h"
#include "engine/description.h"

namespace hone::cli {
namespace {

struct Options {
  std::string model;
  bool json = false;

  void fields(auto& v) {
    v.argument("model", model, "a folder, a .gguf file or a name of models.yaml");
    v("json", json, "for programs");
  }
};

int run(const Options& o) {
  const engine::ModelFiles files(engine::find_model(o.model));
  const engine::Description d = engine::describe_model(files);
  using enum nlohmann::ordered_json::error_handler_t;  // tokens need not be UTF-8
  std::fputs((o.json ? to_json(d).dump(2, ' ', false, replace) + "\n" : to_text(d)).c_str(),
             stdout);
  return 0;
}

}  // namespace

extern const Command kInfo =
    command<run>("info", "tell what a model is, without loading it",
                 {"hone info smollm2-135m", "hone info models/gemma-3 --json"});

}  // namespace hone::cli
