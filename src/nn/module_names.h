// How recipes and adapter configs name modules of a model.
#pragma once

#include <string>
#include <string_view>

namespace hone::nn {

// A name of letters, digits, "_", "." and "-": the module's path, or its end from a dot on.
// Anything else: a regular expression (RE2's) of whole paths. Throws ConfigError when it is none.
bool names_module(const std::string& name, std::string_view path);

bool is_expression(std::string_view name);
// The name for a text that is meant as an expression, or as the end of a path, whatever it looks
// like.
std::string as_expression(std::string_view expression);
std::string as_end(std::string_view end);

}  // namespace hone::nn
