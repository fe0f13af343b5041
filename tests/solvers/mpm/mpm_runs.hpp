// What tests of the material point method share: cases as settings, and a run of one with all that it kept.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "solvers/mpm/exact.hpp"
#include "solvers/mpm/tasks.hpp"
#include "tests/solvers/mpm/mpm_bodies.hpp"

namespace strata::mpm::tests {

using namespace strata::graph;

inline Settings settled(Settings s) {
    complete(s, schema(s));
    return s;
}

/// Two elastic disks in a plane of `n` x `n` cells, about to meet.
inline Settings disks(std::vector<std::int64_t> patch, const std::string& shape,
                      const std::string& transfer) {
    Settings s;
    s.cells = {24, 24, 1}, s.patch_cells = std::move(patch), s.size = {1.2, 1.2, 0.05};
    s.shape = shape, s.transfer_name = transfer;
    s.given_materials = {elastic(Law::linear, 1000, 1000, 0.3), elastic(Law::neo_hookean, 800, 2000, 0.4)};
    s.bodies = {cylinder({0.4, 0.4, 0}, {0.4, 0.4, 0.05}, 0.2),
                cylinder({0.8, 0.8, 0}, {0.8, 0.8, 0.05}, 0.2)};
    s.bodies[1].material = 1;
    move(s, {{0.1, 0.1, 0}, {-0.1, -0.1, 0}});
    s.per_cell = {2, 2, 1};
    s.end = 1.5;
    return settled(s);
}

struct Ended {
    std::map<std::int64_t, std::vector<double>> points;  // id -> x, v, F, mass, and what else is kept of it
    double kinetic = 0, strain = 0, plastic = 0, work = 0, first = 0, error = 0;
    std::array<double, 3> momentum{};
    std::int64_t steps = 0;
    double time = 0;
};

inline Ended run(const Settings& s, std::int64_t most = 1'000'000, int threads = 2) {
    Graph graph("mpm");
    const Labels l = declare(graph, s);
    Simulation simulation(graph, Members::alone(), {.threads = threads});
    simulation.start();
    simulation.stop_when<double>(l.time, [&](double now) { return now >= s.end; });
    simulation.advance(most);
    Ended end;
    end.steps = simulation.step(), end.time = simulation.value(l.time);
    end.kinetic = simulation.value(l.kinetic), end.strain = simulation.value(l.strain);
    end.work = simulation.value(l.work), end.first = simulation.value(l.first_energy);
    if (s.plastic()) end.plastic = simulation.value(l.plastic_work);
    end.momentum = {simulation.value(l.momentum_x), simulation.value(l.momentum_y),
                    simulation.value(l.momentum_z)};
    if (s.exact())
        end.error =
            std::sqrt(simulation.value(l.error) / simulation.value(l.total_mass)) / exact_displacement(s);
    const int patches = static_cast<const Grid&>(*graph.families().front()).patches();
    for (int p = 0; p < patches; ++p) {
        const auto values = [&](LabelId label) {
            for (const Kept& kept : kept_versions(simulation.plan()))
                if (kept.label == label && kept.back == 0) return simulation.values(kept, p);
            return std::vector<std::byte>();
        };
        std::vector<std::byte> bytes = values(l.id.id());
        std::vector<std::int64_t> ids(bytes.size() / sizeof(std::int64_t));
        if (!bytes.empty()) std::memcpy(ids.data(), bytes.data(), bytes.size());
        std::vector<LabelId> labels{l.x.id(), l.v.id(), l.F.id(), l.mass.id()};
        if (s.plastic()) labels.insert(labels.end(), {l.elastic.id(), l.alpha.id()});
        if (s.transfer() == Transfer::apic) labels.push_back(l.C.id());
        for (const LabelId label : labels) {
            bytes = values(label);
            std::vector<double> numbers(bytes.size() / sizeof(double));
            if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
            for (std::size_t i = 0; i < numbers.size(); ++i)
                end.points[ids[i % ids.size()]].push_back(numbers[i]);
        }
    }
    return end;
}

inline bool same_bits(const Ended& a, const Ended& b) {
    if (a.points.size() != b.points.size() || a.steps != b.steps) return false;
    for (const auto& [id, values] : a.points) {
        const auto other = b.points.find(id);
        if (other == b.points.end() || other->second.size() != values.size() ||
            std::memcmp(other->second.data(), values.data(), values.size() * sizeof(double)) != 0)
            return false;
    }
    return true;
}

}  // namespace strata::mpm::tests
