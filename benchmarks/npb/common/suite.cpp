#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/common/report.hpp"
#include "benchmarks/npb/mz/benchmarks.hpp"
#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/base/process_age.hpp"
#include "core/base/units.hpp"
#include "core/launch/layout.hpp"

namespace strata::npb {
namespace {

/// The word, hidden, with which the front asks for the benchmarks over zones; it stands first.
constexpr const char* kOverZones = "--multi-zone";

Options declare(bool over_zones) {
    const char* name = over_zones ? "strata bench npb-mz" : "strata bench npb";
    Options options(
        name, over_zones ? "The multi-zone versions of the NAS Parallel Benchmarks: BT, SP and LU over "
                           "grids side by side, packed to processes by their size. What does not verify "
                           "has no rate, and ends with status 1."
                         : "The NAS Parallel Benchmarks, written from their specification. What does not "
                           "verify has no rate, and ends with status 1.");
    options.positional("BENCHMARK", "which one; --list names them", false)
        .flag("--list", "the benchmarks and their classes")
        .option("--class", "C", "S", "the size of the problem: S, W, A, B, C, D, E or F")
        .option("--layout", "PxT", "", "processes x threads; without it one process (read by the front)")
        .option("--model", "openmp|mpi|team|graph", "",
                "threads, messages, processes that share memory, or LU as a task graph (read by the front)")
        .flag("--dry-run", "say what would run and how much memory it takes, and end")
        .option("--json", "FILE", "",
                "write the result there as JSON (schema strata.result/1); - is standard output")
        .hidden("--break", true)
        .hidden(kOverZones, false);
    if (over_zones)
        options
            .flag("--balance",
                  "print how well layouts up to 2048 CPUs can be balanced, as predicted, and end")
            .example("strata bench npb-mz bt --class A --layout 2x1", "zones packed to two processes")
            .example("strata bench npb-mz sp --class B --layout 2x4 --model team",
                     "threads go to the process whose zones ask for them")
            .example("strata bench npb-mz bt --class C --balance", "where threads become necessary");
    else
        options.example("strata bench npb mg --class B --layout 1x2", "on two threads, by OpenMP")
            .example("strata bench npb cg --class A --layout 2x1 --model team",
                     "two processes that share one arena")
            .example("strata bench npb ft --class D --dry-run", "how much memory it would take");
    return options;
}

/// "bt" and "bt-mz" mean the same over zones.
std::string short_name(const Benchmark& benchmark) {
    const std::string name = benchmark.name;
    return name.substr(0, name.find('-'));
}

/// MG and mg are the same.
const Benchmark& find(const Parsed& given, std::span<const Benchmark> all) {
    std::string name = given.positionals().empty() ? "" : given.positionals().front();
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::vector<std::string> names;
    for (const Benchmark& benchmark : all) {
        if (name == benchmark.name || name == short_name(benchmark)) return benchmark;
        names.push_back(short_name(benchmark));
    }
    const std::string command = given.has(kOverZones) ? "strata bench npb-mz " : "strata bench npb ";
    const std::string near = nearest(name, names);
    throw Error("unknown benchmark of the suite")
        .given(name.empty() ? "nothing" : name)
        .allowed(fmt::format("{}", fmt::join(names, ", ")))
        .remedy(command + (near.empty() ? "--list" : near));
}

Class read_class(const Parsed& given) {
    std::vector<std::string> choices;
    for (const char c : kClasses) choices.emplace_back(1, c);
    const std::string text = given.choice("--class", choices);
    return static_cast<Class>(kClasses.find(text.front()));
}

void print_list(std::span<const Benchmark> all) {
    for (const Benchmark& benchmark : all) {
        std::string sizes;
        for (std::size_t c = 0; c < kClasses.size(); ++c) {
            try {
                const Plan plan = benchmark.plan(static_cast<Class>(c), 1, 1);
                sizes += fmt::format("  {} {:>18}  {:>4} iterations  {:>10}\n", kClasses[c], plan.size,
                                     plan.iterations, print_size(plan.bytes()));
            } catch (const Error&) {
                continue;  // the specification has no such class of it
            }
        }
        fmt::print("{:<4} {}\n{}", short_name(benchmark), benchmark.title, sizes);
    }
}

/// Says on the first process that cannot have its memory why, before anything is allocated. Whether all can
/// is found out together: one that waits for another would wait for ever.
bool refused(const Plan& plan, const Benchmark& benchmark, Class size, Group& group) {
    const std::string what = fmt::format("{} class {}", benchmark.name, letter(size));
    std::optional<Error> lack;
    try {
        bench::require_memory(plan.bytes() * static_cast<std::uint64_t>(group.ranks_here()), what.c_str());
    } catch (const Error& error) {
        lack = error;
    }
    constexpr double kNobody = -1e9;
    const double speaker = group.max(lack ? -group.number() : kNobody);
    if (lack && -group.number() == speaker) std::fputs(lack->text().c_str(), stderr);
    return speaker != kNobody;
}

/// The plan for the layout and the model that were given, or else for one process and its threads.
int dry_run(const Parsed& given, const Benchmark& benchmark, Class size) {
    const launch::Layout layout =
        launch::parse_layout(given.has("--layout") ? given.text("--layout") : "1x1");
    const std::string model =
        given.has("--model") ? given.choice("--model", {"openmp", "mpi", "team", "graph"}) : "openmp";
    const bool messages = model == "mpi";
    Plan plan = benchmark.plan(size, messages ? layout.processes : 1,
                               layout.threads * (messages ? 1 : layout.processes));
    if (benchmark.division != nullptr)
        plan.division = benchmark.division(size, layout.processes, layout.threads, model == "team");
    std::fputs(plan_text(benchmark, size, plan, model, layout).c_str(), stdout);
    return kSuccess;
}

int run(const Parsed& given, Group& group, std::span<const Benchmark> all) {
    const Benchmark& benchmark = find(given, all);
    const Class size = read_class(given);
    if (given.has(kOverZones) && given.has("--balance")) {
        if (group.first()) std::fputs(mz::balance_of(benchmark.name, size).c_str(), stdout);
        return kSuccess;
    }
    if (given.has("--dry-run")) return group.first() ? dry_run(given, benchmark, size) : kSuccess;
    Plan plan = benchmark.plan(size, group.size(), group.workers());
    if (benchmark.division != nullptr)
        plan.division = benchmark.division(size, group.processes(), group.threads(), group.moves_threads());
    const std::string broken =
        given.has("--break") ? given.choice("--break", {"none", "skip", "perturb"}) : "none";
    const Break fault = broken == "skip" ? Break::skip : broken == "perturb" ? Break::perturb : Break::none;
    if (refused(plan, benchmark, size, group)) return kFailure;
    const std::string file = given.text("--json");
    if (group.first()) bench::expect_writable(file);
    const double start = bench::now();
    const Outcome outcome = benchmark.run(size, group, fault);
    const double wall = group.max(bench::now() - start);
    bench::Result result = result_of(benchmark, size, plan, outcome, group);
    result.wall_s = wall;
    if (group.first()) {
        if (file != "-") std::fputs(familiar_text(benchmark, size, plan, outcome, group).c_str(), stdout);
        if (!file.empty()) bench::write_result(file, result);
        if (file != "-" && result.verification.passed()) std::fputs(in_all_line().c_str(), stdout);
    }
    return result.verification.passed() ? kSuccess : kFailure;
}

}  // namespace

int power_of_two(int processes) {
    if (!std::has_single_bit(static_cast<unsigned>(processes)))
        throw Error("this benchmark is divided over a power of two of processes")
            .given(std::to_string(processes))
            .allowed("1, 2, 4, 8, ...")
            .remedy("give each process more threads: --layout PxT");
    return processes;
}

int run_suite(int argc, char** argv, Group& group, std::span<const Benchmark> list) {
    try {
        const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
        // Help is printed as it is parsed: once for all processes.
        if (!group.first() && std::any_of(argv + 1, argv + argc, asks)) return kSuccess;
        const bool over_zones = argc > 1 && std::string(argv[1]) == kOverZones;
        const std::span<const Benchmark> all = over_zones ? zone_benchmarks() : list;
        const Parsed given = declare(over_zones).parse(argc, argv);
        if (given.help()) return kSuccess;
        if (given.has("--list")) {
            if (group.first()) print_list(all);
            return kSuccess;
        }
        return run(given, group, all);
    } catch (const Error& error) {
        // Bad input is seen by all alike and said once; any other failure may be this process's alone.
        const bool alone = error.exit_code() != kBadInput;
        if (alone && group.first()) std::fputs(in_all_line().c_str(), stderr);
        if (alone || group.first()) std::fputs(error.text().c_str(), stderr);
        if (alone) group.abandon(error.exit_code());
        return error.exit_code();
    }
}

}  // namespace strata::npb
