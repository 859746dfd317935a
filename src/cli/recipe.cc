// hone recipe: look at recipes without running them.
#include "train/recipe.h"

#include <cstdio>
#include <fstream>
#include <iostream>

#include "base/error.h"
#include "cli/command.h"

namespace hone::cli {
namespace {

struct Options {
  std::string verb;
  std::optional<std::string> recipe;
  std::vector<std::string> overrides;

  void fields(auto& v) {
    v.argument("verb", verb,
               "list names them, show prints one as written, check prints it resolved, fields "
               "explains every key",
               one_of({"list", "show", "check", "fields"}));
    v.argument("recipe", recipe, "a name of recipes/ or a .yaml file, for show and check");
    v.argument("key=value", overrides, "changes, for check");
  }
};

void print(const std::string& text) { std::fputs(text.c_str(), stdout); }

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw FileError("cannot open {}", file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

// The first line of a recipe says what it is for.
void list() {
  for (const std::string& name : train::recipe_names()) {
    const std::string text = read_text(train::find_recipe(name));
    const bool titled = text.starts_with("# ");
    print(fmt::format("{:<32} {}\n", name, titled ? text.substr(2, text.find('\n') - 2) : ""));
  }
}

void fields() {
  for (const FieldInfo& f : describe(train::Recipe{})) {
    const std::string head = f.value.empty() ? f.path : f.path + ": " + f.value;
    print(fmt::format("{:<32} {}{}\n", head, f.help, f.rule.empty() ? "" : "; " + f.rule));
  }
}

int run(const Options& o) {
  const bool about_one = o.verb == "show" || o.verb == "check";
  if (about_one && !o.recipe) throw UsageError("recipe {} needs a RECIPE", o.verb);
  if (!about_one && o.recipe) throw UsageError("recipe {} takes no RECIPE", o.verb);
  if (o.verb != "check" && !o.overrides.empty())
    throw UsageError("recipe {} takes no overrides", o.verb);
  if (o.verb == "list") list();
  if (o.verb == "fields") fields();
  if (o.verb == "show") print(read_text(train::find_recipe(*o.recipe)));
  if (o.verb == "check") print(train::recipe_text(train::load_recipe(*o.recipe, o.overrides)));
  return 0;
}

}  // namespace

extern const Command kRecipe =
    command<run>("recipe", "list, show, check and explain recipes",
                 {"hone recipe list", "hone recipe check smollm2_135m_lora_cpu",
                  "hone recipe check smollm2_135m_lora_cpu adapter.rank=8 length.steps=100",
                  "hone recipe fields"});

}  // namespace hone::cli
