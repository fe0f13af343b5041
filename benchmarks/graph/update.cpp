// The update of the transport solver, as `strata run` runs it, beside the triad of the same memory in the
// same run: what share of what the memory gives a solver on the task graph reaches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/graph/declared.hpp"
#include "benchmarks/graph/graph.hpp"
#include "benchmarks/graph/whole_grid.hpp"
#include "benchmarks/hpcc/stream_kernels.hpp"
#include "core/base/error.hpp"
#include "solvers/transport/tasks.hpp"

namespace strata::bench::graph_layer {

namespace {

using namespace strata::graph;

constexpr int kRounds = 11;

/// What a step moves at least, in bytes a cell: each stage reads its fields once and writes one. Conduction:
/// T, and T. Advection: T, three velocities, and T*; then T, T*, the velocities, and T.
double bytes_of_a_cell(bool heat) { return 8 * (heat ? 2.0 : 5.0 + 6.0); }
/// What is kept of a cell: both versions of T; with a flow T* and the velocities too.
double bytes_kept(bool heat) { return 8 * (heat ? 2.0 : 6.0); }

void declare(Options& options) {
    options.option("--equation", "NAME", "heat", "heat, or advection in a field of velocities")
        .option("--cells", "N", "512", "of the grid, in each direction")
        .option("--patch", "X,Y,Z", "512,32,32", "cells of a patch, at most those of the grid")
        .option("--borders", "KIND", "walls", "walls, or periodic: values beyond a border are copied")
        .example("strata bench transport-update --layout 1x2", "both threads' bandwidth, in memory")
        .example("strata bench transport-update --equation advection --patch 32,32,32 --layout 1x2",
                 "advection, of short rows")
        .example("strata bench transport-update --cells 96 --layout 1x1", "in the last-level cache");
}

std::vector<std::int64_t> three(const std::string& words) {
    std::vector<std::int64_t> all;
    for (std::size_t at = 0; at <= words.size();) {
        const std::size_t end = std::min(words.find(',', at), words.size());
        char* rest = nullptr;
        all.push_back(std::strtoll(words.c_str() + at, &rest, 10));
        if (rest != words.c_str() + end || all.back() < 2) all.clear();
        at = end + 1;
        if (all.empty()) break;
    }
    if (all.size() != 3)
        throw Error("--patch names no patch").given(words).allowed("three numbers from 2 on, as 512,32,32");
    return all;
}

transport::Settings problem(const std::string& equation, std::int64_t cells, std::vector<std::int64_t> patch,
                            bool periodic) {
    transport::Settings s;
    s.equation = equation;
    s.cells = {cells, cells, cells};
    s.patch_cells = std::move(patch);
    s.periodic = periodic;
    s.end = 1e9;
    return s;
}

/// The solver in threads bound to a core each.
class Solver {
  public:
    Solver(const transport::Settings& settings, int threads, std::size_t records)
        : settings_(settings),
          arena_(team::Arena::create()),
          labels_(transport::declare(graph_, settings_)),
          crew_(bound_crew(arena_, threads)) {
        Members members = Members::alone();
        members.patience = bound_patience(arena_, threads);
        SimulationOptions options;
        options.crew = crew_.get();
        options.records = records;
        run_ = std::make_unique<Simulation>(graph_, members, options);
        run_->start();
    }
    /// Seconds a step.
    double steps(std::int64_t count) {
        run_->advance(count);
        return run_->batch().seconds / static_cast<double>(count);
    }
    [[nodiscard]] team::Crew& crew() { return *crew_; }
    [[nodiscard]] Simulation& run() { return *run_; }

