// The update of the transport solver, as `strata run` runs it, beside the triad of the same memory in the
// same run: what share of what the memory gives a solver on the task graph reaches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/median.hpp"
#include "benchmarks/elsewhere.hpp"
#include "benchmarks/graph/declared.hpp"
#include "benchmarks/graph/graph.hpp"
#include "benchmarks/graph/whole_grid.hpp"
#include "benchmarks/hpcc/stream_kernels.hpp"
#include "core/base/error.hpp"
#include "core/base/streaming.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/kernels/rows.hpp"
#include "core/run/driver/own_rows.hpp"
#include "solvers/transport/exact.hpp"
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
    /// The largest difference of a cell from expected(i, j, k).
    template <class Expected>
    [[nodiscard]] double error(Expected expected) const;

  private:
    transport::Settings settings_;
    team::Arena arena_;
    Graph graph_{"transport"};
    transport::Labels labels_;
    std::unique_ptr<team::Crew> crew_;
    std::unique_ptr<Simulation> run_;
};

template <class Expected>
double Solver::error(Expected expected) const {
    double largest = 0;
    for (const OwnRows& rows : own_rows(*run_, labels_.T))
        for (std::int64_t row = 0; row < rows.count(); ++row) {
            auto [i, j, k] = rows.at(row);
            for (const double value : rows.values(row)) {
                const double difference = std::abs(value - expected(i++, j, k));
                largest = difference <= largest ? largest : difference;  // NaN is kept
            }
        }
    return largest;
}

/// Conduction: what a step leaves of the cosines, which the scheme's differences only scale, in the cube and
/// between walls alike: 1 - r sum_d 4 sin^2(k_d h / 2), r = kappa dt / h^2.
double left_by_a_step(const transport::Settings& s) {
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        const double turn = (s.periodic ? 2 : 1) * std::numbers::pi * static_cast<double>(s.waves[d]);
        sum += 4 * std::pow(std::sin(turn / static_cast<double>(s.cells[d]) / 2), 2);
    }
    return 1 - s.cfl / 6 * sum;  // the largest stable step has r = 1/6
}

/// So many arrays, as large together as the solver's fields, for loops in a crew's threads.
class Streams {
  public:
    Streams(std::size_t arrays, std::size_t bytes, team::Crew& crew)
        : crew_(crew), n_(std::max<std::size_t>(bytes / arrays / sizeof(double) / 64 * 64, 4096)) {
        for (std::size_t a = 0; a < arrays; ++a) arrays_.emplace_back(n_ + 4096);
        each_part([&](std::size_t first, std::size_t count) {
            for (std::size_t a = 0; a < arrays; ++a) std::fill_n(at(a) + first, count, 1.0);
        });
    }
    // Apart by some lines, so that loads do not wait for stores to "the same" address of another page.
    [[nodiscard]] double* at(std::size_t array) const { return arrays_[array].data() + 96 * array; }
    /// Bytes a second of loop(first element, number of elements), which goes through all arrays once: the
    /// better of two passes of either kind of stores.
    template <class Loop>
    double best(Loop loop) {
        double best = 0;
        for (int pass = 0; pass < 2; ++pass)
            for (const hpcc::Stores stores : {hpcc::Stores::streaming, hpcc::Stores::cached}) {
                const double begin = now();
                each_part([&](std::size_t first, std::size_t count) { loop(first, count, stores); });
                const auto bytes = static_cast<double>(sizeof(double) * arrays_.size() * n_);
                best = std::max(best, bytes / (now() - begin));
            }
        return best;
    }

  private:
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
    std::vector<Array<double>> arrays_;
};

double triad(Streams& arrays) {
    return arrays.best([&](std::size_t first, std::size_t count, hpcc::Stores stores) {
        hpcc::triad(arrays.at(0) + first, arrays.at(1) + first, arrays.at(2) + first, 0.5, count, stores);
    });
}

/// What the update would reach if it were only its streams: the sum of `kReads` arrays, written to another.
template <std::size_t kReads>
double plain_loop(Streams& arrays) {
    return arrays.best([&](std::size_t first, std::size_t count, hpcc::Stores stores) {
        std::array<const double*, kReads> from;
        for (std::size_t a = 0; a < kReads; ++a) from[a] = arrays.at(a) + first;
        double* const to = arrays.at(kReads) + first;
        for (std::size_t i = 0; i < count; i += hpcc::kLineDoubles) {
            Lanes sum{}, x;
            for (const double* each : from) {
                std::memcpy(&x, each + i, sizeof x);
                sum += x;
            }
            if (stores == hpcc::Stores::streaming)
                store_line_past_caches(to + i, reinterpret_cast<const double*>(&sum));
            else
                std::memcpy(to + i, &sum, sizeof sum);
        }
        if (stores == hpcc::Stores::streaming) settle_stores();
    });
}

/// The largest difference of the field from loops over all cells, after two steps that the solver has done.
double error_after_two_steps(const Solver& solver, const transport::Settings& settings, Break fault) {
    WholeGrid expected(settings);
    for (int step = fault == Break::skip ? 1 : 0; step < 2; ++step)
        expected.step(fault == Break::perturb ? 1.001 : 1.0);
    return solver.error(expected);
}

