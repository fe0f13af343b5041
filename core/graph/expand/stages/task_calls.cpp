// The calls of tasks.
#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "core/graph/declare/inside_here.hpp"
#include "core/graph/expand/stages/task_views.hpp"

namespace strata::graph::detail {

namespace {

/// The calls of one task, made one after the other.
class TaskCalls {
  public:
    TaskCalls(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, PlanParts& plan, TaskId task,
              ContributionSlots& slots)
        : in_(in),
          numbered_(numbered),
          plan_(plan),
          task_(task),
          views_(in, numbered, arrays, all_, task, slots) {}

    void all() {
        if (declared_.runs == Runs::once) return once();
        if (!ops_.family) return on_team();
        for (std::uint32_t i = 0; i < ops_.count; ++i) {
            local_ = ops_.local(i);
            patch_ = in_.patches(ops_.family)[static_cast<std::size_t>(local_)];
            declared_.runs_on(patch_) ? on_patch() : pass();
        }
    }

  private:
    void on_patch() {
        begin();
        if (declared_.renews) return renew();
        for (std::size_t u = 0; u < uses_.size(); ++u) {
            views_.show(u);
            if (declared_.uses[u].access == Access::make && in_.memory.objects().is_object(uses_[u].storage))
                made_.push_back(&in_.memory.objects().made(uses_[u].storage, local_));
        }
        finish();
    }

    void renew() {
        HaloRenewal& call = all_.store.one<HaloRenewal>();
        call = views_.halo(*in_.graph.particle_halos()[declared_.renews]).renewal(task_, all_);
        all_.set(op_, call);
    }

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
        patch_ = in_.members.rank;
        CallExtras& more = const_cast<CallExtras&>(*finish().more);
        more.all_own = all_.store.keep(patch_views);
        for (std::size_t i = 0; i < more.all_own.size(); ++i)
            InsideHere::of(more.all_own[i]).use_data =
                more.room.subspan((i + 1) * uses_.size(), uses_.size());
        std::vector<CallData::Own> owns;
        std::size_t next = 0;
        for (const Family* family : families) {
            const std::size_t count = in_.patches(number_of(in_.graph, *family)).size();
            owns.push_back({family, more.all_own.subspan(next, count)});
            next += count;
        }
        more.owns = all_.store.keep(owns);
        all_.program.ops[ops_.first].speaks_mpi = true;
    }
    /// Scalars alone, of this process's.
    void once() {
        begin();
        for (std::size_t u = 0; u < uses_.size(); ++u) views_.show(u);
        finish();
        plan_.ends[task_] = {all_.program.ops[ops_.first].flag, numbered_.scopes[declared_.scope], 0};
    }
    void begin() {
        made_.clear();
        op_ = ops_.family ? ops_.op(local_) : ops_.first;
        views_.begin(op_);
        views_.look_from(local_, patch_, static_cast<bool>(ops_.family));
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
        views_.look_from(local_, patch_, false);
        for (std::size_t u = 0; u < uses_.size(); ++u) {
            const Use& use = declared_.uses[u];
            const LabelInfo& label = in_.label(use.version.label);
            const bool shown = label.kind == Kind::scalar
                                   ? use.access != Access::contribute || family == nullptr
                                   : label.family == family;
            shown ? views_.show(u) : views_.skip();
        }
    }

    /// The call with all that it sees. The same for calls on a patch and on the team.
    TaskCall& finish() {
        std::stable_partition(views_.addresses.begin(), views_.addresses.end(), is_of_round);
        const CallShape* const of = shape();
        const CallExtras* const more = extras();
        const std::size_t bytes = TaskCall::bytes(views_.own.size(), views_.boxes.size());
        const std::uint32_t left = ops_.first + ops_.count - op_;
        if (more == nullptr) all_.store.expect(left, bytes, alignof(TaskCall));
        TaskCall& call = *new (all_.store.room(bytes, alignof(TaskCall))) TaskCall{of, more, patch_};
        call.local = static_cast<std::uint32_t>(local_) & 0x7fffffffU;
        std::copy(views_.own.begin(), views_.own.end(), call.own().begin());
        std::copy(views_.boxes.begin(), views_.boxes.end(), call.boxes().begin());
        all_.set(op_, call).threads = static_cast<std::uint16_t>(declared_.threads);
        return call;
    }

