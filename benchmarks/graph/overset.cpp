// A step of two overlapping grids, one of which turns: what it costs that its donors are others in each step.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/median.hpp"
#include "benchmarks/elsewhere.hpp"
#include "benchmarks/graph/declared.hpp"
#include "benchmarks/graph/graph.hpp"
#include "core/base/error.hpp"
#include "core/graph/declare/local_gather.hpp"

namespace strata::bench::graph_layer {

namespace {

using namespace strata::graph;

constexpr int kWindows = 7, kCheckedSteps = 3, kDonors = 8;
using State = std::array<double, 5>;  // of a cell: as many as a compressible flow has

/// How a step knows the donors.
enum class Donors : std::uint8_t {
    rest,       // a table that never changes; where they would be is found all the same
    in_pieces,  // tasks set each patch's list, in each step
    replaced,   // all processes get a new table before each step, and a new plan
};

void declare(Options& options) {
    options
        .option("--cells", "N", "64",
                "cells along each edge of the fixed grid; the turning one has half of them")
        .example("strata bench graph-overset --layout 1x2", "64^3 and 32^3 cells on two bound threads");
}

/// A cube in patches of a quarter, and one of half its size that turns within it around the axis z. A step is
/// a Runge-Kutta step of third order, of convection and diffusion of fourth order; then the outermost
/// cells of the turning cube are interpolated from 8 cells of the other each.
class TwoGrids {
  public:
    TwoGrids(int n, int threads, Donors donors, Break fault)
        : n_(n),
          donors_(donors),
          fault_(fault),
          fixed_(graph_.grid("fixed", cube(n))),
          turning_(graph_.grid("turning", cube(n / 2))),
          arena_(team::Arena::create()) {
        on_fixed_ = declare_flow(fixed_, "fixed"), on_turning_ = declare_flow(turning_, "turning");
        donors == Donors::in_pieces ? exchange_in_pieces() : exchange_by_table();
        Members members = Members::alone();
        members.patience = bound_patience(arena_, threads);
        crew_ = bound_crew(arena_, threads);
        run_ = std::make_unique<Simulation>(graph_, members, SimulationOptions{.crew = crew_.get()});
        run_->start();
    }
    /// Seconds of a step.
    [[nodiscard]] double measure(std::int64_t steps) {
        const double begin = bench::now();
        (void)run_->advance(steps);
        return (now() - begin) / static_cast<double>(steps);
    }
    [[nodiscard]] std::int64_t sources() const {
        std::int64_t all = 0;
        for (int patch = 0; patch < turning_.patches(); ++patch)
            all += kDonors * fringe_of(turning_.box(patch));
        return all;
    }
    /// What each patch has, of both grids.
    [[nodiscard]] std::vector<std::vector<std::byte>> states() const {
        std::vector<std::vector<std::byte>> all;
        for (const Kept& kept : kept_versions(run_->plan())) {
            if (kept.back != 0 || (kept.label != on_fixed_.id() && kept.label != on_turning_.id())) continue;
            for (int patch = 0; patch < fixed_.patches(); ++patch) all.push_back(run_->values(kept, patch));
        }
        return all;
    }

  private:
    static GridShape cube(int n) {
        return {.cells = {{0, 0, 0}, {n, n, n}},
                .patch_cells = {n / 4, n / 4, n / 4},
                .periodic = {true, true, true}};
    }
    template <class Call>
    static void each(const Box& box, Call call) {
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) call(i, j, k);
    }

    /// Labels of the flow on one grid: now, and of the stages before.
    Field<State> declare_flow(Grid& grid, const std::string& on) {
        const auto u = graph_.field<State>("u on " + on, grid, On::cells, {.history = 1});
        const auto first = graph_.field<State>("first stage on " + on, grid, On::cells);
        const auto second = graph_.field<State>("second stage on " + on, grid, On::cells);
        Task begin = graph_.start().task("begin on " + on, grid);
        begin.run([to = begin.make(u)](Here& here) {
            each(here.cells(), [&](int i, int j, int k) {
                for (int c = 0; c < 5; ++c)
                    here[to](i, j, k)[static_cast<std::size_t>(c)] =
                        std::sin(0.3 * i + 0.2 * j + 0.1 * k * (c + 1));
            });
        });
        stage("first stage on " + on, grid, u.previous(), u.previous(), first, 0);
        stage("second stage on " + on, grid, u.previous(), first.at(0), second, 0.75);
        stage("third stage on " + on, grid, u.previous(), second.at(0), u, 1.0 / 3);
        return u;
    }
    /// to = a old + (1 - a) (u + dt L(u))
    void stage(const std::string& name, Grid& grid, TypedVersion<State, Kind::field> old,
               TypedVersion<State, Kind::field> u, Field<State> to, double a) {
        Task task = graph_.step().task(name, grid);
        task.run([a, old = task.need(old), u = task.need(u, ghosts(2)), to = task.make(to)](Here& here) {
            const auto from = here[u], before = here[old];
            const auto result = here[to];
            const Box box = here.cells();
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j) advance(from, before, result, a, box, j, k);
        });
    }
    template <class From, class To>
    static void advance(const From& u, const From& old, const To& to, double a, const Box& box, int j,
                        int k) {
        for (int i = box.lo[0]; i < box.hi[0]; ++i)
            for (std::size_t c = 0; c < 5; ++c) {
                const double x[4] = {u(i - 2, j, k)[c], u(i - 1, j, k)[c], u(i + 1, j, k)[c],
                                     u(i + 2, j, k)[c]};
                const double y[4] = {u(i, j - 2, k)[c], u(i, j - 1, k)[c], u(i, j + 1, k)[c],
                                     u(i, j + 2, k)[c]};
                const double z[4] = {u(i, j, k - 2)[c], u(i, j, k - 1)[c], u(i, j, k + 1)[c],
                                     u(i, j, k + 2)[c]};
                const double own = u(i, j, k)[c];
                double change = 0;
                for (const auto* at : {x, y, z})
                    change += 0.005 * (16 * (at[1] + at[2]) - (at[0] + at[3]) - 30 * own) +
                              0.01 * (8 * (at[1] - at[2]) + (at[3] - at[0]));
                to(i, j, k)[c] = a * old(i, j, k)[c] + (1 - a) * (own + change);
            }
    }

