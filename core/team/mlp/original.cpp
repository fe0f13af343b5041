#include "core/team/mlp/original.hpp"

#include <fmt/format.h>

#include <atomic>

#include "core/team/mlp/forking.hpp"
#include "core/team/mlp/session.hpp"
#include "core/team/seats.hpp"

namespace strata::team::mlp {
namespace {

/// A barrier for any `n` members; in shared memory, starts as zeros.
struct PartialBarrier {
    alignas(kApart) std::atomic<std::uint64_t> come{0};
    Word gate;
};

/// A member that has left cannot arrive. (A member that waits here has not left.)
void refuse_vain_wait(Team& team, std::uint64_t wanted) {
    const auto* departures = static_cast<const Departures*>(team.arena().find(kDeparturesArray));
    int left = 0, last = 0;
    for (int member = 0; member < team.size(); ++member)
        if (departures->left(member)) ++left, last = member;
    if (static_cast<std::uint64_t>(team.size() - left) < wanted)
        throw MemberLost(last, fmt::format("member {} left the team; a barrier of {} of the {} members waits "
                                           "in vain",
                                           last, wanted, team.size()));
}

void meet(Team& team, std::uint64_t wanted) {
    auto& [come, gate] = team.arena().array<PartialBarrier>(
        "strata/gatherings", static_cast<std::size_t>(team.size()))[wanted - 1];
    const std::uint64_t ticket = come.fetch_add(1);
    const auto phase = static_cast<std::uint32_t>(ticket / wanted + 1);
    const auto opened = [phase](std::uint32_t now) { return static_cast<std::int32_t>(now - phase) >= 0; };
    if ((ticket + 1) % wanted != 0)
        return wait_until(gate, opened, team.patience(), [&] { refuse_vain_wait(team, wanted); });
    // Others may have completed the next barrier already, so the gate must not go back.
    std::uint32_t now = gate.value.load();
    while (!opened(now) && !gate.value.compare_exchange_weak(now, phase)) {
    }
    wake_sleepers(gate);
}

Arena& arena() {
    if (session().team) return session().team->arena();
    if (!session().before) session().before.emplace(Arena::create());
    return *session().before;
}

}  // namespace
}  // namespace strata::team::mlp

using namespace strata;
using namespace strata::team;

void* strata_getmem(std::int64_t bytes) {
    static int calls = 0;  // forked members go on from the same number
    try {
        if (bytes < 1)
            throw Error("GETMEM needs a size of at least one byte")
                .given(fmt::format("numbyt = {}", bytes))
                .remedy("for default integers of 8 bytes link strata_mlplib_i8; for 2 GiB and more GETMEM8");
        return mlp::arena().allocate(fmt::format("GETMEM {}", ++calls), static_cast<std::uint64_t>(bytes));
    } catch (...) {
        mlp::failed(false);
        return nullptr;
    }
}

int strata_forkit(std::int64_t members) {
    try {
        return mlp::fork_members(members, mlp::arena());
    } catch (...) {
        return mlp::failed(false);
    }
}

void strata_gather(std::int64_t members) {
    try {
        Team& team = mlp::team_for("BARRIER");
        if (members < 1 || members > team.size())
            throw Error("BARRIER is for 1 to as many processes as there are")
                .given(fmt::format("numpro = {}", members))
                .allowed(fmt::format("1 to {}", team.size()))
                .remedy("for default integers of 8 bytes link strata_mlplib_i8");
        if (members == team.size())
            team.barrier();
        else
            mlp::meet(team, static_cast<std::uint64_t>(members));
    } catch (...) {
        mlp::failed(false);
    }
}
