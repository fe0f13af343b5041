#include "core/team/barrier.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace strata::team {
namespace {

/// The items of one level, grouped by their common node.
using Groups = std::vector<std::vector<int>>;

/// Items with the same key stay together, in runs of at most `fan_in`.
Groups grouped(const std::vector<int>& keys, int fan_in) {
    std::map<int, std::vector<int>> together;
    for (std::size_t i = 0; i < keys.size(); ++i) together[keys[i]].push_back(static_cast<int>(i));
    Groups groups;
    for (const auto& [key, all] : together) {
        // Runs of equal length: 9 are 5 and 4, not 8 and 1.
        const std::size_t runs =
            (all.size() + static_cast<std::size_t>(fan_in) - 1) / static_cast<std::size_t>(fan_in);
        for (std::size_t run = 0; run < runs; ++run)
            groups.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(all.size() * run / runs),
                                all.begin() + static_cast<std::ptrdiff_t>(all.size() * (run + 1) / runs));
    }
    return groups;
}

/// A member or a node on the way up, with its cache and domain.
struct Item {
    int node = -1;  // -1: a member
    int member = 0;
    int cache = 0, domain = 0;
};

class TreeBuilder {
  public:
    TreeBuilder(const Neighbourhood& neighbourhood, int fan_in) : fan_in_(fan_in) {
        tree_.node_of_member.assign(static_cast<std::size_t>(neighbourhood.members), 0);
        const auto at = [](const std::vector<int>& list, int i) {
            return list.empty() ? 0 : list.at(static_cast<std::size_t>(i));
        };
        for (int m = 0; m < neighbourhood.members; ++m)
            items_.push_back({-1, m, at(neighbourhood.cache, m), at(neighbourhood.domain, m)});
    }

    /// Joins items until every key has one item left.
    template <class Key>
    void gather(Key key) {
        while (true) {
            std::vector<int> keys;
            for (const Item& item : items_) keys.push_back(key(item));
            const Groups groups = grouped(keys, fan_in_);
            if (groups.size() == items_.size()) return;
            std::vector<Item> above;
            for (const auto& group : groups) above.push_back(joined(group));
            items_ = std::move(above);
        }
    }

    BarrierTree finish() {
        if (tree_.nodes.empty()) tree_.nodes.push_back({1, -1});  // one member alone
        return std::move(tree_);
    }

  private:
    Item joined(const std::vector<int>& group) {
        Item first = items_[static_cast<std::size_t>(group.front())];
        if (group.size() == 1) return first;  // a node for one would only make the path longer
        const int node = static_cast<int>(tree_.nodes.size());
        tree_.nodes.push_back({static_cast<int>(group.size()), -1});
        for (const int index : group) {
            const Item& item = items_[static_cast<std::size_t>(index)];
            if (item.node < 0)
                tree_.node_of_member[static_cast<std::size_t>(item.member)] = node;
            else
                tree_.nodes[static_cast<std::size_t>(item.node)].parent = node;
        }
        first.node = node;
        return first;
    }

    int fan_in_;
    std::vector<Item> items_;
    BarrierTree tree_;
};

}  // namespace

BarrierTree barrier_tree(const Neighbourhood& neighbourhood, int fan_in, bool flat) {
    if (flat) fan_in = std::max(2, neighbourhood.members);
    TreeBuilder builder(neighbourhood, fan_in);
    if (!flat) {
        builder.gather([](const Item& item) { return item.cache; });
        builder.gather([](const Item& item) { return item.domain; });
    }
    builder.gather([](const Item&) { return 0; });
    BarrierTree tree = builder.finish();
    tree.counted_root = flat;
    return tree;
}

/// Arrivals and waiting have a line each, so waiting members do not slow down those that still arrive.
struct Barrier::Node {
    alignas(kApart) std::atomic<std::uint32_t> arrived{0};
    std::uint32_t expected = 0;
    std::int32_t parent = -1;
    std::int32_t slot = 0;  // number among the slots of a root that does not count
    alignas(kApart) Word gate;
};

struct Barrier::Image {
    alignas(kApart) std::int32_t members = 0;
    std::int32_t nodes = 0;
    std::uint32_t before = 0;
    std::int32_t slots = 0;  // that notify each other at the root; 0: the root counts
    // then the nodes, the lines of `telling`, the node of each member, its slot
};

namespace {

/// The number of slots that notify each other at the root.
int slots_of(const BarrierTree& tree) { return tree.counted_root ? 0 : tree.nodes.back().expected; }

}  // namespace

