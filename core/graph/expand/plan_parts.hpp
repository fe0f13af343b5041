// All parts of a plan: its two programs, the data of their operations, and the memory that other processes
// read.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/graph/execute/program.hpp"
#include "core/graph/expand/calls.hpp"
#include "core/graph/expand/channel.hpp"
#include "core/graph/expand/members.hpp"
#include "core/graph/expand/particle_halo.hpp"
#include "core/graph/expand/relocate.hpp"
#include "core/graph/expand/requests.hpp"
#include "core/graph/expand/stock.hpp"

namespace strata::graph {

/// Kept values that two processes of different nodes tell each other between steps.
struct Exchanged {
    std::vector<Parcel> given, taken;  // of this process's patches; into images
    std::vector<ParticleParcel> particles_given, particles_taken;
};

/// A program and the data of its operations; nothing in it ever moves.
struct ProgramData {
    Program program;
    Stock<TaskCall> tasks;
    Stock<FillCall> fills;
    Stock<CombineCall> combines;
    Stock<ReduceCall> reduces;
    Stock<FetchCall> fetches;
    Stock<DecideCall> decisions;
    Stock<SetRelocation> relocations;
    Stock<ParticleColumn> columns;
    Stock<LeaveCall> leaves;
    Stock<GatherCall> gathers;
    Stock<ArriveCall> arrivals;
    Stock<Nearby> reaches;
    Stock<const PatchLeavers*> departures;
    Stock<const ProcessLeavers*> departing;
    Stock<ValueCopy> moves;
    Stock<UseData> use_data;
    Stock<TaskCall::UseAddress> addresses;
    Stock<Clear> clears;
    Stock<Here> patch_views;
    Stock<CallData::Own> owns;
    Stock<CallData::MovedOfSet> moved_of_sets;
    Stock<TaskCall::ScalarContribution> scalars;
    Stock<ObjectMade*> made;
    Stock<TaskCall::ParticleView> particle_views;
    Stock<HaloSource> halo_sources;
    Stock<HaloTarget> halo_targets;
    Stock<HaloPlaces> halo_places;
    Stock<ParticleParcel> particle_parcels;
    Stock<HaloList> halo_lists;
    Stock<HaloRenewal> halo_renewals;
    Stock<HaloRead> halo_reads;
    Stock<HaloSum> halo_sums;
    Stock<HaloCombineCall> halo_combines;
    Stock<HaloCombineCall::Part> halo_parts;
    Stock<CombineCall::Entries> entries;
    Stock<RoundAddress> parts;
    std::set<SumRows> sums;
    Stock<std::int32_t> indices;
    Stock<const std::byte*> contributions;
    Stock<std::byte*> children;
    Stock<std::int64_t> round_bases;
    Stock<Channel> channels;
    Stock<PackCall> packs;
    Stock<SendCall> sends;
    Stock<ReceiveCall> receives;
    Stock<UnpackCall> unpacks;
    Stock<Parcel> parcels;
    Stock<PackLeaversCall> packed_leavers;
    Stock<ReceiveLeaversCall> received_leavers;
    Stock<RequestsOnTheWay> requests;
    Stock<AnswersOnTheWay> answers;
    Stock<PostCall> posts;
    Stock<ArrivedCall> arrived;
    Stock<DeliverCall> deliveries;
    Stock<ReturnCall> returns;
    Stock<PackRequestsCall> packed_requests;
    Stock<PackAnswersCall> packed_answers;
    Stock<AnswersMessageCall> answer_messages;
    std::map<LabelId, RequestsOnTheWay*> delivered;  // by gate (request_set.hpp)
    std::map<LabelId, AnswersOnTheWay*> answered;
    std::vector<Channel*> sending;
    std::vector<std::pair<Channel*, std::uint16_t>> listening;  // and the scopes whose rounds they count
    Stock<std::int64_t> starts;                                 // of collected lists
    Stock<Line> windows;  // private memory of tasks: windows, lists, contributions to scalars
    std::vector<std::pair<StorageId, const FillCall*>> refills;  // storage, a copy into its halos

    /// The operation with this number runs the call.
    template <class Call>
    Op& set(std::uint32_t number, Call& call) {
        Op& op = program.ops[number];
        op.go = Call::go, op.what = &call;
        return op;
    }
};

struct PlanParts {
    std::array<ProgramData, 2> programs;      // of the start, of the step
    VectorBy<ScopeId, std::uint16_t> scopes;  // a graph's scope -> its number in its program
    VectorBy<TaskId, Wait> ends;              // of reductions, and of tasks that run once
    SharedMemory flags, directory, partials, images;
    std::vector<Exchanged> exchanged;  // [process]; empty where all are on one node
    std::vector<SharedMemory> departures;
    std::vector<HaloRenewal> halos_again;  // of this process's patches: after kept values were put there

    [[nodiscard]] ProgramData& of(int phase) { return programs[static_cast<std::size_t>(phase)]; }
    [[nodiscard]] const ProgramData& of(int phase) const { return programs[static_cast<std::size_t>(phase)]; }
};

}  // namespace strata::graph
