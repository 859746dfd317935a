// A study's trials for people and for programs; page.h draws them.
#pragma once

#include <span>
#include <string>

#include "search/trial.h"

namespace hone::search {

std::string short_number(double value);  // "0.7131", "3.162e-05"
std::string short_value(const Parameter& p, double number);

// "24 trials: 9 complete, 13 stopped, 2 failed"
std::string count_text(std::span<const Trial> trials);

// Best first, the best marked with a star; lines end with a newline.
std::string table_text(const Space& space, std::span<const Trial> trials);

// One row a trial, by id: the parameters, then what was measured. RFC 4180.
std::string csv_text(const Space& space, std::span<const Trial> trials);

// Everything that study.db holds, by id; the ids in the order of the ranking; the best.
std::string json_text(const Space& space, std::span<const Trial> trials);

// How the objective goes with one parameter: Spearman's rank correlation over the trials that are
// complete, from -1 to 1; positive: the objective grows with the parameter. Nothing for choices,
// for fewer than ten trials, and where either is the same in all. It sees one parameter at a time.
std::optional<double> rank_correlation(const Space& space, std::span<const Trial> trials,
                                       size_t parameter);

}  // namespace hone::search
