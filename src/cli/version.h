// Which hone this is.
#pragma once

#include <string_view>

namespace hone::cli {

inline constexpr std::string_view kVersionNumber = "0.1.0";
extern const std::string_view kCommit;  // "1a2b3c4", with a + after local changes; "unknown"

}  // namespace hone::cli
