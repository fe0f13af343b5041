// The calls of tasks: their views, and the copies that are made for a view first.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/base/error.hpp"
#include "core/graph/declare/inside_here.hpp"
#include "core/graph/expand/stages.hpp"

namespace strata::graph::detail {

namespace {

/// The calls of one task, made one after the other.
class TaskCalls {
  public:
    TaskCalls(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, PlanParts& plan, TaskId task,
              ContributionSlots& slots)
        : in_(in), numbered_(numbered), arrays_(arrays), plan_(plan), task_(task), slots_(slots) {}

    void all() {
        if (declared_.runs == Runs::once) return once();
        if (!ops_.family) return on_team();
        reader_ = {ops_.phase, kNone, position_of(in_, task_, Position::own)};
        for (std::uint32_t i = 0; i < ops_.count; ++i) {
            local_ = ops_.local(i);
            patch_ = in_.patches(ops_.family)[static_cast<std::size_t>(local_)];
            declared_.runs_on(patch_) ? on_patch() : pass();
            if (i == 0) reserve(ops_.count - 1);
        }
    }

  private:
    void on_patch() {
        begin();
        reader_.op = ops_.op(local_);
        if (declared_.renews) return renew();
        for (std::size_t u = 0; u < uses_.size(); ++u) show(u);
        TaskCall& call = finish();
        std::vector<ObjectMade*> made;
        for (std::size_t u = 0; u < uses_.size(); ++u)
            if (declared_.uses[u].access == Access::make && in_.memory.objects().is_object(uses_[u].storage))
                made.push_back(&in_.memory.objects().made(uses_[u].storage, local_));
        call.made = all_.made.keep(made);
        std::vector<CallData::MovedOfSet> moves;
        for (const SetId set : declared_.moves)
            moves.push_back({set, &in_.memory.populations().moved(set, local_)});
        call.here.patch = patch_;
        CallData& inside = InsideHere::of(call.here);
        inside.moves = all_.moved_of_sets.keep(moves);
        inside.family = declared_.family;
        inside.use_data = call.use_data;
        inside.call = &call;
        inside.creates = TaskCall::create;
        if (ops_.phase == 0) call.populations = &in_.memory.populations();

        Op& op = all_.program.ops[reader_.op];
        const auto* grid = dynamic_cast<const Grid*>(declared_.family);
        const double values = grid == nullptr ? 1.0 : static_cast<double>(grid->box(patch_).volume());
        op.flops = declared_.flops * values;
        op.bytes = declared_.bytes * values;
        op.values = values;
    }

    void renew() {
        HaloRenewal& call = all_.halo_renewals.one();
        call = halo(*in_.graph.particle_halos()[declared_.renews]).renewal(task_, all_);
        all_.set(reader_.op, call);
    }
    [[nodiscard]] HaloCalls halo(const ParticleHalo& of) const { return {in_, of, patch_}; }

    /// An operation that does nothing, where the task does not run: it keeps the order.
    void pass() {
        all_.program.ops[ops_.op(local_)].go = [](void*, Worker&) { return Outcome::done; };
    }

