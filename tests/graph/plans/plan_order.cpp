#include "tests/graph/plans/plan_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <stdexcept>

#include "core/graph/expand/plan.hpp"

namespace strata::tests {

using namespace strata::graph;

namespace {

std::size_t z(std::int64_t number) { return static_cast<std::size_t>(number); }

/// For each node the nodes before it, in numbers of the order.
class Before {
  public:
    explicit Before(std::size_t nodes) : words_((nodes + 63) / 64), bits_(nodes * words_, 0) {}
    void add(std::size_t to, std::size_t from) {
        for (std::size_t w = 0; w <= from / 64; ++w) bits_[to * words_ + w] |= bits_[from * words_ + w];
        bits_[to * words_ + from / 64] |= std::uint64_t{1} << (from % 64);
    }
    [[nodiscard]] bool operator()(std::size_t from, std::size_t to) const {
        return from == to || (bits_[to * words_ + from / 64] >> (from % 64) & 1U) != 0;
    }

  private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

/// The accesses to some bytes so far that later ones must come after.
struct Touched {
    std::uintptr_t hi = 0;
    std::int64_t writer = -1;
    std::vector<std::uint32_t> readers, joined;
};

/// Bytes and who touched them, in pieces that all touched in the same way.
class Shadow {
  public:
    /// Calls each(piece) for the pieces of lo .. hi - 1.
    template <class Each>
    void each(std::uintptr_t lo, std::uintptr_t hi, const Each& each) {
        auto at = pieces_.upper_bound(lo);
        if (at != pieces_.begin() && std::prev(at)->second.hi > lo) at = cut(std::prev(at), lo);
        while (lo < hi) {
            if (at == pieces_.end() || at->first > lo) {
                const std::uintptr_t end = at == pieces_.end() ? hi : std::min(hi, at->first);
                at = pieces_.emplace_hint(at, lo, Touched{end, -1, {}, {}});
            }
            if (at->second.hi > hi) (void)cut(at, hi), at = pieces_.find(lo);
            each(at->second);
            lo = at->second.hi;
            ++at;
        }
    }