    /// Where the threads' time went in the last batch, as shares of it.
    struct Shares {
        double tasks = 0, copies = 0, reductions = 0, waiting = 0;
    };
    [[nodiscard]] Shares shares(std::uint32_t before) const {
        Shares all;
        const double each = 1 / (run_->batch().seconds * run_->executor().threads());
        for (int thread = 0; thread < run_->executor().threads(); ++thread)
            for (const Record& record : run_->executor().records(thread)) {
                if (record.step <= before) continue;
                const bool waits = record.op == Record::kWaiting;
                const OpKind kind = waits ? OpKind::task : run_->plan().step().ops[record.op].kind;
                double& share = waits                    ? all.waiting
                                : kind == OpKind::task   ? all.tasks
                                : kind == OpKind::reduce ? all.reductions
                                                         : all.copies;
                share += each * (record.end - record.begin);
            }
        return all;
    }
    /// The largest difference to one loop over all cells, after so many steps.
    [[nodiscard]] double error(int steps, double factor_of_loop) const;

  private:
    transport::Settings settings_;
    team::Arena arena_;
    Graph graph_{"transport"};
    transport::Labels labels_;
    std::unique_ptr<team::Crew> crew_;
    std::unique_ptr<Simulation> run_;
};

double Solver::error(int steps, double factor_of_loop) const {
    WholeGrid expected(settings_);
    for (int step = 0; step < steps; ++step) expected.step(factor_of_loop);
    double largest = 0;
    for (const Kept& kept : kept_versions(run_->plan())) {
        if (kept.label != labels_.T.id() || kept.back != 0) continue;
        const auto& grid =
            static_cast<const Grid&>(*graph_.labels()[static_cast<std::size_t>(kept.label)].family);
        for (int patch = 0; patch < grid.patches(); ++patch) {
            const std::vector<std::byte> bytes = run_->values(kept, patch);
            std::size_t from = 0;
            const Box box = grid.box(patch);
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j)
                    for (int i = box.lo[0]; i < box.hi[0]; ++i, from += sizeof(double)) {
                        double value = 0;
                        std::memcpy(&value, bytes.data() + from, sizeof value);
                        const double difference = std::abs(value - expected(i, j, k));
                        largest = difference <= largest ? largest : difference;  // NaN is kept
                    }
        }
    }
    return largest;
}

/// The triad on arrays that are as large together as the solver's fields, in a crew's threads.
class Triad {
  public:
    Triad(std::size_t bytes, team::Crew& crew)
        : crew_(crew),
          n_(std::max<std::size_t>(bytes / 3 / sizeof(double) / 64 * 64, 4096)),
          a_(n_ + 4096),
          b_(n_ + 4096),
          c_(n_ + 4096) {
        each_part([&](std::size_t first, std::size_t count) {
            std::fill_n(a() + first, count, 1.0);
            std::fill_n(b() + first, count, 2.0);
            std::fill_n(c() + first, count, 3.0);
        });
    }
    /// Bytes a second: two arrays read, one written.
    double run(hpcc::Stores stores) {
        const double begin = now();
        each_part([&](std::size_t first, std::size_t count) {
            hpcc::triad(a() + first, b() + first, c() + first, 0.5, count, stores);
        });
        return 24.0 * static_cast<double>(n_) / (now() - begin);
    }

