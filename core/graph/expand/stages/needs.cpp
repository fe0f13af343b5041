// The values that this process's patches read of patches on other nodes. Each process finds out its own
// needs, and tells the owners.
#include <algorithm>
#include <cstring>

#include "core/graph/expand/stages/stages.hpp"
#include "core/graph/expand/stages/sums.hpp"

namespace strata::graph::detail {

namespace {

/// Numbers in a message.
class Int32Message {
  public:
    Int32Message() = default;
    explicit Int32Message(const std::vector<std::byte>& bytes) : words_(bytes.size() / sizeof(std::int32_t)) {
        if (!bytes.empty()) std::memcpy(words_.data(), bytes.data(), bytes.size());
    }
    void put(std::int32_t word) { words_.push_back(word); }
    [[nodiscard]] std::int32_t next() { return words_.at(at_++); }
    [[nodiscard]] bool more() const { return at_ < words_.size(); }
    [[nodiscard]] std::vector<std::byte> bytes() const {
        const auto all = std::as_bytes(std::span(words_));
        return {all.begin(), all.end()};
    }

  private:
    std::vector<std::int32_t> words_;
    std::size_t at_ = 0;
};

void write(Int32Message& words, const NeedKey& key, const Need& need) {
    for (const int part : {key.maker.number(), key.storage.number(), key.patch,
                           static_cast<int>(need.boxes.size()), static_cast<int>(need.entries.size())})
        words.put(part);
    for (const Box& box : need.boxes)
        for (const Int3& corner : {box.lo, box.hi})
            for (const int index : corner) words.put(index);
    for (const std::int32_t entry : need.entries) words.put(entry);
}

void read(Int32Message& words, NeedsOfProcess& needs) {
    const TaskId maker(words.next());
    const StorageId storage(words.next());
    const NeedKey key{maker, storage, words.next()};
    Need& need = needs[key];
    need.boxes.resize(static_cast<std::size_t>(words.next()));
    need.entries.resize(static_cast<std::size_t>(words.next()));
    for (Box& box : need.boxes)
        for (Int3* corner : {&box.lo, &box.hi})
            for (int& index : *corner) index = words.next();
    for (std::int32_t& entry : need.entries) entry = words.next();
}

using What = ResolvedTask::What;

class FindNeeds {
  public:
    FindNeeds(const PlanInputs& in, const Numbered& numbered, PlanParts& plan)
        : in_(in), numbered_(numbered), plan_(plan) {}

    Needs all() {
        out_.here.resize(static_cast<std::size_t>(in_.members.size));
        for (const FillGroup& group : numbered_.groups)
            for (const SourceBox& piece : group.fills.all) add(group.key.maker, group.key.storage, piece);
        for (const auto& [storage, fills] : numbered_.of_start)
            for (const SourceBox& piece : fills.all) add({}, storage, piece);
        for (const TaskId task : in_.resolved.tasks.ids())
            if (in_.is(task, What::body) && numbered_.tasks[task].family) of_task(task);
        for (const TaskId task : in_.resolved.tasks.ids())
            if (in_.is(task, What::combine)) of_combination(task);
        for (const TaskId task : in_.resolved.tasks.ids())
            if (in_.is(task, What::relocate)) of_relocation(task);
        exchange();
        make_images();
        return std::move(out_);
    }

  private:
    /// Null where the patch is of this node, or the maker does not run on it.
    [[nodiscard]] Need* need(TaskId maker, StorageId storage, int patch) {
        const int process = in_.owner(in_.family_of(storage), patch);
        if (in_.members.is_on_node(process)) return nullptr;
        if (maker &&
            (in_.storage(storage).contributions ? !in_.runs_on(maker, patch) : in_.left_out(maker, patch)))
            return nullptr;  // there are no such values
        return &out_.here[static_cast<std::size_t>(process)][{maker, storage, patch}];
    }
    void add(TaskId maker, StorageId storage, const SourceBox& piece) {
        if (piece.box.empty()) return;
        Need* const of = need(maker, storage, piece.from);
        if (of != nullptr && std::find(of->boxes.begin(), of->boxes.end(), piece.box) == of->boxes.end())
            of->boxes.push_back(piece.box);
    }
    void add(TaskId maker, StorageId storage, const Piece& piece) {
        if (piece.entries.empty()) return add(maker, storage, static_cast<const SourceBox&>(piece));
        Need* const of = need(maker, storage, piece.from);
        if (of == nullptr) return;
        std::vector<std::int32_t>& all = of->entries;
        all.insert(all.end(), piece.entries.begin(), piece.entries.end());
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
    }

    /// The tasks that may have made the values of a use: one in the first round of a loop, say, another in
    /// later ones.
    [[nodiscard]] std::vector<TaskId> makers_of(TaskId task, std::size_t use) const {
        std::vector<TaskId> makers;
        for (const Before& before : in_.task(task).before)
            if (!before.backward && before.through_task == task &&
                before.through_use == static_cast<int>(use) &&
                numbered_.tasks[before.task].phase == numbered_.tasks[task].phase)
                makers.push_back(before.task);
        if (makers.empty()) makers.emplace_back();
        return makers;
    }

    /// Windows and lists.
    void of_task(TaskId task) {
        const std::vector<ResolvedUse>& uses = in_.task(task).uses;
        for (std::size_t u = 0; u < uses.size(); ++u) {
            const Use& use = in_.info(task).uses[u];
            if (use.access != Access::need || use.relation == nullptr) continue;
            if (use.relation->shape() == Shape::particles) {
                particles(task, u, static_cast<const ParticleHalo&>(*use.relation));
                continue;
            }
            for (const TaskId maker : makers_of(task, u))
                for (const int patch : in_.patches(numbered_.tasks[task].family)) {
                    if (!in_.runs_on(task, patch)) continue;
                    const LabelInfo& of = in_.label(use.version.label);
                    for (const Piece& piece : use.relation->pieces(patch, of.on))
                        if (use.relation->shape() == Shape::whole)
                            add(maker, uses[u].storage, SourceBox{piece.from, all_values(of, piece.from)});
                        else
                            add(maker, uses[u].storage, piece);
                }
        }
    }