    /// One call for all patches of this process. Its views: one for each use, of the process itself
    /// (scalars); then the same for each patch of each family that its uses name.
    void on_team() {
        const std::vector<const Family*> families = families_of_uses();
        begin();
        show_on(nullptr);
        std::vector<Here> patch_views;
        for (const Family* family : families) {
            const std::vector<int>& mine = in_.patches(number_of(in_.graph, *family));
            for (local_ = 0; local_ < static_cast<int>(mine.size()); ++local_) {
                patch_ = mine[static_cast<std::size_t>(local_)];
                show_on(family);
                Here here;
                here.patch = patch_;
                InsideHere::of(here).family = family;
                InsideHere::of(here).task = &declared_;
                patch_views.push_back(here);
            }
        }
        local_ = 0;
        TaskCall& call = finish();
        call.here.patch = in_.members.rank;
        InsideHere::of(call.here).use_data = call.use_data.first(uses_.size());
        call.all_own = all_.patch_views.keep(patch_views);
        for (std::size_t i = 0; i < call.all_own.size(); ++i)
            InsideHere::of(call.all_own[i]).use_data =
                call.use_data.subspan((i + 1) * uses_.size(), uses_.size());
        std::vector<CallData::Own> owns;
        std::size_t next = 0;
        for (const Family* family : families) {
            const std::size_t count = in_.patches(number_of(in_.graph, *family)).size();
            owns.push_back({family, call.all_own.subspan(next, count)});
            next += count;
        }
        InsideHere::of(call.here).owns = all_.owns.keep(owns);
        all_.program.ops[ops_.first].speaks_mpi = true;
    }
    /// Scalars alone, of this process's.
    void once() {
        begin();
        for (std::size_t u = 0; u < uses_.size(); ++u) show(u);
        TaskCall& call = finish();
        InsideHere::of(call.here).use_data = call.use_data;
        plan_.ends[task_] = {all_.program.ops[ops_.first].flag, numbered_.scopes[declared_.scope], 0,
                             static_cast<std::int32_t>(ops_.first)};
    }
    [[nodiscard]] std::vector<const Family*> families_of_uses() const {
        std::vector<const Family*> all;
        for (const Use& use : declared_.uses)
            if (const Family* family = in_.label(use.version.label).family;
                family != nullptr && std::find(all.begin(), all.end(), family) == all.end())
                all.push_back(family);
        return all;
    }
    /// The views of a patch of this family, or, without one, of the process.
    void show_on(const Family* family) {
        for (std::size_t u = 0; u < uses_.size(); ++u) {
            const Use& use = declared_.uses[u];
            const LabelInfo& label = in_.label(use.version.label);
            const bool shown = label.kind == Kind::scalar
                                   ? use.access != Access::contribute || family == nullptr
                                   : label.family == family;
            if (shown)
                show(u);
            else
                use_data_.emplace_back();
        }
    }

    /// Room for further calls that are as large as the last one.
    void reserve(std::size_t calls) {
        all_.tasks.reserve(calls);
        all_.use_data.reserve(calls * use_data_.size());
        all_.addresses.reserve(calls * addresses_.size());
        all_.scalars.reserve(calls * scalars_.size());
        all_.windows.reserve(calls * lines_);
    }

    void begin() {
        contributed_ = {}, lines_ = 0;
        use_data_.clear(), addresses_.clear(), collects_.clear(), clears_.clear();
        particle_views_.clear(), scalars_.clear(), halo_reads_.clear(), halo_sums_.clear();
    }

    /// The call with all views that were added. The same for calls on a patch and on the team.
    TaskCall& finish() {
        TaskCall& call = all_.tasks.one();
        call.use_data = all_.use_data.keep(use_data_);
        call.addresses = all_.addresses.keep(addresses_);
        call.collects = all_.moves.keep(collects_);
        call.clears = all_.clears.keep(clears_);
        call.particle_views = all_.particle_views.keep(particle_views_);
        call.scalars = all_.scalars.keep(scalars_);
        call.halo_reads = all_.halo_reads.keep(halo_reads_);
        call.halo_sums = all_.halo_sums.keep(halo_sums_);
        InsideHere::of(call.here).task = &declared_;
        InsideHere::of(call.here).past_caches = in_.past_caches;
        call.scope = numbered_.scopes[declared_.scope];
        call.round_base = numbered_.bases[declared_.scope];
        call.most = in_.graph.scopes()[declared_.scope].most();
        call.measured = in_.measured;
        if (ops_.phase == 1) call.steps_before = in_.steps_before;
        all_.set(ops_.op(local_), call).threads = static_cast<std::uint16_t>(declared_.threads);
        return call;
    }

