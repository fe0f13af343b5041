// Suspects on trial: their rounds are done again on their own core and on another one, until there is a
// verdict.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "benchmarks/integrity/crew.hpp"
#include "benchmarks/integrity/finding.hpp"
#include "benchmarks/integrity/pairs.hpp"

namespace strata::integrity {

class Trials {
  public:
    Trials(Crew& crew, Pairs& pairs) : crew_(crew), pairs_(pairs) {}

    /// Says the suspect and asks for its retries. A core that is wrong all the time must neither fill the
    /// disk nor keep others from being asked: with kMost suspects on trial, more are only counted.
    void add(Suspect suspect);
    /// Orders the retries that can run now, and says the findings that are complete.
    void go_on(double now_s);
    /// The answer to a retry; false where no trial has asked for it.
    [[nodiscard]] bool answered(int worker, const Report& report);
    /// An order came to nothing: the retry is asked for again later.
    void forget(std::uint32_t order);
    /// A worker crashed or hung in a retry; false where no trial has given that order.
    [[nodiscard]] bool crashed(int worker, std::uint32_t order);
    /// Says the findings of those that were asked at least once. Who was asked nothing yet stays a suspect.
    void end();
    [[nodiscard]] bool empty() const { return trials_.empty(); }

  private:
    static constexpr std::size_t kMost = 64;
    /// How long a suspect waits for the cores that are asked, not counting while they are stopped.
    static constexpr double kLongestS = 120;

    struct Trial {
        Suspect suspect;
        std::deque<int> to_do;    // workers to ask
        std::uint32_t order = 0;  // the one under way
        int asked = -1;
    };
    [[nodiscard]] Trial* of_order(std::uint32_t order);
    void ask(Trial& trial);
    void conclude(const Suspect& suspect) const;

    Crew& crew_;
    Pairs& pairs_;
    std::vector<Trial> trials_;
};

}  // namespace strata::integrity
