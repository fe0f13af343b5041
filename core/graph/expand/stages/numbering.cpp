// Which operations there are, and the thread of each.
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/expand/assign/home.hpp"
#include "core/graph/expand/halos/sweep.hpp"
#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

std::uint32_t Operations::add(int phase, OpKind kind, const std::string& name, int patch, int thread,
                              bool seen) {
    Program& program = plan_.of(phase).program;
    if (program.names.empty() || program.names.back() != name) program.names.push_back(name);
    Op op;
    op.kind = kind;
    op.name = static_cast<std::uint32_t>(program.names.size() - 1);
    op.patch = patch;
    program.ops.push_back(op);
    threads_[static_cast<std::size_t>(phase)].push_back({thread, seen});
    return static_cast<std::uint32_t>(program.ops.size() - 1);
}

void Operations::reserve(int phase, std::size_t count) {
    plan_.of(phase).program.ops.reserve(count);
    threads_[static_cast<std::size_t>(phase)].reserve(count);
}

RoundAddress Numbered::address(int phase, const Storage& of, std::byte* base, std::int64_t buffer_stride,
                               int back) const {
    if (of.depth == 1) return {base, 0, 1, 0, 0};
    const auto depth = static_cast<std::uint32_t>(of.depth);
    if (phase == 0)  // the start is round 0
        return {base + buffer_stride * buffer_number(0, static_cast<std::uint32_t>(back), depth), 0, 1, 0, 0};
    return {base, buffer_stride, depth, scopes[of.scope], static_cast<std::uint16_t>(back)};
}

FillKey fill_key(const PlanInputs& in, TaskId reader, const Before& before) {
    const ResolvedUse& use = in.task(reader).uses[static_cast<std::size_t>(before.through_use)];
    const auto& scopes = in.graph.scopes();
    const auto around = [&](ScopeId outer, ScopeId scope) {
        while (scope && scope != outer) scope = scopes[scope].parent();
        return scope == outer;
    };
    ScopeId left_out;  // the outermost part around the reader that may be, and that the maker is not in
    for (ScopeId s = in.task(reader).scope; s; s = scopes[s].parent())
        if (scopes[s].form() == Scope::Form::when && !around(s, in.task(before.task).scope)) left_out = s;
    if (!left_out) return {before.task, use.storage, {}, 0, 0};
    return {before.task, use.storage, left_out, before.lag, use.back};
}