    [[nodiscard]] bool in_fringe(int i, int j, int k) const {
        const int last = n_ / 2 - 1;
        return i == 0 || j == 0 || k == 0 || i == last || j == last || k == last;
    }
    [[nodiscard]] std::int64_t fringe_of(const Box& box) const {
        std::int64_t count = 0;
        each(box, [&](int i, int j, int k) { count += in_fringe(i, j, k); });
        return count;
    }
    /// Calls call(cell of the fixed grid below the centre of cell (i, j, k), where between it and the next).
    template <class Call>
    void place(int i, int j, int k, std::int64_t step, Call call) const {
        const double turn = donors_ == Donors::rest ? 0.02 : 0.02 * static_cast<double>(step),
                     quarter = n_ / 4.0;
        const double x = i + 0.5 - quarter, y = j + 0.5 - quarter;
        const double at[3] = {n_ / 2.0 + x * std::cos(turn) - y * std::sin(turn) - 0.5,
                              n_ / 2.0 + x * std::sin(turn) + y * std::cos(turn) - 0.5, k + n_ / 4.0 + 0.25};
        const Int3 low{static_cast<int>(at[0]), static_cast<int>(at[1]), static_cast<int>(at[2])};
        call(low, std::array{at[0] - low[0], at[1] - low[1], at[2] - low[2]});
    }
    /// Calls call(patch, entry) for the donors of a patch of the turning grid.
    template <class Call>
    void find_donors(int patch, std::int64_t step, Call call) const {
        const int m = n_ / 4;  // cells of a patch along each edge
        each(turning_.box(patch), [&](int i, int j, int k) {
            if (!in_fringe(i, j, k)) return;
            place(i, j, k, step, [&](const Int3& low, const auto&) {
                for (int d = 0; d < kDonors; ++d) {
                    const int a = low[0] + d % 2, b = low[1] + d / 2 % 2, c = low[2] + d / 4;
                    call((c / m * 4 + b / m) * 4 + a / m, (c % m * m + b % m) * m + a % m);
                }
            });
        });
    }
    /// The fringe of a patch out of the values of its donors, in their order.
    template <class Values, class View>
    void interpolate(const Here& here, const Values& values, const View& u) const {
        std::size_t next = 0;
        const bool wrong = fault_ != Break::none && here.patch == 0;
        each(here.cells(), [&](int i, int j, int k) {
            if (!in_fringe(i, j, k)) return;
            place(i, j, k, here.step, [&](const Int3&, const std::array<double, 3>& t) {
                State sum{};
                for (int d = 0; d < kDonors; ++d, ++next) {
                    const double weight =
                        (d % 2 ? t[0] : 1 - t[0]) * (d / 2 % 2 ? t[1] : 1 - t[1]) * (d / 4 ? t[2] : 1 - t[2]);
                    const auto& value = values[static_cast<decltype(values.size())>(next)];
                    for (std::size_t c = 0; c < 5; ++c) sum[c] += weight * value[c];
                }
                if (wrong && next == kDonors) fault_ == Break::skip ? void(sum = {}) : void(sum[0] += 1);
                u(i, j, k) = sum;
            });
        });
    }

