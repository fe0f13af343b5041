#include "tests/graph/solvers/overset.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace strata::tests {

using namespace graph;

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kHalf = 2.5, kStretch = 0.8;                   // of the background
constexpr double kInner = 0.4, kOuter = 1.0, kRingTurns = 2.0;  // of the ring, and its speed over the flow's
constexpr double kHoleFrom = 0.6, kHoleTo = 0.8;                // distances from the ring's centre
constexpr Point kCentre{1, 0};
constexpr int kReach = 2;

double bend(double x) { return 0.15 * std::sin(1.3 * x); }

/// The parabola through three values around the middle one, at t in cells from it.
std::array<double, 3> weights(double t) { return {t * (t - 1) / 2, 1 - t * t, t * (t + 1) / 2}; }

/// The nine cells around a place, and what each counts there.
struct Stencil {
    int i, j;  // of the middle one
    std::array<double, 3> x, y;

    explicit Stencil(const Point& at)
        : i(static_cast<int>(std::floor(at[0]))),
          j(static_cast<int>(std::floor(at[1]))),
          x(weights(at[0] - i - 0.5)),
          y(weights(at[1] - j - 0.5)) {}
    /// value(i, j), each by its weight.
    template <class Value>
    [[nodiscard]] double sum(Value value) const {
        double total = 0;
        for (int b = 0; b < 3; ++b)
            for (int a = 0; a < 3; ++a) total += x[z(a)] * y[z(b)] * value(i - 1 + a, j - 1 + b);
        return total;
    }
};

Gather::Source entry_of(const Grid& grid, const Int3& cell, const Int3& border) {
    const Grid::Meeting met =
        grid.owners({cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}}, On::cells, border).at(0);
    const Box owned = grid.owned(met.patch, On::cells, border);
    return {met.patch, (cell[0] - owned.lo[0]) + (cell[1] - owned.lo[1]) * owned.extent(0)};
}

constexpr Int3 kBorder{kReach, 0, 0};  // of the ring

}  // namespace

Overset::Overset(int n)
    : Solver("overset"), n_(n), across_(6 * n / 25), around_(24 * n / 25), steps_(8 * n / 5) {
    angle_ = kPi / steps_;
    declare();
}

Point Overset::background_place(const Point& at) const {
    const auto line = [&](double a) {
        return kHalf * std::sinh(kStretch * (2 * a / n_ - 1)) / std::sinh(kStretch);
    };
    const double x = line(at[0]);
    return {x, line(at[1]) + bend(x)};
}

Point Overset::background_at(const Point& place) const {
    const auto line = [&](double x) {
        return n_ * (std::asinh(x * std::sinh(kStretch) / kHalf) / kStretch + 1) / 2;
    };
    return {line(place[0]), line(place[1] - bend(place[0]))};
}

Point Overset::ring_place(const Point& at, std::int64_t step) const {
    const double r = kInner * std::pow(kOuter / kInner, at[0] / across_);
    const double phi = 2 * kPi * at[1] / around_ + kRingTurns * angle_ * static_cast<double>(step);
    return {kCentre[0] + r * std::cos(phi), kCentre[1] + r * std::sin(phi)};
}

Point Overset::ring_at(const Point& place, std::int64_t step) const {
    const double x = place[0] - kCentre[0], y = place[1] - kCentre[1];
    const double turned = (std::atan2(y, x) - kRingTurns * angle_ * static_cast<double>(step)) / (2 * kPi);
    return {across_ * std::log(std::hypot(x, y) / kInner) / std::log(kOuter / kInner),
            around_ * (turned - std::floor(turned))};
}

Point Overset::came_from(const Point& place) const {
    const double c = std::cos(angle_), s = std::sin(angle_);
    return {c * place[0] + s * place[1], c * place[1] - s * place[0]};
}

/// At first around (0, -1), so that it comes through the ring's middle.
double Overset::exact(const Point& place, std::int64_t step) const {
    const double phi = angle_ * static_cast<double>(step) - kPi / 2;
    const double x = place[0] - std::cos(phi), y = place[1] - std::sin(phi);
    return std::exp(-(x * x + y * y) / (2 * 0.35 * 0.35));
}