    void show(std::size_t u) {
        const Use& use = declared_.uses[u];
        const LabelInfo& of = in_.label(use.version.label);
        if (const RequestRole role = request_role(in_.graph, use.version.label); role.is_gate())
            show_gate(use, role);
        else if (use.access == Access::contribute)
            show_contribution(static_cast<int>(u), of);
        else if (of.kind == Kind::scalar)
            show_scalar(uses_[u]);
        else if (use.relation != nullptr && use.relation->shape() == Shape::particles)
            show_with_halo(use, uses_[u]);
        else if (of.halo && of.kind == Kind::list)
            show_members(of.halo);
        else if (use.access == Access::need && use.relation != nullptr)
            show_related(use, of, uses_[u]);
        else if (use.is_scattered())
            show_part(use, of, uses_[u]);
        else if (of.kind == Kind::particles)
            show_particles(uses_[u]);
        else if (of.kind == Kind::field)
            show_field(use, of, uses_[u]);
        else
            show_list(use, uses_[u]);
    }

    void add(const UseData& data, const RoundAddress& at) {
        if (at.depth > 1) addresses_.push_back({static_cast<std::uint32_t>(use_data_.size()), at});
        use_data_.push_back(data);
        use_data_.back().origin = at.base;
    }
    [[nodiscard]] RoundAddress address(const ResolvedUse& use, const PatchArray& array,
                                       std::int64_t bytes = 0) const {
        return numbered_.address(ops_.phase, in_.storage(use.storage), array.origin + bytes,
                                 array.buffer_stride, use.back);
    }

    void show_field(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
        const PatchArray& array = in_.memory.own(resolved.storage, local_);
        const FieldLayout& layout = in_.memory.layout(resolved.storage);
        const Box own = owned(of, patch_);
        UseData data{nullptr, array.y, array.z, array.component, 0, own};
        if (use.access == Access::sum) {  // a block of its own, cleared for each call
            const FieldBlock& window = layout.blocks[static_cast<std::size_t>(local_)];
            data.box = common(use.reached(own), window.stored);
            const auto value = static_cast<std::int64_t>(of.bytes);
            clears_.push_back({array.origin - window.offset({0, 0, 0}) * value,
                               static_cast<std::size_t>(array.buffer_stride)});
        } else if (use.is_sided()) {
            for (const Box& side : upwind_of(own, use.width, use.towards, use.corners))
                data.box = around(data.box, side);
            data.box = common(data.box, layout.grown(layout.division->grid->zone_of(patch_), own, use.width));
        } else if (use.access == Access::need || use.access == Access::modify) {
            data.box = layout.grown(layout.division->grid->zone_of(patch_), own, use.width);
        }
        add(data, address(resolved, array));
    }

    void show_related(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
        switch (use.relation->shape()) {
            case Shape::window:
                return show_window(use, of, resolved);
            case Shape::whole:
                return show_collected(use, of, resolved);
            default:
                return show_gathered(use, of, resolved);
        }
    }

    void show_window(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
        const Box window = use.relation->window(patch_, of.on);
        const Strides own = packed(extent_of(window), of.bytes);
        std::byte* memory = room_for(all_.windows, static_cast<std::size_t>(own.component * of.components));
        const auto value = static_cast<std::int64_t>(of.bytes);
        const PatchArray mine{nullptr, own.row / value, own.plane / value, own.component / value, 0, 0};
        for (const Piece& piece : use.relation->pieces(patch_, of.on)) {
            const PatchArray& source = arrays_.of(resolved.storage, piece.from, reader_);
            if (source.origin == nullptr) continue;  // nobody makes it there, and the task accepts that
            ValueCopy move;
            move.from = address(resolved, source, distance(source, piece.box.lo, of.bytes));
            move.to.base = memory + distance(mine, piece.into().shifted(negative(window.lo)).lo, of.bytes);
            move.box = shape_of(piece.box, of, source, own);
            collects_.push_back(move);
        }
        RoundAddress at;
        at.base = memory - distance(mine, window.lo, of.bytes);
        add({nullptr, mine.y, mine.z, mine.component, 0, window}, at);
    }

