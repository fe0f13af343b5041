// Ways to share patches out: each family by itself, all along one curve, by the bytes that they exchange, and
// near the present owners.
#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "core/balance/repair.hpp"
#include "core/balance/space_curve.hpp"
#include "core/graph/expand/assign/assigning.hpp"
#include "core/graph/expand/assign/partition.hpp"

namespace strata::graph::detail {

namespace {

std::size_t z(int number) { return static_cast<std::size_t>(number); }

/// Costs in proportion to the largest: equal ones are exactly 1, so equal patches give the same cut whatever
/// they cost.
std::vector<double> relative(const std::vector<double>& costs, const std::vector<int>& order) {
    const double most = costs.empty() ? 1 : *std::max_element(costs.begin(), costs.end());
    std::vector<double> along;
    along.reserve(order.size());
    for (const int patch : order) along.push_back(most > 0 ? costs[z(patch)] / most : 1);
    return along;
}

std::vector<int> cut(const std::vector<double>& costs, const std::vector<int>& order,
                     const std::vector<double>& speeds) {
    const std::vector<int> chunks = balance::split_sequence(relative(costs, order), speeds);
    std::vector<int> owner(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) owner[z(order[i])] = chunks[i];
    return owner;
}

/// Puts single patches where they are done earliest.
class PlaceSingly {
  public:
    PlaceSingly(const std::vector<Transfer>& transfers, std::vector<int> owner, std::vector<double> cost,
                int processes)
        : owner_(std::move(owner)), cost_(std::move(cost)), loads_(z(processes), 0.0), of_(owner_.size()) {
        for (std::size_t i = 0; i < owner_.size(); ++i)
            if (owner_[i] >= 0) loads_[z(owner_[i])] += cost_[i];
        for (int p = 0; p < processes; ++p) queue_.emplace(loads_[z(p)], p);
        for (const Transfer& one : transfers) {
            if (owner_[z(one.from)] < 0) of_[z(one.from)].emplace_back(one.to, one.bytes);
            if (owner_[z(one.to)] < 0) of_[z(one.to)].emplace_back(one.from, one.bytes);
        }
    }

    /// The dearest patch first; of equal ones the lowest number.
    std::vector<int> place() {
        std::vector<int> left;
        for (std::size_t i = 0; i < owner_.size(); ++i)
            if (owner_[i] < 0) left.push_back(static_cast<int>(i));
        std::stable_sort(left.begin(), left.end(), [&](int a, int b) { return cost_[z(a)] > cost_[z(b)]; });
        for (const int patch : left) put(patch, best_for(patch));
        return std::move(owner_);
    }

  private:
    int least_loaded() {
        while (queue_.top().first != loads_[z(queue_.top().second)]) queue_.pop();
        return queue_.top().second;
    }
    /// The least loaded process, or one that has what the patch exchanges values with.
    int best_for(int patch) {
        std::vector<std::pair<int, double>> bytes;  // (process, bytes that stay there)
        double all = 0;
        for (const auto& [other, amount] : of_[z(patch)])
            if (owner_[z(other)] >= 0) bytes.emplace_back(owner_[z(other)], amount), all += amount;
        std::sort(bytes.begin(), bytes.end());
        int best = least_loaded();
        double done = loads_[z(best)] + all / kCopiedEachSecond;
        for (std::size_t i = 0; i < bytes.size();) {
            const int process = bytes[i].first;
            double here = 0;
            for (; i < bytes.size() && bytes[i].first == process; ++i) here += bytes[i].second;
            const double then = loads_[z(process)] + (all - here) / kCopiedEachSecond;
            if (then < done) best = process, done = then;
        }
        return best;
    }
    void put(int patch, int process) {
        owner_[z(patch)] = process;
        loads_[z(process)] += cost_[z(patch)];
        queue_.emplace(loads_[z(process)], process);
    }

    std::vector<int> owner_;  // -1: not yet
    std::vector<double> cost_, loads_;
    std::vector<std::vector<std::pair<int, double>>> of_;  // of patches without owner: (other, bytes)
    std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>> queue_;
};

FamilyOwners by_family(const std::vector<int>& owner, const PatchCosts& costs) {
    FamilyOwners all;
    auto next = owner.begin();
    for (const auto& family : costs) {
        const auto end = next + static_cast<std::ptrdiff_t>(family.size());
        all.emplace_back(next, end);
        next = end;
    }
    return all;
}

std::vector<double> in_one_row(const PatchCosts& costs) {
    std::vector<double> all;
    for (const auto& family : costs) all.insert(all.end(), family.begin(), family.end());
    return all;
}

}  // namespace

FamilyOwners share_apart(const Graph& graph, const PatchCosts& costs, const std::vector<Transfer>& transfers,
                         int processes, Cut how) {
    const std::vector<double> equal(z(processes), 1.0);
    std::vector<int> owner;
    bool small = false;
    for (const FamilyId f : graph.families().ids()) {
        const Family& family = *graph.families()[f];
        if (family.patches() < processes) {
            owner.insert(owner.end(), z(family.patches()), -1);
            small = true;
        } else {
            const auto* grid = how == Cut::across ? dynamic_cast<const Grid*>(&family) : nullptr;
            const std::vector<int> chunks = grid != nullptr && grid->zones() == 1
                                                ? cut_across(*grid, costs[f], processes)
                                                : cut(costs[f], family.order(), equal);
            owner.insert(owner.end(), chunks.begin(), chunks.end());
        }
    }
    if (small) owner = PlaceSingly(transfers, std::move(owner), in_one_row(costs), processes).place();
    return by_family(owner, costs);
}

FamilyOwners share_along(const std::vector<double>& places, const PatchCosts& costs, int processes) {
    std::vector<int> order(places.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return places[z(a)] < places[z(b)]; });
    return by_family(cut(in_one_row(costs), order, std::vector<double>(z(processes), 1.0)), costs);
}

