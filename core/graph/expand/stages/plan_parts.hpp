// All parts of a plan: its two programs, the data of their operations, and the memory that other processes
// read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/graph/execute/program.hpp"
#include "core/graph/expand/assign/members.hpp"
#include "core/graph/expand/calls/calls.hpp"
#include "core/graph/expand/calls/task_call.hpp"
#include "core/graph/expand/memory/stock.hpp"
#include "core/graph/expand/messages/channel.hpp"
#include "core/graph/expand/messages/requests.hpp"
#include "core/graph/expand/particles/particle_halo.hpp"
#include "core/graph/expand/particles/relocate.hpp"

namespace strata::graph {

/// Kept values that two processes of different nodes tell each other between steps.
struct Exchanged {
    std::vector<Parcel> given, taken;  // of this process's patches; into images
    std::vector<ParticleParcel> particles_given, particles_taken;
};

/// A program and the data of its operations; nothing in it ever moves.
struct ProgramData {
    ProgramData();
    ~ProgramData();
    ProgramData(ProgramData&&) noexcept;
    ProgramData& operator=(ProgramData&&) noexcept;

    Program program;
    Stock store;    // calls, and what they refer to
    Stock windows;  // private memory of tasks: windows, lists, contributions to scalars
    std::set<SumRows> sums;
    std::map<LabelId, RequestsOnTheWay*> delivered;  // by gate (request_set.hpp)
    std::map<LabelId, AnswersOnTheWay*> answered;
    std::vector<Channel*> sending;
    std::vector<std::pair<Channel*, std::uint16_t>> listening;  // and the scopes whose rounds they count
    std::vector<const FillCall*> refills;  // into halos of kept values, besides those of operations

    /// The operation with this number runs the call.
    template <class Call>
    Op& set(std::uint32_t number, Call& call) {
        Op& op = program.ops[number];
        op.go = Call::go, op.what = &call;
        return op;
    }
};

struct PlanParts {
    PlanParts();
    ~PlanParts();
    PlanParts(PlanParts&&) noexcept;
    PlanParts& operator=(PlanParts&&) noexcept;

    std::unique_ptr<ProgramData> start;  // null: all have executed it
    ProgramData step;
    VectorBy<ScopeId, std::uint16_t> scopes;  // a graph's scope -> its number in its program
    VectorBy<TaskId, Wait> ends;              // of reductions, and of tasks that run once
    SharedMemory flags, directory, partials, images;
    std::vector<Exchanged> exchanged;  // [process]; empty where all are on one node
    std::vector<SharedMemory> departures;
    std::vector<HaloRenewal> halos_again;  // of this process's patches: after kept values were put there

    [[nodiscard]] bool has(int phase) const { return phase == 1 || start != nullptr; }
    [[nodiscard]] ProgramData& of(int phase) { return phase == 0 ? *start : step; }
    [[nodiscard]] const ProgramData& of(int phase) const { return phase == 0 ? *start : step; }
};

}  // namespace strata::graph
