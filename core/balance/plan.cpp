#include "core/balance/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/balance/draft.hpp"
#include "core/balance/matching.hpp"
#include "core/base/error.hpp"

namespace strata::balance {
namespace {

void check(const Problem& problem, const Request& request) {
    for (size_t i = 0; i < problem.costs.size(); ++i)
        if (!std::isfinite(problem.costs[i]) || problem.costs[i] < 0)
            throw Error("a patch's cost must be a number of at least 0")
                .given(fmt::format("{} for patch {}", problem.costs[i], i));
    if (request.cpus < 1)
        throw Error("a plan needs CPUs").given(fmt::format("{} CPUs", request.cpus)).allowed("at least 1");
    if (request.processes < 0 || request.processes > request.cpus)
        throw Error("each process needs a CPU of its own")
            .given(fmt::format("{} processes on {} CPUs", request.processes, request.cpus))
            .allowed(fmt::format("1 to {} processes", request.cpus));
    if (request.method == Method::curve && problem.centres.size() != problem.costs.size())
        throw Error("a space-filling curve needs the place of every patch")
            .given(fmt::format("{} centres for {} patches", problem.centres.size(), problem.costs.size()))
            .remedy("give columns x,y,z, or use --method packing");
    const auto patches = static_cast<int>(problem.costs.size());
    for (const Exchanged& e : problem.exchanged)
        if (e.a < 0 || e.b < 0 || e.a >= patches || e.b >= patches || e.a == e.b || !(e.bytes >= 0))
            throw Error("an exchange is between two patches, with bytes of at least 0")
                .given(fmt::format("{} and {}, {} bytes", e.a, e.b, e.bytes));
}

}  // namespace

const std::vector<std::string>& method_names() {
    static const std::vector<std::string> names = {"largest-first", "packing", "connected", "bytes", "curve"};
    return names;
}

Method parse_method(std::string_view name) {
    const auto& names = method_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
        throw Error("an unknown way to share out")
            .given(std::string(name))
            .allowed(fmt::format("{}", fmt::join(names, ", ")));
    return static_cast<Method>(found - names.begin());
}

const char* method_name(Method method) { return method_names()[static_cast<size_t>(method)].c_str(); }

void predict(Plan& plan, const Problem& problem, const Request& request) {
    const ThreadCurve curve =
        request.max_threads > 0 ? request.curve.limited_to(request.max_threads) : request.curve;
    const double total = std::accumulate(problem.costs.begin(), problem.costs.end(), 0.0);
    plan.cpus = request.cpus;
    plan.cpus_used = std::accumulate(plan.threads.begin(), plan.threads.end(), 0);
    plan.loads = loads_of(problem.costs, plan.owners, plan.processes());
    plan.times.clear();
    double weighted = 0, ideal = 0;
    for (size_t p = 0; p < plan.loads.size(); ++p) {
        plan.times.push_back(plan.loads[p] / curve.speedup(plan.threads[p]));
        weighted += plan.times[p] * plan.threads[p];
        ideal = std::max(ideal, plan.loads[p] / plan.threads[p]);
    }
    plan.longest = plan.times.empty() ? 0 : *std::max_element(plan.times.begin(), plan.times.end());
    plan.bound = lower_bound_time(problem.costs, request.cpus, request.processes, curve);
    plan.efficiency = plan.longest > 0 ? total / (request.cpus * plan.longest) : 1;
    plan.efficiency_ideal = ideal > 0 ? total / (request.cpus * ideal) : 1;
    plan.balance = plan.longest > 0 ? weighted / (request.cpus * plan.longest) : 1;
    plan.bytes_between = bytes_between(problem.exchanged, plan.owners);

    plan.limit = {};
    plan.limit.without = total / request.cpus;
    const double fastest = curve.speedup(request.cpus);
    plan.limit.largest = plan.limit.without * fastest;
    const std::vector<int> needed = threads_within(plan.loads, plan.longest, request.cpus, curve);
    plan.limit.cpus_enough = std::accumulate(needed.begin(), needed.end(), 0);
    if (problem.costs.empty() || total <= 0) return;
    const auto largest = std::max_element(problem.costs.begin(), problem.costs.end());
    plan.limit.threads = std::min(curve.threads_for(fastest), request.cpus);
    plan.limit.time = *largest / fastest;
    plan.limit.too_large =
        static_cast<int>(std::count_if(problem.costs.begin(), problem.costs.end(),
                                       [&](double c) { return c > plan.limit.largest * (1 + 1e-9); }));
    // The patch is the limit if the bound is its own time, and not the time from all patches together.
    if (plan.limit.time >= plan.bound * (1 - 1e-9) && plan.limit.too_large > 0)
        plan.limit.patch = static_cast<int>(largest - problem.costs.begin());
}

Plan make_plan(const Problem& problem, const Request& request) {
    check(problem, request);
    const ThreadCurve curve =
        request.max_threads > 0 ? request.curve.limited_to(request.max_threads) : request.curve;
    Draft draft = make_draft(problem, request, curve);
    Plan plan;
    plan.owners = std::move(draft.owners);
    plan.threads = std::move(draft.threads);
    predict(plan, problem, request);
    return plan;
}

}  // namespace strata::balance