/// Conduction: that from what the scheme leaves of the cosines after all steps.
double error_at_end(Solver& solver, const transport::Settings& settings) {
    const transport::Profile start(settings, {{0, 0, 0}, settings.shape().cells.hi}, 0);
    const double left = std::pow(left_by_a_step(settings), static_cast<double>(solver.run().step()));
    return solver.error([&](int i, int j, int k) {
        return settings.background + left * (start.at(i, j, k) - settings.background);
    });
}

/// Of each round: bytes a second, and shares of the threads' time.
struct Rounds {
    std::vector<double> updates, triads, runtime, copies, reductions, waiting, ratios, plain;
};

Rounds measure(Solver& solver, bool heat, double bytes, double kept, std::int64_t count) {
    const auto size = static_cast<std::size_t>(kept);
    Streams for_triad(3, size, solver.crew()), for_plain(heat ? 2 : 6, size, solver.crew());
    Rounds all;
    for (int round = 0; round < kRounds; ++round) {
        double step = std::numeric_limits<double>::infinity();
        Solver::Shares shares;
        all.triads.push_back(triad(for_triad));
        all.plain.push_back(heat ? plain_loop<1>(for_plain) : plain_loop<5>(for_plain));
        for (int pass = 0; pass < 2; ++pass) {  // the better one, as of those
            const auto before = static_cast<std::uint32_t>(solver.run().step());
            const double seconds = solver.steps(count);
            if (seconds < step) step = seconds, shares = solver.shares(before);
        }
        all.updates.push_back(bytes / step);
        all.ratios.push_back(all.updates.back() / all.triads.back());
        all.runtime.push_back(1 - shares.tasks);
        all.copies.push_back(shares.copies), all.reductions.push_back(shares.reductions);
        all.waiting.push_back(shares.waiting);
    }
    return all;
}

void add_figures(Result& result, const Rounds& all, bool heat, double kept, std::int64_t count) {
    const double update = median(all.updates);
    result.figures = {{"update", 1e-9 * update, "GB/s", true, {}, {}},
                      {"triad", 1e-9 * median(all.triads), "GB/s", true, {}, {}},
                      {"plain loop", 1e-9 * median(all.plain), "GB/s", true, {}, {}},
                      {"of the roofline", 100 * median(all.ratios), "% of triad", true, {}, {}},
                      {"cells", 1e-6 * update / bytes_of_a_cell(heat), "Mcell/s", true, {}, {}},
                      {"runtime share", 100 * median(all.runtime), "%", false, {}, {}}};
    result.notes = {
        fmt::format(
            "{:.0f} bytes a cell and step, the least that can be moved; the triad on arrays of together "
            "{:.0f} MB, the faster of streaming and cached stores; the plain loop likewise, of as many "
            "arrays as the (last) stage has: {} read and added, 1 written.",
            bytes_of_a_cell(heat), 1e-6 * kept, heat ? 1 : 5),
        fmt::format("Of the roofline: {:.1f} .. {:.1f} % in {} rounds; {} steps each.",
                    100 * *std::min_element(all.ratios.begin(), all.ratios.end()),
                    100 * *std::max_element(all.ratios.begin(), all.ratios.end()), kRounds, count),
        fmt::format("Of the threads' time: copies {:.2f} %, reductions {:.2f} %, waiting {:.2f} %.",
                    100 * median(all.copies), 100 * median(all.reductions), 100 * median(all.waiting))};
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
    require_memory(static_cast<std::uint64_t>(3 * kept), "the grid, the triad and the plain loop");
    Result result;
    result.parameter("equation", equation);
    result.parameter("cells", cells);
    result.parameter("patch", given.text("--patch"));
    result.parameter("borders", borders);
    result.parameter("bytes", static_cast<std::int64_t>(kept));
    const transport::Settings settings = problem(equation, cells, patch, borders == "periodic");
    Solver solver(settings, threads, std::size_t{1} << 17U);
    const double first = solver.steps(2);
    // Before other memory is asked for.
    double error = error_after_two_steps(solver, settings, fault);
    const auto count = static_cast<std::int64_t>(std::clamp((quick ? 0.005 : 0.25) / first, 2.0, 2000.0));
    const Rounds rounds = measure(solver, heat, bytes, kept, count);
    if (heat) error = std::max(error_at_end(solver, settings), error);  // NaN is kept
    result.verification = {
        heat ? "largest difference of the field from loops over all cells after 2 steps, and from what the "
               "scheme "
               "leaves of cosines at the end, in K"
             : "largest difference of the field from loops over all cells after 2 steps, in K",
        error, 1e-11, "round-off"};
    add_figures(result, rounds, heat, kept, count);
    return result;
}

}  // namespace

const Benchmark update = {of_graph::kUpdate.name, of_graph::kUpdate.summary, declare, run};

}  // namespace strata::bench::graph_layer
