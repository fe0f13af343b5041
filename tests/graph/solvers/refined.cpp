#include "tests/graph/solvers/refined.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace strata::tests {

using namespace graph;

namespace {

constexpr double kA = 1.0, kB = 0.6;  // both positive: what is upwind lies below
constexpr int kReach = 2;

int wrapped(int i, int n) { return (i % n + n) % n; }

/// What flows through the lower sides of cell (i, j), each unit of length and time: u(i, j) at the side's
/// middle half a step later, from the cell upwind (Colella 1990, equations 2.13 and 2.15, with central
/// slopes). c: Courant numbers.
template <class U>
double flux(const U& u, int i, int j, int axis, double ca, double cb) {
    const int a = axis == 0 ? i - 1 : i, b = axis == 0 ? j : j - 1;  // the cell upwind
    const double slope = axis == 0 ? (u(a + 1, b) - u(a - 1, b)) / 2 : (u(a, b + 1) - u(a, b - 1)) / 2;
    const double across = axis == 0 ? cb * (u(a, b) - u(a, b - 1)) : ca * (u(a, b) - u(a - 1, b));
    const double along = axis == 0 ? ca : cb;
    return (axis == 0 ? kA : kB) * (u(a, b) + (1 - along) * slope / 2 - across / 2);
}

/// u of a level in a box, after a step of length dt from `from`; faces(face) is told what flowed through.
template <class U, class To>
void advance(const Box& box, double dt, double h, const U& from, const To& to) {
    const double ca = kA * dt / h, cb = kB * dt / h;
    for (int j = box.lo[1]; j < box.hi[1]; ++j)
        for (int i = box.lo[0]; i < box.hi[0]; ++i)
            to(i, j) = from(i, j) + dt / h *
                                        (flux(from, i, j, 0, ca, cb) - flux(from, i + 1, j, 0, ca, cb) +
                                         flux(from, i, j, 1, ca, cb) - flux(from, i, j + 1, 1, ca, cb));
}

double initially(double x, double y) {
    const double s = std::sin(std::numbers::pi * x), t = std::sin(std::numbers::pi * (y - 0.2));
    return 1 + s * s * s * s * t * t;
}

}  // namespace

Refined::Refined(int n, bool refluxing)
    : Solver("refined"), n_(n), refluxing_(refluxing), step_(0.5 / n), refined_(z(n) * z(n), false) {
    const int unit = n / 16;
    // In sixteenths of the domain. Two parts meet across the periodic border.
    std::vector<Box> boxes{{{4, 4, 0}, {8, 6, 1}},     {{4, 6, 0}, {6, 10, 1}},    {{8, 4, 0}, {11, 7, 1}},
                           {{12, 12, 0}, {14, 15, 1}}, {{14, 12, 0}, {16, 15, 1}}, {{0, 11, 0}, {2, 14, 1}}};
    for (Box& box : boxes) {
        for (int j = box.lo[1] * unit; j < box.hi[1] * unit; ++j)
            for (int i = box.lo[0] * unit; i < box.hi[0] * unit; ++i) refined_[z(i) + z(j) * z(n)] = true;
        for (std::size_t a = 0; a < 2; ++a) box.lo[a] *= 2 * unit, box.hi[a] *= 2 * unit;
    }
    const std::array<bool, 3> periodic{true, true, false};
    coarse = &graph.grid(
        "coarse",
        {.cells = {{0, 0, 0}, {n, n, 1}}, .patch_cells = {n / 3 + 1, n / 4, 1}, .periodic = periodic});
    fine = &graph.add<Grid>(
        "fine", GridShape{.cells = {{0, 0, 0}, {2 * n, 2 * n, 1}}, .patch_cells = {}, .periodic = periodic},
        boxes);
    for (int p = 0; p < coarse->patches(); ++p) coarse_faces_.push_back(faces_of(*coarse, p, 1, false));
    for (int p = 0; p < fine->patches(); ++p) fine_faces_.push_back(faces_of(*fine, p, 2, true));
    declare();
}

bool Refined::is_refined(int i, int j) const { return refined_[z(wrapped(i, n_) + wrapped(j, n_) * n_)]; }

