// pjrt::Error: what a plugin refused, in one line, with its status code.
#pragma once

#include <string>
#include <utility>

#include "base/error.h"

namespace hone::pjrt {

// The numbers of PJRT_Error_Code (and of absl::StatusCode).
enum class Code {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

struct Error : hone::Error {
  template <class... Args>
  Error(Code c, fmt::format_string<Args...> format, Args&&... args)
      : hone::Error(format, std::forward<Args>(args)...), code(c) {}
  Code code;
};

}  // namespace hone::pjrt
