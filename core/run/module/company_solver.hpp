// What the driver does with a company's run: all that its modules ask for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/run/driver/driver.hpp"

namespace strata::graph {

class CompanySolver {
  public:
    /// `time`: of the common clock.
    explicit CompanySolver(Scalar<double> time) { all_.time = time; }

    /// Throws Error where the module measures time in another unit than one before it, ends at no time that
    /// is known before, or shows its particles on a scale beside one that does.
    void add(const std::string& name, Solver solver);
    /// The end of the module that ends first. Throws Error where no module has an end.
    [[nodiscard]] double end() const;
    [[nodiscard]] Solver solver() &&;

  private:
    template <class Call>
    using Named = std::vector<std::pair<std::string, Call>>;

    Solver all_;
    std::string timed_;  // the first module with a time
    Named<std::function<std::string(const Simulation&)>> first_lines_;
    Named<std::function<Findings(const Finished&)>> verify_;
    std::vector<decltype(Solver::facts)> facts_;
    std::vector<decltype(Solver::series_due)> due_;
};

}  // namespace strata::graph
