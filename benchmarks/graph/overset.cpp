// A step of two overlapping grids, one of which turns: what it costs that its donors are others in each step.
#include "benchmarks/graph/overset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "benchmarks/common/median.hpp"
#include "benchmarks/elsewhere.hpp"
#include "benchmarks/graph/graph.hpp"
#include "core/base/error.hpp"

namespace strata::bench::graph_layer {

namespace {

constexpr int kWindows = 11, kCheckedSteps = 3;

void declare(Options& options) {
    options
        .option("--patch", "N", "32",
                "flow: cells along each edge of a patch; the fixed grid has 3 patches along each edge, the "
                "turning one 2")
        .flag("--scalar", "a step of scalars, with little arithmetic, in the place of the flow")
        .option("--cells", "N", "64",
                "scalars: cells along each edge of the fixed grid; the turning one has half of them")
        .example("strata bench graph-overset --layout 1x2", "35 patches of 32^3 cells on two bound threads")
        .example("strata bench graph-overset --scalar --layout 1x2", "64^3 and 32^3 cells");
}

using Make = std::function<std::unique_ptr<Overset>(int threads, Donors donors, Break fault)>;

/// Patches that are not, to the bit, as with a new table and plan in each step.
int wrong_patches(const Make& make, int threads, Break fault) {
    const auto in_pieces = make(threads, Donors::in_pieces, fault),
               replaced = make(1, Donors::replaced, Break::none);
    (void)in_pieces->measure(kCheckedSteps), (void)replaced->measure(kCheckedSteps);
    const auto found = in_pieces->states(), expected = replaced->states();
    int wrong = found.size() != expected.size() || expected.empty() ? 1 : 0;
    for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
        wrong += found[i] != expected[i];
    return wrong;
}

/// A flow that is the same everywhere stays so, to rounding; and of a vortex half as large cells leave less
/// than 0.4 of the error (0.25 would be second order throughout; limited slopes cut the density's minimum).
int wrong_flows(int threads, std::vector<std::string>& notes) {
    using Flow = OversetFlow::Flow;
    constexpr int kSteps = 20;
    OversetFlow uniform({8, 8, 8}, Flow::uniform, threads, Donors::in_pieces, Break::none);
    (void)uniform.measure(kSteps);
    const double rounding = uniform.error(kSteps).largest;
    const auto mean = [&](int patch) {
        OversetFlow flow({patch, patch, 4}, Flow::vortex, threads, Donors::in_pieces, Break::none);
        (void)flow.measure(flow.steps());
        return flow.error(flow.steps()).mean;
    };
    const double coarse = mean(12), fine = mean(24);
    notes.push_back(
        fmt::format("Kernel: a uniform flow kept to {:.1e} in {} steps; a vortex's mean error on "
                    "the turning grid {:.2e} with 36 cells along an edge, {:.2e} with 72.",
                    rounding, kSteps, coarse, fine));
    return (rounding <= 1e-12 ? 0 : 1) + (fine <= 0.4 * coarse && coarse < 0.02 ? 0 : 1);
}

/// A step of scalars or of the flow, on grids of this size (cells of the fixed grid, or of a patch).
Make maker(bool scalar, int size) {
    if (scalar)
        return [size](int threads, Donors donors, Break fault) {
            return overset_scalar(size, threads, donors, fault);
        };
    return [size](int threads, Donors donors, Break fault) {
        return std::make_unique<OversetFlow>(graph::Int3{size, size, size}, OversetFlow::Flow::vortex,
                                             threads, donors, fault);
    };
}

/// Steps with lists that tasks set, with a table at rest, and with new plans, in turn.
struct Windows {
    std::vector<double> following, resting, with_plans;  // ms
    std::vector<double> share, more;                     // of following: % of a step, ns of a donor
    double donors = 0, updates = 0;                      // of a step: of donors, of cells in all stages
};

/// `seconds`: of a window.
Windows measure(const Make& make, int threads, double seconds) {
    const auto follows = make(threads, Donors::in_pieces, Break::none),
               rests = make(threads, Donors::rest, Break::none),
               replaced = make(threads, Donors::replaced, Break::none);
    const double first = rests->measure(2);
    const auto steps = static_cast<std::int64_t>(std::clamp(seconds / std::max(first, 1e-9), 2.0, 1e6));
    Windows of;
    of.donors = static_cast<double>(follows->donors_a_step());
    of.updates = 3 * static_cast<double>(rests->cells());
    for (int i = 0; i < kWindows; ++i) {
        of.following.push_back(1e3 * follows->measure(steps));
        of.resting.push_back(1e3 * rests->measure(steps));
        of.with_plans.push_back(1e3 * replaced->measure(2));
        of.share.push_back(100 * (1 - of.resting.back() / of.following.back()));
        of.more.push_back(1e6 * (of.following.back() - of.resting.back()) / of.donors);
    }
    return of;
}

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("graph-overset measures one process").given(std::to_string(group.size())).allowed("1");
    const bool scalar = given.has("--scalar"), quick = given.has("--quick");
    const int cells = quick ? 16 : static_cast<int>(given.integer("--cells", 16, 512)),
              patch = quick ? 8 : static_cast<int>(given.integer("--patch", 8, 128));
    if (cells % 8 != 0)
        throw Error("both grids have four patches along each edge, of equal numbers of cells")
            .given(std::to_string(cells))
            .allowed("a multiple of 8");
    const int threads = thread_count();
    const int fixed = scalar ? cells : 3 * patch, turning = scalar ? cells / 2 : 2 * patch;
    Result result;
    result.parameter("step", std::string(scalar ? "scalars" : "compressible flow"));
    result.parameter("cells", fmt::format("{0} x {0} x {0} and {1} x {1} x {1}", fixed, turning));
    int wrong = wrong_patches(maker(scalar, scalar ? cells : std::min(patch, 16)), threads, fault);
    if (!scalar) wrong += wrong_flows(threads, result.notes);
    result.verification = {
        scalar
            ? "patches that are not, to the bit, as with a new table and plan in each step"
            : "patches that are not, to the bit, as with a new table and plan in each step, and wrong flows",
        static_cast<double>(wrong), 0, "exact"};
    Windows of = measure(maker(scalar, scalar ? cells : patch), threads, quick ? 0.01 : 0.4);
    const double resting = median(of.resting);
    result.figures = {{"step", median(of.following), "ms", false, {}, {}},
                      {"step, donors at rest", resting, "ms", false, {}, {}},
                      {"step, new plan", median(of.with_plans), "ms", false, {}, {}},
                      {"following", median(of.share), "%", false, {}, {}},
                      {"each donor", median(of.more), "ns", false, {}, {}},
                      {"cell and stage", 1e6 * threads * resting / of.updates, "ns", false, {}, {}}};
    if (!scalar)
        result.figures.push_back(
            {"arithmetic", 1e-6 * of.updates * kFlowOperations / resting, "GF/s", true, {}, {}});
    result.notes.push_back(
        fmt::format("{:.0f} donors' values a step; steps with lists that tasks set and with a table at rest, "
                    "in turn; medians of {} windows; a thread's time for a cell and stage.",
                    of.donors, kWindows));
    return result;
}

}  // namespace

const Benchmark overset = {of_graph::kOverset.name, of_graph::kOverset.summary, declare, run};

}  // namespace strata::bench::graph_layer
