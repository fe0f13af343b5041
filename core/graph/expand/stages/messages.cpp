// Streams of messages to and from processes of other nodes, and their operations.
//
// Say process 3, of another node, needs values that a task makes here. Then the task has two more operations:
// `pack` and `send`. Process 3 has `receive` and `unpack` in the same place of its program; unpack writes to
// the images of those patches. So a reader waits for its own process only, and so does a writer: for the
// packing of the values before. An image is overwritten when all readers here have read it.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

class NumberStreams {
  public:
    NumberStreams(const PlanInputs& in, const Numbered& numbered, const Needs& needs, Operations& operations,
                  PlanParts& plan)
        : in_(in), numbered_(numbered), needs_(needs), operations_(operations), plan_(plan) {
        out_.of.resize(numbered.tasks.size());
    }

    Streams all() {
        values(true, needs_.asked);
        values(false, needs_.here);
        for (Stream& stream : out_.outgoing)
            if (stream.what == Stream::What::leavers) find_patches(stream);
        for (const TaskId task : in_.resolved.tasks.ids())
            if (numbered_.tasks[task].gate != RequestRole::none)
                gate(task);
            else if (in_.members.rank == in_.members.first() && in_.is(task, ResolvedTask::What::reduce))
                reduction(task);
        return std::move(out_);
    }

  private:
    Stream& add(bool outgoing, Stream::What what, TaskId maker, int process, int tag) {
        const TaskOps& of = numbered_.tasks[maker];
        std::vector<Stream>& all = outgoing ? out_.outgoing : out_.incoming;
        (outgoing ? out_.of[maker].outgoing : out_.of[maker].incoming).push_back(all.size());
        Stream stream;
        stream.what = what;
        stream.maker = maker;
        stream.process = process;
        stream.channel = &plan_.of(of.phase).store.one<Channel>();
        *stream.channel = Channel(in_.members, process, tag);
        const std::string& name = in_.task(maker).name;
        const int helper = static_cast<int>(all.size()) % in_.threads;
        const auto speaks = [&](OpKind kind, const std::string& verb) {
            const std::uint32_t op = operations_.add(of.phase, kind, verb + name, -1, 0);
            plan_.of(of.phase).program.ops[op].speaks_mpi = true;
            return op;
        };
        if (outgoing) {
            stream.first = operations_.add(of.phase, OpKind::copy, "pack " + name, -1, helper);
            stream.second = speaks(OpKind::send, "send ");
        } else {
            stream.first = speaks(OpKind::receive, "receive ");
            if (what == Stream::What::values || what == Stream::What::part_of_reduction)
                stream.second = operations_.add(of.phase, OpKind::copy, "unpack " + name, -1, helper);
            else if (what == Stream::What::reduced)
                stream.second = of.first;  // puts the result in its place
        }
        all.push_back(std::move(stream));
        return all.back();
    }

    /// A stream has all values of one task for one process; of a sweep those of one patch, since the next one
    /// waits for them.
    void values(bool outgoing, const std::vector<NeedsOfProcess>& all) {
        std::vector<Stream>& streams = outgoing ? out_.outgoing : out_.incoming;
        for (int process = 0; process < in_.members.size; ++process) {
            std::map<std::pair<TaskId, int>, std::size_t> swept;
            for (const auto& [key, need] : all[static_cast<std::size_t>(process)]) {
                if (!key.maker) continue;
                if (key.storage && numbered_.sweeps.count(key.maker) > 0) {
                    const auto [at, is_new] = swept.try_emplace({key.maker, key.patch}, streams.size());
                    if (is_new)
                        add(outgoing, Stream::What::values, key.maker, process, tag_of_patch(swept.size()));
                    streams[at->second].keys.push_back(key);
                    (outgoing ? out_.packing : out_.unpacking)[{key.storage, key.patch}].push_back(
                        at->second);
                    if (!outgoing) out_.of_patch[{key.maker, key.patch}] = at->second;
                    continue;
                }
                const auto what = !key.storage ? Stream::What::leavers : Stream::What::values;
                if (streams.empty() || streams.back().process != process ||
                    streams.back().maker != key.maker || streams.back().what != what) {
                    const bool relocated = in_.is(key.maker, ResolvedTask::What::relocate);
                    add(outgoing, what, key.maker, process,
                        2 * key.maker.number() + int{relocated && what == Stream::What::values});
                }
                streams.back().keys.push_back(key);
                if (key.storage)
                    (outgoing ? out_.packing : out_.unpacking)[{key.storage, key.patch}].push_back(
                        streams.size() - 1);
            }
        }
    }
    /// Both ends count the patches of sweeps alike: they have the same list of needs.
    [[nodiscard]] int tag_of_patch(std::size_t count) const {
        const std::size_t tag = 2 * in_.resolved.tasks.size() + count;
        if (tag > static_cast<std::size_t>(team::Messages::kLastTag))
            throw Error("too many patches of a sweep send messages to one process")
                .given(fmt::format("{} or more", count))
                .allowed(fmt::format(
                    "up to {}", team::Messages::kLastTag - 2 * static_cast<int>(in_.resolved.tasks.size())))
                .remedy("larger patches (grid.patch of a case), or fewer nodes");
        return static_cast<int>(tag);
    }

