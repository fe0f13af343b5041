// What would be a fault in a plan changes its digest: faults are planted one by one into plans that were just
// made.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/graph/plans/plan_layouts.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::tests;

namespace {

/// Changes a plan; false where it has nothing of the kind.
using Plant = std::function<bool(Plan&)>;

Program& step_of(Plan& plan) { return const_cast<Program&>(plan.step()); }

/// Gives change(call) each of the step's operations of a kind until it returns true.
template <class Call>
Plant in(const std::function<bool(Call&)>& change) {
    return [change](Plan& plan) {
        for (const Op& op : plan.step().ops)
            if (op.go == Call::go && change(*static_cast<Call*>(op.what))) return true;
        return false;
    };
}

template <class T>
bool drop_last(std::span<T>& list) {
    if (list.empty()) return false;
    list = list.first(list.size() - 1);
    return true;
}

template <class T>
bool drop_last(const std::vector<T>& list) {
    if (list.empty()) return false;
    const_cast<std::vector<T>&>(list).pop_back();
    return true;
}

/// Gives change(...) what each task has beside its uses, or what it shares with others, until it returns
/// true.
Plant in_extras(const std::function<bool(CallExtras&)>& change) {
    return in<TaskCall>([change](TaskCall& call) {
        return call.more != nullptr && change(const_cast<CallExtras&>(*call.more));
    });
}
Plant in_shapes(const std::function<bool(CallShape&)>& change) {
    return in<TaskCall>([change](TaskCall& call) { return change(const_cast<CallShape&>(*call.shape)); });
}

/// Changes the step's first wait. In copies into halos: until it returns true.
Plant in_waits(const std::function<void(Waits&, Waits::Run&)>& change) {
    return [change](Plan& plan) {
        Waits& all = step_of(plan).waits;
        if (all.size() > 0) change(all, all.runs.front());
        return all.size() > 0;
    };
}
Plant in_copies(const std::function<bool(ValueCopy&, CopyShape&)>& change) {
    return in<FillCall>([change](FillCall& call) {
        for (const ValueCopy& move : call.moves())
            if (change(const_cast<ValueCopy&>(move), const_cast<CopyShape&>(*move.shape))) return true;
        return false;
    });
}

/// The first block with so many operations in thread 0.
Block* block_with(Block& block, std::size_t operations) {
    if (!block.order.empty() && block.order[0].size() >= operations) return &block;
    for (const auto& inner : block.inside)
        if (Block* found = block_with(*inner, operations)) return found;
    return nullptr;
}
Plant in_order(const std::function<void(Block&)>& change) {
    return [change](Plan& plan) {
        Block* block = block_with(step_of(plan).step, 2);
        if (block != nullptr) change(*block);
        return block != nullptr;
    };
}
Plant in_channel(int peer, int tag, std::size_t bytes) {
    return [=](Plan& plan) {
        if (plan.sending(1).empty()) return false;
        Channel& channel = *plan.sending(1).front();
        const std::size_t length = channel.room(0).size();
        channel = Channel(plan.members(), channel.peer() + peer, channel.tag() + tag);
        channel.make_rooms(length + bytes);
        return true;
    };
}

struct Fault {
    const char* what;
    const char* graph;
    Plant plant;
};

std::vector<Fault> faults_of_order() {
    return {
        {"an operation no longer waits for one other", "heat-round",
         [](Plan& plan) {
             for (Op& op : step_of(plan).ops)
                 if (op.first_wait < op.last_wait) return --op.last_wait, true;
             return false;
         }},
        {"a wait is for a round before", "heat-round",
         in_waits([](Waits& all, Waits::Run& run) { ++all.rounds[run.round].lag; })},
        {"a wait is for another operation", "heat-round",
         in_waits([](Waits&, Waits::Run& run) { ++run.at; })},
        {"a wait is for one operation more", "heat-round",
         in_waits([](Waits&, Waits::Run& run) { ++run.count; })},
        {"a wait counts another scope's rounds", "mixed-round",
         in_waits([](Waits& all, Waits::Run& run) { all.rounds[run.round].scope ^= 1U; })},
        {"two neighbours in a thread's order are swapped", "heat-round",
         in_order([](Block& block) { std::swap(block.order[0][0], block.order[0][1]); })},
        {"an operation goes to another thread", "heat-round", in_order([](Block& block) {
             block.order[1].push_back(block.order[0].back());
             block.order[0].pop_back();
         })},
        {"an operation is forgotten", "heat-round",
         in_order([](Block& block) { block.order[0].pop_back(); })},
        {"any thread may speak MPI", "heat-round",
         [](Plan& plan) {
             for (Op& op : step_of(plan).ops)
                 if (op.speaks_mpi) return op.speaks_mpi = false, true;
             return false;
         }},
        {"a loop goes round once more", "mixed-round",
         [](Plan& plan) {
             for (const auto& inner : step_of(plan).step.inside)
                 if (inner->kind == Block::Kind::subcycle) return ++inner->most, true;
             return false;
         }},
        {"a loop ends when it should go on", "mixed-round",
         [](Plan& plan) {
             for (const auto& inner : step_of(plan).step.inside)
                 if (inner->decision.what != nullptr) {
                     auto& call = *static_cast<DecideCall*>(const_cast<void*>(inner->decision.what));
                     return call.more_if = !call.more_if, true;
                 }
             return false;
         }},
    };
}

std::vector<Fault> faults_of_copies() {
    return {
        {"a copy into a halo is left out", "heat-round",
         in<FillCall>([](FillCall& call) { return call.count > 0 && (--call.count, true); })},
        {"a copy is a cell too small", "heat-round",
         in_copies([](ValueCopy& move, CopyShape&) { return --move.extent.y, true; })},
        {"a copy is from a cell further on", "heat-round",
         in_copies([](ValueCopy& move, CopyShape&) { return move.from += 8, true; })},
        {"a copy is to a cell further on", "heat-round",
         in_copies([](ValueCopy& move, CopyShape&) { return move.to += 8, true; })},
        {"a copy's rows are further apart", "heat-round",
         in_copies([](ValueCopy&, CopyShape& shape) { return shape.box.from_strides.row += 8, true; })},
        {"a copy is of the version before", "heat-round", in_copies([](ValueCopy&, CopyShape& shape) {
             return shape.from.depth > 1 && (++shape.from.back, true);
         })},
        {"a task's window lacks a piece", "fft",
         in_extras([](CallExtras& more) { return drop_last(more.collects); })},
        {"a task's list has another value", "overset", in_extras([](CallExtras& more) {
             for (const ValueCopy& move : more.collects)
                 if (const auto& entries = move.shape->entries; !entries.empty())
                     return ++const_cast<std::int32_t&>(entries.front()), true;
             return false;
         })},
        {"a task sees the version before", "heat-round", in_shapes([](CallShape& shape) {
             for (const CallShape::UseAddress& each : shape.addresses)
                 if (each.address.depth > 1)
                     return ++const_cast<CallShape::UseAddress&>(each).address.back, true;
             return false;
         })},
        {"a task sees a smaller box", "heat-round", in<TaskCall>([](TaskCall& call) {
             return !call.boxes().empty() && (--call.boxes().front().hi[0], true);
         })},
        {"a window for contributions is not cleared", "mixed-round",
         in_extras([](CallExtras& more) { return drop_last(more.clears); })},
        {"a contribution to a scalar begins with anything", "heat-round",
         in_shapes([](CallShape& shape) { return drop_last(shape.scalars); })},
        {"a part is not added to a sum", "mixed-round",
         in<CombineCall>([](CombineCall& call) { return drop_last(call.parts); })},
        {"a row is added to another one", "mixed-round", in<CombineCall>([](CombineCall& call) {
             return ++const_cast<SumRows*>(call.rows)->offsets.front(), true;
         })},
        {"a neighbour's list is not added", "gradients",
         in<CombineCall>([](CombineCall& call) { return drop_last(call.lists); })},
        {"a reduction lacks a contribution", "heat-round",
         in<ReduceCall>([](ReduceCall& call) { return drop_last(call.contributions); })},
        {"a reduction lacks another process", "heat-round",
         in<ReduceCall>([](ReduceCall& call) { return drop_last(call.children); })},
        {"a halo is not filled after a restart", "heat-round",
         in<FillCall>([](FillCall& call) { return call.kept && (call.kept = {}, true); })},
    };
}

std::vector<Fault> faults_of_messages() {
    return {
        {"a parcel is not packed", "heat-round",
         in<PackCall>([](PackCall& call) { return drop_last(call.parcels); })},
        {"a parcel is not unpacked", "heat-round",
         in<UnpackCall>([](UnpackCall& call) { return drop_last(call.parcels); })},
        {"parcels are packed in another order", "heat-round", in<PackCall>([](PackCall& call) {
             if (call.parcels.size() < 2) return false;
             auto& first = const_cast<Parcel&>(call.parcels[0]);
             std::swap(first, const_cast<Parcel&>(call.parcels[1]));
             return true;
         })},
        {"a message has another tag", "heat-round", in_channel(0, 1, 0)},
        {"a message goes to another process", "heat-round", in_channel(1, 0, 0)},
        {"a message is longer", "heat-round", in_channel(0, 0, 8)},
        {"a message is not expected", "heat-round", [](Plan& plan) { return drop_last(plan.listening(1)); }},
        {"a message is not waited for at the end", "heat-round",
         [](Plan& plan) { return drop_last(plan.sending(1)); }},
        {"kept values are not given", "heat-round",
         [](Plan& plan) {
             for (const Plan::Exchanged& with : plan.exchanged())
                 if (drop_last(with.given)) return true;
             return false;
         }},
        {"kept values are not taken", "heat-round",
         [](Plan& plan) {
             for (const Plan::Exchanged& with : plan.exchanged())
                 if (drop_last(with.taken)) return true;
             return false;
         }},
    };
}

std::vector<Fault> faults_of_relocations() {
    return {
        {"particles cannot go to a patch", "cloud",
         in<LeaveCall>([](LeaveCall& call) { return drop_last(call.reach); })},
        {"particles come to a patch without their shift", "cloud", in<LeaveCall>([](LeaveCall& call) {
             for (const Nearby& each : call.reach)
                 if (each.shift != Int3{}) return const_cast<Nearby&>(each).shift = {}, true;
             return false;
         })},
        {"particles do not come from a patch", "cloud",
         in<ArriveCall>([](ArriveCall& call) { return drop_last(call.from); })},
        {"particles do not come from a process", "cloud-far",
         in<ArriveCall>([](ArriveCall& call) { return drop_last(call.all); })},
        {"particles that leave a patch are not listed", "cloud-far",
         in<GatherCall>([](GatherCall& call) { return drop_last(call.patches); })},
        {"particles that leave a patch are not sent", "cloud",
         in<PackLeaversCall>([](PackLeaversCall& call) { return drop_last(call.patches); })},
        {"a label does not move", "cloud", in<ArriveCall>([](ArriveCall& call) {
             return drop_last(const_cast<SetRelocation*>(call.of)->moved);
         })},
        {"nobody asks who has left its cell", "cloud-told",
         in<LeaveCall>([](LeaveCall& call) { return std::exchange(call.moved, nullptr) != nullptr; })},
    };
}

void each_changes_the_digest(const std::vector<Fault>& faults) {
    LayoutPlans plans({"", 4, 2, 2});
    std::map<std::string, std::string> whole;  // of each graph
    for (const Fault& fault : faults) {
        CAPTURE(fault.what, fault.graph);
        const PlannedGraph* graph = nullptr;
        for (const PlannedGraph& each : planned_graphs())
            if (each.name == fault.graph) graph = &each;
        REQUIRE(graph != nullptr);
        bool planted = false;
        std::string& good = whole[graph->name];
        if (good.empty()) good = plans.texts(*graph)[0];
        const std::string with = plans.texts(*graph, [&](Plan& plan) { planted = fault.plant(plan); })[0];
        REQUIRE(planted);
        CHECK(digest(with) != digest(good));
    }
}

}  // namespace

TEST_CASE("a plan with another order or other waits has another digest") {
    each_changes_the_digest(faults_of_order());
}

TEST_CASE("a plan that copies, adds or shows something else has another digest") {
    each_changes_the_digest(faults_of_copies());
}

TEST_CASE("a plan that sends something else has another digest") {
    each_changes_the_digest(faults_of_messages());
}

TEST_CASE("a plan whose particles go elsewhere has another digest") {
    each_changes_the_digest(faults_of_relocations());
}