    /// A window of contributions to another family, cleared for each call.
    void show_part(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
        const PatchArray& array = in_.memory.own(resolved.storage, local_);
        const Box window = use.relation->window(patch_, of.on);
        clears_.push_back({array.origin + distance(array, window.lo, of.bytes),
                           static_cast<std::size_t>(array.buffer_stride), nullptr});
        add({nullptr, array.y, array.z, array.component, 0, window}, address(resolved, array));
    }

    void show_list(const Use& use, const ResolvedUse& resolved) {
        const PatchArray& array = in_.memory.own(resolved.storage, local_);
        if (use.access == Access::sum)
            clears_.push_back({array.origin, static_cast<std::size_t>(array.buffer_stride), nullptr});
        if (use.access == Access::make &&
            request_role(in_.graph, use.version.label).what == RequestRole::count) {
            auto* const counts = reinterpret_cast<RequestCounts*>(array.origin);
            clears_.push_back({array.origin, offsetof(RequestCounts, times_set), &counts->times_set});
        }
        add({nullptr, 0, 0, array.component, array.count, {}}, address(resolved, array));
    }

    /// Their place and number are looked up at each call.
    void show_particles(const ResolvedUse& resolved) {
        Populations& all = in_.memory.populations();
        const ParticleColumn& column = all.column(resolved.storage);
        particle_views_.push_back(
            {static_cast<std::uint32_t>(use_data_.size()), &column, &all.own(column.set, local_)});
        add({}, {});
    }

    void show_with_halo(const Use& use, const ResolvedUse& resolved) {
        const HaloCalls calls = halo(static_cast<const ParticleHalo&>(*use.relation));
        const auto number = static_cast<std::uint32_t>(use_data_.size());
        if (use.access == Access::sum) {
            halo_sums_.push_back(calls.sum(resolved));
            halo_sums_.back().use = number;
        } else {
            halo_reads_.push_back(calls.read(resolved, all_));
            halo_reads_.back().use = number;
        }
        add({}, {});
    }
    void show_members(HaloId of) {
        RoundAddress at;
        at.base = reinterpret_cast<std::byte*>(&in_.memory.halos().members(of, local_));
        add({}, at);
    }

    void show_gathered(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
        const auto value = static_cast<std::int64_t>(of.bytes);
        const std::int64_t count = use.relation->length(patch_);
        std::byte* memory = room_for(all_.windows, static_cast<std::size_t>(count * value * of.components));
        for (const Piece& piece : use.relation->pieces(patch_, of.on)) {
            const PatchArray& source = arrays_.of(resolved.storage, piece.from, reader_);
            if (source.origin == nullptr) continue;
            if (of.kind == Kind::list) check_entries(*use.relation, of, piece, source);
            const auto [first, entries] = entries_in(of, piece.from, source, piece.entries);
            ValueCopy move;
            move.from = address(resolved, source, distance(source, first, of.bytes));
            move.to.base = memory + piece.at * value;
            move.entries = all_.indices.keep(entries);
            move.from_component = source.component * value;
            move.to_component = count * value;
            move.components = of.components;
            move.bytes = static_cast<std::uint32_t>(of.bytes);
            collects_.push_back(move);
        }
        RoundAddress at;
        at.base = memory;
        add({nullptr, 0, 0, count, count, {}}, at);
    }
    void show_collected(const Use& use, const LabelInfo& of, const ResolvedUse& resolved) {
        const auto value = static_cast<std::int64_t>(of.bytes);
        const std::vector<Piece> pieces = use.relation->pieces(patch_, of.on);
        std::vector<std::int64_t> starts{0};
        for (const Piece& piece : pieces)
            starts.push_back(starts.back() + all_values(of, piece.from).volume());
        const std::int64_t count = starts.back();
        std::byte* memory = room_for(all_.windows, static_cast<std::size_t>(count * value * of.components));
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const PatchArray& source = arrays_.of(resolved.storage, pieces[i].from, reader_);
            if (source.origin == nullptr) continue;
            const Box box = all_values(of, pieces[i].from);
            Strides to = packed(extent_of(box), of.bytes);
            to.component = count * value;
            ValueCopy move;
            move.from = address(resolved, source, distance(source, box.lo, of.bytes));
            move.to.base = memory + starts[i] * value;
            move.box = shape_of(box, of, source, to);
            collects_.push_back(move);
        }
        UseData data{nullptr, 0, 0, count, count, {}};
        data.starts = all_.starts.keep(starts).data();
        RoundAddress at;
        at.base = memory;
        add(data, at);
    }
    static void check_entries(const Relation& relation, const LabelInfo& of, const Piece& piece,
                              const PatchArray& source) {
        for (const std::int32_t entry : piece.entries)
            if (entry >= source.count)
                throw Error(fmt::format("relation '{}' takes a value of '{}' on patch {} that is not there",
                                        relation.name(), of.name, piece.from))
                    .given(fmt::format("entry {}", entry))
                    .allowed(fmt::format("0 to {}", source.count - 1));
    }

