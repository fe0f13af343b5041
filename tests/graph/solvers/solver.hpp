// Small solvers that show what graphs can carry: each is run in any layout, and must give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/graph/simulation/simulation.hpp"

namespace strata::tests {

[[nodiscard]] constexpr std::size_t z(std::int64_t i) { return static_cast<std::size_t>(i); }

class Solver {
  public:
    explicit Solver(const std::string& name) : graph(name) {}
    virtual ~Solver() = default;
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;

    graph::Graph graph;
};

/// "fft", "gradients", "overset", "refined", "zones", "narrow", "swept", "charges", "two-level" or "annulus",
/// of the size that is compared over layouts.
[[nodiscard]] std::unique_ptr<Solver> make_solver(const std::string& name);
/// The names that make_solver() knows, with the steps that each is run for.
struct Comparison {
    const char* name;
    int steps;
};
[[nodiscard]] const std::vector<Comparison>& comparisons();

/// Patches of all families of a solver, which are numbered one family after the other.
[[nodiscard]] std::size_t patches_of(const Solver& solver);
/// A number for what each patch of this process has, at its place among all: equal for equal bits.
void write_fingerprints(const Solver& solver, const graph::Simulation& run, std::span<std::uint64_t> all);

/// What a label has now on one patch, in a run on one process: components after each other.
template <class T>
[[nodiscard]] std::vector<T> values_of(const graph::Simulation& run, graph::LabelId label, int patch) {
    for (const graph::Kept& kept : graph::kept_versions(run.plan())) {
        if (kept.label != label || kept.back != 0) continue;
        const std::vector<std::byte> bytes = run.values(kept, patch);
        std::vector<T> values(bytes.size() / sizeof(T));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    return {};
}

}  // namespace strata::tests