    /// Particles in a halo: which of a patch's they are is known when the graph runs. After a restart all are
    /// needed whose positions at the renewal say who is in it.
    void particles(TaskId task, std::size_t use, const ParticleHalo& halo) {
        const std::vector<ResolvedUse>& uses = in_.task(task).uses;
        std::vector<TaskId> makers = makers_of(task, use);
        for (const int patch : in_.patches(numbered_.tasks[task].family))
            for (const Piece& piece : halo.pieces(patch, On::cells)) {
                for (const TaskId maker : makers) (void)need(maker, uses[use].storage, piece.from);
                if (!in_.info(task).renews) continue;
                for (const std::size_t kept : {std::size_t{1}, std::size_t{2}})
                    (void)need({}, uses[kept].storage, piece.from);
            }
    }

    void of_combination(TaskId task) {
        const LabelInfo& label = in_.completed(task);
        if (label.kind == Kind::field) {
            PartsOfSum parts(in_, task);
            for (const int patch : in_.patches(numbered_.tasks[task].family))
                for (const auto& [maker, storage, piece] : parts.of(patch)) add(maker, storage, piece);
            return;
        }
        const std::vector<Contributor> from = contributors(in_, task);
        for (const int patch : in_.patches(numbered_.tasks[task].family)) {
            for (const auto& [maker, use] : from) {
                const StorageId storage = in_.task(maker).uses[static_cast<std::size_t>(use)].storage;
                const Relation& relation = *in_.use(maker, use).relation;
                if (label.kind == Kind::particles) {
                    for (const int other : static_cast<const ParticleHalo&>(relation).readers(patch))
                        (void)need(maker, storage, other);
                    continue;
                }
                for (const Piece& piece : relation.pieces(patch, label.on)) add(maker, storage, piece);
            }
        }
    }

    /// The processes that may send particles. Their number comes with the particles themselves.
    void of_relocation(TaskId task) {
        const auto ask = [&](int process) {
            if (!in_.members.is_on_node(process))
                out_.here[static_cast<std::size_t>(process)][{task, {}, -1}];
        };
        if (numbered_.tasks[task].gather) {
            for (int process = 0; process < in_.members.size; ++process) ask(process);
            return;
        }
        const FamilyId family = numbered_.tasks[task].family;
        const int hops = in_.hops(in_.relocation(task).set);
        for (const int patch : in_.patches(family))
            for (const Nearby& each : nearby(in_.grid(family), patch, hops))
                ask(in_.owner(family, each.patch));
    }

    void exchange() {
        std::vector<std::vector<std::byte>> messages;
        for (const NeedsOfProcess& from : out_.here) {
            Int32Message words;
            for (const auto& [key, need] : from) write(words, key, need);
            messages.push_back(words.bytes());
        }
        for (const auto& bytes : in_.members.messages->exchange(messages)) {
            out_.asked.emplace_back();
            for (Int32Message words(bytes); words.more();) read(words, out_.asked.back());
        }
    }

    /// For each image its box: of a field the hull of all boxes (untouched pages cost nothing), of a list the
    /// whole, which is no box.
    [[nodiscard]] std::map<std::pair<StorageId, int>, Box> hulls() const {
        std::map<std::pair<StorageId, int>, Box> all;
        for (const NeedsOfProcess& from : out_.here)
            for (const auto& [key, need] : from) {
                if (!key.storage) continue;
                Box& hull = all[{key.storage, key.patch}];
                const LabelInfo& of = in_.label_of(key.storage);
                for (const Box& box : need.boxes) hull = around(hull, box);
                if (of.kind == Kind::field && !need.entries.empty())
                    hull = around(hull, owned(of, key.patch));
            }
        return all;
    }

    void make_images() {
        const auto lines = [](std::int64_t bytes) { return (bytes + 63) / 64 * 64; };
        std::int64_t end = 0;
        for (const auto& [key, hull] : hulls()) {
            const LabelInfo& shown = in_.label_of(key.first);
            const auto value = static_cast<std::int64_t>(shown.bytes);
            PatchArray array;
            if (shown.kind == Kind::particles) {  // those have arrays that grow (ParticleHalos)
                out_.images.emplace(key, Image{array, out_.images.size()});
                continue;
            }
            if (shown.kind == Kind::field) {
                array.y = hull.extent(0);
                array.z = array.y * hull.extent(1);
                array.component = array.z * hull.extent(2);
            } else {
                array.count = array.component = shown.entries(key.second);
            }
            array.buffer_stride = lines(array.component * value * shown.components);
            array.origin = reinterpret_cast<std::byte*>(end - distance(array, hull.lo, shown.bytes));
            end += array.buffer_stride * in_.storage(key.first).depth;
            out_.images.emplace(key, Image{array, out_.images.size()});
        }
        plan_.images = SharedMemory(Members::alone(), "images", static_cast<std::size_t>(end));
        for (auto& [key, image] : out_.images)
            image.array.origin = plan_.images.data() + reinterpret_cast<std::intptr_t>(image.array.origin);
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    PlanParts& plan_;
    Needs out_;
};

}  // namespace

Needs find_needs(const PlanInputs& in, const Numbered& numbered, PlanParts& plan) {
    if (in.members.messages == nullptr) return {};
    return FindNeeds(in, numbered, plan).all();
}

}  // namespace strata::graph::detail
