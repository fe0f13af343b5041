// The operations of relocations: for each patch one that finds the particles that leave, and one that takes
// in those that come.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

/// The leavers that a process shows to the others in one relocation: its own list (used where any number of
/// patches may be crossed), then those of its patches, each twice.
struct SharedLeavers {
    ProcessLeavers process[2];
    [[nodiscard]] PatchLeavers* of(int local) {
        return reinterpret_cast<PatchLeavers*>(this + 1) + 2 * local;
    }
};

/// The calls of one relocation.
class RelocationCalls {
  public:
    RelocationCalls(const PlanInputs& in, const Numbered& numbered, const Streams& streams, PlanParts& plan,
                    TaskId task)
        : in_(in), numbered_(numbered), streams_(streams), plan_(plan), task_(task) {}

    void all() {
        describe();
        share();
        pack();
        receive();
        const auto leaves = all_.store.take<LeaveCall>(arrive_.count);
        for (std::uint32_t i = 0; i < arrive_.count; ++i) {
            const int patch = in_.patches(arrive_.family)[i];
            leave(leaves[i], static_cast<int>(i), patch);
            ArriveCall& call = all_.store.one<ArriveCall>();
            call.of = &relocation_;
            call.own = &leaves[i];
            if (arrive_.gather) call.all = everywhere_;
            call.from = all_.store.keep(departures_for(patch));
            all_.set(arrive_.first + i, call);
        }
        if (arrive_.gather) gather();
    }

  private:
    void describe() {
        relocation_.set = &set_;
        relocation_.position_label = &in_.label(declared_.position.label);
        relocation_.cells = Cells(set_.grid->shape(), set_.beyond);
        relocation_.cells.directions = relocation_.position_label->components;
        std::vector<ParticleColumn> moved;
        for (const ResolvedUse& use : resolved_.uses) {
            moved.push_back(particles_.column(use.storage));
            if (use.label == declared_.position.label) relocation_.position = moved.back();
            if (use.label == set_.id_label) relocation_.id = moved.back();
        }
        relocation_.moved = all_.store.keep(moved);
        relocation_.hops = declared_.hops;
        relocation_.scope = numbered_.scopes[resolved_.scope];
        relocation_.steps_before = arrive_.phase == 0 ? nullptr : in_.steps_before;
        relocation_.all = &particles_;
        relocation_.movers_named = resolved_.movers_named;
    }

    /// Memory in which this process shows its leavers, and where the others of the node show theirs.
    void share() {
        const Members& members = in_.members;
        const auto name = [&](int process) {
            return fmt::format("graph.{}.departures.{}.{}", in_.serial, task_.number(), process);
        };
        SharedMemory& own = plan_.departures.emplace_back(
            members, name(members.rank), sizeof(SharedLeavers) + arrive_.count * 2 * sizeof(PatchLeavers));
        if (members.size > 1) members.meet();
        std::vector<const ProcessLeavers*> processes;
        for (int process = members.first(); process < members.first() + members.on_node(); ++process) {
            std::byte* const shown =
                process == members.rank ? own.data() : SharedMemory::of_other(members, name(process));
            shared_.push_back(reinterpret_cast<SharedLeavers*>(shown));
            processes.push_back(shared_.back()->process);
        }
        everywhere_ = all_.store.keep(processes);
    }
    [[nodiscard]] SharedLeavers& leavers_of(int process) const {
        return *shared_[static_cast<std::size_t>(process - in_.members.first())];
    }
    [[nodiscard]] const PatchLeavers* own(int local) const { return leavers_of(in_.members.rank).of(local); }

