#include "core/balance/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <queue>

#include "core/base/error.hpp"

namespace strata::balance {
namespace {

constexpr double kRounding = 1e-12;
constexpr int kRounds = 10;  // of packing and matching threads in turn
constexpr double kTargets[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.08};  // above the bound
constexpr double kAsGood = 0.005;       // numbers of processes that are as good as the best
constexpr int kCoarse = 24;             // numbers of processes tried at first, evenly in their logarithm
constexpr int kFine = 12;               // and then near the best
constexpr long kEffort = 2'000'000;     // candidates of one improvement
constexpr double kGoodEnough = 1.0005;  // of the bound: not worth another improvement while searching

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

std::vector<double> speeds_of(const std::vector<int>& threads, const ThreadCurve& curve) {
    std::vector<double> speeds;
    for (const int t : threads) speeds.push_back(curve.speedup(t));
    return speeds;
}

double longest_of(const std::vector<double>& loads, const std::vector<int>& threads,
                  const ThreadCurve& curve) {
    double longest = 0;
    for (size_t p = 0; p < loads.size(); ++p)
        longest = std::max(longest, loads[p] / curve.speedup(threads[p]));
    return longest;
}

/// The fewest threads with which each load ends by `time`; empty where that takes more than `cpus`.
std::vector<int> threads_within(const std::vector<double>& loads, double time, int cpus,
                                const ThreadCurve& curve) {
    std::vector<int> threads;
    long total = 0;
    for (const double load : loads) {
        threads.push_back(load > 0 ? curve.threads_for(load / time) : 1);
        total += threads.back();
        if (threads.back() == 0 || total > cpus) return {};
    }
    return threads;
}

/// Owners and threads for a fixed number of processes.
struct Draft {
    Owners owners;
    std::vector<int> threads;
    double longest = INFINITY;
};

Draft matched(const Problem& problem, Owners owners, int processes, int cpus, const ThreadCurve& curve) {
    Draft draft;
    const std::vector<double> loads = loads_of(problem.costs, owners, processes);
    draft.threads = match_threads(loads, cpus, curve);
    draft.longest = longest_of(loads, draft.threads, curve);
    draft.owners = std::move(owners);
    return draft;
}

class Drafter {
  public:
    Drafter(const Problem& problem, const Request& request, const ThreadCurve& curve)
        : problem_(problem), request_(request), curve_(curve) {
        if (request.method != Method::curve) return;
        order_ = hilbert_order(problem.centres);
        for (const int patch : order_) in_order_.push_back(problem.costs[static_cast<size_t>(patch)]);
    }

    /// Shares out, matches threads to the loads, shares out again for those threads, and so on while it
    /// gains.
    Draft draft(int processes, long effort) const {
        const double bound =
            lower_bound_time(problem_.costs, request_.cpus, processes, curve_) * (1 + kRounding);
        const std::vector<double> alike(static_cast<size_t>(processes), 1.0);
        Draft best = rounds(match(share(alike, effort), processes), bound, effort);
        // Loads that came first leave rounding to the threads; threads that come first leave it to small
        // patches.
        for (const double above : kTargets) {
            if (best.longest <= bound * kGoodEnough || processes == request_.cpus) break;
            const std::vector<int> threads = threads_first(processes, bound * (1 + above));
            if (threads.empty()) continue;
            Draft next = rounds(match(share(speeds_of(threads, curve_), effort), processes), bound, effort);
            if (next.longest < best.longest) best = std::move(next);
        }
        return best;
    }

    Draft connected(const Draft& packed) const {
        const auto preference = request_.method == Method::bytes ? Preference::bytes : Preference::connected;
        const auto processes = static_cast<int>(packed.threads.size());
        return match(pack_connected(problem_.costs, speeds_of(packed.threads, curve_), problem_.exchanged,
                                    packed.longest * (1 + request_.slack), preference),
                     processes);
    }

