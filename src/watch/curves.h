// The curves of a run's page.
#pragma once

#include <string>

#include "watch/run_record.h"

namespace hone::watch {

// Exponential moving average without its bias towards 0, over about a fifteenth of the points: what
// TensorBoard's slider does. A gap stays a gap.
Points smoothed(const Points& points);

// At most about `most` points, the extremes of each stretch among them.
Points thinned(const Points& points, size_t most);

// Raw and smoothed training loss, and validation loss where it was measured.
std::string loss_chart(const Points& training, const Points& validation);

std::string chart(const Points& points, const std::string& name);

// A bar for each (label, value).
std::string columns(const std::vector<std::pair<std::string, double>>& values,
                    const std::string& x_name, const std::string& y_name);

std::string short_number(double value);  // "0.0838", "1.2e-05", "24,310"

}  // namespace hone::watch