std::vector<std::pair<int, std::uint32_t>> FillGroup::by_source() const {
    std::vector<std::pair<int, std::uint32_t>> all;
    for (std::size_t i = 0; i < op_of.size(); ++i)
        if (op_of[i] != kNone) all.emplace_back(fills.all[i].from, op_of[i]);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

namespace {

using What = ResolvedTask::What;

/// What an operation declares for profiles.
OpWork declared_work(const Op& op) {
    const auto packed = [](std::span<const Parcel> parcels) {
        return OpWork{.bytes = static_cast<float>(2.0 * static_cast<double>(bytes_of(parcels)))};
    };
    if (op.go == TaskCall::go) return static_cast<const TaskCall*>(op.what)->work();
    if (op.go == FillCall::go) return static_cast<const FillCall*>(op.what)->work();
    if (op.go == PackCall::go) return packed(static_cast<const PackCall*>(op.what)->parcels);
    if (op.go == UnpackCall::go) return packed(static_cast<const UnpackCall*>(op.what)->parcels);
    return {};
}

class Numbering {
  public:
    Numbering(const PlanInputs& in, Operations& operations, PlanParts& plan)
        : in_(in), operations_(operations), plan_(plan) {}

    Numbered all() {
        scopes();
        for (const FamilyId family : in_.graph.families().ids()) divide_among_threads(family);
        for (Program* program : {&plan_.of(0).program, &plan_.of(1).program})
            program->threads = in_.threads, program->work_of = declared_work;
        reserve();
        for (const TaskId task : in_.resolved.tasks.ids()) number_task(task);
        for (const TaskId task : in_.resolved.tasks.ids())
            if (in_.is(task, What::relocate)) relocation(task);
        for (const TaskId task : in_.resolved.tasks.ids())
            if (out_.tasks[task].gate != RequestRole::none) gate(task);
        for (const TaskId task : in_.resolved.tasks.ids()) halos_of(task);
        for (FillGroup& group : out_.groups) fills(group);
        halos_of_start();
        return std::move(out_);
    }

  private:
    /// The scopes of each program are counted from its outermost one.
    void scopes() {
        std::array<std::uint16_t, 2> next{0, 0};
        for (const Scope& scope : in_.graph.scopes()) {
            using Form = Scope::Form;
            const int phase = scope.form() == Form::start  ? 0
                              : scope.form() == Form::step ? 1
                                                           : out_.phase_of[scope.parent()];
            out_.phase_of.push_back(phase);
            out_.scopes.push_back(next[static_cast<std::size_t>(phase)]++);
            out_.bases.push_back(scope.form() == Form::repeat ? &plan_.of(phase).store.one<std::int64_t>()
                                                              : nullptr);
        }
        plan_.scopes = out_.scopes;
        for (const int phase : {0, 1}) plan_.of(phase).program.scopes = next[static_cast<std::size_t>(phase)];
    }

    void divide_among_threads(FamilyId f) {
        const Family& family = *in_.graph.families()[f];
        const std::vector<int>& patches = in_.patches(f);
        std::vector<int> thread = home_threads(family, patches, in_.threads);
        std::vector<char> edge(patches.size(), 0);
        if (in_.threads > 1 || in_.members.size > 1)
            for (std::size_t i = 0; i < patches.size(); ++i)
                for (const int other : family.neighbours(patches[i]))
                    edge[i] |= !in_.is_mine(f, other) ||
                               thread[static_cast<std::size_t>(in_.local(f, other))] != thread[i];
        out_.home.push_back(std::move(thread));
        out_.at_edge.push_back(std::move(edge));
    }

    /// A vector that grows copies all operations again and again. So: room for those on patches, and a
    /// quarter more for copies and messages.
    void reserve() {
        std::array<std::size_t, 2> count{};
        for (const TaskId task : in_.resolved.tasks.ids())
            if (const Family* family = family_of(task); family != nullptr)
                count[static_cast<std::size_t>(out_.phase_of[in_.task(task).scope])] +=
                    in_.patches(number_of(in_.graph, *family)).size();
        for (const int phase : {0, 1})
            operations_.reserve(phase, count[static_cast<std::size_t>(phase)] * 5 / 4);
    }
    /// A task runs on its patches. Null: once in each process.
    [[nodiscard]] const Family* family_of(TaskId task) const {
        if (in_.is(task, What::body)) return in_.info(task).family;
        if (in_.is(task, What::relocate)) return in_.graph.particle_sets()[in_.relocation(task).set].grid;
        return in_.completed(task).family;
    }

    /// The next operations: one for each patch (of a task on some patches: for each of those), each for the
    /// patch's thread.
    TaskOps on_patches(int phase, FamilyId family, OpKind kind, const std::string& name,
                       const TaskInfo* task = nullptr) {
        TaskOps all = next(phase);
        all.family = family;
        const std::vector<int>& patches = in_.patches(family);
        all.count = static_cast<std::uint32_t>(patches.size());
        if (task != nullptr && task->partial()) {
            all.by_local.assign(patches.size(), kNone);
            for (std::size_t i = 0; i < patches.size(); ++i) {
                if (!task->runs_on(patches[i])) continue;
                all.by_local[i] = all.first + static_cast<std::uint32_t>(all.locals.size());
                all.locals.push_back(static_cast<int>(i));
            }
            all.count = static_cast<std::uint32_t>(all.locals.size());
        }
        for (std::uint32_t number = 0; number < all.count; ++number) {
            const auto i = static_cast<std::size_t>(all.local(number));
            operations_.add(phase, kind, name, patches[i], out_.home[family][i],
                            kind == OpKind::relocate || out_.at_edge[family][i] != 0);
        }
        return all;
    }
    [[nodiscard]] TaskOps next(int phase) const {
        TaskOps all;
        all.phase = phase;
        all.first = static_cast<std::uint32_t>(plan_.of(phase).program.ops.size());
        return all;
    }

    void number_task(TaskId t) {
        const int phase = out_.phase_of[in_.task(t).scope];
        const bool body = in_.is(t, What::body);
        TaskOps all = next(phase);
        const auto one = [&](OpKind kind, const std::string& name) {
            all.count = 1;
            return operations_.add(phase, kind, name, -1, 0);
        };
        if (const RequestRole role = in_.is(t, What::reduce)
                                         ? request_role(in_.graph, in_.task(t).completed.label)
                                         : RequestRole{};
            role.is_gate()) {
            const bool asks = role.what == RequestRole::delivered;
            one(OpKind::copy, (asks ? "deliver " : "return ") + role.set->name());
            all.up = one(OpKind::copy, (asks ? "post " : "answered ") + role.set->name());
            all.gate = role.what;
        } else if (in_.is(t, What::reduce)) {
            const std::string name = "reduce " + in_.completed(t).name;
            one(OpKind::reduce, name);
            if (in_.members.rank > 0) all.up = one(OpKind::reduce, name);
        } else if (body && in_.info(t).runs != Runs::on_patches) {
            one(OpKind::task, in_.info(t).name);
        } else if (!in_.is(t, What::relocate)) {  // those come last
            const Family& family = body ? *in_.info(t).family : *in_.completed(t).family;
            all = on_patches(phase, number_of(in_.graph, family), body ? OpKind::task : OpKind::combine,
                             body ? in_.info(t).name : "combine " + in_.completed(t).name,
                             body ? &in_.info(t) : nullptr);
        }
        out_.tasks.push_back(all);
        if (!body || in_.info(t).family == nullptr) return;
        if (const Upwind order = order_of(in_.info(t)); order.towards != Int3{})
            out_.sweeps.try_emplace(t, static_cast<const Grid&>(*in_.info(t).family), order,
                                    is_ordered_in_place(in_.info(t)));
    }

    void relocation(TaskId task) {
        const ParticleSet& set = in_.graph.particle_sets()[in_.relocation(task).set];
        const int phase = out_.phase_of[in_.task(task).scope];
        const FamilyId family = number_of(in_.graph, *set.grid);
        const TaskOps leave = on_patches(phase, family, OpKind::relocate, fmt::format("leave {}", set.name));
        TaskOps arrive = on_patches(phase, family, OpKind::relocate, fmt::format("arrive {}", set.name));
        arrive.leave = out_.tasks.next();
        out_.tasks.push_back(leave);
        if (in_.hops(set.id) == 0) {
            TaskOps gather = next(phase);
            gather.count = 1;
            operations_.add(phase, OpKind::relocate, fmt::format("gather {}", set.name), -1, 0);
            arrive.gather = out_.tasks.next();
            out_.tasks.push_back(gather);
        }
        out_.tasks[task] = arrive;
    }

    /// What a gate has besides: messages have come, and all processes of the node have taken what they need.
    void gate(TaskId task) {
        const std::string& name = in_.task(task).name;
        const auto add = [&](const char* verb) {
            TaskOps one = next(out_.tasks[task].phase);
            one.count = 1;
            operations_.add(one.phase, OpKind::copy, verb + name, -1, 0);
            const TaskId id = out_.tasks.next();
            out_.tasks.push_back(one);
            return id;
        };
        out_.tasks[task].arrived = add("arrived: ");
        out_.tasks[task].taken = add("taken: ");
    }

    /// Whether the copy of each round has a reader, for sure: in a round of the maker's scope, or of one
    /// within it that has at least one; of the round before, in a step.
    [[nodiscard]] bool is_read(const FillKey& key, TaskId reader, int lag) const {
        const ScopeId made = scope_of(in_, key);
        if (!key.scope && lag > 0 && made != kStep) return false;
        for (ScopeId s = in_.task(reader).scope; s != made; s = in_.graph.scopes()[s].parent())
            if (!s || in_.graph.scopes()[s].form() == Scope::Form::when) return false;
        return true;
    }

    void widen(const FillKey& key, const HaloReader& by) {
        const Int3& width = by.use->width;
        const auto [at, is_new] = out_.group_of.try_emplace(key, out_.groups.size());
        if (is_new) out_.groups.push_back({key, width, {}, false, {}, {}});
        FillGroup& group = out_.groups[at->second];
        group.readers.push_back(by);
        Int3& widest = group.width;
        for (std::size_t d = 0; d < 3; ++d) widest[d] = std::max(widest[d], width[d]);
    }

    /// The halos to be filled for a task and after it: as wide as the widest that reads its version in place.
    void halos_of(TaskId t) {
        const ResolvedTask& task = in_.task(t);
        // A version may have been made by one task in the first round of a loop and by another in later ones.
        for (const Before& before : task.before) {
            if (before.backward || before.through_task != t || before.through_use < 0) continue;
            const Use& use = in_.use(t, before.through_use);
            if (!is_in_place(use)) continue;
            const FillKey key = fill_key(in_, t, before);
            widen(key, {&in_.info(t), &use});
            if (!is_read(key, t, before.lag)) out_.groups[out_.group_of.at(key)].may_be_unread = true;
        }
    }

    /// Of what the step makes too, its own copies fill the halos that it reads (Plan::fill_halos()).
    void halos_of_start() {
        VectorBy<StorageId, char> written(in_.resolved.storages.size(), 0);
        for (const TaskId t : in_.resolved.tasks.ids())
            for (std::size_t u = 0; out_.tasks[t].phase == 1 && u < in_.task(t).uses.size(); ++u)
                if (writes(in_, t, u)) written[in_.task(t).uses[u].storage] = 1;
        for (const StorageId number : in_.resolved.storages.ids())
            if (const Storage& storage = in_.storage(number); storage.kept && written[number] == 0 &&
                                                              in_.label_of(number).kind == Kind::field &&
                                                              storage.ghosts != Int3{})
                out_.of_start.emplace_back(number, find_fills(in_.memory.layout(number), storage.ghosts));
    }

    /// One operation for each block and each patch that it copies from.
    void fills(FillGroup& group) {
        const StorageId storage = group.key.storage;
        const FieldLayout& layout = in_.memory.layout(storage);
        group.fills = find_fills(layout, group.width);
        if (std::any_of(group.readers.begin(), group.readers.end(), [&](const HaloReader& by) {
                return by.use->lacks_some() || by.use->width != group.width || !by.task->where.empty();
            }))
            keep_read(group.fills, layout, group.readers);
        group.op_of.assign(group.fills.all.size(), kNone);
        const FamilyId family = in_.family_of(storage);
        // The thread of the first patch that reads it.
        std::vector<int> thread(group.fills.all.size(), 0);
        for (std::size_t at = layout.division->patches.size(); at-- > 0;) {
            const int patch = layout.division->patches[at];
            for (const std::uint32_t fill : group.fills.patch(at))
                thread[fill] = out_.home[family][static_cast<std::size_t>(in_.local(family, patch))];
        }
        const std::string name = "ghosts of " + in_.label_of(storage).name;
        const int phase = out_.tasks[group.key.maker].phase;
        for (std::size_t b = 0; b < layout.blocks.size(); ++b)
            for (std::uint32_t i = group.fills.of_block[b]; i < group.fills.of_block[b + 1]; ++i) {
                const int from = group.fills.all[i].from;
                if (in_.left_out(group.key.maker, from)) continue;
                const bool same = i > group.fills.of_block[b] && group.fills.all[i - 1].from == from;
                group.op_of[i] =
                    same ? group.op_of[i - 1] : operations_.add(phase, OpKind::copy, name, from, thread[i]);
            }
    }

    const PlanInputs& in_;
    Operations& operations_;
    PlanParts& plan_;
    Numbered out_;
};

}  // namespace

Numbered number(const PlanInputs& in, Operations& operations, PlanParts& plan) {
    return Numbering(in, operations, plan).all();
}

}  // namespace strata::graph::detail