    /// The patches here that a relocation may send particles from to the stream's process.
    void find_patches(Stream& stream) const {
        const TaskOps& arrive = numbered_.tasks[stream.maker];
        const int hops = in_.hops(in_.relocation(stream.maker).set);
        stream.keys.clear();
        for (const int patch : in_.patches(arrive.family)) {
            bool reaches{arrive.gather};
            if (!reaches)
                for (const Nearby& each : nearby(in_.grid(arrive.family), patch, hops))
                    reaches = reaches || in_.owner(arrive.family, each.patch) == stream.process;
            if (reaches) stream.keys.push_back({stream.maker, {}, patch});
        }
    }

    /// Requests and answers: the processes of a node share out the other nodes, and each has the messages
    /// of all of them with these.
    void gate(TaskId task) {
        const std::vector<int>& firsts = in_.members.firsts;
        const int nodes = static_cast<int>(firsts.size()) - 1, tag = 2 * task.number();
        const int here = in_.members.rank - in_.members.first();
        for (int node = here; node < nodes; node += in_.members.on_node()) {
            if (node == in_.members.node) continue;
            const auto n = static_cast<std::size_t>(node);
            const int there = firsts[n] + in_.members.node % (firsts[n + 1] - firsts[n]);
            add(true, Stream::What::gate, task, there, tag);
            add(false, Stream::What::gate, task, there, tag);
        }
    }

    /// The first processes of the nodes are a tree.
    void reduction(TaskId task) {
        const int nodes = static_cast<int>(in_.members.firsts.size()) - 1, tag = 2 * task.number();
        const auto root = [&](int node) { return in_.members.firsts[static_cast<std::size_t>(node)]; };
        if (in_.members.node > 0) {
            const int up = root((in_.members.node - 1) / kBranches);
            add(true, Stream::What::part_of_reduction, task, up, tag);
            add(false, Stream::What::reduced, task, up, tag + 1);
        }
        for (int b = 1; b <= kBranches; ++b)
            if (const int child = in_.members.node * kBranches + b; child < nodes) {
                add(false, Stream::What::part_of_reduction, task, root(child), tag);
                add(true, Stream::What::reduced, task, root(child), tag + 1);
            }
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    const Needs& needs_;
    Operations& operations_;
    PlanParts& plan_;
    Streams out_;
};

}  // namespace

std::uint32_t Streams::image_op(TaskId task, int process) const {
    for (const std::size_t i : of[task].incoming)
        if (const Stream& stream = incoming[i]; stream.process == process)
            return stream.what == Stream::What::leavers ? stream.first : stream.second;
    return kNone;
}

std::uint32_t Streams::image_op(TaskId task, int process, int patch) const {
    const auto sweep = of_patch.lower_bound({task, 0});
    if (sweep == of_patch.end() || sweep->first.first != task) {
        for (const std::size_t i : of[task].incoming)
            if (incoming[i].process == process && incoming[i].what == Stream::What::values)
                return incoming[i].second;
        return image_op(task, process);
    }
    const auto at = of_patch.find({task, patch});
    return at == of_patch.end() ? kNone : incoming[at->second].second;
}

Streams number_streams(const PlanInputs& in, const Numbered& numbered, const Needs& needs,
                       Operations& operations, PlanParts& plan) {
    if (in.members.messages == nullptr) {
        Streams none;
        none.of.resize(numbered.tasks.size());
        return none;
    }
    if (2 * in.resolved.tasks.size() > static_cast<std::size_t>(team::Messages::kLastTag))
        throw Error("a graph has too many tasks to be divided among nodes")
            .given(fmt::format("{} tasks, with reductions and copies", in.resolved.tasks.size()))
            .allowed(fmt::format("up to {}", team::Messages::kLastTag / 2))
            .remedy("run it on one node, or make one task of several");
    return NumberStreams(in, numbered, needs, operations, plan).all();
}

}  // namespace strata::graph::detail
