// The look that all pages of hone share: light or dark as the reader's system is, down to the width
// of a telephone. No script, no font, no picture from elsewhere.
#pragma once

#include <string>
#include <string_view>

namespace hone::page {

// Up to and with the page's <h1>. Close with "</body></html>\n".
std::string head(std::string_view title);

}  // namespace hone::page
