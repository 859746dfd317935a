// A training run as one HTML page that needs nothing else (page/style.h).
#pragma once

#include <string>

#include "watch/run_record.h"

namespace hone::watch {

std::string report_html(const RunRecord& run);

}  // namespace hone::watch
