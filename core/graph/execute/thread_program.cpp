#include "core/graph/execute/thread_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/base/error.hpp"
#include "core/team/failure.hpp"

namespace strata::graph::detail {
namespace {

constexpr std::size_t kMargin = team::kApart / sizeof(std::atomic<Epoch>);

using Order = std::vector<std::vector<std::uint32_t>>;

/// Merges lists of one block. Each list keeps its order, and all advance at the same relative speed.
std::vector<std::uint32_t> merged(const Order& order, std::size_t first, std::size_t stride) {
    struct Next {
        double share;  // the part of its list before it
        std::size_t list;
        std::uint32_t op;
    };
    std::vector<Next> all;
    for (std::size_t list = first; list < order.size(); list += stride)
        for (std::size_t i = 0; i < order[list].size(); ++i)
            all.push_back(
                {static_cast<double>(i) / static_cast<double>(order[list].size()), list, order[list][i]});
    std::stable_sort(all.begin(), all.end(), [](const Next& a, const Next& b) { return a.share < b.share; });
    std::vector<std::uint32_t> ops;
    ops.reserve(all.size());
    for (const Next& next : all) ops.push_back(next.op);
    return ops;
}

std::string described(const Program& program, std::uint32_t op) {
    const Op& it = program.ops[op];
    return it.name < program.names.size() ? fmt::format("{} on patch {}", program.names[it.name], it.patch)
                                          : fmt::format("operation {}", op);
}

[[noreturn]] void wrong(const Program& program, std::uint32_t op, const char* why) {
    throw Error(fmt::format("{} {}", described(program, op), why), kFailure)
        .remedy("this is a fault of what made the program, not of the case");
}

void check_scope(const Program& program, std::uint16_t scope) {
    if (scope >= program.scopes)
        throw Error("a block or wait names a scope that the program does not have", kFailure)
            .given(std::to_string(scope))
            .allowed(fmt::format("below {}", program.scopes));
}

}  // namespace

ThreadProgram::ThreadProgram(Program& program, int thread_count, int speaker)
    : threads(std::max(thread_count, 1)),
      scopes(program.scopes),
      waits(&program.waits),
      positions_(program.ops.size()) {
    if (scopes < 1) throw Error("a program has at least one scope, the step", kFailure).given("0");
    number(program, program.step, speaker);
    find_setters(program);
    fill(program);
}

int ThreadProgram::number(const Program& program, const Block& block, int speaker) {
    const int number_here = static_cast<int>(blocks.size());
    blocks.emplace_back();
    check_scope(program, block.scope);
    {
        ThreadBlock& here = blocks.back();
        here.kind = block.kind;
        here.scope = block.scope;
        here.most = block.most;
        here.ask = block.decision;
        const bool asks = block.kind == Block::Kind::repeat || block.kind == Block::Kind::when;
        if (asks && block.decision.more != nullptr) {
            check_scope(program, block.decision.decided.scope);
            here.decision = decisions++;
        } else if (block.kind == Block::Kind::when) {
            throw Error("a condition in a program has nothing that decides it", kFailure);
        }
    }
    if (block.kind == Block::Kind::ops) place(program, block, speaker);
    for (const auto& part : block.inside) {
        const int child = number(program, *part, speaker);
        blocks[static_cast<std::size_t>(number_here)].inside.push_back(child);
    }
    return number_here;
}

/// The lists of the block that was numbered last.
void ThreadProgram::place(const Program& program, const Block& block, int speaker) {
    const auto count = static_cast<std::size_t>(threads);
    const auto number_here = static_cast<std::int32_t>(blocks.size() - 1);
    std::vector<OpList>& lists = blocks.back().lists;
    lists.resize(count);
    for (std::size_t t = 0; t < count && t < block.order.size(); ++t) {
        const bool whole = block.order.size() <= count;
        if (!whole) merged_.push_back(merged(block.order, t, count));
        const std::vector<std::uint32_t>& order = whole ? block.order[t] : merged_.back();
        lists[t] = {program.ops.data(), order.data(), nullptr, static_cast<std::uint32_t>(order.size())};
        for (std::uint32_t at = 0; at < order.size(); ++at) {
            const std::uint32_t op = order[at];
            if (op >= program.ops.size())
                throw Error("a list names an operation that the program does not have", kFailure)
                    .given(std::to_string(op))
                    .allowed(fmt::format("below {}", program.ops.size()));
            if (program.ops[op].go == nullptr || program.ops[op].flag == nullptr)
                wrong(program, op, "has no function or no flag");
            if (positions_[op].block >= 0) wrong(program, op, "is in two lists");
            if (program.ops[op].speaks_mpi && static_cast<int>(t) != speaker)
                wrong(program, op, "speaks MPI but is in the list of another thread");
            positions_[op] = {number_here, static_cast<std::int32_t>(t), at};
        }
    }
}

/// Flags of a process mostly lie together: then a table says which operation has which.
void ThreadProgram::find_setters(const Program& program) {
    setters_.reserve(program.ops.size());
    for (std::uint32_t op = 0; op < program.ops.size(); ++op)
        if (program.ops[op].flag != nullptr) setters_.emplace_back(program.ops[op].flag, op);
    if (setters_.empty()) return;
    std::sort(setters_.begin(), setters_.end());
    const auto range = static_cast<std::size_t>(setters_.back().first - setters_.front().first) + 1;
    if (range > 64 * setters_.size()) return;
    by_place_.resize(range);
    for (std::uint32_t i = 0; i < setters_.size(); ++i)
        by_place_[static_cast<std::size_t>(setters_[i].first - setters_.front().first)] = i + 1;
}

const std::uint32_t* ThreadProgram::setter(const Flag* flag) const {
    if (setters_.empty() || flag < setters_.front().first || flag > setters_.back().first) return nullptr;
    if (!by_place_.empty()) {
        const std::uint32_t place = by_place_[static_cast<std::size_t>(flag - setters_.front().first)];
        return place == 0 ? nullptr : &setters_[place - 1].second;
    }
    const auto at = std::lower_bound(setters_.begin(), setters_.end(), std::pair(flag, std::uint32_t{0}));
    return at->first == flag ? &at->second : nullptr;
}

bool ThreadProgram::implied(const Program& program, const Flag* flag, std::uint16_t lag,
                            const OpPosition& here) const {
    const std::uint32_t* const op = setter(flag);
    if (op == nullptr) return false;
    const OpPosition& other = positions_[*op];
    if (other.thread != here.thread) return false;
    // A thread leaves a block when all of its own operations there are done, so waits for earlier blocks
    // hold.
    if (other.block != here.block) {
        const auto scope_of = [this](const OpPosition& place) {
            return blocks[static_cast<std::size_t>(place.block)].scope;
        };
        if (other.block > here.block && lag == 0 && scope_of(other) == scope_of(here))
            wrong(program, *op, "is waited for by an operation of an earlier block of the same thread");
        return true;
    }
    return lag > 0 || other.at < here.at;
}

void ThreadProgram::fill(Program& program) {
    for (const Waits::Round& round : program.waits.rounds) check_scope(program, round.scope);
    for (std::uint32_t number = 0; number < program.ops.size(); ++number) {
        if (positions_[number].block < 0) continue;
        Op& op = program.ops[number];
        if (op.first_wait > op.last_wait || op.last_wait > program.waits.size())
            wrong(program, number, "has waits that the program does not have");
        const std::span own(program.waits.runs.data() + op.first_wait, op.last_wait - op.first_wait);
        const auto implied_ones = std::stable_partition(own.begin(), own.end(), [&](const Waits::Run& run) {
            const std::uint16_t lag = program.waits.rounds[run.round].lag;
            const Flag* flag = program.waits.flag(run);
            for (int i = 0; i < run.count; ++i, ++flag)
                if (!implied(program, flag, lag, positions_[number])) return true;
            return false;
        });
        op.foreign = static_cast<std::uint32_t>(implied_ones - own.begin());
    }
    make_claims();
    positions_ = decltype(positions_)();  // frees it, which {} would not
    setters_ = decltype(setters_)();
    by_place_ = decltype(by_place_)();
}

/// One thread alone needs none.
void ThreadProgram::make_claims() {
    if (threads == 1) return;
    std::size_t total = kMargin;
    for (const ThreadBlock& block : blocks)
        for (const OpList& list : block.lists) total += list.size;
    // With a margin around those of each thread, so that claims of two threads never share cache lines.
    claims_ = std::make_unique<std::atomic<Epoch>[]>(total + static_cast<std::size_t>(threads) * kMargin);
    std::atomic<Epoch>* next = claims_.get() + kMargin;
    for (std::size_t t = 0; t < static_cast<std::size_t>(threads); ++t, next += kMargin)
        for (ThreadBlock& block : blocks)
            if (!block.lists.empty()) block.lists[t].claims = next, next += block.lists[t].size;
}

}  // namespace strata::graph::detail
