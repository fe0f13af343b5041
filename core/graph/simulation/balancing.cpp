#include "core/graph/simulation/balancing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <span>

#include "core/graph/expand/assign/reassigning.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/team/supply.hpp"

namespace strata::graph {

namespace {

constexpr double kWeight = 0.5;  // of a new reading of a look's cost

/// What timing costs a step: a batch of its own, and two readings of the clock around each task's call. This
/// is not the difference to other steps: on a machine with other load those differ by much more.
double timing_seconds(const Plan& plan) {
    constexpr double batch = 10e-6;
    static const double reading = [] {
        constexpr int readings = 32;
        const double begin = cpu_seconds();
        for (int i = 1; i < readings; ++i) (void)cpu_seconds();
        return (cpu_seconds() - begin) / readings;
    }();
    return batch + 2 * reading * static_cast<double>(plan.step().ops.size());
}

/// What a process tells the others before the costs of its patches.
enum Head : std::size_t { kStepTime, kLookTime, kMoveTime, kThreads, kHead };

std::string name(std::uint64_t serial, int process) {
    return fmt::format("graph.{}.costs.{}", serial, process);
}

/// [family][patch]. `next`: [process] -> the costs of its patches, family by family, in its order.
VectorBy<FamilyId, std::vector<double>> gathered(const Assignment& now, std::vector<const double*> next) {
    VectorBy<FamilyId, std::vector<double>> costs(now.owner.size());
    for (const FamilyId f : now.owner.ids()) {
        std::vector<std::ptrdiff_t> count(next.size(), 0);
        for (std::size_t p = 0; p < now.owner[f].size(); ++p) {
            const auto process = static_cast<std::size_t>(now.owner[f][p]);
            costs[f].push_back(next[process][now.local[f][p]]);
            ++count[process];
        }
        for (std::size_t i = 0; i < next.size(); ++i) next[i] += count[i];
    }
    return costs;
}

/// `told`: [process]
balance::Look combined(const Assignment& now, std::vector<const double*> told, std::int64_t steps) {
    balance::Look look;
    double threads = 1;
    for (const double*& values : told) {
        look.step = std::max(look.step, values[kStepTime]);
        look.look = std::max(look.look, values[kLookTime]);
        look.move = std::max(look.move, values[kMoveTime]);
        threads = std::max(threads, values[kThreads]);
        values += kHead;
    }
    look.steps = steps;
    look.threads = static_cast<int>(threads);
    look.costs = gathered(now, std::move(told));
    return look;
}

}  // namespace

double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Balancer::Balancer(int processes, int threads, bool on)
    : on_(on && (processes > 1 || threads > 1)), decider_(processes) {}
Balancer::~Balancer() = default;

std::int64_t Balancer::steps_at_once(Plan& plan) const {
    if (!on_) return std::int64_t{1} << 20;
    plan.measure(left_ == 1);
    return std::max<std::int64_t>(1, left_ - 1);
}

void Balancer::forget() {
    if (due_) due_ = false, left_ = 1;
    told_ = {};
}

std::int64_t Balancer::steps_worth(double seconds) const {
    return static_cast<std::int64_t>(std::min(1e9, seconds / (0.005 * std::max(step_s_, 1e-9))));
}

void Balancer::count(const Batch& batch) {
    if (!on_) return;
    if (left_ > 1) {
        steps_ += batch.steps;
        seconds_ += batch.seconds;
    } else {
        due_ = true;
    }
    left_ -= batch.steps;
}

/// For what this process tells. Memory costs some 0.2 ms to get, so it is kept as long as the plan.
void Balancer::make_room(const Plan& plan, std::uint64_t serial) {
    Told& told = told_[turn()];
    if (!told.of.empty()) return;
    std::size_t count = kHead;
    for (const auto& patches : plan.memory().patches()) count += patches.size();
    told.mine = SharedMemory(plan.members(), name(serial, plan.members().rank), count * sizeof(double));
    told.serial = serial;
    // A new plan is made beside the old one, perhaps with more patches than this.
    const auto need = plan.memory().bytes() / 4 * 5 * static_cast<std::size_t>(plan.members().on_node());
    room_ = team::memory_supply().bytes >= need;
}

void Balancer::tell(Plan& plan, int threads) {
    const auto costs = plan.take_costs();
    auto* values = told_[turn()].mine.as<double>();
    values[kStepTime] = seconds_ / static_cast<double>(std::max<std::int64_t>(1, steps_));
    values[kLookTime] = record_.looks > 0 ? look_s_ + timing_seconds(plan) : 0;
    values[kMoveTime] = room_ ? move_s_ : std::numeric_limits<double>::infinity();
    values[kThreads] = threads;
    values += kHead;
    for (const auto& family : costs) values = std::copy(family.begin(), family.end(), values);
}

/// [process] -> what it has told in this look.
std::vector<const double*> Balancer::told(const Members& members) {
    Told& told = told_[turn()];
    for (int process = 0; told.of.size() < static_cast<std::size_t>(members.size); ++process)
        told.of.push_back(!members.is_on_node(process) ? nullptr
                          : process == members.rank
                              ? told.mine.data()
                              : SharedMemory::of_other(members, name(told.serial, process)));
    std::vector<const double*> all;
    for (const std::byte* values : told.of) all.push_back(reinterpret_cast<const double*>(values));
    if (members.messages == nullptr) return all;
    const std::span mine(told.mine.data(), told.mine.size());
    std::vector<std::vector<std::byte>> sent(all.size());
    for (std::size_t process = 0; process < all.size(); ++process)
        if (all[process] == nullptr) sent[process] = {mine.begin(), mine.end()};
    from_afar_ = members.messages->exchange(sent);
    for (std::size_t process = 0; process < all.size(); ++process)
        if (all[process] == nullptr)
            all[process] = reinterpret_cast<const double*>(from_afar_[process].data());
    return all;
}

std::optional<balance::Decider::Move> Balancer::look(Plan& plan, std::uint64_t serial, int threads) {
    make_room(plan, serial);
    double begin = cpu_seconds();
    tell(plan, threads);
    double took = cpu_seconds() - begin;
    // One meeting is enough: what this process has told is overwritten at the next look but one. Until then
    // all have met again.
    plan.members().meet();
    begin = cpu_seconds();
    const balance::Look look = combined(plan.assignment(), told(plan.members()), steps_ + 1);
    auto move = decider_.look(look, plan.assignment().owner, [&](const auto& costs) {
        const VectorBy<FamilyId, std::vector<double>> by_family(costs.begin(), costs.end());
        const Assignment next =
            reassign(plan.graph(), plan.members().size, by_family, plan.assignment().owner);
        return std::vector<balance::Owners>(next.owner.begin(), next.owner.end());
    });
    took += cpu_seconds() - begin;
    look_s_ += (record_.looks == 0 ? 1 : kWeight) * (took - look_s_);
    ++record_.looks;
    record_.looks_s += took;
    left_ = decider_.steps_until_next();
    step_s_ = look.step;
    record_.room = std::isfinite(look.move);
    steps_ = 0;
    seconds_ = 0;
    due_ = false;
    return move;
}

}  // namespace strata::graph
