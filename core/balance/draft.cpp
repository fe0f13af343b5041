#include "core/balance/draft.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/balance/matching.hpp"

namespace strata::balance {
namespace {

constexpr double kRounding = 1e-12;
constexpr int kRounds = 10;  // of packing and matching threads in turn
constexpr double kTargets[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.08};  // above the bound
constexpr double kAsGood = 0.005;       // numbers of processes within this part count as good as the best
constexpr int kCoarse = 24;             // numbers of processes tried at first, evenly in their logarithm
constexpr int kFine = 12;               // and then near the best
constexpr long kEffort = 2'000'000;     // candidates of one improvement
constexpr long kEffortOfNode = 20;      // candidates take as long as a node of the search
constexpr size_t kFewPatches = 40;      // at most so many: the search pays
constexpr double kGoodEnough = 1.0005;  // of the bound: no further improvement while searching

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

    /// Assigns patches, matches threads to the loads, assigns patches again for those threads, and so on
    /// while it gains.
    Draft draft(int processes, long effort) const {
        const double bound =
            lower_bound_time(problem_.costs, request_.cpus, processes, curve_) * (1 + kRounding);
        const std::vector<double> alike(static_cast<size_t>(processes), 1.0);
        Draft best = rounds(match(share(alike, effort), processes), bound, effort);
        // Two ways differ in rounding: loads first leaves it to the numbers of threads, threads first leaves
        // it to small patches.
        for (const double above : kTargets) {
            if (best.longest <= bound * kGoodEnough || processes == request_.cpus) break;
            const std::vector<int> threads = threads_first(processes, bound * (1 + above));
            if (threads.empty()) continue;
            Draft next = rounds(match(share(speeds_of(threads, curve_), effort), processes), bound, effort);
            if (next.longest < best.longest) best = std::move(next);
        }
        // Few patches: searches owners and threads together, since alternating between them may miss the
        // best.
        if (problem_.costs.size() <= kFewPatches && request_.method != Method::largest_first &&
            request_.method != Method::curve)
            search_draft(problem_.costs, request_.cpus, curve_, best, effort / kEffortOfNode);
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
    /// Assigns patches again for the threads that matched the last loads, while it gains.
    Draft rounds(Draft best, double bound, long effort) const {
        const auto processes = static_cast<int>(best.threads.size());
        if (processes == request_.cpus) return best;  // one thread each: no choice
        Draft last = best;
        for (int round = 0, idle = 0; round < kRounds && idle < 2 && best.longest > bound; ++round) {
            const std::vector<double> speeds = speeds_of(last.threads, curve_);
            Draft next = match(share(speeds, effort), processes);
            if (request_.method == Method::packing) {
                // Also starts from the present owners: a new packing loses the gains of the last exchanges.
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

    /// Numbers of threads for a step of `time`: patches too large for an equal share get the threads that
    /// they need, and the other processes share the rest evenly. Empty where that is not possible.
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

/// Searches the number of processes: coarsely over the whole range, from the largest down, then near the
/// best.
Draft search_processes(const Drafter& drafter, int most, double bound) {
    std::map<int, Draft> tried;
    const auto try_one = [&](int processes) -> const Draft& {
        processes = std::clamp(processes, 1, most);
        if (tried.count(processes) == 0) tried[processes] = drafter.draft(processes, kEffort / 20);
        return tried[processes];
    };
    for (int i = kCoarse; i >= 0; --i) {
        // Within kAsGood of the bound, with the most processes of all such numbers: no other need be tried.
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

}  // namespace

Draft make_draft(const Problem& problem, const Request& request, const ThreadCurve& curve) {
    const Drafter drafter(problem, request, curve);
    // A process without a patch has no work, so there are never more processes than patches unless requested.
    const int most = std::max(1, std::min(request.cpus, static_cast<int>(problem.costs.size())));
    Draft draft;
    if (request.processes > 0) {
        draft = drafter.draft(request.processes, kEffort);
    } else {
        draft = search_processes(drafter, most, lower_bound_time(problem.costs, request.cpus, 0, curve));
    }
    if (request.method == Method::connected || request.method == Method::bytes)
        draft = drafter.connected(draft);
    return draft;
}

}  // namespace strata::balance
