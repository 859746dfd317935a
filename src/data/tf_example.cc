#include "data/tf_example.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"

namespace hone::data {
namespace {

constexpr std::string_view kJson = ":json";

enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// The fields of one protobuf message. Throws ConfigError where the bytes are none.
class Fields {
 public:
  Fields(std::string_view message, const std::string& place) : left_(message), place_(place) {}

  // The next field: its number and wire type, and its value in `number` or `bytes`.
  bool next() {
    if (left_.empty()) return false;
    const uint64_t key = varint();
    field = key >> 3;
    wire = static_cast<int>(key & 7);
    if (wire == kVarint) {
      number = varint();
    } else if (wire == kBytes) {
      bytes = take(varint());
    } else if (wire == kFixed32 || wire == kFixed64) {
      bytes = take(wire == kFixed32 ? 4 : 8);
    } else {
      refuse("a field of an unknown kind");
    }
    return true;
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) refuse("it ends inside a number");
      const auto byte = static_cast<uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    refuse("a number of more than 64 bits");
  }

  bool empty() const { return left_.empty(); }
  [[noreturn]] void refuse(std::string_view why) const {
    throw ConfigError("{}: the record is no tf.train.Example: {}", place_, why);
  }

  uint64_t field = 0, number = 0;
  int wire = 0;
  std::string_view bytes;

 private:
  std::string_view take(uint64_t size) {
    if (size > left_.size()) refuse("a field is longer than the record");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
  const std::string& place_;
};

float float_of(std::string_view bytes) {
  float value = 0;
  std::memcpy(&value, bytes.data(), 4);
  return value;
}

// `value` fields (number 1) of a BytesList, FloatList or Int64List; packed or not.
Row list_of(std::string_view message, uint64_t kind, const std::string& place) {
  Row values = Row::array();
  Fields list(message, place);
  while (list.next()) {
    if (list.field != 1) continue;
    if (kind == 1 && list.wire == kBytes) {
      if (!valid_utf8(list.bytes)) list.refuse("a text is not UTF-8");
      values.push_back(std::string(list.bytes));
    } else if (kind == 2 && list.wire == kFixed32) {
      values.push_back(float_of(list.bytes));
    } else if (kind == 2 && list.wire == kBytes) {
      if (list.bytes.size() % 4 != 0) list.refuse("a list of floats has a broken length");
      for (size_t i = 0; i < list.bytes.size(); i += 4)
        values.push_back(float_of(list.bytes.substr(i)));
    } else if (kind == 3 && list.wire == kVarint) {
      values.push_back(static_cast<int64_t>(list.number));
    } else if (kind == 3 && list.wire == kBytes) {
      Fields packed(list.bytes, place);
      while (!packed.empty()) values.push_back(static_cast<int64_t>(packed.varint()));
    } else {
      list.refuse("a list holds values of another kind");
    }
  }
  return values;
}

Row feature_value(std::string_view message, const std::string& place) {
  Fields feature(message, place);
  Row value;
  while (feature.next()) {
    if (feature.field < 1 || feature.field > 3 || feature.wire != kBytes) continue;
    value = list_of(feature.bytes, feature.field, place);
    if (feature.field == 1 && value.size() == 1) value = Row(value[0]);
  }
  return value;  // null: the feature holds nothing
}

void add_feature(std::string_view entry, Row& row, const std::string& place,
                 const RowLimits& limits) {
  Fields fields(entry, place);
  std::string name;
  Row value;
  while (fields.next()) {
    if (fields.field == 1 && fields.wire == kBytes) name = fields.bytes;
    if (fields.field == 2 && fields.wire == kBytes) value = feature_value(fields.bytes, place);
  }
  if (!valid_utf8(name)) fields.refuse("a feature's name is not UTF-8");
  if (name.ends_with(kJson) && value.is_string()) {
    name.resize(name.size() - kJson.size());
    value = parse_ordered_json(value.get_ref<const std::string&>(), place,
                               {.bytes = limits.row_bytes, .depth = limits.depth});
  }
  if (row.size() >= 1000) fields.refuse("more than 1000 features");
  if (row.contains(name)) fields.refuse(fmt::format("the feature {} appears twice", quote(name)));
  row[name] = std::move(value);
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void put_bytes(std::string& out, uint64_t field, std::string_view bytes) {
  put_varint(out, field << 3 | kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

std::string message(uint64_t field, std::string_view bytes) {
  std::string out;
  put_bytes(out, field, bytes);
  return out;
}

// The Feature that holds the value as it is; "" where none does.
std::string plain_feature(const Row& value) {
  std::string list;
  const auto all = [&](auto is) { return !value.empty() && std::ranges::all_of(value, is); };
  if (value.is_string()) {
    put_bytes(list, 1, value.get_ref<const std::string&>());
    return message(1, list);
  }
  if (!value.is_array()) return "";
  if (value.size() > 1 && all([](const Row& v) { return v.is_string(); })) {
    for (const Row& v : value) put_bytes(list, 1, v.get_ref<const std::string&>());
    return message(1, list);
  }
  const auto fits = [](const Row& v) {
    return v.is_number_integer() && (!v.is_number_unsigned() || v.get<uint64_t>() <= INT64_MAX);
  };
  if (!all(fits)) return "";
  std::string packed;
  for (const Row& v : value) put_varint(packed, static_cast<uint64_t>(v.get<int64_t>()));
  return message(3, message(1, packed));
}

}  // namespace

Row parse_tf_example(std::string_view bytes, const std::string& place, const RowLimits& limits) {
  Row row = Row::object();
  Fields example(bytes, place);
  while (example.next()) {
    if (example.field != 1 || example.wire != kBytes) continue;
    Fields features(example.bytes, place);
    while (features.next())
      if (features.field == 1 && features.wire == kBytes)
        add_feature(features.bytes, row, place, limits);
  }
  return row;
}

std::string tf_example(const Row& row) {
  std::string features;
  for (const auto& [name, value] : row.items()) {
    std::string feature = plain_feature(value);
    const bool plain = !feature.empty() && !name.ends_with(kJson);
    if (!plain) feature = message(1, message(1, value.dump()));
    put_bytes(features, 1,
              message(1, plain ? name : name + std::string(kJson)) + message(2, feature));
  }
  return message(1, features);
}

}  // namespace hone::data
