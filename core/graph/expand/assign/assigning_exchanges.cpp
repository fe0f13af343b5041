// What a step exchanges between patches, and how long it takes with given owners.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/graph/expand/assign/assigning.hpp"
#include "core/graph/expand/halos/halo.hpp"

namespace strata::graph::detail {

namespace {

bool in_start(const Graph& graph, ScopeId scope) {
    while (graph.scopes()[scope].parent()) scope = graph.scopes()[scope].parent();
    return scope == kStart;
}

class FindExchanges {
  public:
    explicit FindExchanges(const Graph& graph) : graph_(graph) {
        for (const FamilyId f : graph.families().ids()) {
            out_.first.push_back(static_cast<int>(out_.family.size()));
            out_.family.insert(out_.family.end(), static_cast<std::size_t>(graph.families()[f]->patches()),
                               f);
        }
    }

    Exchanges all() {
        for (const TaskInfo& task : graph_.tasks()) {
            if (task.runs != Runs::on_patches || in_start(graph_, task.scope)) continue;
            for (const Use& use : task.uses) {
                const LabelInfo& label = graph_.labels()[use.version.label];
                if (use.relation != nullptr)
                    count(use, label);
                else if (use.width != Int3{} && label.kind == Kind::field)
                    add_layers(use, label);
            }
        }
        for (const auto& [key, bytes] : bytes_)
            add_transfers(*graph_.relations()[std::get<0>(key)], std::get<1>(key), std::get<2>(key), bytes);
        return std::move(out_);
    }

  private:
    /// A version's layers are filled once for all its readers.
    void add_layers(const Use& use, const LabelInfo& label) {
        if (use.access != Access::sum &&
            !filled_.insert({use.version.label, use.version.version, use.version.back, use.width}).second)
            return;
        const FamilyId family = number_of(graph_, *label.family);
        const double bytes = static_cast<double>(label.bytes) * label.components;
        const auto same = [&](const Layers& one) {
            return one.family == family && one.on == label.on && one.border == label.border &&
                   one.width == use.width;
        };
        const auto at = std::find_if(out_.layers.begin(), out_.layers.end(), same);
        if (at != out_.layers.end())
            at->bytes += bytes;
        else
            out_.layers.push_back({family, label.on, label.border, use.width, bytes});
    }

    void count(const Use& use, const LabelInfo& label) {
        const auto& all = graph_.relations();
        const auto at =
            std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.get() == use.relation; });
        if (at == all.end()) return;
        bytes_[{static_cast<std::size_t>(at - all.begin()), label.on, use.version.back == 0}] +=
            static_cast<double>(label.bytes) * label.components;
    }

    void add_transfers(const Relation& relation, On on, bool now, double bytes) {
        const int from = out_.first[number_of(graph_, relation.source())];
        const int to = out_.first[number_of(graph_, relation.target())];
        for (int patch = 0; patch < relation.target().patches(); ++patch) {
            std::map<int, double> of;  // a source may have many pieces
            for (const Piece& piece : relation.pieces(patch, on))
                of[piece.from] += piece.entries.empty() ? static_cast<double>(piece.box.volume())
                                                        : static_cast<double>(piece.entries.size());
            for (const auto& [source, values] : of)
                if (from + source != to + patch)
                    out_.transfers.push_back({from + source, to + patch, values * bytes, now});
        }
    }

    const Graph& graph_;
    Exchanges out_;
    std::set<std::tuple<LabelId, int, int, Int3>> filled_;
    std::map<std::tuple<std::size_t, On, bool>, double> bytes_;  // (relation, position, now)
};

/// A process's share of a family, in seconds.
struct Share {
    double own = 0;      // its patches
    double lent = 0;     // those of them that other processes wait for
    double awaited = 0;  // the longest `lent` of another process that it waits for
};

/// Bytes of the layers around the blocks that a process's patches are merged into.
double around_blocks(const Grid& grid, const std::vector<int>& patches, const Exchanges& exchanges,
                     FamilyId family) {
    double bytes = 0;
    const Division blocks = divide(grid, patches);
    for (const Layers& one : exchanges.layers) {
        if (one.family != family) continue;
        Int3 width = one.width;
        for (int a = 0; a < 3; ++a)
            if (grid.is_flat(a)) width[static_cast<std::size_t>(a)] = 0;
        for (const Division::Part& part : blocks.parts) {
            const int zone = blocks.zone_of(part);
            const Box owned = grid.owned_in(zone, part.cells, one.on, one.border);
            const Box all = common(owned.grown(width), grid.extent_in(zone, one.on, one.border));
            bytes += one.bytes * static_cast<double>(all.volume() - owned.volume());
        }
    }
    return bytes;
}

}  // namespace

Exchanges find_exchanges(const Graph& graph) { return FindExchanges(graph).all(); }

double step_time(const Graph& graph, const PatchCosts& costs, const Exchanges& exchanges,
                 const FamilyOwners& owners, int processes) {
    std::vector<double> times(static_cast<std::size_t>(processes), 0.0);
    const auto time = [&](int process) -> double& { return times[static_cast<std::size_t>(process)]; };
    const auto of_number = [&](const auto& values, int number) {
        const FamilyId f = exchanges.family[static_cast<std::size_t>(number)];
        return values[f][static_cast<std::size_t>(number - exchanges.first[f])];
    };
    std::map<std::pair<int, FamilyId>, Share> shares;
    const auto share_of = [&](int process, int number) -> Share& {
        return shares[{process, exchanges.family[static_cast<std::size_t>(number)]}];
    };
    for (const FamilyId f : owners.ids())
        for (std::size_t p = 0; p < owners[f].size(); ++p) shares[{owners[f][p], f}].own += costs[f][p];

    std::vector<char> lent(exchanges.family.size(), 0);
    for (const auto& [from, to, bytes, now] : exchanges.transfers) {
        const int giver = of_number(owners, from), taker = of_number(owners, to);
        if (giver == taker) continue;
        time(taker) += bytes / kCopiedEachSecond;
        if (now && std::exchange(lent[static_cast<std::size_t>(from)], 1) == 0)
            share_of(giver, from).lent += of_number(costs, from);
    }
    for (const auto& [from, to, bytes, now] : exchanges.transfers) {
        const int giver = of_number(owners, from), taker = of_number(owners, to);
        if (!now || giver == taker) continue;
        double& awaited = share_of(taker, from).awaited;
        awaited = std::max(awaited, share_of(giver, from).lent);
    }
    for (const auto& [of, share] : shares) time(of.first) += std::max(share.own, share.awaited);

    for (const FamilyId f : owners.ids()) {
        const bool filled = std::any_of(exchanges.layers.begin(), exchanges.layers.end(),
                                        [&](const Layers& one) { return one.family == f; });
        if (!filled) continue;
        std::vector<std::vector<int>> patches(times.size());
        for (std::size_t p = 0; p < owners[f].size(); ++p)
            patches[static_cast<std::size_t>(owners[f][p])].push_back(static_cast<int>(p));
        const auto& grid = static_cast<const Grid&>(*graph.families()[f]);
        for (std::size_t process = 0; process < patches.size(); ++process)
            if (!patches[process].empty())
                times[process] += around_blocks(grid, patches[process], exchanges, f) / kCopiedEachSecond;
    }
    return *std::max_element(times.begin(), times.end());
}

}  // namespace strata::graph::detail