  private:
    // Apart by some lines, so that loads do not wait for stores to "the same" address of another page.
    [[nodiscard]] double* a() const { return a_.data(); }
    [[nodiscard]] double* b() const { return b_.data() + 96; }
    [[nodiscard]] double* c() const { return c_.data() + 192; }
    template <class F>
    void each_part(F work) {
        const std::size_t lines = n_ / hpcc::kLineDoubles;
        crew_.parallel_region([&](int thread, int threads) {
            const auto t = static_cast<std::size_t>(thread), all = static_cast<std::size_t>(threads);
            const std::size_t first = lines * t / all * hpcc::kLineDoubles;
            work(first, lines * (t + 1) / all * hpcc::kLineDoubles - first);
        });
    }
    team::Crew& crew_;
    std::size_t n_;
    Array<double> a_, b_, c_;
};

double middle(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("transport-update measures the threads of one process")
            .given(std::to_string(group.size()))
            .allowed("1");
    const bool quick = given.has("--quick");
    const std::int64_t cells = quick ? 64 : given.integer("--cells", 8, 2048);
    const std::vector<std::int64_t> patch = three(given.text("--patch"));
    const int threads = thread_count();
    const std::string borders = given.choice("--borders", {"walls", "periodic"});
    const std::string equation = given.choice("--equation", {"heat", "advection"});
    const bool heat = equation == "heat";
    const auto volume = static_cast<double>(cells * cells * cells);
    const double bytes = volume * bytes_of_a_cell(heat), kept = volume * bytes_kept(heat);
    require_memory(static_cast<std::uint64_t>(2 * kept), "the grid and the triad");
    Result result;
    result.parameter("equation", equation);
    result.parameter("cells", cells);
    result.parameter("patch", given.text("--patch"));
    result.parameter("borders", borders);
    result.parameter("bytes", static_cast<std::int64_t>(kept));
    {
        Solver checked(problem(equation, 24, {8, 12, 24}, true), threads, 0);
        checked.steps(fault == Break::skip ? 9 : 10);
        result.verification = {"largest difference to a loop over all cells after 10 steps",
                               checked.error(10, fault == Break::perturb ? 1.001 : 1.0), 1e-12, "round-off"};
    }
    Solver solver(problem(equation, cells, patch, borders == "periodic"), threads, std::size_t{1} << 17U);
    Triad triad(static_cast<std::size_t>(kept), solver.crew());
    const double first = solver.steps(2);
    const auto count = static_cast<std::int64_t>(std::clamp((quick ? 0.005 : 0.25) / first, 2.0, 2000.0));
    std::vector<double> updates, triads, runtime, copies, reductions, waiting, ratios;
    for (int round = 0; round < kRounds; ++round) {
        double best = 0, step = std::numeric_limits<double>::infinity();
        Solver::Shares shares;
        for (int pass = 0; pass < 2; ++pass)  // the better one, of either
            for (const hpcc::Stores stores : {hpcc::Stores::streaming, hpcc::Stores::cached})
                best = std::max(best, triad.run(stores));
        for (int pass = 0; pass < 2; ++pass) {
            const auto before = static_cast<std::uint32_t>(solver.run().step());
            const double seconds = solver.steps(count);
            if (seconds < step) step = seconds, shares = solver.shares(before);
        }
        updates.push_back(bytes / step);
        triads.push_back(best);
        ratios.push_back(updates.back() / best);
        runtime.push_back(1 - shares.tasks);
        copies.push_back(shares.copies), reductions.push_back(shares.reductions);
        waiting.push_back(shares.waiting);
    }
    const double update = middle(updates);
    result.figures = {{"update", 1e-9 * update, "GB/s", true, {}, {}},
                      {"triad", 1e-9 * middle(triads), "GB/s", true, {}, {}},
                      {"of the roofline", 100 * middle(ratios), "% of triad", true, {}, {}},
                      {"cells", 1e-6 * update / bytes_of_a_cell(heat), "Mcell/s", true, {}, {}},
                      {"runtime share", 100 * middle(runtime), "%", false, {}, {}}};
    result.notes = {
        fmt::format(
            "{:.0f} bytes a cell and step, the least that can be moved; the triad on arrays of together "
            "{:.0f} MB, the faster of streaming and cached stores.",
            bytes_of_a_cell(heat), 1e-6 * kept),
        fmt::format("Of the roofline: {:.1f} .. {:.1f} % in {} rounds; {} steps each.",
                    100 * *std::min_element(ratios.begin(), ratios.end()),
                    100 * *std::max_element(ratios.begin(), ratios.end()), kRounds, count),
        fmt::format("Of the threads' time: copies {:.2f} %, reductions {:.2f} %, waiting {:.2f} %.",
                    100 * middle(copies), 100 * middle(reductions), 100 * middle(waiting))};
    return result;
}

}  // namespace

const Benchmark update = {"transport-update",
                          "the transport solver's update beside the triad of the same memory", declare, run};

}  // namespace strata::bench::graph_layer
