#include "benchmarks/npb/common/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "benchmarks/common/buffer.hpp"
#include "core/base/units.hpp"

namespace strata::npb {
namespace {

bool verified(const Outcome& outcome) {
    return !outcome.checks.empty() && std::all_of(outcome.checks.begin(), outcome.checks.end(),
                                                  [](const Check& check) { return check.passed(); });
}

std::string upper(const char* name) {
    std::string text = name;
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

int all_threads(const Group& group) { return group.processes() * group.threads(); }

}  // namespace

Check relative(std::string what, double found, double expected, double limit) {
    return {std::move(what), found, expected, std::abs((found - expected) / expected), limit};
}

bench::Result result_of(const Benchmark& benchmark, Class size, const Plan& plan, const Outcome& outcome,
                        const Group& group) {
    bench::Result result;
    result.benchmark = fmt::format("npb-{}", benchmark.name);
    result.parameter("class", std::string(1, letter(size)));
    result.parameter("size", plan.size);
    result.parameter("iterations", std::int64_t{plan.iterations});
    result.parameter("model", std::string(group.model()));
    result.parameter("division", plan.division);
    result.processes = group.processes();
    result.threads = group.threads();
    if (!group.library().empty()) result.mpi = group.library();
    result.flags = STRATA_NPB_FLAGS;
    // Of several values the one that is furthest from what is allowed speaks for all.
    const auto excess = [](const Check& check) {
        return check.limit > 0 ? check.error / check.limit : check.error;
    };
    const auto worst = [&](const Check& a, const Check& b) {
        return !std::isnan(a.error) && (std::isnan(b.error) || excess(a) < excess(b));
    };
    const Check& check = *std::max_element(outcome.checks.begin(), outcome.checks.end(), worst);
    result.verification = {check.what, check.error, check.limit,
                           "official values of the NAS Parallel Benchmarks 3.4"};
    const double rate = 1e-6 * outcome.operations / outcome.seconds;
    result.figures.push_back({"Mop/s total", rate, "Mop/s", true, {}, {}});
    if (outcome.operation_type == "floating point") result.figures.back().flops = outcome.operations;
    if (outcome.bytes > 0) {
        result.figures.back().bytes = outcome.bytes;
        result.figures.push_back({"bytes", 1e-9 * outcome.bytes / outcome.seconds, "GB/s", true, {}, {}});
    }
    if (outcome.compulsory_bytes > 0)
        result.figures.push_back(
            {"compulsory bytes", 1e-9 * outcome.compulsory_bytes / outcome.seconds, "GB/s", true, {}, {}});
    result.figures.push_back({"Mop/s/thread", rate / all_threads(group), "Mop/s", true, {}, {}});
    result.figures.push_back({"time", outcome.seconds, "s", false, {}, {}});
    result.figures.insert(result.figures.end(), outcome.figures.begin(), outcome.figures.end());
    return result;
}

std::string familiar_text(const Benchmark& benchmark, Class size, const Plan& plan, const Outcome& outcome,
                          const Group& group) {
    std::string text;
    for (const std::string& line : outcome.lines) text += ' ' + line + '\n';
    for (const Check& check : outcome.checks)
        if (!check.passed())
            text += fmt::format(" {}: {:.14g}, official {:.14g}, error {:.3g}, allowed {:.0e}\n", check.what,
                                check.found, check.expected, check.error, check.limit);
    const auto line = [&](const char* what, const std::string& value) {
        text += fmt::format(" {:<15} = {:>24}\n", what, value);
    };
    const bool good = verified(outcome);
    text += fmt::format("\n\n {} Benchmark Completed.\n", upper(benchmark.name));
    line("Class", std::string(1, letter(size)));
    line("Size", plan.size);
    line("Iterations", std::to_string(plan.iterations));
    if (good) line("Time in seconds", fmt::format("{:.2f}", outcome.seconds));
    if (group.processes() > 1) line("Total processes", std::to_string(group.processes()));
    line("Total threads", std::to_string(all_threads(group)));
    if (good) {
        const double rate = 1e-6 * outcome.operations / outcome.seconds;
        line("Mop/s total", fmt::format("{:.2f}", rate));
        if (group.processes() > 1) line("Mop/s/process", fmt::format("{:.2f}", rate / group.processes()));
        line("Mop/s/thread", fmt::format("{:.2f}", rate / all_threads(group)));
        if (outcome.bytes > 0) line("GB/s", fmt::format("{:.2f}", 1e-9 * outcome.bytes / outcome.seconds));
        if (outcome.compulsory_bytes > 0)
            line("GB/s compulsory", fmt::format("{:.2f}", 1e-9 * outcome.compulsory_bytes / outcome.seconds));
    }
    line("Operation type", outcome.operation_type);
    line("Verification", good ? "SUCCESSFUL" : "UNSUCCESSFUL");
    line("Model", group.model());
    return text;
}

std::string plan_text(const Benchmark& benchmark, Class size, const Plan& plan, const std::string& model,
                      const launch::Layout& layout) {
    std::string text = fmt::format(
        "{} class {}: {}\n  size        {}\n  iterations  {}\n  layout      {}x{} ({})\n  division    {}\n",
        upper(benchmark.name), letter(size), benchmark.title, plan.size, plan.iterations, layout.processes,
        layout.threads, model, plan.division);
    const auto line = [&](const std::string& what, std::uint64_t bytes) {
        text += fmt::format("  {:<34} {:>10}\n", what, print_size(bytes));
    };
    const bool several = model == "mpi" && layout.processes > 1;
    for (const Need& need : plan.needs) line(need.what, need.bytes);
    if (several) line("each process", plan.bytes());
    line("in all", plan.bytes() * static_cast<std::uint64_t>(several ? layout.processes : 1));
    line("available on this machine", bench::available_memory());
    return text;
}

}  // namespace strata::npb
