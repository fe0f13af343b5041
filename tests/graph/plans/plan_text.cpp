#include "tests/graph/plans/plan_text.hpp"

#include <algorithm>
#include <tuple>

#include "tests/graph/plans/plan_writer.hpp"

namespace strata::tests {

using namespace strata::graph;

namespace {

constexpr const char* kHalves[] = {"start", "step"};
constexpr const char* kKinds[] = {"task", "copy", "combine", "reduce", "send", "receive", "relocate"};
constexpr const char* kBlocks[] = {"ops", "sequence", "repeat", "when", "subcycle"};

const char* word(bool yes) { return yes ? "yes" : "no"; }

std::size_t z(std::int64_t number) { return static_cast<std::size_t>(number); }

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
    return all;
}

}  // namespace

std::string raw_text(const Plan& plan) { return PlanWriter(plan).text(); }

void PlanWriter::add_address(const void* address) {
    if (address == nullptr)
        text_ += "null";
    else
        add("@{:x}", reinterpret_cast<std::uintptr_t>(address));
}

/// `shift`: bytes from where it lies to what is named.
void PlanWriter::add_round_address(const RoundAddress& turn, std::int64_t shift) {
    add_address(turn.base == nullptr ? nullptr : turn.base + shift);
    if (turn.depth == 1) return;
    add(" turns {} of {} scope {} back {}", turn.buffer_stride, turn.depth, turn.scope, turn.back);
}

void PlanWriter::add_bytes(const char* what, const void* base, std::size_t bytes, Whose whose,
                           std::string_view meaning) {
    add("{} @{:x} {} {} {}\n", what, reinterpret_cast<std::uintptr_t>(base), bytes,
        whose == Whose::own ? "own" : "node", meaning);
}

std::string PlanWriter::text() && {
    for (const int phase : {0, 1}) order(phase);
    const Members& members = plan_.members();
    add("process {} of {}\nnode {} of {}\n", members.rank, members.size, members.node,
        members.firsts.size() - 1);
    add_memory();
    for (const int phase : {0, 1}) add_program(phase);
    add_kept();
    return std::move(text_);
}

/// Finds where each operation is, and a name for it: name, patch and, where several have these, which.
void PlanWriter::order(int phase) {
    Ordered& all = phase_of_[phase];
    all.program = phase == 0 ? &plan_.start() : &plan_.step();
    const std::vector<Op>& ops = all.program->ops;
    std::vector<Placed> placed(ops.size());
    for (const Op& op : ops) all.flags.insert(op.flag);
    walk(all.program->step, "", all, placed);
    all.ops = placed;
    for (std::size_t op = 0; op < ops.size(); ++op) all.ops[op].op = static_cast<std::uint32_t>(op);
    const auto name = [&](const Placed& at) -> const std::string& {
        return all.program->names[ops[at.op].name];
    };
    const auto key = [&](const Placed& at) {
        const Op& op = ops[at.op];
        return std::make_tuple(op.patch, op.kind, at.thread, at.block, at.place, at.op);
    };
    std::sort(all.ops.begin(), all.ops.end(), [&](const Placed& a, const Placed& b) {
        const int by_name = name(a).compare(name(b));
        return by_name != 0 ? by_name < 0 : key(a) < key(b);
    });
    all.names.resize(ops.size());
    const auto same = [&](std::size_t a, std::size_t b) {
        return ops[all.ops[a].op].patch == ops[all.ops[b].op].patch && name(all.ops[a]) == name(all.ops[b]);
    };
    for (std::size_t first = 0, end = 0; first < all.ops.size(); first = end) {
        while (end < all.ops.size() && same(first, end)) ++end;
        for (std::size_t i = first; i < end; ++i) {
            const Placed& at = all.ops[i];
            std::string& one = all.names[at.op];
            one = fmt::format("{} '{}'", kHalves[phase], name(at));
            if (ops[at.op].patch >= 0) one += fmt::format(" {}", ops[at.op].patch);
            if (end - first > 1) one += fmt::format(" #{}", i - first);
        }
    }
}

void PlanWriter::walk(const Block& block, const std::string& path, Ordered& all,
                      std::vector<Placed>& placed) {
    const int number = static_cast<int>(all.blocks.size());
    all.blocks.push_back({&block, path.empty() ? "/" : path});
    for (std::size_t thread = 0; thread < block.order.size(); ++thread) {
        std::int64_t previous = -1;
        for (std::size_t place = 0; place < block.order[thread].size(); ++place) {
            const std::uint32_t op = block.order[thread][place];
            if (placed[op].block >= 0)
                add("twice in the order: {}\n", all.program->names[all.program->ops[op].name]);
            placed[op] = {op, static_cast<int>(thread), number, static_cast<int>(place), previous};
            previous = op;
        }
    }
    for (std::size_t i = 0; i < block.inside.size(); ++i)
        walk(*block.inside[i], fmt::format("{}/{}", path, i), all, placed);
}

