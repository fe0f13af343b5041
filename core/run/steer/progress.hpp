// The speed of a run, the estimate of its remaining time, and the line that shows both.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace strata::graph {

/// Where a run ends: after a number of steps, at a time of the case, or whichever comes first.
struct RunEnd {
    std::optional<std::int64_t> step;
    std::optional<double> time;
    std::string time_unit;
};

/// Steps a second over the last ten seconds, not since the start, because the cost of steps changes.
class Pace {
  public:
    explicit Pace(RunEnd end) : end_(std::move(end)) {}

    /// To be called after a step. `seconds`: of any steady clock.
    void at(std::int64_t step, double time, double seconds);

    [[nodiscard]] std::int64_t step() const { return last_.step; }
    [[nodiscard]] double time() const { return last_.time; }
    /// Steps a second; none before there are two moments.
    [[nodiscard]] std::optional<double> rate() const;
    /// The share of the run that is done, 0 to 1; none where no end is known.
    [[nodiscard]] std::optional<double> done() const;
    /// Seconds until the end at this pace: the smaller of the estimates by steps and by time.
    [[nodiscard]] std::optional<double> left() const;
    [[nodiscard]] const RunEnd& end() const { return end_; }

  private:
    struct Moment {
        std::int64_t step = 0;
        double time = 0, seconds = 0;
    };
    static constexpr double kWindow = 10;  // seconds

    RunEnd end_;
    Moment first_, last_;
    bool begun_ = false;
    std::deque<Moment> window_;
};

/// "step 500/2000  25 %  t = 0.125 s  83 steps/s  18 s left".
[[nodiscard]] std::string progress_line(const Pace& pace);

/// Shows the line: on a terminal it is redrawn, five times a second at most; elsewhere one is added every ten
/// seconds. Each time in one short write.
class Progress {
  public:
    /// To an open file, usually standard error. `terminal`: whether to redraw the line (default: whether the
    /// file is a terminal).
    explicit Progress(RunEnd end, int file = 2, std::optional<bool> terminal = std::nullopt);
    /// Ends the line if finish() has not been called.
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    /// To be called after a step. `seconds`: as in Pace::at.
    void at(std::int64_t step, double time, double seconds);
    /// A line of its own, which stays.
    void say(const std::string& line);
    /// Shows the last state and, on a terminal, ends the line: other messages may follow.
    void finish();
    [[nodiscard]] const Pace& pace() const { return pace_; }

  private:
    void show(const std::string& line);

    Pace pace_;
    int file_;
    bool terminal_, begun_ = false;
    double shown_ = 0;
    std::int64_t shown_step_ = -1;
};

}  // namespace strata::graph