    /// Leavers to other nodes.
    void pack() {
        for (const std::size_t s : streams_.of[task_].outgoing) {
            const Stream& stream = streams_.outgoing[s];
            if (stream.what != Stream::What::leavers) continue;
            std::vector<const PatchLeavers*> from;
            for (const NeedKey& key : stream.keys) from.push_back(own(in_.local(arrive_.family, key.patch)));
            PackLeaversCall& call = all_.store.one<PackLeaversCall>();
            call.of = &relocation_;
            call.channel = stream.channel;
            call.patches = all_.store.keep(from);
            call.owner = in_.assignment.owner[arrive_.family];
            call.process = stream.process;
            all_.set(stream.first, call);
        }
    }

    /// Leavers from other nodes: those of a process are shown as those of one patch.
    void receive() {
        for (const std::size_t s : streams_.of[task_].incoming) {
            const Stream& stream = streams_.incoming[s];
            if (stream.what != Stream::What::leavers) continue;
            ReceiveLeaversCall& call = all_.store.one<ReceiveLeaversCall>();
            call.of = &relocation_;
            call.channel = stream.channel;
            all_.set(stream.first, call);
            afar_[stream.process] = call.shown;
        }
    }

    void leave(LeaveCall& call, int local, int patch) {
        call.of = &relocation_;
        call.patch = patch;
        call.box = set_.grid->box(patch);
        call.here = &particles_.own(set_.id, local);
        call.leavers = leavers_of(in_.members.rank).of(local);
        if (resolved_.movers_named) call.moved = &particles_.moved(set_.id, local);
        if (declared_.hops > 0) call.reach = all_.store.keep(nearby(*set_.grid, patch, declared_.hops));
        all_.set(numbered_.tasks[arrive_.leave].op(local), call);
    }

    /// The places where particles for this patch are shown: patches around it, and processes of other nodes.
    [[nodiscard]] std::vector<const PatchLeavers*> departures_for(int patch) const {
        std::vector<const PatchLeavers*> from;
        if (arrive_.gather) {
            for (const auto& [process, shown] : afar_) from.push_back(shown);
            return from;
        }
        int last = patch;
        for (const Nearby& each : nearby(*set_.grid, patch, in_.hops(set_.id))) {
            if (each.patch == patch || each.patch == last) continue;
            last = each.patch;
            const int process = in_.owner(arrive_.family, last);
            if (in_.members.is_on_node(process))
                from.push_back(leavers_of(process).of(in_.local(arrive_.family, last)));
            else if (std::find(from.begin(), from.end(), afar_.at(process)) == from.end())
                from.push_back(afar_.at(process));
        }
        return from;
    }

    void gather() {
        std::vector<const PatchLeavers*> own;
        for (int local = 0; local < static_cast<int>(arrive_.count); ++local) own.push_back(this->own(local));
        GatherCall& call = all_.store.one<GatherCall>();
        call.of = &relocation_;
        call.patches = all_.store.keep(own);
        call.leavers = leavers_of(in_.members.rank).process;
        all_.set(numbered_.tasks[arrive_.gather].first, call);
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    const Streams& streams_;
    PlanParts& plan_;
    const TaskId task_;
    const ResolvedTask& resolved_ = in_.task(task_);
    const Scope::Relocation& declared_ = in_.relocation(task_);
    const ParticleSet& set_ = in_.graph.particle_sets()[declared_.set];
    const TaskOps& arrive_ = numbered_.tasks[task_];
    ProgramData& all_ = plan_.of(arrive_.phase);
    Populations& particles_ = in_.memory.populations();
    SetRelocation& relocation_ = all_.store.one<SetRelocation>();
    std::vector<SharedLeavers*> shared_;                 // [process of this node]
    std::span<const ProcessLeavers* const> everywhere_;  // the same, of whole processes
    std::map<int, const PatchLeavers*> afar_;            // by process of another node
};

}  // namespace

void make_relocations(const PlanInputs& in, const Numbered& numbered, const Streams& streams,
                      PlanParts& plan) {
    for (const TaskId task : in.resolved.tasks.ids())
        if (in.is(task, ResolvedTask::What::relocate))
            RelocationCalls(in, numbered, streams, plan, task).all();
}

}  // namespace strata::graph::detail
