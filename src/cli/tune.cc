// hone tune: a recipe and a space in, the best recipe out.
#include <cstdio>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/run_training.h"
#include "cli/terminal.h"
#include "search/results.h"
#include "tune/study_files.h"
#include "tune/trials.h"

namespace hone::cli {
namespace {

struct Options {
  std::string recipe, space;
  std::vector<std::string> overrides;

  void fields(auto& v) {
    v.argument("recipe", recipe, "a name of recipes/ or a .yaml file; save.dir is the study's");
    v.argument("space", space, "a .yaml file: which keys are searched, and how");
    v.argument("key=value", overrides, "changes to the recipe");
  }
};

// Speaks on stderr while a study runs: a line and a bar for each trial.
class Speaker {
 public:
  Speaker(const search::Space& space, const search::Store& store) : space_(space), store_(store) {}

  void start(const search::Trial& t) {
    std::string line = label(t);
    for (size_t i = 0; i < t.numbers.size(); ++i) {
      const search::Parameter& p = space_.parameters.list[i];
      line += fmt::format(" {}={}", p.name, search::short_value(p, t.numbers[i]));
    }
    say(line);
  }
  void step(const train::Progress& p) {
    if (!bar_) bar_.emplace(p.steps);
    bar_->update(p.step, {{"loss", fmt::format("{:.3f}", p.loss)},
                          {"tok/s", fmt::format("{:.0f}", p.tokens_per_second)}});
  }
  void end(const search::Trial& t) {
    bar_.reset();
    std::string line = label(t);
    if (t.value)
      line += fmt::format(" {} {}", space_.objective.metric, search::short_number(*t.value));
    if (t.state == search::State::kStopped) line += fmt::format(", stopped after step {}", t.steps);
    if (t.state == search::State::kFailed) line += " failed: " + t.note;
    if (const search::Trial* best = search::best_of(space_, store_.done()))
      line +=
          fmt::format("; best is trial {} with {}", best->id, search::short_number(*best->value));
    say(line);
  }
  void say(const std::string& line) {
    if (bar_)
      bar_->say(line);
    else
      cli::say(line);
  }
  void quiet() { bar_.reset(); }

 private:
  std::string label(const search::Trial& t) const {
    return fmt::format("trial {} ({} of {}):", t.id, t.id + 1, *space_.trials);
  }

  const search::Space& space_;
  const search::Store& store_;
  std::optional<Progress> bar_;
};

TrainingData load_data(const train::Recipe& recipe) {
  const engine::ModelFiles files(engine::find_model(recipe.model));
  return load_training_data(engine::Language::of(files), recipe);
}

// False when the user stopped it.
bool run_trials(const tune::RecipeSpace& space, search::Store& store) {
  Speaker speaker(space.space(), store);
  tune::Trials trials(space, {.open = open_for_training,
                              .load = load_data,
                              .on_step = [&](const train::Progress& p) { speaker.step(p); },
                              .say = [&](const std::string& line) { speaker.say(line); },
                              .interrupted = interrupted});
  const InterruptGuard guard;
  const bool all = search::run_study(
      space.space(), store,
      {.run = [&](const search::Trial& t,
                  const search::Report& report) { return trials.run(t, report); },
       .refusal = [&](std::span<const double> numbers) { return space.refusal(numbers); },
       .on_start = [&](const search::Trial& t) { speaker.start(t); },
       .on_end =
           [&](const search::Trial& t) {
             speaker.end(t);
             tune::write_study_files(space, store.done());
           },
       .stop = interrupted});
  speaker.quiet();
  return all;
}

int run(const Options& o) {
  const tune::RecipeSpace space(train::load_recipe(o.recipe, o.overrides),
                                search::load_space(o.space), o.space);
  const std::string folder = space.recipe().save.dir;
  search::Store store(folder, space.space(), train::recipe_text(space.recipe()));
  const size_t before = store.done().size();
  if (before > 0)
    std::fprintf(stderr, "%s holds %zu of %lld trials\n", folder.c_str(), before,
                 static_cast<long long>(*space.space().trials));
  if (!run_trials(space, store))
    throw Interrupted("stopped with {} of {} trials done; the same command goes on from there",
                      store.done().size(), *space.space().trials);
  tune::write_study_files(space, store.done());
  std::printf("%s%s\n", search::table_text(space.space(), store.done()).c_str(),
              search::count_text(store.done()).c_str());
  if (search::best_of(space.space(), store.done()) == nullptr)
    throw Error("no trial of {} has a value; the last failed: {}", store.done().size(),
                store.done().back().note);
  std::printf("best: hone train %s/best.yaml\npage: %s/study.html\n", folder.c_str(),
              folder.c_str());
  return 0;
}

}  // namespace

extern const Command kTune =
    command<run>("tune", "search for the best values of a recipe's keys",
                 {"hone tune smollm2_135m_lora_cpu recipes/tune/lora.yaml data.train=chats.jsonl "
                  "data.eval=held_out.jsonl save.dir=runs/study"});

}  // namespace hone::cli
