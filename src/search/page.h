// A study as one HTML page that needs nothing else: the history of the best, the trials over their
// steps, the objective by each parameter, and the table. Light or dark as the reader's system is.
#pragma once

#include <span>
#include <string>

#include "search/trial.h"

namespace hone::search {

std::string page_html(const Space& space, std::span<const Trial> trials, const std::string& title);

}  // namespace hone::search
