// Copies into the halos of blocks, straight out of their owners' memory.
#include "core/graph/expand/stages.hpp"

namespace strata::graph::detail {

namespace {

/// The copies that one task's values need.
class GroupFills {
  public:
    GroupFills(const PlanInputs& in, const Numbered& numbered, const FillGroup& group, Arrays& arrays,
               PlanParts& plan)
        : in_(in), numbered_(numbered), group_(group), arrays_(arrays), plan_(plan) {}

    void all() const {
        for (std::size_t b = 0; b + 1 < group_.fills.of_block.size(); ++b) {
            const PatchArray& target = in_.memory.block(number_, b);
            const std::uint32_t last = group_.fills.of_block[b + 1];
            for (std::uint32_t i = group_.fills.of_block[b], end = i; i < last; i = end) {
                while (end < last && group_.op_of[end] == group_.op_of[i]) ++end;
                if (group_.op_of[i] != kNone) one(target, i, end);
            }
        }
    }

  private:
    /// One operation: the fills `first` .. `end` - 1, all from one patch.
    void one(const PatchArray& target, std::uint32_t first, std::uint32_t end) const {
        const Storage& storage = in_.storage(number_);
        const Reader reader{phase_, group_.op_of[first], position_of(in_, group_.key)};
        std::vector<ValueCopy> moves;
        for (std::uint32_t i = first; i < end; ++i)
            moves.push_back(copy(group_.fills.all[i], target, reader));
        ProgramData& all = plan_.of(phase_);
        FillCall& call = all.fills.one();
        call.moves = all.moves.keep(moves);
        Op& op = all.set(reader.op, call);
        for (const ValueCopy& move : moves) op.bytes += 2.0 * static_cast<double>(move.box.volume());
        // A flow that stays as it is, say, is made by the start only: its halos are filled there alone.
        if (storage.kept && (phase_ == 1 || storage.depth == 1)) all.refills.emplace_back(number_, &call);
    }

    [[nodiscard]] ValueCopy copy(const SourceBox& piece, const PatchArray& target,
                                 const Reader& reader) const {
        const LabelInfo& of = in_.label_of(number_);
        const PatchArray& source = arrays_.of(number_, piece.from, reader);
        const auto address = [&](const PatchArray& array, const Int3& at) {
            return numbered_.address(phase_, in_.storage(number_),
                                     array.origin + distance(array, at, of.bytes), array.buffer_stride,
                                     group_.key.back);
        };
        const Box into = piece.into();
        ValueCopy move;
        move.from = address(source, piece.map().inverse()(into.lo));
        move.to = address(target, into.lo);
        move.box = shape_of(into, of, source, strides(target, of.bytes));
        if (piece.axes != kSameAxes) turn(move.box, piece.map());
        if (of.turns && piece.axes[3] != 0)
            move.turn = &static_cast<const Grid*>(of.family)->rotation(piece.axes[3]);
        return move;
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    const FillGroup& group_;
    Arrays& arrays_;
    PlanParts& plan_;
    const StorageId number_ = group_.key.storage;
    const int phase_ = numbered_.tasks[group_.key.maker].phase;
};

}  // namespace

void make_fills(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, PlanParts& plan) {
    for (const FillGroup& group : numbered.groups) GroupFills(in, numbered, group, arrays, plan).all();
}

}  // namespace strata::graph::detail
