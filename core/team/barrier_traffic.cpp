#include "core/team/barrier_traffic.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace strata::team {
namespace {

/// One cache line: its holders, its users in this barrier, and the time of its last write.
struct Line {
    std::set<int> holders = {};
    std::set<int> readers = {}, writers = {};
    int written_at = 0;
};

/// The barrier's lines, and the members that move them.
class TrafficCount {
  public:
    TrafficCount(const BarrierTree& tree, const Neighbourhood& near) : tree_(tree), near_(near) {
        const std::size_t nodes = tree.nodes.size();
        root_ = static_cast<int>(nodes) - 1;
        slots_ = tree.counted_root ? 0 : tree.nodes.back().expected;
        counts_.resize(nodes);
        gates_.resize(nodes);
        arrived_.resize(nodes);
        lines_.resize(static_cast<std::size_t>(slots_ * rounds_of(slots_)));
        slot_of_node_.assign(nodes, 0);
        int slot = 0;
        for (std::size_t n = 0; n < nodes; ++n)
            if (tree.nodes[n].parent == root_) slot_of_node_[n] = slot++;
        for (const int node : tree.node_of_member) slot_of_member_.push_back(node == root_ ? slot++ : -1);
    }

    Traffic barrier(std::span<const int> order) {
        traffic_ = {};
        clock_.assign(tree_.node_of_member.size(), 0);
        std::fill(arrived_.begin(), arrived_.end(), 0);
        for (auto* lines : {&counts_, &gates_, &lines_})
            for (Line& line : *lines) line.readers = line.writers = {}, line.written_at = 0;
        waiting_.assign(tree_.nodes.size(), {});
        at_root_.assign(static_cast<std::size_t>(slots_), -1);
        for (const int member : order) arrive(member);
        for (const auto* lines : {&counts_, &gates_, &lines_})
            for (const Line& line : *lines) {
                traffic_.most_readers =
                    std::max(traffic_.most_readers, static_cast<int>(line.readers.size()));
                traffic_.most_writers =
                    std::max(traffic_.most_writers, static_cast<int>(line.writers.size()));
            }
        traffic_.longest_way = *std::max_element(clock_.begin(), clock_.end());
        return traffic_;
    }

  private:
    static int at(const std::vector<int>& list, int member) {
        return list.empty() ? 0 : list[static_cast<std::size_t>(member)];
    }
    /// 0: one cache, 1: one domain, 2: neither.
    [[nodiscard]] int distance(int a, int b) const {
        if (at(near_.domain, a) != at(near_.domain, b)) return 2;
        return at(near_.cache, a) != at(near_.cache, b) ? 1 : 0;
    }
    int& clock(int member) { return clock_[static_cast<std::size_t>(member)]; }

    /// Moves the line to the member from the nearest holder, unless the member has it.
    void fetch(Line& line, int member) {
        if (line.holders.contains(member) || line.holders.empty()) return;
        int nearest = 2;
        for (const int holder : line.holders) nearest = std::min(nearest, distance(member, holder));
        ++(nearest == 0   ? traffic_.within_cache
           : nearest == 1 ? traffic_.within_domain
                          : traffic_.between_domains);
        ++clock(member);
    }
    void write(Line& line, int member) {
        fetch(line, member);
        line.holders = {member};
        line.writers.insert(member);
        line.written_at = clock(member);
    }
    void read(Line& line, int member) {
        clock(member) = std::max(clock(member), line.written_at);
        fetch(line, member);
        line.holders.insert(member);
        line.readers.insert(member);
    }

    void arrive(int member) {
        int node = tree_.node_of_member[static_cast<std::size_t>(member)];
        int slot = slot_of_member_[static_cast<std::size_t>(member)];
        std::vector<int> way;  // nodes in which this member was the last
        while (node >= 0 && (slots_ == 0 || node != root_)) {
            const auto n = static_cast<std::size_t>(node);
            clock(member) = std::max(clock(member), counts_[n].written_at);
            write(counts_[n], member);
            if (++arrived_[n] < tree_.nodes[n].expected) {
                read(gates_[n], member);  // it looks without success, and spins
                waiting_[n].push_back({member, way});
                return;
            }
            way.push_back(node);
            slot = slot_of_node_[n];
            node = tree_.nodes[n].parent;
        }
        if (slots_ == 0) return leave(member, way);
        at_root_[static_cast<std::size_t>(slot)] = member;
        ways_.resize(static_cast<std::size_t>(slots_));
        ways_[static_cast<std::size_t>(slot)] = way;
        if (++come_ < slots_) return;
        come_ = 0;
        tell_each_other();
    }

    void tell_each_other() {
        const auto line = [&](int from, int round) -> Line& {
            return lines_[static_cast<std::size_t>(telling(from, round, slots_).line)];
        };
        for (int round = 0; round < rounds_of(slots_); ++round) {
            for (int slot = 0; slot < slots_; ++slot)
                write(line(slot, round), at_root_[static_cast<std::size_t>(slot)]);
            for (int slot = 0; slot < slots_; ++slot)
                read(line(heard_from(slot, round, slots_), round), at_root_[static_cast<std::size_t>(slot)]);
        }
        for (int slot = 0; slot < slots_; ++slot)
            leave(at_root_[static_cast<std::size_t>(slot)], ways_[static_cast<std::size_t>(slot)]);
    }

    /// Opens the gates of the nodes that the member passed, from the top; members that waited there do the
    /// same.
    void leave(int member, std::vector<int> way) {
        for (; !way.empty(); way.pop_back()) {
            const auto n = static_cast<std::size_t>(way.back());
            write(gates_[n], member);
            for (const WaitingMember& one : waiting_[n]) {
                read(gates_[n], one.member);
                leave(one.member, one.way);
            }
        }
    }

    struct WaitingMember {
        int member;
        std::vector<int> way;
    };

    const BarrierTree& tree_;
    const Neighbourhood& near_;
    int root_ = 0, slots_ = 0, come_ = 0;
    std::vector<Line> counts_, gates_, lines_;
    std::vector<int> arrived_, slot_of_node_, slot_of_member_, at_root_, clock_;
    std::vector<std::vector<int>> ways_;
    std::vector<std::vector<WaitingMember>> waiting_;
    Traffic traffic_;
};

}  // namespace

Traffic barrier_traffic(const BarrierTree& tree, const Neighbourhood& near, std::span<const int> order) {
    constexpr int most = 16;
    TrafficCount count(tree, near);
    Traffic last = count.barrier(order);
    for (int i = 0; i < most; ++i) {
        const Traffic next = count.barrier(order);
        if (next.all() == last.all() && next.between_domains == last.between_domains) return next;
        last = next;
    }
    return last;
}

}  // namespace strata::team
