// tf.train.Example, the protobuf message that TFRecord files hold: named lists of bytes, of floats
// or of integers.
//
// As a row: one byte string is a text, several are a list of texts, numbers are a list of numbers.
// What a row has beyond that (objects, single numbers, true) is stored as its JSON text under the
// name with ":json" behind it, so that every row comes back as it was.
#pragma once

#include <string>
#include <string_view>

#include "data/row.h"

namespace hone::data {

// Throws ConfigError "PLACE: ...": no such message, bytes that are not UTF-8.
Row parse_tf_example(std::string_view bytes, const std::string& place, const RowLimits& limits);
std::string tf_example(const Row& row);

}  // namespace hone::data