void PlanWriter::add_memory() {
    const Memory& memory = plan_.memory();
    Populations& populations = memory.populations();
    for (const FamilyId f : memory.patches().ids()) {
        add("family {} '{}' patches", f.number(), plan_.graph().families()[f]->name());
        add_list(std::span<const int>(memory.patches()[f]));
        text_ += '\n';
        const Division& division = memory.division(f);
        for (const Division::Part& part : division.parts) {
            add("  block {} patches", text_of(part.cells));
            add_list(division.of(part));
            text_ += '\n';
        }
    }
    for (const StorageId s : plan_.resolved().storages.ids()) add_storage(s);
    for (const ParticleSet& set : plan_.graph().particle_sets()) {
        const std::vector<int>& mine = memory.patches()[populations.family(set.id)];
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const int local = static_cast<int>(i);
            add_object(&populations.own(set.id, local), 1, Whose::node,
                       fmt::format("particles of set {} patch {}", set.id.number(), mine[i]));
            add_object(&populations.moved(set.id, local), 1, Whose::own,
                       fmt::format("moved of set {} patch {}", set.id.number(), mine[i]));
        }
    }
    if (!plan_.images().empty())
        add_region(plan_.images().data(), plan_.images().size(), Whose::own, "images");
}

void PlanWriter::add_storage(StorageId id) {
    const Memory& memory = plan_.memory();
    const Storage& storage = plan_.resolved().storages[id];
    const LabelInfo& shape = label(storage.label);
    const int number = id.number();
    std::vector<std::string> labels;
    for (const LabelId each : storage.labels()) labels.push_back(label(each).name);
    add("storage {} of {}: depth {} scope {} ghosts {} kept {} windows {} bytes {}\n", number, joined(labels),
        storage.depth, storage.scope.number(), text_of(storage.ghosts), word(storage.kept),
        word(storage.contributions), memory.bytes(id));
    if (shape.kind == Kind::particles) {
        const ParticleColumn& column = memory.populations().column(id);
        add_object(&column, 1, Whose::own, fmt::format("column of s{}", number));
        text_ += "  column";
        add_column(column);
        text_ += '\n';
        return;
    }
    const auto bytes = static_cast<std::int64_t>(shape.bytes);
    const auto add_spot = [&](const PatchArray& array, const Int3& first) {
        if (shape.kind == Kind::list && array.count == 0) {  // its address is whatever follows
            text_ += "nothing\n";
            return;
        }
        const std::byte* at = array.origin + (first[0] + first[1] * array.y + first[2] * array.z) * bytes;
        add_address(at);
        add(" steps {} {} {} turn {} count {}\n", array.y, array.z, array.component, array.buffer_stride,
            array.count);
    };
    if (shape.kind == Kind::scalar) {
        const PatchArray& array = memory.own(id, 0);
        add_region(array.origin, z(storage.depth * array.buffer_stride), Whose::node,
                   fmt::format("s{}", number));
        text_ += "  at ";
        add_spot(array, {});
        return;
    }
    const Family& patches = storage.onto != nullptr ? storage.onto->target() : *shape.family;
    const FamilyId family = number_of(plan_.graph(), patches);
    const std::vector<int>& mine = memory.patches()[family];
    if (shape.kind == Kind::field && storage.onto == nullptr) {
        const FieldLayout& layout = memory.layout(id);
        for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
            const FieldBlock& block = layout.blocks[b];
            const PatchArray& array = memory.block(id, b);
            add_region(array.origin - block.offset({0, 0, 0}) * bytes, z(storage.depth * array.buffer_stride),
                       Whose::node, fmt::format("s{}.b{}", number, b));
            add("  block {} owns {} stores {} bytes {}\n", b, text_of(block.owned), text_of(block.stored),
                block.bytes);
        }
    }
    for (std::size_t i = 0; i < mine.size(); ++i) {
        const PatchArray& array = memory.own(id, static_cast<int>(i));
        Int3 first{};
        if (storage.onto != nullptr) {
            first = storage.onto->window(mine[i], shape.on).lo;
            add_region(array.origin + (first[0] + first[1] * array.y + first[2] * array.z) * bytes,
                       z(storage.depth * array.buffer_stride), Whose::node,
                       fmt::format("s{}.p{}", number, mine[i]));
        } else if (shape.kind == Kind::field)
            first = static_cast<const Grid&>(*shape.family).owned(mine[i], shape.on, shape.border).lo;
        else if (array.count > 0)
            add_region(array.origin, z(storage.depth * array.buffer_stride), Whose::node,
                       fmt::format("s{}.p{}", number, mine[i]));
        add("  patch {} at ", mine[i]);
        add_spot(array, first);
    }
}

