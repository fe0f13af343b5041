#include "core/run/profile/phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base/process_age.hpp"
#include "core/base/units.hpp"

namespace strata::graph {

namespace {

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Phases::Phases() : ended_{{"start", 0.0}} {
    const double age = process_age_s();  // first: it opens a file
    since_ = seconds_now() - age;
}

double Phases::enter(const std::string& name) {
    const double now = seconds_now(), passed = now - since_;
    ended_[current_].second += passed;
    since_ = now;
    const auto known =
        std::find_if(ended_.begin(), ended_.end(), [&](const auto& phase) { return phase.first == name; });
    current_ = static_cast<std::size_t>(known - ended_.begin());
    if (known == ended_.end()) ended_.emplace_back(name, 0.0);
    return passed;
}

std::vector<std::pair<std::string, double>> Phases::until_now() const {
    auto all = ended_;
    all[current_].second += seconds_now() - since_;
    return all;
}

std::string text_of(const std::vector<std::pair<std::string, double>>& phases) {
    double all = 0, other = 0;
    for (const auto& [name, seconds] : phases) all += seconds;
    auto longest = phases;
    std::stable_sort(longest.begin(), longest.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (const auto& [name, seconds] : longest) {
        if (seconds < 0.01 * all)
            other += seconds;
        else
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, print_seconds(seconds));
    }
    if (other > 0) text += fmt::format(", other {}", print_seconds(other));
    return fmt::format("in all {}: {}\n", print_duration(all), text);
}

}  // namespace strata::graph