  private:
    using Pieces = std::map<std::uintptr_t, Touched>;
    /// Returns the part from `where` on; of one that begins there the whole.
    Pieces::iterator cut(Pieces::iterator piece, std::uintptr_t where) {
        if (piece->first == where) return piece;
        Touched rest = piece->second;
        piece->second.hi = where;
        return pieces_.emplace_hint(std::next(piece), where, std::move(rest));
    }
    Pieces pieces_;
};

}  // namespace

struct PlanOrder::Walk {
    int process;
    std::vector<Epoch> counts;
    std::uint32_t decided = kDecision;  // the last decision
    std::map<std::uint16_t, unsigned> asked;
};

PlanOrder::PlanOrder(std::span<Plan* const> plans, int phase, const PlayedRounds& rounds)
    : plans_(plans.begin(), plans.end()), phase_(phase), rounds_(rounds) {
    kind_numbers_[{}] = 0;
    for (int process = 0; process < static_cast<int>(plans_.size()); ++process) {
        const Program& it = program(process);
        rounds_of_.emplace_back(it.ops.size());
        first_.emplace_back(it.ops.size(), 0);
        for (std::uint32_t op = 0; op < it.ops.size(); ++op) flags_[it.ops[op].flag] = {process, op};
        Walk state{process, std::vector<Epoch>(it.scopes, 0), kDecision, {}};
        // A plan that replaces another one goes on from its rounds: flags say so.
        const auto begun = [&](const auto& self, const Block& block) -> void {
            for (const auto& list : block.order)
                for (const std::uint32_t op : list) state.counts[block.scope] = it.ops[op].flag->load();
            for (const auto& inner : block.inside) self(self, *inner);
        };
        begun(begun, it.step);
        for (int step = 0; step < (phase == 0 ? 1 : rounds.steps); ++step) {
            ++state.counts[0];
            walk(state, it.step);
        }
    }
    edges_.resize(nodes_.size());
    connect();
    connect_messages();
    sort();
    touch();
}

const Program& PlanOrder::program(int process) const {
    const Plan& plan = *plans_[z(process)];
    return phase_ == 0 ? plan.start() : plan.step();
}

std::string PlanOrder::name(const Node& node) const {
    if (node.op == kDecision) return "a decision";
    const Program& it = program(node.process);
    return it.names[it.ops[node.op].name];
}

/// As a thread goes through it.
void PlanOrder::walk(Walk& state, const Block& block) {
    const auto inside = [&] {
        for (const auto& part : block.inside) walk(state, *part);
    };
    switch (block.kind) {
        case Block::Kind::ops: {
            visits_.push_back(state.counts);
            for (const auto& list : block.order)
                for (const std::uint32_t op : list) {
                    std::vector<std::uint32_t>& all = rounds_of_[z(state.process)][op];
                    if (all.empty()) first_[z(state.process)][op] = state.counts[block.scope];
                    all.push_back(static_cast<std::uint32_t>(nodes_.size()));
                    nodes_.push_back({state.process, op, visits_.size() - 1, {}});
                    decided_.push_back(state.decided);
                    asked_.push_back(nullptr);
                }
            return;
        }
        case Block::Kind::sequence:
            return inside();
        case Block::Kind::when: {
            decide(state, block);
            const unsigned time = state.asked[block.scope]++;
            if ((rounds_.met >> (time % 4) & 1U) == 0) return;
            ++state.counts[block.scope];
            return inside();
        }
        case Block::Kind::repeat:
        case Block::Kind::subcycle: {
            const bool decides = block.kind == Block::Kind::repeat && block.decision.more != nullptr;
            // Fewer rounds the second time: the last ones of a step and the first of the next are others.
            const unsigned wanted =
                decides ? static_cast<unsigned>(rounds_.repeats) - state.asked[block.scope]++ % 2 : 2;
            for (unsigned round = 0; round < std::min(block.most, std::max(wanted, 1U)); ++round) {
                ++state.counts[block.scope];
                inside();
                if (decides && round + 1 < block.most) decide(state, block);
            }
            return;
        }
    }
}

void PlanOrder::decide(Walk& state, const Block& block) {
    visits_.push_back(state.counts);
    nodes_.push_back({state.process, kDecision, visits_.size() - 1, {}});
    decided_.push_back(state.decided);
    state.decided = static_cast<std::uint32_t>(nodes_.size() - 1);
    asked_.push_back(static_cast<const DecideCall*>(block.decision.what));
    decisions_.emplace_back(nodes_.size() - 1, &block.decision.decided);
}

void PlanOrder::add_wait(std::size_t to, const Wait& wait, bool of_operation) {
    if (wait.flag == nullptr) return;
    const Node& node = nodes_[to];
    const auto [process, op] = flags_.at(wait.flag);
    const std::int64_t round = std::int64_t{visits_[node.visit][wait.scope]} - wait.lag;
    const std::vector<std::uint32_t>& all = rounds_of_[z(process)][op];
    const std::int64_t number = all.empty() ? -1 : round - first_[z(process)][op];
    if (number < 0) return;  // of a round before the first
    if (number >= static_cast<std::int64_t>(all.size()))
        throw std::logic_error(fmt::format("'{}' waits for a round of '{}' that nobody begins", name(node),
                                           name(nodes_[all.back()])));
    std::uint32_t kind = 0;
    if (of_operation) {
        const WaitKind words{name(node), name(nodes_[all.front()])};
        kinds_.insert(words);
        kind =
            kind_numbers_.try_emplace(words, static_cast<std::uint32_t>(kind_numbers_.size())).first->second;
    }
    add_edge(to, all[z(number)], kind);
}

void PlanOrder::connect() {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
        const Node& node = nodes_[n];
        if (decided_[n] != kDecision) add_edge(n, decided_[n], 0);
        if (node.op == kDecision) continue;
        const Program& it = program(node.process);
        const Op& op = it.ops[node.op];
        for (std::uint32_t w = op.first_wait; w < op.last_wait; ++w)
            for (std::uint8_t i = 0; i < it.waits.runs[w].count; ++i) add_wait(n, it.waits.wait(w, i), true);
    }
    for (const auto& [node, wait] : decisions_) add_wait(node, *wait, false);
    for (const auto& of_process : rounds_of_)
        for (const auto& all : of_process)
            for (std::size_t i = 1; i < all.size(); ++i) add_edge(all[i], all[i - 1], 0);
}

/// What is received in a round was sent in that round.
void PlanOrder::connect_messages() {
    struct End {
        int from = -1, to = -1, tag = 0;
        auto operator<=>(const End&) const = default;
    };
    std::map<std::pair<End, Epoch>, std::uint32_t> sent;
    std::vector<std::pair<std::size_t, std::pair<End, Epoch>>> received;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
        const Node& node = nodes_[n];
        if (node.op == kDecision) continue;
        const Op& op = program(node.process).ops[node.op];
        const auto end = [&](const Channel* channel, bool sends, std::uint16_t scope) {
            const int rank = plans_[z(node.process)]->members().rank;
            const End way{sends ? rank : channel->peer(), sends ? channel->peer() : rank, channel->tag()};
            const std::pair key{way, visits_[node.visit][scope]};
            sends ? void(sent[key] = static_cast<std::uint32_t>(n)) : void(received.emplace_back(n, key));
        };
        if (op.go == SendCall::go) {
            const auto& call = *static_cast<const SendCall*>(op.what);
            end(call.channel, true, call.scope);
        } else if (op.go == ReceiveCall::go) {
            const auto& call = *static_cast<const ReceiveCall*>(op.what);
            end(call.channel, false, call.scope);
        } else if (op.go == ReceiveLeaversCall::go) {
            const auto& call = *static_cast<const ReceiveLeaversCall*>(op.what);
            end(call.channel, false, call.of->scope);
        } else if (op.go == AnswersMessageCall::go) {
            const auto& call = *static_cast<const AnswersMessageCall*>(op.what);
            end((call.sends ? call.of->sends : call.of->receives)[call.node], call.sends, call.scope);
        }
    }
    for (const auto& [node, key] : received) {
        const auto from = sent.find(key);
        if (from == sent.end())
            throw std::logic_error(fmt::format("'{}' receives what nobody sends", name(nodes_[node])));
        add_edge(node, from->second, 0);
    }
}