std::size_t Barrier::bytes(const BarrierTree& tree) {
    const int slots = slots_of(tree);
    return sizeof(Image) + tree.nodes.size() * sizeof(Node) +
           static_cast<std::size_t>(slots * rounds_of(slots)) * sizeof(Pair) +
           2 * tree.node_of_member.size() * sizeof(std::int32_t);
}

void Barrier::form(void* where, const BarrierTree& tree, std::uint32_t before) {
    auto* image = new (where) Image;
    image->members = static_cast<std::int32_t>(tree.node_of_member.size());
    image->nodes = static_cast<std::int32_t>(tree.nodes.size());
    image->before = before;
    image->slots = slots_of(tree);
    const int root = image->nodes - 1;
    std::int32_t slot = 0;
    auto* node = reinterpret_cast<Node*>(image + 1);
    for (const BarrierNode& plan : tree.nodes) {
        new (node) Node;
        node->expected = static_cast<std::uint32_t>(plan.expected);
        node->parent = plan.parent;
        if (plan.parent == root) node->slot = slot++;
        node->arrived.store(before * node->expected);
        node->gate.value.store(before);
        ++node;
    }
    auto* line = reinterpret_cast<Pair*>(node);
    for (int i = 0; i < image->slots * rounds_of(image->slots); ++i, ++line) {
        new (line) Pair;
        for (auto& value : line->value) value.store(before);
    }
    auto* leaf = reinterpret_cast<std::int32_t*>(line);
    for (const int of : tree.node_of_member) *leaf++ = of;
    for (const int of : tree.node_of_member) *leaf++ = of == root ? slot++ : -1;
}

Barrier::Barrier(void* where, int member, Patience patience, const Departures* departures)
    : patience_(patience),
      departures_(departures),
      members_(static_cast<Image*>(where)->members),
      phase_(static_cast<Image*>(where)->before) {
    auto* image = static_cast<Image*>(where);
    auto* nodes = reinterpret_cast<Node*>(image + 1);
    auto* lines = reinterpret_cast<Pair*>(nodes + image->nodes);
    const int slots = image->slots, rounds = rounds_of(slots), root = image->nodes - 1;
    const auto* leaf = reinterpret_cast<const std::int32_t*>(lines + slots * rounds);
    int slot = leaf[image->members + member];
    for (int at = leaf[member]; at >= 0 && (slots == 0 || at != root); at = nodes[at].parent) {
        if (steps_ == kMostSteps)
            throw Error("the tree of a barrier is too deep")
                .at("barrier")
                .given(std::to_string(steps_) + " levels and more")
                .allowed(std::to_string(kMostSteps));
        way_[static_cast<std::size_t>(steps_++)] = {nodes + at, nodes[at].expected};
        slot = nodes[at].slot;
    }
    for (int round = 0; round < rounds; ++round) {
        const Telling told = telling(slot, round, slots);
        const Telling heard = telling(heard_from(slot, round, slots), round, slots);
        round_[static_cast<std::size_t>(rounds_++)] = {lines + told.line, lines + heard.line, told.which,
                                                       heard.which};
    }
    if (steps_ == 0 && rounds_ == 1 && patience_.spin_ns > 0) {
        const Round& only = round_[0];
        own_ = &only.told->value[only.told_which];
        own_sleepers_ = &only.told->sleepers[only.told_which];
        other_ = &only.heard->value[only.heard_which];
    }
}

void Barrier::wait_for(WordAt word) {
    wait_until(
        word, [this](std::uint32_t phase) { return has_come(phase); }, patience_,
        [this] {
            if (departures_ != nullptr) departures_->check(phase_, members_);
        });
}

void Barrier::wait_for_all() {
    const auto steps = static_cast<std::size_t>(steps_);
    std::size_t come = 0;  // nodes in which this member was the last
    // Counters are never reset: in phase p the last arrival makes the counter p times the expected number
    // (both wrap around).
    while (come < steps && way_[come].node->arrived.fetch_add(1) + 1 == phase_ * way_[come].expected) ++come;
    if (come < steps) {
        wait_for(way_[come].node->gate);
    } else {
        for (int round = 0; round < rounds_; ++round) {
            const Round& here = round_[static_cast<std::size_t>(round)];
            publish({*here.told, here.told_which}, phase_);
            wait_for({*here.heard, here.heard_which});
        }
    }
    while (come > 0) publish(way_[--come].node->gate, phase_);
}

}  // namespace strata::team
