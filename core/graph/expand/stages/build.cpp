// Makes a plan: all stages in order, with their inputs and outputs.
#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph {

ProgramData::ProgramData() = default;
ProgramData::~ProgramData() = default;
ProgramData::ProgramData(ProgramData&&) noexcept = default;
ProgramData& ProgramData::operator=(ProgramData&&) noexcept = default;

PlanParts::PlanParts() : start(std::make_unique<ProgramData>()) {}
PlanParts::~PlanParts() = default;
PlanParts::PlanParts(PlanParts&&) noexcept = default;
PlanParts& PlanParts::operator=(PlanParts&&) noexcept = default;

}  // namespace strata::graph

namespace strata::graph::detail {

namespace {

/// The returned arrays know the readers of images: waits need them.
[[nodiscard]] Arrays make_calls(const PlanInputs& in, const Numbered& numbered, const Needs& needs,
                                const Streams& streams, const SharedFlags& shared, PlanParts& plan) {
    Arrays arrays(in, needs);
    make_relocations(in, numbered, streams, plan);
    make_requests(in, numbered, streams, plan);
    const ContributionSlots slots = make_tasks(in, numbered, arrays, plan);
    make_fills(in, numbered, arrays, plan);
    make_combines(in, numbered, arrays, plan);
    const ReceivedParts received = make_reductions(in, numbered, streams, shared, slots, plan);
    make_halos_again(in, plan);
    make_messages(in, numbered, needs, streams, shared, received, plan);
    return arrays;
}

/// There is room for more waits than most graphs have. What a large array does not use it never touched, so
/// no memory lies behind it; making it smaller would only copy it (a fifth of the time of a large plan).
template <class T>
void give_back_room(std::vector<T>& list) {
    constexpr std::size_t small = 1 << 16;
    if (list.capacity() <= small) list.shrink_to_fit();
}

void give_back_room(Block& block) {
    for (std::vector<std::uint32_t>& list : block.order) give_back_room(list);
    for (const auto& inner : block.inside) give_back_room(*inner);
}

}  // namespace

PlanParts build(const PlanInputs& in) {
    PlanParts plan;
    Operations operations(plan);
    const Numbered numbered = number(in, operations, plan);
    const Needs needs = find_needs(in, numbered, plan);
    const Streams streams = number_streams(in, numbered, needs, operations, plan);
    // All operations are known.
    const SharedFlags shared = share_flags(in, numbered, operations, plan);
    const Arrays arrays = make_calls(in, numbered, needs, streams, shared, plan);
    make_waits(in, numbered, needs, streams, shared, arrays, plan);
    make_programs(in, numbered, streams, operations, plan);
    for (const int phase : {0, 1}) {
        Program& program = plan.of(phase).program;
        give_back_room(program.waits.runs), give_back_room(program.ops), give_back_room(program.step);
    }
    return plan;
}

}  // namespace strata::graph::detail
