// An example of a chat data set.
#pragma once

#include <vector>

#include "text/messages.h"

namespace hone::data {

struct Example {
  std::vector<text::Message> messages;  // in the order of the conversation, at least one
};

}  // namespace hone::data