namespace {

/// What each process may still get so that all have the same in the end, or who has more than that already:
/// next to nothing.
std::vector<double> room(const std::vector<double>& loads, double more) {
    std::vector<double> sorted = loads;
    std::sort(sorted.begin(), sorted.end());
    double below = 0, level = 0;  // the level to which `more` fills up the lowest
    for (std::size_t n = 0; n < sorted.size() && (n == 0 || sorted[n] < level); ++n) {
        below += sorted[n];
        level = (below + more) / static_cast<double>(n + 1);
    }
    std::vector<double> rooms;
    for (const double load : loads) rooms.push_back(std::max(level - load, 1e-9 * level));
    return rooms;
}

/// Gives parts (-1: none) the numbers of processes in the order of their mean place along the curve, each as
/// near as can be to the process to which that part of the curve would go.
std::vector<int> number_along(const std::vector<int>& part, const std::vector<double>& places,
                              const std::vector<double>& cost, int processes) {
    std::vector<double> sum(z(processes), 0.0), weight(z(processes), 0.0);
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (part[i] < 0) continue;
        sum[z(part[i])] += places[i] * cost[i];
        weight[z(part[i])] += cost[i];
    }
    std::vector<int> order;  // of parts with patches
    for (int p = 0; p < processes; ++p)
        if (weight[z(p)] > 0) order.push_back(p);
    const auto place = [&](int p) { return sum[z(p)] / weight[z(p)]; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return place(a) < place(b); });
    std::vector<int> number(z(processes), -1);
    int next = 0, left = static_cast<int>(order.size());
    for (const int p : order) {
        next = std::min(std::max(next, static_cast<int>(place(p) * processes)), processes - left--);
        number[z(p)] = next++;
    }
    std::vector<int> owner;
    for (const int p : part) owner.push_back(p < 0 ? -1 : number[z(p)]);
    return owner;
}

}  // namespace

FamilyOwners share_around(const Graph& graph, const std::vector<double>& places, const PatchCosts& costs,
                          int processes) {
    const std::vector<double> cost = in_one_row(costs);
    std::vector<int> part;  // of small families; the others' patches count nothing for now
    std::vector<double> counted = cost;
    double large = 0;
    for (const auto& family : costs) {
        const bool small = static_cast<int>(family.size()) < processes;
        for (const double each : family) {
            if (!small) counted[part.size()] = 0, large += each;
            part.push_back(small ? -1 : 0);
        }
    }
    const std::vector<int> before = part;
    if (large == 0 || std::find(part.begin(), part.end(), -1) == part.end()) return {};
    part = PlaceSingly({}, std::move(part), counted, processes).place();
    for (std::size_t i = 0; i < part.size(); ++i)
        if (before[i] == 0) part[i] = -1;
    std::vector<int> owner = number_along(part, places, cost, processes);
    std::vector<double> loads(z(processes), 0.0);
    for (std::size_t i = 0; i < owner.size(); ++i)
        if (owner[i] >= 0) loads[z(owner[i])] += cost[i];
    const std::vector<double> rooms = room(loads, large);
    FamilyOwners all = by_family(owner, costs);
    for (const FamilyId f : all.ids())
        if (graph.families()[f]->patches() >= processes)
            all[f] = cut(costs[f], graph.families()[f]->order(), rooms);
    return all;
}

namespace {

/// Pairs of patches that exchange values, by their numbers among all; a pair may be there several times.
std::vector<balance::Exchanged> pairs_of(const Graph& graph, const Exchanges& exchanges) {
    std::vector<balance::Exchanged> pairs;
    for (const Transfer& one : exchanges.transfers) pairs.push_back({one.from, one.to, one.bytes});
    std::vector<Grid::Meeting> met;
    for (const Layers& one : exchanges.layers) {
        const auto& grid = static_cast<const Grid&>(*graph.families()[one.family]);
        Int3 width = one.width;
        for (int a = 0; a < 3; ++a)
            if (grid.is_flat(a)) width[z(a)] = 0;
        for (int p = 0; p < grid.patches(); ++p) {
            const int first = exchanges.first[one.family];
            grid.find_owners_in(grid.zone_of(p), grid.owned(p, one.on, one.border).grown(width), one.on,
                                one.border, met);
            for (const Grid::Meeting& m : met)
                if (m.patch != p)
                    pairs.push_back(
                        {first + m.patch, first + p, one.bytes * static_cast<double>(m.box.volume())});
        }
    }
    return pairs;
}

}  // namespace

FamilyOwners share_by_bytes(const Graph& graph, const std::vector<double>& places, const PatchCosts& costs,
                            const Exchanges& exchanges, int processes) {
    const std::vector<double> cost = in_one_row(costs);
    const auto parts = partition(cost, pairs_of(graph, exchanges), processes);
    if (!parts) return {};
    return by_family(number_along(*parts, places, cost, processes), costs);
}

FamilyOwners share_near(const Graph& graph, const FamilyOwners& now, const PatchCosts& costs,
                        const Exchanges& exchanges, int processes) {
    balance::Owners owner;
    for (const auto& family : now) owner.insert(owner.end(), family.begin(), family.end());
    return by_family(balance::repaired(in_one_row(costs), pairs_of(graph, exchanges), std::move(owner),
                                       processes, 1 / kCopiedEachSecond),
                     costs);
}

}  // namespace strata::graph::detail