bool Overset::in_hole(int i, int j) const {
    const Point at = background_place({i + 0.5, j + 0.5});
    const double r = std::hypot(at[0] - kCentre[0], at[1] - kCentre[1]);
    return r > kHoleFrom && r < kHoleTo;
}

std::vector<Int3> Overset::hole(int patch) const {
    std::vector<Int3> all;
    const Box box = background->box(patch);
    for (int j = box.lo[1]; j < box.hi[1]; ++j)
        for (int i = box.lo[0]; i < box.hi[0]; ++i)
            if (in_hole(i, j)) all.push_back({i, j, 0});
    return all;
}

int Overset::hole() const {
    std::size_t cells = 0;
    for (int p = 0; p < background->patches(); ++p) cells += hole(p).size();
    return static_cast<int>(cells);
}

std::vector<Int3> Overset::fringe(int patch) const {
    std::vector<Int3> all;
    const Box box = ring->owned(patch, On::cells, kBorder);
    for (int j = box.lo[1]; j < box.hi[1]; ++j)
        for (int i = box.lo[0]; i < box.hi[0]; ++i)
            if (i < 0 || i >= across_) all.push_back({i, j, 0});
    return all;
}

Gather::Table Overset::donors_of_ring(std::int64_t step) const {
    Gather::Table table(z(ring->patches()));
    for (int p = 0; p < ring->patches(); ++p)
        for (const Int3& cell : fringe(p)) {
            const Stencil from(background_at(ring_place({cell[0] + 0.5, cell[1] + 0.5}, step)));
            for (int b = -1; b < 2; ++b)
                for (int a = -1; a < 2; ++a)
                    table[z(p)].push_back(entry_of(*background, {from.i + a, from.j + b, 0}, {}));
        }
    return table;
}

Gather::Table Overset::donors_of_background(std::int64_t step) const {
    Gather::Table table(z(background->patches()));
    for (int p = 0; p < background->patches(); ++p)
        for (const Int3& cell : hole(p)) {
            const Stencil from(ring_at(background_place({cell[0] + 0.5, cell[1] + 0.5}), step));
            for (int b = -1; b < 2; ++b)
                for (int a = -1; a < 2; ++a)
                    table[z(p)].push_back(
                        entry_of(*ring, {from.i + a, (from.j + b + around_) % around_, 0}, kBorder));
        }
    return table;
}

bool Overset::borrowed(std::int64_t step) const {
    for (int p = 0; p < ring->patches(); ++p)
        for (const Int3& cell : fringe(p)) {
            const Stencil from(background_at(ring_place({cell[0] + 0.5, cell[1] + 0.5}, step)));
            for (int b = -1; b < 2; ++b)
                for (int a = -1; a < 2; ++a)
                    if (in_hole(from.i + a, from.j + b)) return true;
        }
    for (int p = 0; p < background->patches(); ++p)
        for (const Int3& cell : hole(p)) {
            const Stencil from(ring_at(background_place({cell[0] + 0.5, cell[1] + 0.5}), step));
            if (from.i < 1 || from.i + 1 >= across_) return true;
        }
    return false;
}