    void show_scalar(const ResolvedUse& resolved) {
        const PatchArray& array = in_.memory.own(resolved.storage, 0);
        add({nullptr, 0, 0, 1, array.count, {}}, address(resolved, array));
    }

    /// In place of a scalar's value: what has come through the gate, or the room for answers.
    void show_gate(const Use& use, const RequestRole& role) {
        RoundAddress at;
        const auto show = [&](auto& shown) { at.base = reinterpret_cast<std::byte*>(&shown); };
        if (role.what == RequestRole::delivered) {
            if (use.access == Access::need) show(all_.delivered.at(use.version.label)->seen);
        } else {
            AnswersOnTheWay& answers = *all_.answered.at(use.version.label);
            use.access == Access::need ? show(answers.seen) : show(answers.room);
        }
        add({nullptr, 0, 0, 1, 1, {}}, at);
    }

    /// On lines of its own for each task and patch; the reduction takes them all.
    void show_contribution(int u, const LabelInfo& of) {
        constexpr std::size_t aligned = 16;
        const std::size_t bytes =
            (of.bytes * static_cast<std::size_t>(of.components) + aligned - 1) / aligned * aligned;
        if (contributed_.size() < bytes) {
            const std::size_t lines = (bytes + sizeof(Line) - 1) / sizeof(Line);
            contributed_ = std::as_writable_bytes(all_.windows.take(lines));
            lines_ += lines;
        }
        RoundAddress at;
        at.base = contributed_.data();
        contributed_ = contributed_.subspan(bytes);
        scalars_.push_back({at.base, &of});
        slots_[{task_, u}].push_back(at.base);
        add({nullptr, 0, 0, 1, of.components, {}}, at);
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    Arrays& arrays_;
    PlanParts& plan_;
    const TaskId task_;
    ContributionSlots& slots_;
    const TaskInfo& declared_ = in_.info(task_);
    const TaskOps& ops_ = numbered_.tasks[task_];
    ProgramData& all_ = plan_.of(ops_.phase);
    const std::vector<ResolvedUse>& uses_ = in_.task(task_).uses;

    // The call in the making.
    int local_ = 0, patch_ = -1;
    Reader reader_;
    std::vector<UseData> use_data_;
    std::vector<TaskCall::UseAddress> addresses_;
    std::vector<ValueCopy> collects_;
    std::vector<Clear> clears_;
    std::vector<TaskCall::ParticleView> particle_views_;
    std::vector<TaskCall::ScalarContribution> scalars_;
    std::span<std::byte> contributed_;  // what is left of the last line of contributions
    std::size_t lines_ = 0;             // of contributions
    std::vector<HaloRead> halo_reads_;
    std::vector<HaloSum> halo_sums_;
};

}  // namespace

ContributionSlots make_tasks(const PlanInputs& in, const Numbered& numbered, Arrays& arrays,
                             PlanParts& plan) {
    ContributionSlots slots;
    plan.ends.resize(in.resolved.tasks.size());
    for (const TaskId task : in.resolved.tasks.ids())
        if (in.is(task, ResolvedTask::What::body)) TaskCalls(in, numbered, arrays, plan, task, slots).all();
    return slots;
}

}  // namespace strata::graph::detail
