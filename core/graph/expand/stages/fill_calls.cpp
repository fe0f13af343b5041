// Copies into the halos of blocks, straight out of their owners' memory.
#include "core/graph/expand/calls/copy_shapes.hpp"
#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

/// Copies into the halos of one storage. `back`: of the version.
class HaloCopies {
  public:
    HaloCopies(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, StorageId number, int phase,
               int back)
        : in_(in), numbered_(numbered), arrays_(arrays), number_(number), phase_(phase), back_(back) {}

    /// Without its shape kept.
    [[nodiscard]] CopyShape of(const SourceBox& piece, std::size_t block, const Reader& reader) const {
        const LabelInfo& of = in_.label_of(number_);
        const PatchArray& target = in_.memory.block(number_, block);
        const PatchArray& source = arrays_.of(number_, piece.from, reader);
        const auto address = [&](const PatchArray& array, const Int3& at) {
            return numbered_.address(phase_, in_.storage(number_),
                                     array.origin + distance(array, at, of.bytes), array.buffer_stride,
                                     back_);
        };
        const Box into = piece.into();
        CopyShape move;
        move.from = address(source, piece.map().inverse()(into.lo));
        move.to = address(target, into.lo);
        move.box = shape_of(into, of, source, strides(target, of.bytes));
        if (piece.axes != kSameAxes) turn(move.box, piece.map());
        if (of.turns && piece.axes[3] != 0) {
            move.turn = &static_cast<const Grid*>(of.family)->rotation(piece.axes[3]);
            move.vector = of.vector;
        }
        return move;
    }

  private:
    const PlanInputs& in_;
    const Numbered& numbered_;
    Arrays& arrays_;
    const StorageId number_;
    const int phase_, back_;
};

/// The copies that one task's values need: an operation for each block and patch that it copies from.
void make_group(const PlanInputs& in, const Numbered& numbered, const FillGroup& group, Arrays& arrays,
                PlanParts& plan) {
    const int phase = numbered.tasks[group.key.maker].phase;
    const StorageId number = group.key.storage;
    const HaloCopies copies(in, numbered, arrays, number, phase, group.key.back);
    ProgramData& all = plan.of(phase);
    CopyShapes shapes(all.store);
    for (std::size_t b = 0; b + 1 < group.fills.of_block.size(); ++b) {
        const std::uint32_t last = group.fills.of_block[b + 1];
        for (std::uint32_t i = group.fills.of_block[b], end = i; i < last; i = end) {
            while (end < last && group.op_of[end] == group.op_of[i]) ++end;
            if (group.op_of[i] == kNone) continue;
            const Reader reader{phase, group.op_of[i], position_of(in, group.key)};
            std::vector<ValueCopy> moves;
            for (std::uint32_t f = i; f < end; ++f)
                moves.push_back(shapes.keep(copies.of(group.fills.all[f], b, reader)));
            FillCall& call = FillCall::make(all.store, moves);
            all.set(reader.op, call);
            if (in.storage(number).kept && phase == 1) call.kept = number;
        }
    }
}

/// Of a flow that stays as it is, say: its halos are filled when it is there, by no operation.
void make_of_start(const PlanInputs& in, const Numbered& numbered, StorageId number, const Fills& fills,
                   Arrays& arrays, PlanParts& plan) {
    constexpr int kNever = -1;  // a phase in which nobody waits for these readers of images
    const HaloCopies copies(in, numbered, arrays, number, 1, 0);
    ProgramData& all = plan.of(0);
    CopyShapes shapes(all.store);
    for (std::size_t b = 0; b + 1 < fills.of_block.size(); ++b) {
        std::vector<ValueCopy> moves;
        for (const SourceBox& piece : fills.block(b))
            moves.push_back(shapes.keep(copies.of(piece, b, {kNever, kNone, {}})));
        FillCall& call = FillCall::make(all.store, moves);
        call.kept = number;
        all.refills.push_back(&call);
    }
}

}  // namespace

void make_fills(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, PlanParts& plan) {
    for (const FillGroup& group : numbered.groups) make_group(in, numbered, group, arrays, plan);
    for (const auto& [number, fills] : numbered.of_start)
        make_of_start(in, numbered, number, fills, arrays, plan);
}

}  // namespace strata::graph::detail
