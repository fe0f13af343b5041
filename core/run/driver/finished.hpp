// A run that is over, for the evaluation of its result.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

namespace strata::graph {

/// All functions are collective: all members make the same calls.
class Finished {
  public:
    Finished(const Simulation& simulation, team::Team& team) : simulation_(simulation), team_(team) {}

    /// The sum of term(index, value) over all values of a field that patches own, its border layers left out:
    /// exact, rounded once, so the same for every layout. `term` is called by all threads.
    [[nodiscard]] double sum(Field<double> field,
                             const std::function<double(const Int3& at, double value)>& term) const;

    /// Several such sums at once, of n terms of each value. `find_terms` gets a row of values along the first
    /// direction, the first of them at index `at`, and fills terms[term][value].
    using FindTerms = std::function<void(const Int3& at, std::span<const double> values,
                                         std::span<const std::span<double>> terms)>;
    [[nodiscard]] std::vector<double> sums(Field<double> field, std::size_t n,
                                           const FindTerms& find_terms) const;

    /// The root of the mean square difference of a field from exact(x), x the place of a value; of its border
    /// layers nothing.
    [[nodiscard]] double error(Field<double> field, const std::function<double(const Real3& x)>& exact) const;
    /// The same with a function that fills a row of exact values along the first direction, the first of them
    /// at index `at`.
    [[nodiscard]] double error(
        Field<double> field, const std::function<void(const Int3& at, std::span<double> exact)>& fill) const;

    /// The sum of terms that each member has computed for its own patches.
    [[nodiscard]] double sum(std::span<const double> terms) const;
    template <class T>
    [[nodiscard]] T value(Scalar<T> scalar) const {
        return simulation_.value(scalar);
    }
    [[nodiscard]] const Simulation& simulation() const { return simulation_; }

  private:
    const Simulation& simulation_;
    team::Team& team_;
};

}  // namespace strata::graph