void PlanWriter::add_block(const BlockAt& at) {
    const Block& block = *at.block;
    add("block {} {} scope {} most {} operations", at.path, kBlocks[static_cast<int>(block.kind)],
        block.scope, block.most);
    for (const auto& list : block.order) add(" {}", list.size());
    text_ += '\n';
    add_decision(block.decision);
}

void PlanWriter::add_program(int phase) {
    const Ordered& all = phase_of_[phase];
    add("program {}: {} threads, {} scopes\n", kHalves[phase], all.program->threads, all.program->scopes);
    for (std::size_t op = 0; op < all.program->ops.size(); ++op)
        if (all.program->ops[op].flag != nullptr)
            add("flag @{:x} {}\n", reinterpret_cast<std::uintptr_t>(all.program->ops[op].flag),
                all.names[op]);
    for (const BlockAt& at : all.blocks) {
        add_block(at);
        if (at.block->decision.more != nullptr && at.block->decision.decided.flag != nullptr)
            add_wait(all, at.block->decision.decided);
    }
    for (const Placed& placed : all.ops) add_op(phase, placed);
}

void PlanWriter::add_op(int phase, const Placed& placed) {
    const Ordered& all = phase_of_[phase];
    const Op& op = all.program->ops[placed.op];
    add("{}: {}", all.names[placed.op], kKinds[static_cast<int>(op.kind)]);
    if (placed.block < 0)
        text_ += " in no order";
    else
        add(" scope {} thread {} block {} place {} after {}", all.blocks[z(placed.block)].block->scope,
            placed.thread, all.blocks[z(placed.block)].path, placed.place,
            placed.previous < 0 ? "none" : all.names[z(placed.previous)]);
    const OpWork work = all.program->work_of(op);
    add(" threads {} speaks {} does {:.6g} {:.6g} {:.6g}", op.threads, word(op.speaks_mpi), work.flops,
        work.bytes, work.values);
    if (op.flag == nullptr)
        text_ += " without a flag\n";
    else
        add(" begun {}\n", op.flag->load(std::memory_order_relaxed));
    for (std::uint32_t w = op.first_wait; w < op.last_wait; ++w)
        for (std::uint8_t i = 0; i < all.program->waits.runs[w].count; ++i)
            add_wait(all, all.program->waits.wait(w, i));
    add_call(op, all.names[placed.op]);
}

void PlanWriter::add_wait(const Ordered& all, const Wait& wait) {
    text_ += "  wait ";
    add_address(wait.flag);
    add(" scope {} lag {}", wait.scope, wait.lag);
    if (all.flags.count(wait.flag) == 0) text_ += " always looked at";
    text_ += '\n';
}

const std::string& PlanWriter::name_of(const void* call) const {
    static const std::string nobody = "no operation";
    for (const Ordered& all : phase_of_)
        for (std::size_t op = 0; op < all.program->ops.size(); ++op)
            if (all.program->ops[op].what == call) return all.names[op];
    return nobody;
}

/// What is done between steps, and what tells that a reduction is there.
void PlanWriter::add_kept() {
    std::vector<std::string> lines;
    for (const int phase : {0, 1}) {
        for (const auto& [storage, fill] : plan_.refills(phase))
            lines.push_back(fmt::format("refill s{} by {}\n", storage.number(), name_of(fill)));
        for (const auto& [channel, scope] : plan_.listening(phase))
            lines.push_back(fmt::format("{} listens to {} tag {} scope {}\n", kHalves[phase], channel->peer(),
                                        channel->tag(), scope));
        for (const Channel* channel : plan_.sending(phase))
            lines.push_back(
                fmt::format("{} sends to {} tag {}\n", kHalves[phase], channel->peer(), channel->tag()));
    }
    std::sort(lines.begin(), lines.end());
    for (const std::string& line : lines) text_ += line;
    for (std::size_t process = 0; process < plan_.exchanged().size(); ++process) {
        const Plan::Exchanged& all = plan_.exchanged()[process];
        if (!all.given.empty()) add("gives to process {}\n", process);
        add_parcels(all.given);
        if (!all.taken.empty()) add("takes from process {}\n", process);
        add_parcels(all.taken);
    }
    for (const TaskId t : plan_.resolved().tasks.ids()) {
        const ResolvedTask& task = plan_.resolved().tasks[t];
        if (task.what != ResolvedTask::What::reduce) continue;
        ScopeId outermost = task.scope;
        for (ScopeId up = outermost; up; up = plan_.graph().scopes()[up].parent()) outermost = up;
        add("end of {}\n", task.name);
        add_wait(phase_of_[plan_.graph().scopes()[outermost].form() == Scope::Form::start ? 0 : 1],
                 plan_.end_of(t));
    }
}

}  // namespace strata::tests