void PlanOrder::sort() {
    std::vector<std::vector<std::uint32_t>> next(nodes_.size());
    std::vector<std::size_t> open(nodes_.size(), 0);
    std::deque<std::uint32_t> ready;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
        for (const Edge& edge : edges_[n]) next[edge.from].push_back(static_cast<std::uint32_t>(n));
        if ((open[n] = edges_[n].size()) == 0) ready.push_back(static_cast<std::uint32_t>(n));
    }
    for (; !ready.empty(); ready.pop_front()) {
        order_.push_back(ready.front());
        for (const std::uint32_t n : next[ready.front()])
            if (--open[n] == 0) ready.push_back(n);
    }
    if (order_.size() != nodes_.size()) throw std::logic_error("operations wait for each other");
}

void PlanOrder::touch() {
    PlanAccesses accesses(plans_);
    for (const std::uint32_t n : order_) {
        Node& node = nodes_[n];
        const Moment when{plans_[z(node.process)], visits_[node.visit]};
        node.accesses = node.op == kDecision ? accesses.of(*asked_[n], when)
                                             : accesses.of(program(node.process).ops[node.op], when);
    }
}

PlanOrder::Found PlanOrder::find(const WaitKind& without) const {
    const auto left_out = kind_numbers_.find(without);
    const std::uint32_t kind = left_out == kind_numbers_.end() ? 0 : left_out->second;
    std::vector<std::size_t> number(nodes_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) number[order_[i]] = i;
    Found found;
    Before before(nodes_.size());
    for (const std::uint32_t n : order_)
        for (const Edge& edge : edges_[n])
            if (edge.kind == 0 || edge.kind != kind) before.add(number[n], number[edge.from]);
    if (kind != 0) {
        for (std::size_t n = 0; n < nodes_.size() && found.implied; ++n)
            for (const Edge& edge : edges_[n])
                found.implied = found.implied && (edge.kind != kind || before(number[edge.from], number[n]));
        if (found.implied) return found;
    }
    Shadow shadow;
    const auto conflict = [&](std::uint32_t first, const char* did, std::uint32_t now, const char* does) {
        found.conflicts.insert(
            fmt::format("'{}' {} what '{}' {}", name(nodes_[now]), does, name(nodes_[first]), did));
    };
    for (const std::uint32_t n : order_) {
        using Kind = MemoryAccess::Kind;
        const auto after = [&](std::uint32_t first) { return before(number[first], number[n]); };
        const auto writer = [&](const Touched& piece, const char* does) {
            if (piece.writer >= 0 && !after(static_cast<std::uint32_t>(piece.writer)))
                conflict(static_cast<std::uint32_t>(piece.writer), "writes", n, does);
        };
        const auto others = [&](const std::vector<std::uint32_t>& all, const char* did, const char* does) {
            for (const std::uint32_t each : all)
                if (!after(each)) conflict(each, did, n, does);
        };
        const auto keep = [&](std::vector<std::uint32_t>& all) {
            std::erase_if(all, after);
            all.push_back(n);
        };
        for (const Kind wanted : {Kind::read, Kind::join, Kind::write})
            for (const MemoryAccess& access : nodes_[n].accesses) {
                if (access.kind != wanted) continue;
                shadow.each(access.lo, access.hi, [&](Touched& piece) {
                    const char* const does = wanted == Kind::read ? "reads" : "writes";
                    writer(piece, does);
                    if (wanted != Kind::join) others(piece.joined, "joins", does);
                    if (wanted != Kind::read) others(piece.readers, "reads", does);
                    if (wanted == Kind::read) return keep(piece.readers);
                    if (wanted == Kind::join) return keep(piece.joined);
                    piece.writer = n;
                    piece.readers.clear(), piece.joined.clear();
                });
            }
    }
    return found;
}

}  // namespace strata::tests
