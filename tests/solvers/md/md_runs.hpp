// Runs of molecular dynamics within a test's process, and what their atoms have.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "solvers/md/tasks.hpp"

namespace strata::md::tests {

/// A run of one process, on `threads` threads.
struct Running {
    std::unique_ptr<Settings> settings;
    std::unique_ptr<graph::Graph> graph;
    Labels labels;
    std::unique_ptr<graph::Simulation> simulation;

    explicit Running(Settings s, int threads = 1) : settings(std::make_unique<Settings>(std::move(s))) {
        complete(*settings, schema(*settings));
        graph = std::make_unique<graph::Graph>("md");
        labels = declare(*graph, *settings);
        simulation = std::make_unique<graph::Simulation>(*graph, graph::Members::alone(),
                                                         graph::SimulationOptions{.threads = threads});
        simulation->start();
    }
    void advance(std::int64_t steps) const { simulation->advance(steps); }
    template <class T>
    [[nodiscard]] T value(graph::Scalar<T> scalar) const {
        return simulation->value(scalar);
    }

    template <class T>
    [[nodiscard]] std::vector<T> values(graph::Particles<T> label, int patch) const {
        std::vector<T> numbers;
        for (const graph::Kept& kept : graph::kept_versions(simulation->plan())) {
            if (kept.label != label.id() || kept.back != 0) continue;
            const std::vector<std::byte> bytes = simulation->values(kept, patch);
            numbers.resize(bytes.size() / sizeof(T));
            if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
        }
        return numbers;
    }
    /// id -> x, v half a step ahead
    [[nodiscard]] std::map<std::int64_t, std::array<double, 6>> atoms() const {
        std::map<std::int64_t, std::array<double, 6>> all;
        const int patches = static_cast<const graph::Grid&>(*graph->families().front()).patches();
        for (int p = 0; p < patches; ++p) {
            const auto ids = values(labels.id, p);
            const auto x = values(labels.x, p), v = values(labels.v, p);
            for (std::size_t i = 0; i < ids.size(); ++i)
                for (std::size_t c = 0; c < 3; ++c)
                    all[ids[i]][c] = x[c * ids.size() + i], all[ids[i]][3 + c] = v[c * ids.size() + i];
        }
        return all;
    }
};

/// Mean, variance and the standard error of the mean, by blocks of values.
struct Averages {
    double mean = 0, variance = 0, error = 0;
    explicit Averages(const std::vector<double>& values, std::size_t blocks = 20) {
        const auto n = static_cast<double>(values.size());
        for (const double each : values) mean += each / n;
        for (const double each : values) variance += (each - mean) * (each - mean) / n;
        const std::size_t length = values.size() / blocks;
        double squares = 0;
        for (std::size_t b = 0; b < blocks; ++b) {
            double of = 0;
            for (std::size_t i = b * length; i < (b + 1) * length; ++i)
                of += values[i] / static_cast<double>(length);
            squares += (of - mean) * (of - mean);
        }
        error = std::sqrt(squares / static_cast<double>(blocks * (blocks - 1)));
    }
};

}  // namespace strata::md::tests