  private:
    /// Shares out anew for the threads that matched the last loads, while it gains.
    Draft rounds(Draft best, double bound, long effort) const {
        const auto processes = static_cast<int>(best.threads.size());
        if (processes == request_.cpus) return best;  // one thread each: there is nothing to match
        Draft last = best;
        for (int round = 0, idle = 0; round < kRounds && idle < 2 && best.longest > bound; ++round) {
            const std::vector<double> speeds = speeds_of(last.threads, curve_);
            Draft next = match(share(speeds, effort), processes);
            if (request_.method == Method::packing) {
                // From what is there, too: packing anew forgets what the last exchanges found.
                Owners kept = best.owners;
                improve(problem_.costs, speeds_of(best.threads, curve_), kept, bound, effort);
                Draft improved = match(std::move(kept), processes);
                if (improved.longest < next.longest) next = std::move(improved);
            }
            idle = next.longest < best.longest * (1 - kRounding) ? 0 : idle + 1;
            if (next.longest < best.longest) best = next;
            last = std::move(next);
        }
        return best;
    }

    /// Threads for a step of `time`: patches too large for an equal share get what they need, the others'
    /// processes share the rest evenly. Empty where that cannot be.
    std::vector<int> threads_first(int processes, double time) const {
        std::vector<int> threads;
        int left = request_.cpus;
        for (const int patch : largest_first(problem_.costs)) {
            const int others = processes - static_cast<int>(threads.size());
            const int needed =
                time > 0 ? curve_.threads_for(problem_.costs[static_cast<size_t>(patch)] / time) : 1;
            if (others <= 1 || needed <= left / others) break;
            threads.push_back(needed);
            left -= needed;
        }
        const int others = processes - static_cast<int>(threads.size());
        if (left < others) return {};
        for (int p = 0; p < others; ++p) threads.push_back(left / others + (p < left % others ? 1 : 0));
        return threads;
    }

    Draft match(Owners owners, int processes) const {
        return matched(problem_, std::move(owners), processes, request_.cpus, curve_);
    }

    Owners share(const std::vector<double>& speeds, long effort) const {
        switch (request_.method) {
            case Method::largest_first:
                return pack_largest_first(problem_.costs, speeds);
            case Method::curve: {
                const Owners chunks = split_sequence(in_order_, speeds);
                Owners owners(chunks.size());
                for (size_t i = 0; i < chunks.size(); ++i) owners[static_cast<size_t>(order_[i])] = chunks[i];
                return owners;
            }
            default:
                return pack(problem_.costs, speeds, effort);
        }
    }

