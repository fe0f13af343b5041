// How much of each PU others use, looked at every tick: what a PU was busy with, less what its worker had.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace strata::integrity {

/// What the supervisor knows of a PU's own worker at a tick.
struct OwnUse {
    double cpu_s = 0;        // that it has had since it began
    bool wants_all = false;  // it computes, and is not stopped: what it does not get others have
};

class Others {
  public:
    /// `root` is put before /proc, so that tests can describe other systems.
    explicit Others(std::string root = "") : root_(std::move(root)) {}
    /// A tick: takes the times of /proc/stat and of the workers by their PU.
    void look(double now_s, const std::map<int, OwnUse>& own);
    /// The share of a PU that others had in the last three ticks; nothing is known before the second tick.
    [[nodiscard]] double share(int pu) const;
    /// Added up over all PUs but what is left out as noise of each.
    [[nodiscard]] double all() const;
    /// Tasks that could run at the tick, this process's supervisor and the workers among them.
    [[nodiscard]] int running() const { return running_; }

  private:
    static constexpr std::size_t kWindow = 3;
    struct Tick {
        double wall = 0;
        std::map<int, double> other;
    };
    std::string root_;
    double before_s_ = -1;
    std::map<int, std::pair<double, double>> before_;  // idle and stolen, s
    std::map<int, OwnUse> own_before_;
    std::deque<Tick> window_;
    int running_ = 0;
};

}  // namespace strata::integrity
