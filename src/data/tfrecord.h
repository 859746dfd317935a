// Writing TFRecord files; data/row.h reads them.
#pragma once

#include <string>

#include "data/row.h"

namespace hone::data {

std::string tfrecord(const Row& row);  // one record, with its length and checksums

}  // namespace hone::data
