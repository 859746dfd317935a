#include "ckpt/json_events.h"

#include "base/error.h"

namespace hone::ckpt {

void JsonEvents::parse(std::string_view text) { nlohmann::json::sax_parse(text, this); }

bool JsonEvents::parse_error(size_t position, const std::string&,
                             const nlohmann::detail::exception&) {
  throw FileError("{} is not JSON: syntax error at byte {}", what_, position);
}

void JsonEvents::unexpected(std::string_view event) const {
  throw FileError("{} holds {} where it may not stand, in {}", what_, event, place());
}

}  // namespace hone::ckpt
