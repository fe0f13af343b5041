// Copies into the halos of blocks, straight out of their owners' memory.
#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

void PlanBuilder::make_fills() {
    for (const FillGroup& group : groups_) {
        const LabelInfo& of = label_of(graph_, storage(group.key.storage));
        const int which = ops(group.key.maker).phase;
        ProgramData& all = program_data(which);
        const FieldLayout& layout = plan_.memory_.layout(group.key.storage);
        for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
            const PatchArray& target = plan_.memory_.block(group.key.storage, b);
            const std::uint32_t end = group.fills.of_block[b + 1];
            for (std::uint32_t i = group.fills.of_block[b]; i < end;) {
                const std::uint32_t number = group.op_of[i];
                reader_ = {which, number, position_of(group)};
                std::vector<ValueCopy> moves;
                for (; i < end && group.op_of[i] == number; ++i) {
                    const Fill& fill = group.fills.all[i];
                    const PatchArray& source = array_of(group.key.storage, fill.from);
                    ValueCopy move;
                    move.from = address(which, group.key.storage,
                                        source.origin + distance(source, fill.box.lo, of.bytes),
                                        source.buffer_stride, group.key.back);
                    move.to = address(which, group.key.storage,
                                      target.origin + distance(target, fill.into().lo, of.bytes),
                                      target.buffer_stride, group.key.back);
                    move.box = {nullptr,
                                nullptr,
                                strides(target, of.bytes),
                                strides(source, of.bytes),
                                {fill.box.extent(0), fill.box.extent(1), fill.box.extent(2)},
                                of.components,
                                static_cast<std::uint32_t>(of.bytes)};
                    moves.push_back(move);
                }
                FillCall& call = all.fills.one();
                call.moves = all.moves.keep(moves);
                Op& op = all.program.ops[number];
                op.go = FillCall::go;
                op.what = &call;
                for (const ValueCopy& move : moves) op.bytes += 2.0 * static_cast<double>(move.box.volume());
                // What only the start makes, e.g. a flow that stays as it is, has its halos filled there
                // alone.
                if (storage(group.key.storage).kept && (which == 1 || storage(group.key.storage).depth == 1))
                    all.refills.emplace_back(group.key.storage, &call);
            }
        }
    }
}

}  // namespace strata::graph::detail
