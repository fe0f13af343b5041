// What the patches of this process read of patches on other nodes. Everybody finds out what it needs itself,
// and tells those who have it.
#include <algorithm>
#include <cstring>

#include "core/graph/declare/shared.hpp"
#include "core/graph/expand/builder.hpp"

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

void read(Int32Message& words, Needs& needs) {
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

}  // namespace

void PlanBuilder::find_needs() {
    if (members_.messages == nullptr) return;
    needs_.resize(static_cast<std::size_t>(members_.size));
    for (const FillGroup& group : groups_)
        for (const Fill& fill : group.fills.all)
            need(group.key.maker, group.key.storage, fill.from, fill.box);
    find_needs_of_tasks();
    find_needs_of_combinations();
    find_needs_of_relocations();
    exchange_needs();
    make_images();
}

void PlanBuilder::need(TaskId maker, StorageId storage, int patch, const Box& box) {
    const int process = owner(family_of(storage), patch);
    if (members_.is_on_node(process) || box.empty()) return;
    std::vector<Box>& boxes = needs_[static_cast<std::size_t>(process)][{maker, storage, patch}].boxes;
    if (std::find(boxes.begin(), boxes.end(), box) == boxes.end()) boxes.push_back(box);
}

void PlanBuilder::need(TaskId maker, StorageId storage, int patch, const std::vector<std::int32_t>& entries) {
    const int process = owner(family_of(storage), patch);
    if (members_.is_on_node(process) || entries.empty()) return;
    std::vector<std::int32_t>& all =
        needs_[static_cast<std::size_t>(process)][{maker, storage, patch}].entries;
    all.insert(all.end(), entries.begin(), entries.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
}

/// The tasks whose values a use may find: one in the first round of a loop, say, and another in later ones.
std::vector<TaskId> PlanBuilder::makers_of(TaskId task, std::size_t use) const {
    std::vector<TaskId> makers;
    for (const Before& before : resolved(task).before)
        if (!before.backward && before.through_task == task && before.through_use == static_cast<int>(use) &&
            tasks_[before.task].phase == tasks_[task].phase)
            makers.push_back(before.task);
    if (makers.empty()) makers.emplace_back();
    return makers;
}

/// Windows and lists.
void PlanBuilder::find_needs_of_tasks() {
    for (const TaskId task : resolved_.tasks.ids()) {
        if (resolved_.tasks[task].what != ResolvedTask::What::body || !tasks_[task].family) continue;
        for (std::size_t u = 0; u < resolved_.tasks[task].uses.size(); ++u) {
            const Use& use = info(task).uses[u];
            if (use.access != Access::need || use.relation == nullptr) continue;
            const StorageId storage = resolved_.tasks[task].uses[u].storage;
            for (const TaskId maker : makers_of(task, u))
                for (const int patch : patches(tasks_[task].family))
                    for (const Piece& piece : use.relation->pieces(patch, label(use.version.label).on))
                        use.relation->shape() == Shape::window
                            ? need(maker, storage, piece.from, piece.box)
                            : need(maker, storage, piece.from, piece.entries);
        }
    }
}

void PlanBuilder::find_needs_of_combinations() {
    for (const TaskId task : resolved_.tasks.ids()) {
        if (resolved_.tasks[task].what != ResolvedTask::What::combine) continue;
        const bool field = label(resolved_.tasks[task].completed.label).kind == Kind::field;
        for (const int patch : patches(tasks_[task].family)) {
            if (field) {
                each_part(task, patch, [&](const SumPart& part) {
                    const Int3 back{-part.shift[0], -part.shift[1], -part.shift[2]};
                    need(part.maker, part.windows, part.from, part.box.shifted(back));
                });
                continue;
            }
            for (const auto& [maker, use] : contributors(task)) {
                const auto u = static_cast<std::size_t>(use);
                for (const Piece& piece : info(maker).uses[u].relation->pieces(
                         patch, label(resolved_.tasks[task].completed.label).on))
                    need(maker, resolved(maker).uses[u].storage, piece.from, piece.entries);
            }
        }
    }
}

/// Who may send particles: with what they are is sent how many.
void PlanBuilder::find_needs_of_relocations() {
    for (const TaskId task : resolved_.tasks.ids()) {
        if (resolved_.tasks[task].what != ResolvedTask::What::relocate) continue;
        const FamilyId family = tasks_[task].family;
        const auto ask = [&](int process) {
            if (!members_.is_on_node(process)) needs_[static_cast<std::size_t>(process)][{task, {}, -1}];
        };
        if (tasks_[task].gather) {
            for (int process = 0; process < members_.size; ++process) ask(process);
            continue;
        }
        const SetId set = relocation(task).set;
        const auto& grid = static_cast<const Grid&>(*graph_.families()[family]);
        for (const int patch : patches(family))
            for (const Nearby& each : nearby(grid, patch, relocation_hops(set)))
                ask(owner(family, each.patch));
    }
}

void PlanBuilder::exchange_needs() {
    std::vector<std::vector<std::byte>> messages;
    for (const Needs& from : needs_) {
        Int32Message words;
        for (const auto& [key, need] : from) write(words, key, need);
        messages.push_back(words.bytes());
    }
    for (const auto& bytes : members_.messages->exchange(messages)) {
        asked_.emplace_back();
        for (Int32Message words(bytes); words.more();) read(words, asked_.back());
    }
}

/// Room for what is needed of each patch, where it would lie: of a field the hull of all boxes (pages that
/// nobody touches cost nothing), of a list the whole.
void PlanBuilder::make_images() {
    std::map<std::pair<StorageId, int>, Box> hulls;
    for (const Needs& from : needs_)
        for (const auto& [key, need] : from) {
            if (!key.storage) continue;
            Box& hull = hulls[{key.storage, key.patch}];
            const LabelInfo& of = label_of(graph_, storage(key.storage));
            std::vector<Box> all = need.boxes;
            if (of.kind == Kind::field && !need.entries.empty())
                all.push_back(static_cast<const Grid&>(*of.family).owned(key.patch, of.on, of.border));
            for (const Box& box : all) hull = around(hull, box);
        }
    const auto lines = [](std::int64_t bytes) { return (bytes + 63) / 64 * 64; };
    std::int64_t end = 0;
    for (const auto& [key, hull] : hulls) {
        const Storage& of = storage(key.first);
        const LabelInfo& shown = label_of(graph_, of);
        const auto value = static_cast<std::int64_t>(shown.bytes);
        PatchArray& array = images_[key].array;
        if (shown.kind == Kind::field) {
            array.y = hull.extent(0);
            array.z = array.y * hull.extent(1);
            array.component = array.z * hull.extent(2);
        } else {
            array.count = array.component = shown.entries(key.second);
        }
        array.buffer_stride = lines(array.component * value * shown.components);
        array.origin = reinterpret_cast<std::byte*>(end - distance(array, hull.lo, shown.bytes));
        end += array.buffer_stride * of.depth;
    }
    plan_.images_ = SharedMemory(Members::alone(), "images", static_cast<std::size_t>(end));
    for (auto& [key, image] : images_)
        image.array.origin = plan_.images_.data() + reinterpret_cast<std::intptr_t>(image.array.origin);
}

}  // namespace strata::graph::detail
