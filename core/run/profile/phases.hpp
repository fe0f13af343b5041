// The phases of a run's time, from the first instruction of the process on.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace strata::graph {

/// The phases of one process. They follow one another without gaps: each lasts until the next is entered.
class Phases {
  public:
    /// The first phase, `start`, began with the process. (The kernel gives that moment to 10 ms.)
    Phases();

    /// Begins a phase; an earlier one may be entered again. Returns the seconds since the last call.
    double enter(const std::string& name);
    /// Each phase's seconds until now, in the order in which they were first entered.
    [[nodiscard]] std::vector<std::pair<std::string, double>> until_now() const;

  private:
    std::vector<std::pair<std::string, double>> ended_;
    std::size_t current_ = 0;
    double since_;  // by the steady clock, in s
};

/// "in all 5.31 s: steps 3.7 s, comparison 0.95 s, ...", the longest first. Phases below a hundredth of the
/// whole are added up as "other".
[[nodiscard]] std::string text_of(const std::vector<std::pair<std::string, double>>& phases);

}  // namespace strata::graph
