#include "cli/options.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/nearest.h"
#include "base/quote.h"

namespace hone::cli {
namespace detail {

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::string option_name(std::string_view field) {
  std::string name(field);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string argument_name(std::string_view field) {
  std::string name = option_name(field);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

}  // namespace detail

namespace {

void set(Option& option, const std::string& text) {
  if (option.given && !option.many) throw UsageError("--{} is given twice", option.name);
  option.given = true;
  try {
    option.set(text);
  } catch (const ConfigError& e) {
    throw UsageError("{}", e.what());
  }
}

Option& find_option(std::vector<Option>& options, std::string_view written) {
  const std::string name = detail::option_name(written);
  std::vector<std::string_view> known;
  for (Option& option : options) {
    if (option.argument) continue;
    if (option.name == name) return option;
    known.push_back(option.name);
  }
  const std::string_view meant = nearest(name, known);
  throw UsageError("unknown option {}{}", quote("--" + std::string(written)),
                   meant.empty() ? "" : fmt::format("; did you mean --{}?", meant));
}

void set_argument(std::vector<Option>& options, const std::string& text) {
  const auto free = std::ranges::find_if(
      options, [](const Option& o) { return o.argument && (o.many || !o.given); });
  if (free == options.end()) throw UsageError("unexpected argument {}", quote(text));
  set(*free, text);
}

// "--name=text", or "--name" with its value in `next`; true when `next` was used.
bool set_option(std::vector<Option>& options, std::string_view arg, const std::string* next) {
  const size_t equals = arg.find('=');
  Option& option = find_option(options, arg.substr(0, equals));
  if (equals != std::string_view::npos) {
    set(option, std::string(arg.substr(equals + 1)));
    return false;
  }
  const bool flag = option.value.empty();
  if (!flag && next == nullptr) throw UsageError("--{} needs a value", option.name);
  set(option, flag ? "true" : *next);
  return !flag;
}

}  // namespace

bool parse_options(std::vector<Option> options, std::span<const std::string> args) {
  bool only_arguments = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (only_arguments || arg.size() < 2 || arg[0] != '-') {
      set_argument(options, arg);
    } else if (arg == "--help" || arg == "-h") {
      return false;
    } else if (arg == "--") {
      only_arguments = true;
    } else if (!arg.starts_with("--")) {
      throw UsageError("unknown option {}; options begin with --", quote(arg));
    } else if (set_option(options, std::string_view(arg).substr(2),
                          i + 1 < args.size() ? &args[i + 1] : nullptr)) {
      ++i;
    }
  }
  for (const Option& option : options)
    if (option.needed && !option.given)
      throw UsageError("{}{} is missing", option.argument ? "" : "--", option.name);
  return true;
}

std::string usage(const std::vector<Option>& options) {
  std::string out;
  bool has_options = false;
  for (const Option& o : options) {
    has_options |= !o.argument && !o.needed;
    if (o.argument && o.needed) out += fmt::format(" {}", o.name);
    if (o.argument && !o.needed) out += fmt::format(" [{}{}]", o.name, o.many ? " ..." : "");
    if (!o.argument && o.needed) out += fmt::format(" --{} {}", o.name, o.value);
  }
  return out + (has_options ? " [options]" : "");
}

std::string option_lines(const std::vector<Option>& options) {
  std::vector<std::string> heads;
  size_t width = 0;
  for (const Option& o : options) {
    const std::string value = o.value.empty() ? "" : " " + o.value;
    heads.push_back(o.argument ? o.name : fmt::format("--{}{}", o.name, value));
    width = std::max(width, heads.back().size());
  }
  std::string out;
  for (size_t i = 0; i < options.size(); ++i) {
    const Option& o = options[i];
    out += fmt::format("  {:<{}}  {}", heads[i], width, o.help);
    if (!o.rule.empty()) out += fmt::format("; {}", o.rule);
    if (!o.fallback.empty()) out += fmt::format(" (default {})", o.fallback);
    out += "\n";
  }
  return out;
}

}  // namespace hone::cli