std::vector<Refined::Face> Refined::faces_of(const Grid& grid, int patch, int ratio, bool of_refined) const {
    std::vector<Face> all;
    const auto refined = [&](int i, int j) {
        return is_refined(static_cast<int>(std::floor(static_cast<double>(i) / ratio)),
                          static_cast<int>(std::floor(static_cast<double>(j) / ratio)));
    };
    const Box box = grid.box(patch);
    for (int j = box.lo[1]; j < box.hi[1]; ++j)
        for (int i = box.lo[0]; i < box.hi[0]; ++i) {
            if (refined(i, j) != of_refined) continue;
            for (int axis = 0; axis < 2; ++axis)
                for (int upper = 0; upper < 2; ++upper) {
                    const int to = upper == 1 ? 1 : -1;
                    if (refined(axis == 0 ? i + to : i, axis == 0 ? j : j + to) != of_refined)
                        all.push_back({i, j, axis, upper});
                }
        }
    return all;
}

/// For each face of a coarse patch the two finer ones that it consists of.
Gather::Table Refined::finer_faces() const {
    const auto place = [](const Face& face, int n) {  // axis, the side's place along it, and across
        const int along = (face.axis == 0 ? face.i : face.j) + face.upper;
        return std::tuple(face.axis, wrapped(along, n), face.axis == 0 ? face.j : face.i);
    };
    std::map<std::tuple<int, int, int>, Gather::Source> where;
    for (std::size_t p = 0; p < fine_faces_.size(); ++p)
        for (std::size_t f = 0; f < fine_faces_[p].size(); ++f)
            where[place(fine_faces_[p][f], 2 * n_)] = {static_cast<std::int32_t>(p),
                                                       static_cast<std::int32_t>(f)};
    Gather::Table table(coarse_faces_.size());
    for (std::size_t p = 0; p < coarse_faces_.size(); ++p)
        for (const Face& face : coarse_faces_[p]) {
            const auto [axis, along, across] = place(face, n_);
            for (int half = 0; half < 2; ++half)
                table[p].push_back(where.at({axis, 2 * along, 2 * across + half}));
        }
    return table;
}

/// Over a square: of its four quarters' middles on the fine level, so that both levels agree.
double Refined::mean_at_first(double x, double y, double h) const {
    if (h < 0.75 / n_) return initially(x, y);
    return (initially(x - h / 4, y - h / 4) + initially(x + h / 4, y - h / 4) +
            initially(x - h / 4, y + h / 4) + initially(x + h / 4, y + h / 4)) /
           4;
}

void Refined::declare() {
    coarser_ = &graph.add<Overlap>("coarse around fine", *coarse, *fine, Overlap::Level::source_coarser, 2,
                                   Int3{kReach, kReach, 0});
    finer_ = &graph.add<Overlap>("fine on coarse", *fine, *coarse, Overlap::Level::source_finer, 2);
    faces_ = &graph.add<Gather>("finer faces", *fine, *coarse, finer_faces());
    on_coarse = graph.field<double>("coarse u", *coarse, On::cells, {.history = 1});
    on_fine = graph.field<double>("fine u", *fine, On::cells, {.history = 1});
    mass = graph.scalar<double>("mass", Reduce::sum);
    const auto count = [](const std::vector<std::vector<Face>>& faces) {
        return [&faces](int p) { return static_cast<std::int64_t>(faces[z(p)].size()); };
    };
    through_coarse_ = graph.list<double>("through coarse", *coarse, count(coarse_faces_));
    through_fine_ = graph.list<double>("through fine", *fine, count(fine_faces_));
    const auto begin = [this](const Grid& grid, Field<double> label, double h, const char* name) {
        Task task = graph.start().task(name, grid);
        const auto to = task.make(label);
        task.run([=, this](Here& here) {
            const Box box = here.cells();
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i)
                    here[to](i, j) = mean_at_first((i + 0.5) * h, (j + 0.5) * h, h);
        });
    };
    begin(*coarse, on_coarse, 1.0 / n_, "coarse at first");
    begin(*fine, on_fine, 0.5 / n_, "fine at first");
    declare_coarse();
    declare_fine();
}