    void exchange_in_pieces() {
        std::int64_t most = 1;
        for (int patch = 0; patch < turning_.patches(); ++patch)
            most = std::max(most, kDonors * fringe_of(turning_.box(patch)));
        LocalGather donors(graph_, "donors", fixed_, turning_, static_cast<int>(most));
        Task find = graph_.step().task("find donors", turning_);
        find.run([this, list = donors.set(find)](Here& here) {
            const auto all = here[list];
            find_donors(here.patch, here.step, [&](int patch, int entry) { all.add(patch, entry); });
        });
        const auto from_fixed = donors.gather(graph_.step(), on_fixed_);
        Task task = graph_.step().task("interpolate", turning_);
        task.run([this, values = from_fixed.need(task), u = task.modify(on_turning_)](Here& here) {
            interpolate(here, here[values], here[u]);
        });
    }
    [[nodiscard]] Gather::Table table(std::int64_t step) const {
        Gather::Table all(static_cast<std::size_t>(turning_.patches()));
        for (int patch = 0; patch < turning_.patches(); ++patch)
            find_donors(patch, step, [&](int from, int entry) {
                all[static_cast<std::size_t>(patch)].push_back({from, entry});
            });
        return all;
    }
    void exchange_by_table() {
        auto& donors = graph_.add<Gather>("donors", fixed_, turning_, table(1));
        if (donors_ == Donors::replaced)
            graph_.before_step([&, this](std::int64_t step) { donors.replace(table(step)); });
        const auto found =
            graph_.list<std::int64_t>("found", turning_, [](int) { return 1; }, {.kept = true});
        if (donors_ == Donors::rest) {
            Task find = graph_.step().task("find donors", turning_);
            find.run([this, sum = find.make(found)](Here& here) {
                std::int64_t all = 0;
                find_donors(here.patch, here.step, [&](int patch, int entry) { all += patch + entry; });
                here[sum][0] = all;
            });
        }
        Task task = graph_.step().task("interpolate", turning_);
        task.run([this, values = task.need(on_fixed_, donors), u = task.modify(on_turning_)](Here& here) {
            interpolate(here, here[values], here[u]);
        });
    }

    int n_;
    Donors donors_;
    Break fault_;
    Graph graph_{"overset"};
    Grid &fixed_, &turning_;  // of equally many patches
    Field<State> on_fixed_, on_turning_;
    team::Arena arena_;
    std::unique_ptr<team::Crew> crew_;
    std::unique_ptr<Simulation> run_;
};

/// Patches that are not, to the bit, as with a new table and plan in each step.
int wrong_patches(int cells, int threads, Break fault) {
    TwoGrids in_pieces(cells, threads, Donors::in_pieces, fault),
        replaced(cells, 1, Donors::replaced, Break::none);
    (void)in_pieces.measure(kCheckedSteps), (void)replaced.measure(kCheckedSteps);
    const auto found = in_pieces.states(), expected = replaced.states();
    int wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) wrong += found[i] != expected[i];
    return wrong;
}

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("graph-overset measures one process").given(std::to_string(group.size())).allowed("1");
    const int cells = given.has("--quick") ? 16 : static_cast<int>(given.integer("--cells", 16, 512));
    if (cells % 8 != 0)
        throw Error("both grids have four patches or two along each edge, of equal numbers of cells")
            .given(std::to_string(cells))
            .allowed("a multiple of 8");
    const int threads = thread_count();
    Result result;
    result.parameter("cells", fmt::format("{0} x {0} x {0} and {1} x {1} x {1}", cells, cells / 2));
    result.verification = {"patches that are not, to the bit, as with a new table and plan in each step",
                           static_cast<double>(wrong_patches(cells, threads, fault)), 0, "exact"};
    TwoGrids follows(cells, threads, Donors::in_pieces, Break::none),
        rests(cells, threads, Donors::rest, Break::none),
        replaced(cells, threads, Donors::replaced, Break::none);
    const double first = rests.measure(2), window = given.has("--quick") ? 0.01 : 0.5;
    const auto steps = static_cast<std::int64_t>(std::clamp(window / std::max(first, 1e-9), 2.0, 1e6));
    std::vector<double> following, resting, with_plans, more, share;
    for (int i = 0; i < kWindows; ++i) {
        following.push_back(1e3 * follows.measure(steps));
        resting.push_back(1e3 * rests.measure(steps));
        with_plans.push_back(1e3 * replaced.measure(2));
        share.push_back(100 * (1 - resting.back() / following.back()));
        more.push_back(1e6 * (following.back() - resting.back()) / static_cast<double>(follows.sources()));
    }
    result.figures = {{"step", median(following), "ms", false, {}, {}},
                      {"step, donors at rest", median(resting), "ms", false, {}, {}},
                      {"step, new plan", median(with_plans), "ms", false, {}, {}},
                      {"following", median(share), "%", false, {}, {}},
                      {"each donor", median(more), "ns", false, {}, {}}};
    result.notes = {
        fmt::format("{} donors; steps with lists that tasks set and with a table at rest, in turn; medians "
                    "of {} windows.",
                    follows.sources(), kWindows)};
    return result;
}

}  // namespace

const Benchmark overset = {of_graph::kOverset.name, of_graph::kOverset.summary, declare, run};

}  // namespace strata::bench::graph_layer