    const Problem& problem_;
    const Request& request_;
    const ThreadCurve& curve_;
    std::vector<int> order_;
    std::vector<double> in_order_;
};

/// The number of processes by search: coarse over the whole range, from the most down, then near the best.
Draft search_processes(const Drafter& drafter, int most, double bound) {
    std::map<int, Draft> tried;
    const auto try_one = [&](int processes) -> const Draft& {
        processes = std::clamp(processes, 1, most);
        if (tried.count(processes) == 0) tried[processes] = drafter.draft(processes, kEffort / 20);
        return tried[processes];
    };
    for (int i = kCoarse; i >= 0; --i) {
        // As good as anything can be, with the most processes of all that are: the others need not be tried.
        const Draft& draft = try_one(static_cast<int>(std::lround(std::pow(most, double(i) / kCoarse))));
        if (draft.longest <= bound * (1 + kAsGood)) return draft;
    }
    const auto shortest = [&] {
        return std::min_element(tried.begin(), tried.end(), [](const auto& a, const auto& b) {
            return a.second.longest < b.second.longest;
        });
    };
    const auto best = shortest();
    const int low = best == tried.begin() ? 1 : std::prev(best)->first;
    const int high = std::next(best) == tried.end() ? most : std::next(best)->first;
    for (int i = kFine - 1; i > 0; --i) try_one(low + static_cast<int>(long(high - low) * i / kFine));
    const double limit = shortest()->second.longest * (1 + kAsGood);
    const auto chosen = std::find_if(tried.rbegin(), tried.rend(),
                                     [&](const auto& entry) { return entry.second.longest <= limit; });
    Draft again = drafter.draft(chosen->first, kEffort);
    return again.longest < chosen->second.longest ? again : chosen->second;
}

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

std::vector<int> match_threads(const std::vector<double>& loads, int cpus, const ThreadCurve& curve) {
    const auto processes = static_cast<int>(loads.size());
    std::vector<int> threads(loads.size(), 1);
    if (processes == 0) return threads;
    // One thread each is the slowest; whatever is reached is then the time of some process on some count.
    double high = longest_of(loads, threads, curve);
    double low = high / curve.speedup(cpus) * (1 - 1e-9);
    for (int i = 0; i < 60 && high > low * (1 + kRounding); ++i) {
        const double middle = 0.5 * (low + high);
        std::vector<int> now = threads_within(loads, middle, cpus, curve);
        if (now.empty()) {
            low = middle;
        } else {
            high = std::min(middle, longest_of(loads, now, curve));
            threads = std::move(now);
        }
    }
    int left = cpus - std::accumulate(threads.begin(), threads.end(), 0);
    std::priority_queue<std::pair<double, int>> longest;
    for (int p = 0; p < processes; ++p) {
        const auto i = static_cast<size_t>(p);
        longest.push({loads[i] / curve.speedup(threads[i]), p});
    }
    while (left > 0 && !longest.empty()) {
        const auto [time, process] = longest.top();
        longest.pop();
        const auto p = static_cast<size_t>(process);
        if (threads[p] >= curve.most() || loads[p] <= 0) continue;
        const double after = loads[p] / curve.speedup(threads[p] + 1);
        if (after < time) {
            ++threads[p];
            --left;
            longest.push({after, process});
        }
    }
    return threads;
}

double lower_bound_time(const std::vector<double>& costs, int cpus, int processes, const ThreadCurve& curve) {
    if (costs.empty()) return 0;
    const double total = sum(costs), largest = *std::max_element(costs.begin(), costs.end());
    const int most_threads = processes > 0 ? cpus - processes + 1 : cpus;
    const double fastest = curve.speedup(std::max(1, most_threads));
    double low = std::max(largest / fastest, total * curve.price_from(1) / cpus);
    if (processes > 0) {
        low = std::max(low, total / (processes * fastest));
        if (static_cast<size_t>(processes) < costs.size()) {
            std::vector<double> ordered = costs;
            const auto p = static_cast<long>(processes);
            std::nth_element(ordered.begin(), ordered.begin() + p, ordered.end(), std::greater<>());
            low = std::max(low, (ordered[static_cast<size_t>(p)] +
                                 *std::min_element(ordered.begin(), ordered.begin() + p)) /
                                    fastest);
        }
    }
    const auto too_short = [&](double time) {
        double needed = 0;
        for (const double cost : costs) {
            const int threads = curve.threads_for(cost / time);
            if (threads == 0 || threads > most_threads) return true;
            needed += cost * curve.price_from(threads) / time;
        }
        return needed > cpus * (1 + 1e-9);
    };
    if (low <= 0 || curve.is_ideal() || !too_short(low)) return low;
    double high = std::max(low, total);  // one thread does all
    for (int i = 0; i < 50 && high > low * (1 + 1e-9); ++i) {
        const double middle = 0.5 * (low + high);
        (too_short(middle) ? low : high) = middle;
    }
    return low;
}

void predict(Plan& plan, const Problem& problem, const Request& request) {
    const ThreadCurve curve =
        request.max_threads > 0 ? request.curve.limited_to(request.max_threads) : request.curve;
    const double total = sum(problem.costs);
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
    // It is the patch that limits when the bound is its own time, and not what all of them need together.
    if (plan.limit.time >= plan.bound * (1 - 1e-9) && plan.limit.too_large > 0)
        plan.limit.patch = static_cast<int>(largest - problem.costs.begin());
}

Plan make_plan(const Problem& problem, const Request& request) {
    check(problem, request);
    const ThreadCurve curve =
        request.max_threads > 0 ? request.curve.limited_to(request.max_threads) : request.curve;
    const Drafter drafter(problem, request, curve);
    // A process without a patch has nothing to do: never more of them than patches, unless they were asked
    // for.
    const int most = std::max(1, std::min(request.cpus, static_cast<int>(problem.costs.size())));
    Draft draft;
    if (request.processes > 0) {
        draft = drafter.draft(request.processes, kEffort);
    } else {
        draft = search_processes(drafter, most, lower_bound_time(problem.costs, request.cpus, 0, curve));
    }
    if (request.method == Method::connected || request.method == Method::bytes)
        draft = drafter.connected(draft);
    Plan plan;
    plan.owners = std::move(draft.owners);
    plan.threads = std::move(draft.threads);
    predict(plan, problem, request);
    return plan;
}

}  // namespace strata::balance
