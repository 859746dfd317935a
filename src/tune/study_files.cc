#include "tune/study_files.h"

#include "ckpt/atomic_file.h"
#include "search/page.h"
#include "search/results.h"
#include "tune/trials.h"

namespace hone::tune {
namespace {

namespace fs = std::filesystem;

// The adapters and checkpoints of all trials but the best; their records stay.
void remove_results(const RecipeSpace& space, std::span<const search::Trial> trials,
                    const search::Trial* best) {
  std::error_code ignored;  // a folder too many is no reason to stop
  for (const search::Trial& t : trials) {
    if (&t == best) continue;
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(trial_folder(space, t.id), ignored))
      if (entry.is_directory(ignored)) folders.push_back(entry.path());
    for (const fs::path& folder : folders) fs::remove_all(folder, ignored);
  }
}

}  // namespace

std::optional<train::Recipe> best_recipe(const RecipeSpace& space,
                                         std::span<const search::Trial> trials) {
  const search::Trial* best = search::best_of(space.space(), trials);
  if (best == nullptr) return std::nullopt;
  train::Recipe r = space.with(best->numbers);
  r.save.dir = (fs::path(r.save.dir) / "best").string();
  return r;
}

void write_study_files(const RecipeSpace& space, std::span<const search::Trial> trials) {
  const fs::path folder = space.recipe().save.dir;
  ckpt::write_atomically(folder / "study.json", search::json_text(space.space(), trials));
  ckpt::write_atomically(folder / "study.csv", search::csv_text(space.space(), trials));
  const std::string title = "Study " + folder.string();
  ckpt::write_atomically(folder / "study.html", search::page_html(space.space(), trials, title));
  if (const auto best = best_recipe(space, trials))
    ckpt::write_atomically(
        folder / "best.yaml",
        fmt::format("# The best of {} trials.\n{}", trials.size(), train::recipe_text(*best)));
  remove_results(space, trials, search::best_of(space.space(), trials));
}

}  // namespace hone::tune
