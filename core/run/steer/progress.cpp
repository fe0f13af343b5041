#include "core/run/steer/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.hpp"

namespace strata::graph {

namespace {

/// A speed as easily read text, from 20 s a step to 20000 steps a second.
std::string speed(double steps_a_second) {
    if (steps_a_second >= 100) return fmt::format("{:.0f} steps/s", steps_a_second);
    if (steps_a_second >= 1) return fmt::format("{:.3g} steps/s", steps_a_second);
    return fmt::format("{:.3g} s/step", 1 / steps_a_second);
}

/// Columns of a terminal; 0 where they are not known.
std::size_t columns_of(int file) {
    winsize size{};
    return ::ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

void Pace::at(std::int64_t step, double time, double seconds) {
    last_ = {step, time, seconds};
    if (!begun_) first_ = last_;
    begun_ = true;
    // Few moments are enough, however short the steps.
    if (window_.empty() || seconds - window_.back().seconds >= kWindow / 50) window_.push_back(last_);
    while (window_.size() > 2 && seconds - window_[1].seconds >= kWindow) window_.pop_front();
}

std::optional<double> Pace::rate() const {
    if (!begun_ || window_.empty()) return std::nullopt;
    const Moment& from = window_.front();
    const double seconds = last_.seconds - from.seconds;
    if (seconds <= 0 || last_.step <= from.step) return std::nullopt;
    return static_cast<double>(last_.step - from.step) / seconds;
}

std::optional<double> Pace::done() const {
    if (!begun_) return std::nullopt;
    std::optional<double> share;
    const auto take = [&](double s) { share = std::max(share.value_or(0), std::clamp(s, 0.0, 1.0)); };
    if (end_.step)
        take(*end_.step > 0 ? static_cast<double>(last_.step) / static_cast<double>(*end_.step) : 1);
    if (end_.time) take(*end_.time > 0 ? last_.time / *end_.time : 1);
    return share;
}

std::optional<double> Pace::left() const {
    const std::optional<double> steps_a_second = rate();
    if (!steps_a_second) return std::nullopt;
    std::optional<double> seconds;
    const auto take = [&](double s) { seconds = std::min(seconds.value_or(s), std::max(0.0, s)); };
    if (end_.step) take(static_cast<double>(*end_.step - last_.step) / *steps_a_second);
    const Moment& from = window_.front();
    if (end_.time && last_.time > from.time)
        take((*end_.time - last_.time) * (last_.seconds - from.seconds) / (last_.time - from.time));
    return seconds;
}

std::string progress_line(const Pace& pace) {
    const RunEnd& end = pace.end();
    std::string line = fmt::format("step {}", pace.step());
    if (end.step) line += fmt::format(" of {}", *end.step);
    // Rounded down, so 100 % appears only at the end and not from 99.5 % on.
    if (const auto done = pace.done()) line += fmt::format(", {} %", static_cast<int>(*done * 100));
    line += fmt::format(", t = {:.6g}", pace.time());
    if (end.time) line += fmt::format(" of {:.6g}", *end.time);
    if (!end.time_unit.empty()) line += " " + end.time_unit;
    if (const auto rate = pace.rate()) line += ", " + speed(*rate);
    if (const auto left = pace.left()) line += fmt::format(", {} left", print_duration(std::round(*left)));
    return line;
}

Progress::Progress(RunEnd end, int file, std::optional<bool> terminal)
    : pace_(std::move(end)), file_(file), terminal_(terminal ? *terminal : ::isatty(file) == 1) {}

Progress::~Progress() {
    // After an error, its message begins on a line of its own.
    if (begun_ && terminal_ && ::write(file_, "\n", 1) != 1) return;
}

void Progress::at(std::int64_t step, double time, double seconds) {
    pace_.at(step, time, seconds);
    if (begun_ && seconds - shown_ < (terminal_ ? 0.2 : 10.0)) return;
    begun_ = true;
    shown_ = seconds;
    show(progress_line(pace_));
}

void Progress::say(const std::string& line) {
    const std::string text = terminal_ ? fmt::format("\r{}\x1b[K\n", line) : line + "\n";
    if (::write(file_, text.data(), text.size()) < 0) return;
    shown_step_ = -1;  // a terminal's line of progress is drawn anew
}

void Progress::finish() {
    if (!begun_) return;
    if (shown_step_ != pace_.step()) show(progress_line(pace_));
    if (terminal_ && ::write(file_, "\n", 1) != 1) return;
    begun_ = false;
}

void Progress::show(const std::string& line) {
    // A line that wraps at the edge cannot be redrawn. The cursor stays at the line's beginning, so another
    // message (e.g. an error of another process) overwrites the line.
    const std::size_t columns = terminal_ ? columns_of(file_) : 0;
    const std::string shown = columns > 1 ? line.substr(0, columns - 1) : line;
    const std::string text = terminal_ ? fmt::format("\r{}\x1b[K\r", shown) : line + "\n";
    // Progress that cannot be shown (a closed terminal) is no reason to end a run.
    if (::write(file_, text.data(), text.size()) < 0) return;
    shown_step_ = pace_.step();
}

}  // namespace strata::graph
