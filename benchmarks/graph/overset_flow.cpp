#include <algorithm>
#include <cstring>
#include <numbers>

#include "benchmarks/graph/overset.hpp"

namespace strata::bench::graph_layer {

using namespace strata::graph;

namespace {

constexpr double kEdge = 10;      // of the fixed grid, in radii of the vortex
constexpr double kCourant = 0.1;  // time of a step over the cells' edge
constexpr double kTip = 0.15;     // cells by which the turning grid's sides go on in a step
constexpr std::array<double, 3> kWind = {1, 1, 0.3};

OversetShape shape_of(const Int3& patch) {
    const auto times = [&](int n) { return Int3{n * patch[0], n * patch[1], n * patch[2]}; };
    return {.fixed = times(3),
            .turning = times(2),
            .fixed_patch = patch,
            .turning_patch = patch,
            .layers = 2,
            .turn = kTip / patch[0]};
}

/// An isentropic vortex in a uniform wind (Shu, C.-W., ICASE 97-65, 1997), strength 5; x, y: from its middle.
FlowState vortex(double x, double y) {
    constexpr double kStrength = 5, kPi = std::numbers::pi;
    const double r2 = x * x + y * y, swirl = kStrength / (2 * kPi) * std::exp(0.5 * (1 - r2));
    const double heat = 1 - (kGamma - 1) * swirl * swirl / (2 * kGamma);
    const double density = std::pow(heat, 1 / (kGamma - 1));
    return conserved(density, {kWind[0] - swirl * y, kWind[1] + swirl * x, kWind[2]}, density * heat);
}

}  // namespace

OversetFlow::OversetFlow(const Int3& patch, Flow flow, int threads, Donors donors, Break fault)
    : Overset(shape_of(patch), donors, fault), flow_(flow) {
    const Values on_fixed = declare_flow(fixed_, "fixed");
    const Values on_turning = declare_flow(turning_, "turning");
    shown_fixed_ = on_fixed.id(), shown_turning_ = on_turning.id();
    begin(threads);
}

/// The labels of all stages on one grid. On the turning one each of them has two versions: the second one
/// with its outermost layers.
OversetFlow::Values OversetFlow::declare_flow(Grid& grid, const std::string& on) {
    const auto label = [&](const std::string& name, int history) {
        return graph_.field<double>(name + " on " + on, grid, On::cells,
                                    {.components = kFlowValues, .history = history});
    };
    const std::array<Values, 3> made{label("first", 0), label("second", 0), label("u", 1)};
    const Values u = made[2];
    const bool turns = &grid == &turning_;
    Task begin = graph_.start().task("begin on " + on, grid);
    begin.run([this, turns, to = begin.make(u)](Here& here) {
        const Turned now = turned(0);
        each(here.cells(), [&](int i, int j, int k) {
            const FlowState state =
                exact(turns ? place(i, j, k, now) : std::array<double, 3>{1. * i, 1. * j, 1. * k}, 0);
            for (int c = 0; c < kFlowValues; ++c) here[to](i, j, k, c) = state[static_cast<std::size_t>(c)];
        });
    });
    // Strong stability preserving (Shu and Osher, 1988): `to` is at the end of the step, at its half, at its
    // end; each stage's fluxes are those of the time before.
    const int last = turns ? 1 : 0;
    stage("first stage on " + on, grid, u.previous(), u.previous(), made[0], 0, 0);
    stage("second stage on " + on, grid, u.previous(), made[0].at(last), made[1], 0.75, 1);
    stage("third stage on " + on, grid, u.previous(), made[1].at(last), u, 1.0 / 3, 0.5);
    if (!turns) {
        of_fixed_ = made;
        return u;
    }
    Lists ends = donors("donors at ends", 1), halves = donors("donors at halves", 0.5);
    interpolate("first fringe", ends, of_fixed_[0].at(0), made[0]);
    interpolate("second fringe", halves, of_fixed_[1].at(0), made[1]);
    interpolate("third fringe", ends, of_fixed_[2].at(0), made[2]);
    return u;
}

void OversetFlow::stage(const std::string& name, Grid& grid, TypedVersion<double, Kind::field> old,
                        TypedVersion<double, Kind::field> u, Values to, double a, double part) {
    Task task = graph_.step().task(name, grid);
    const bool turns = &grid == &turning_;
    task.work(kFlowOperations, 3 * 8 * kFlowValues);
    task.run([=, this, old = task.need(old), u = task.need(u, ghosts(2)), to = task.make(to)](Here& here) {
        Turned now;
        Box box = here.cells();
        if (turns) {
            now = turned(static_cast<double>(here.step - 1) + part);
            now.rate = shape_.turn / kCourant;
            box = common(box, inner_);
        }
        flow_stage(here[u], here[old], here[to], a, kCourant, box, now);
    });
}

/// `at`: the centre of a cell of the fixed grid less 1/2.
FlowState OversetFlow::exact(const std::array<double, 3>& at, double time) const {
    if (flow_ == Flow::uniform) return conserved(1, kWind, 1);
    const double h = kEdge / shape_.fixed[0];
    const auto from_middle = [&](std::size_t d) {
        const double x = (at[d] + 0.5) * h - 0.5 * kEdge - kWind[d] * time;
        return x - kEdge * std::round(x / kEdge);
    };
    return vortex(from_middle(0), from_middle(1));
}

std::int64_t OversetFlow::steps() const {
    return static_cast<std::int64_t>(std::lround(0.1 * shape_.fixed[0] / kCourant));
}

OversetFlow::Error OversetFlow::error(std::int64_t steps) const {
    Error error;
    const double time = static_cast<double>(steps) * kCourant * kEdge / shape_.fixed[0];
    const Turned now = turned(static_cast<double>(steps));
    const auto all = states();
    for (int number = 0; number < static_cast<int>(all.size()); ++number) {
        const int patch = number - fixed_.patches();
        const bool turns = patch >= 0;
        const Box box = turns ? turning_.box(patch) : fixed_.box(number);
        const auto& bytes = all[static_cast<std::size_t>(number)];
        std::vector<double> values(bytes.size() / sizeof(double));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        std::size_t at = 0;
        const auto count = static_cast<std::size_t>(box.volume());
        each(box, [&](int i, int j, int k) {
            const FlowState state =
                exact(turns ? place(i, j, k, now) : std::array<double, 3>{1. * i, 1. * j, 1. * k}, time);
            for (std::size_t c = 0; c < kFlowValues; ++c)
                error.largest = std::max(error.largest, std::abs(values[at + c * count] - state[c]));
            if (turns) error.mean += std::abs(values[at] - state[0]);
            ++at;
        });
    }
    error.mean /= static_cast<double>(Box{{0, 0, 0}, shape_.turning}.volume());
    return error;
}

}  // namespace strata::bench::graph_layer
