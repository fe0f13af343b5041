#include "benchmarks/common/benchmark.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "benchmarks/common/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/process_age.hpp"

namespace strata::bench {
namespace {

const Benchmark& find(const std::string& name, std::span<const std::span<const Benchmark>> known,
                      std::span<const Named> elsewhere) {
    std::vector<std::string> names;
    for (const auto& list : known)
        for (const Benchmark& benchmark : list) {
            if (name == benchmark.name) return benchmark;
            names.emplace_back(benchmark.name);
        }
    for (const Named& other : elsewhere)
        if (name == other.name)
            throw Error("this benchmark is in another program")
                .given(name)
                .allowed(fmt::format("{}", fmt::join(names, ", ")))
                .remedy("strata bench " + name);
    const std::string near = nearest(name, names);
    throw Error("unknown benchmark")
        .given(name)
        .allowed(fmt::format("{}", fmt::join(names, ", ")))
        .remedy(near.empty() ? "strata bench --list" : "strata bench " + near);
}

Options declare(const Benchmark& benchmark) {
    Options options(fmt::format("strata bench {}", benchmark.name), benchmark.summary);
    options.option("--json", "FILE", "",
                   "write the result there as JSON (schema strata.result/1); - is standard output");
    options.flag("--quick", "small and short, for launches that are repeated");
    options.hidden("--break", true);
    benchmark.declare(options);
    return options;
}

void list(std::span<const std::span<const Benchmark>> known, std::span<const Named> elsewhere) {
    for (const auto& part : known)
        for (const Benchmark& benchmark : part) fmt::print("{:<12} {}\n", benchmark.name, benchmark.summary);
    for (const Named& other : elsewhere) fmt::print("{:<12} {}\n", other.name, other.summary);
}

}  // namespace

int thread_count() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

int run_named(int argc, char** argv, Group& group, std::span<const std::span<const Benchmark>> known,
              std::span<const Named> elsewhere) {
    const std::string name = argc > 1 ? argv[1] : "--help";
    if (name == "--list" || name == "--help" || name == "-h") {
        if (group.rank() == 0) list(known, elsewhere);
        return kSuccess;
    }
    const Benchmark& benchmark = find(name, known, elsewhere);
    // Help is printed as it is parsed: once for all processes.
    const auto asks = [](const char* word) {
        return !std::strcmp(word, "--help") || !std::strcmp(word, "-h");
    };
    if (group.rank() != 0 && std::any_of(argv + 2, argv + argc, asks)) return kSuccess;
    const Parsed given = declare(benchmark).parse(argc, argv, 2);
    if (given.help()) return kSuccess;
    const std::string broken =
        given.has("--break") ? given.choice("--break", {"none", "skip", "perturb"}) : "none";
    const Break fault = broken == "skip" ? Break::skip : broken == "perturb" ? Break::perturb : Break::none;
    const std::string file = given.text("--json");
    if (group.rank() == 0) expect_writable(file);
    const double start = now();
    Result result = benchmark.run(group, given, fault);
    result.benchmark = benchmark.name;
    result.processes = group.size();
    result.threads = thread_count();
    result.mpi = group.mpi();
    result.wall_s = group.max(now() - start);
    if (group.rank() == 0) {
        if (file != "-") std::fputs(result_text(result).c_str(), stdout);
        if (!file.empty()) write_result(file, result);
        if (file != "-" && result.verification.passed()) std::fputs(in_all_line().c_str(), stdout);
    }
    return result.verification.passed() ? kSuccess : kFailure;
}

int run_and_report(int argc, char** argv, Group& group, std::span<const std::span<const Benchmark>> known,
                   std::span<const Named> elsewhere) {
    try {
        return run_named(argc, argv, group, known, elsewhere);
    } catch (const Error& error) {
        // Bad input is seen by all alike and said once; any other failure may be this process's alone.
        const bool alone = error.exit_code() != kBadInput;
        if (alone && group.rank() == 0) std::fputs(in_all_line().c_str(), stderr);
        if (alone || group.rank() == 0) std::fputs(error.text().c_str(), stderr);
        if (alone) group.abandon(error.exit_code());
        return error.exit_code();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "strata: error: process %d: %s\n", group.rank(), error.what());
        group.abandon(kFailure);
        return kFailure;
    }
}

}  // namespace strata::bench