void Overset::declare() {
    background = &graph.grid("background",
                             {.cells = {{0, 0, 0}, {n_, n_, 1}}, .patch_cells = {n_ / 3 + 1, n_ / 4 + 1, 1}});
    ring = &graph.grid("ring", {.cells = {{0, 0, 0}, {across_, around_, 1}},
                                .patch_cells = {across_ / 2, around_ / 3, 1},
                                .periodic = {false, true, false}});
    on_background = graph.field<double>("on background", *background, On::cells, {.history = 1});
    on_ring = graph.field<double>("on ring", *ring, On::cells, {.history = 1, .border = kBorder});
    auto& to_ring = graph.add<Gather>("donors of the ring", *background, *ring, donors_of_ring(0));
    auto& to_background =
        graph.add<Gather>("donors of the background", *ring, *background, donors_of_background(0));
    graph.before_step([&, this](std::int64_t step) {
        to_ring.replace(donors_of_ring(step));
        to_background.replace(donors_of_background(step));
    });
    {
        Task task = graph.start().task("background at first", *background);
        const auto to = task.make(on_background);
        task.run([=, this](Here& here) {
            const Box box = here.cells();
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i)
                    here[to](i, j) = exact(background_place({i + 0.5, j + 0.5}), 0);
        });
    }
    {
        Task task = graph.start().task("ring at first", *ring);
        const auto to = task.make(on_ring);
        task.run([=, this](Here& here) {
            const auto view = here[to];
            for (int j = view.box().lo[1]; j < view.box().hi[1]; ++j)
                for (int i = view.box().lo[0]; i < view.box().hi[0]; ++i)
                    view(i, j) = exact(ring_place({i + 0.5, j + 0.5}, 0), 0);
        });
    }
    {
        Task task = graph.step().task("background follows the flow", *background);
        const auto old = task.need(on_background.previous(), ghosts({kReach, kReach, 0}));
        const auto to = task.make(on_background);
        task.run([=, this](Here& here) {
            const auto from = here[old];
            const Box box = here.cells();
            const Box within = here.grid().shape().cells;
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) {
                    const Stencil there(background_at(came_from(background_place({i + 0.5, j + 0.5}))));
                    here[to](i, j) = there.sum([&](int a, int b) {
                        if (!within.contains(Int3{a, b, 0})) return 0.0;
                        if (!from.box().contains(Int3{a, b, 0})) here.fail("the flow is too fast");
                        return from(a, b);
                    });
                }
        });
    }
    {
        Task task = graph.step().task("ring follows the flow", *ring);
        const auto old = task.need(on_ring.previous(), ghosts({kReach, kReach, 0}));
        const auto to = task.make(on_ring);
        task.run([=, this](Here& here) {
            const auto from = here[old];
            const Box box = here.cells();
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) {
                    const Point place = came_from(ring_place({i + 0.5, j + 0.5}, here.step));
                    Point at = ring_at(place, here.step - 1);
                    at[1] += around_ * std::round((j + 0.5 - at[1]) / around_);  // the nearest way round
                    here[to](i, j) = Stencil(at).sum([&](int a, int b) {
                        if (!from.box().contains(Int3{a, b, 0})) here.fail("the flow is too fast");
                        return from(a, b);
                    });
                }
        });
    }
    {
        Task task = graph.step().task("fringe", *ring);
        const auto donors = task.need(on_background, to_ring);
        const auto to = task.modify(on_ring);
        task.run([=, this](Here& here) {
            std::int64_t at = 0;
            for (const Int3& cell : fringe(here.patch)) {
                const Point place = ring_place({cell[0] + 0.5, cell[1] + 0.5}, here.step);
                here[to](cell[0], cell[1]) =
                    Stencil(background_at(place)).sum([&](int, int) { return here[donors][at++]; });
            }
        });
    }
    {
        Task task = graph.step().task("hole", *background);
        const auto donors = task.need(on_ring.at(1), to_background);
        const auto to = task.modify(on_background);
        task.run([=, this](Here& here) {
            std::int64_t at = 0;
            for (const Int3& cell : hole(here.patch)) {
                const Point place = background_place({cell[0] + 0.5, cell[1] + 0.5});
                here[to](cell[0], cell[1]) =
                    Stencil(ring_at(place, here.step)).sum([&](int, int) { return here[donors][at++]; });
            }
        });
    }
}

double Overset::error(const Simulation& run) const {
    double sum = 0;
    std::size_t count = 0;
    const auto look = [&](const Grid& grid, LabelId label, const Int3& border, auto place) {
        for (int p = 0; p < grid.patches(); ++p) {
            const std::vector<double> values = values_of<double>(run, label, p);
            const Box box = grid.owned(p, On::cells, border);
            std::size_t at = 0;
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) {
                    const double off = values.at(at++) - exact(place(i, j), run.step());
                    sum += off * off;
                }
            count += at;
        }
    };
    look(*background, on_background.id(), {}, [&](int i, int j) {
        return background_place({i + 0.5, j + 0.5});
    });
    look(*ring, on_ring.id(), kBorder, [&](int i, int j) {
        return ring_place({i + 0.5, j + 0.5}, run.step());
    });
    return std::sqrt(sum / static_cast<double>(count));
}

}  // namespace strata::tests