void Refined::declare_coarse() {
    const double h = 1.0 / n_;
    {
        Task task = graph.step().task("coarse", *coarse);
        const auto old = task.need(on_coarse.previous(), ghosts({kReach, kReach, 0}));
        const auto to = task.make(on_coarse);
        const auto through = task.make(through_coarse_);
        task.run([=, this](Here& here) {
            advance(here.cells(), step_, h, here[old], here[to]);
            std::int64_t at = 0;
            for (const Face& face : coarse_faces_[z(here.patch)])
                here[through][at++] = step_ * flux(here[old], face.i + (face.axis == 0 ? face.upper : 0),
                                                   face.j + (face.axis == 1 ? face.upper : 0), face.axis,
                                                   kA * step_ / h, kB * step_ / h);
        });
    }
    {
        Task task = graph.step().task("synchronise", *coarse);
        const auto own = task.need(through_coarse_);
        const auto theirs = task.need(through_fine_.at(1), *faces_);
        const auto finer = task.need(on_fine.at(1), *finer_);
        const auto now = task.modify(on_coarse);
        const auto all = task.contribute(mass);
        task.run([=, this](Here& here) {
            const auto u = here[now];
            std::int64_t at = 0;
            for (const Face& face : coarse_faces_[z(here.patch)]) {
                const double more = (here[theirs][2 * at] + here[theirs][2 * at + 1]) / 2 - here[own][at];
                ++at;
                if (refluxing_) u(face.i, face.j) += (face.upper == 1 ? -more : more) / h;
            }
            const auto f = here[finer];
            const Box box = here.cells();
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) {
                    if (is_refined(i, j))
                        u(i, j) = (f(2 * i, 2 * j) + f(2 * i + 1, 2 * j) + f(2 * i, 2 * j + 1) +
                                   f(2 * i + 1, 2 * j + 1)) /
                                  4;
                    here[all] += u(i, j) * h * h;
                }
        });
    }
}

void Refined::declare_fine() {
    const double h = 0.5 / n_;
    {
        Task task = graph.step().task("nothing has flowed yet", *fine);
        const auto through = task.make(through_fine_);
        task.run([=](Here& here) { std::ranges::fill(here[through].component(), 0.0); });
    }
    Scope& twice = graph.step().subcycle("twice", 2);
    Task task = twice.task("fine", *fine);
    const auto old = task.need(on_fine.previous(), ghosts({kReach, kReach, 0}));
    const auto before = task.need(on_coarse.previous(), *coarser_), after = task.need(on_coarse, *coarser_);
    const auto to = task.make(on_fine);
    const auto through = task.modify(through_fine_);
    task.run([=, this](Here& here) {
        const Box around = here.cells().grown({kReach, kReach, 0});
        const double part = static_cast<double>(here.round) / 2;
        std::vector<double> values(z(around.volume()));
        const auto u = [&](int i, int j) -> double& {
            return values[z(i - around.lo[0] + (j - around.lo[1]) * around.extent(0))];
        };
        for (int j = around.lo[1]; j < around.hi[1]; ++j)
            for (int i = around.lo[0]; i < around.hi[0]; ++i) {
                const int a = (i + 2 * n_) / 2 - n_, b = (j + 2 * n_) / 2 - n_;  // the coarse cell
                if (is_refined(a, b)) {
                    u(i, j) = here[old](i, j);
                    continue;
                }
                const double x = i == 2 * a ? -0.25 : 0.25, y = j == 2 * b ? -0.25 : 0.25;
                const auto there = [&](const auto& c) {  // linear in the cell
                    return c(a, b) + x * (c(a + 1, b) - c(a - 1, b)) / 2 +
                           y * (c(a, b + 1) - c(a, b - 1)) / 2;
                };
                u(i, j) = (1 - part) * there(here[before]) + part * there(here[after]);
            }
        const double dt = step_ / 2;
        advance(here.cells(), dt, h, u, here[to]);
        std::int64_t at = 0;
        for (const Face& face : fine_faces_[z(here.patch)])
            here[through][at++] +=
                dt * flux(u, face.i + (face.axis == 0 ? face.upper : 0),
                          face.j + (face.axis == 1 ? face.upper : 0), face.axis, kA * dt / h, kB * dt / h);
    });
}

double Refined::error(const Simulation& run) const {
    double sum = 0;
    const double h = 1.0 / n_, time = step_ * static_cast<double>(run.step());
    for (int p = 0; p < coarse->patches(); ++p) {
        const std::vector<double> u = values_of<double>(run, on_coarse.id(), p);
        const Box box = coarse->box(p);
        std::size_t at = 0;
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i)
                sum += std::abs(u.at(at++) -
                                mean_at_first((i + 0.5) * h - kA * time, (j + 0.5) * h - kB * time, h));
    }
    return sum * h * h;
}

double Refined::largest_error(const Simulation& run) const {
    double most = 0;
    const double h = 0.5 / n_, time = step_ * static_cast<double>(run.step());
    for (int p = 0; p < fine->patches(); ++p) {
        const std::vector<double> u = values_of<double>(run, on_fine.id(), p);
        const Box box = fine->box(p);
        std::size_t at = 0;
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i)
                most = std::max(most, std::abs(u.at(at++) - initially((i + 0.5) * h - kA * time,
                                                                      (j + 0.5) * h - kB * time)));
    }
    return most;
}

}  // namespace strata::tests