    /// That of an earlier call, where it is the same.
    [[nodiscard]] const CallShape* shape() {
        constexpr std::size_t recent = 8;  // blocks differ, and windows; a look at all would take long
        const auto same = std::find_if(shapes_.rbegin(), shapes_.rend(),
                                       [&](const CallShape* each) { return is_seen(*each); });
        if (same != shapes_.rend()) return *same;
        CallShape& made = all_.store.one<CallShape>();
        made.task = &declared_;
        if (ops_.family) made.family = declared_.family, made.cells = in_.memory.cells(ops_.family);
        if (ops_.family && ops_.phase == 0) made.populations = &in_.memory.populations();
        if (ops_.phase == 1) made.steps_before = in_.steps_before;
        made.round_base = numbered_.bases[declared_.scope];
        made.measured = in_.measured;
        made.most = in_.graph.scopes()[declared_.scope].most();
        made.scope = numbered_.scopes[declared_.scope];
        made.owns = static_cast<std::uint32_t>(views_.own.size());
        made.past_caches = in_.past_caches;
        static const CallShape none;
        const CallShape& last = shapes_.empty() ? none : *shapes_.back();
        made.uses = kept(last.uses, views_.uses);
        made.in_block = kept(last.in_block, views_.in_block);
        made.addresses = kept(last.addresses, views_.addresses);
        made.of_round = static_cast<std::uint32_t>(
            std::count_if(made.addresses.begin(), made.addresses.end(), is_of_round));
        made.boxed = kept(last.boxed, views_.boxed);
        made.scalars = kept(last.scalars, views_.scalars);
        if (shapes_.size() == recent) shapes_.erase(shapes_.begin());
        shapes_.push_back(&made);
        return &made;
    }
    [[nodiscard]] static bool is_of_round(const CallShape::UseAddress& address) {
        return address.own == CallShape::kAbsolute;
    }
    [[nodiscard]] bool is_seen(const CallShape& by) const {
        return by.owns == views_.own.size() && same(by.in_block, views_.in_block) &&
               same(by.addresses, views_.addresses) && same(by.boxed, views_.boxed) &&
               same(by.scalars, views_.scalars) && same(by.uses, views_.uses);
    }
    template <class T>
    [[nodiscard]] static bool same(std::span<const T> a, const std::vector<T>& b) {
        if constexpr (std::is_same_v<T, UseData>)  // it has a union
            return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
        else
            return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    /// The part of the last shape, where it is the same: shapes of one task differ in little.
    template <class T>
    [[nodiscard]] std::span<const T> kept(std::span<const T> last, const std::vector<T>& now) {
        return same(last, now) ? last : all_.store.keep(now);
    }

    [[nodiscard]] CallExtras* extras() {
        const bool copied = !views_.halo_reads.empty() || !views_.halo_sums.empty();
        const bool roomy =
            copied || views_.uses.size() > TaskCall::kInThread || declared_.runs == Runs::in_processes;
        if (!roomy && views_.particle_views.empty() && views_.collects.empty() && views_.clears.empty() &&
            made_.empty() && declared_.moves.empty())
            return nullptr;
        CallExtras& more = all_.store.one<CallExtras>();
        if (roomy) more.room = all_.store.take<UseData>(views_.uses.size());
        more.particle_views = all_.store.keep(views_.particle_views);
        more.halo_reads = all_.store.keep(views_.halo_reads);
        more.halo_sums = all_.store.keep(views_.halo_sums);
        more.collects = all_.store.keep(views_.collects);
        more.clears = all_.store.keep(views_.clears);
        more.made = all_.store.keep(made_);
        std::vector<CallData::MovedOfSet> moves;
        if (ops_.family)
            for (const SetId set : declared_.moves)
                moves.push_back({set, &in_.memory.populations().moved(set, local_)});
        more.moves = all_.store.keep(moves);
        return &more;
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    PlanParts& plan_;
    const TaskId task_;
    const TaskInfo& declared_ = in_.info(task_);
    const TaskOps& ops_ = numbered_.tasks[task_];
    ProgramData& all_ = plan_.of(ops_.phase);
    const std::vector<ResolvedUse>& uses_ = in_.task(task_).uses;
    std::vector<const CallShape*> shapes_;

    // The call in the making.
    TaskViews views_;
    std::uint32_t op_ = kNone;
    int local_ = 0, patch_ = -1;
    std::vector<ObjectMade*> made_;
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
