#include "core/run/checkpoint/state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/base/bits.hpp"
#include "core/base/error.hpp"
#include "core/graph/expand/assign/home.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/run/checkpoint/all_or_none.hpp"
#include "core/run/checkpoint/makers.hpp"
#include "core/run/checkpoint/writer.hpp"
#include "core/team/text_from.hpp"

namespace strata::graph {

namespace {

const LabelInfo& label_of(const Graph& graph, const Kept& kept) { return graph.labels()[kept.label]; }

/// Of a value in the file. Objects are as many bytes as they pack themselves into.
std::size_t bytes_of(const LabelInfo& label) { return label.kind == Kind::object ? 1 : label.bytes; }

bool is_added(const StateName& name, const LabelInfo& label) {
    return std::count(name.added.begin(), name.added.end(), label.name) > 0;
}

CheckpointHead head_of(const Simulation& run, Graph& graph, const StateName& name) {
    CheckpointHead head;
    head.case_name = name.case_name;
    head.case_hash = name.case_hash;
    head.step = run.step();
    head.time = name.time;
    head.keys = name.keys, head.facts = name.facts, head.ended = name.ended;
    for (const auto& family : graph.families()) head.families.push_back({family->name(), family->patches()});
    for (const Kept& kept : kept_versions(run.plan())) {
        const LabelInfo& info = label_of(graph, kept);
        if (is_added(name, info)) continue;
        if (head.labels.empty() || head.labels.back().name != info.name)
            head.labels.push_back({info.name, info.family != nullptr ? info.family->name() : "", info.element,
                                   bytes_of(info), info.components, 0});
        head.labels.back().generations = std::max(head.labels.back().generations, kept.back + 1);
    }
    for (const Parameter& parameter : graph.parameters())
        head.parameters.emplace_back(parameter.name, parameter.value);
    return head;
}

/// All kept values of one patch of this process. Each process has the scalars, as patch 0.
struct OwnPatch {
    const Family* family = nullptr;  // null: scalars, which come first
    int local = 0, patch = 0;
    std::vector<Kept> kept;
};

std::vector<OwnPatch> own_patches(const Plan& plan, const Graph& graph) {
    std::map<const Family*, std::vector<OwnPatch>> families;
    for (const Kept& kept : kept_versions(plan)) {
        const Family* family = label_of(graph, kept).family;
        std::vector<OwnPatch>& patches = families[family];
        if (patches.empty() && family == nullptr) patches.push_back({});
        if (patches.empty())
            for (const int patch : plan.memory().patches()[number_of(graph, *family)])
                patches.push_back({family, static_cast<int>(patches.size()), patch, {}});
        for (OwnPatch& patch : patches) patch.kept.push_back(kept);
    }
    std::vector<OwnPatch> all;
    for (auto& [family, patches] : families)
        for (OwnPatch& patch : patches) all.push_back(std::move(patch));
    return all;
}

/// Distributes patches to the threads of a member. A thread handles all values of a patch, with one buffer
/// for all: allocating new memory costs more than filling it.
class PatchWork {
  public:
    explicit PatchWork(std::vector<OwnPatch> patches) : patches_(std::move(patches)) {}

    /// Calls work(patch, kept, buffer) for all patches that no other thread has taken.
    template <class Work>
    void take(const Work& work) {
        std::vector<std::byte> buffer;
        try {
            for (std::size_t i = 0; (i = next_.fetch_add(1)) < patches_.size();)
                for (const Kept& kept : patches_[i].kept) work(patches_[i], kept, buffer);
        } catch (...) {
            next_ = patches_.size();
            throw;
        }
    }

  private:
    std::vector<OwnPatch> patches_;
    std::atomic<std::size_t> next_{0};
};

/// What a checkpoint has of a label on a patch, as read_values() gives it. False where it has nothing.
bool read_chunk(const CheckpointReader& reader, const Graph& graph, const LabelInfo& info, int patch,
                int generation, std::vector<std::byte>& bytes) {
    const int label = reader.head().label(info.name);
    const auto chunk = reader.find(label, patch, generation);
    if (!chunk) return false;
    bytes.resize(chunk->bytes);
    reader.read(label, patch, bytes, generation);
    if (is_made_again(info)) number_maker(graph, info, reader.head().format, bytes);
    return true;
}

/// The most files of one member. Threads that write to one file wait for each other, and more files than a
/// disk can write at once bring nothing.
constexpr int kStreams = 8;

/// [member] -> the number of its first part; at the end the number of all parts. Collective.
std::vector<int> first_parts(team::Team& team) {
    std::vector<int> counts(static_cast<std::size_t>(team.size()), 0);
    counts[static_cast<std::size_t>(team.rank())] = std::min(team.crew().count(), kStreams);
    team.together().reduce(std::span(counts), [](int a, int b) { return a + b; });
    std::vector<int> first{0};
    for (const int count : counts) first.push_back(first.back() + count);
    return first;
}

/// Writes this member's values, in as many parts as it has streams.
void write_parts(const Simulation& run, Graph& graph, team::Team& team, const CheckpointHead& head,
                 const std::filesystem::path& folder, int first, int end) {
    PatchWork patches(own_patches(run.plan(), graph));
    team.crew().parallel_region([&](int thread, int threads) {
        for (int part = first + thread; part < end; part += threads) {
            CheckpointWriter writer(folder, run.step(), part);
            patches.take([&](const OwnPatch& own, const Kept& kept, std::vector<std::byte>& bytes) {
                const LabelInfo& info = label_of(graph, kept);
                if (info.family == nullptr && team.rank() != 0) return;
                read_values(run.plan(), kept, own.local, run.rounds(kept), bytes);
                if (is_made_again(info)) name_maker(graph, bytes);
                const std::size_t value = bytes_of(info) * static_cast<std::size_t>(info.components);
                writer.add(head.label(info.name), own.patch, bytes,
                           static_cast<std::int64_t>(bytes.size() / value), kept.back);
            });
            writer.finish();
        }
    });
}

}  // namespace

void save_state(const Simulation& run, Graph& graph, team::Team& team, const std::filesystem::path& folder,
                const StateName& name, int keep) {
    const CheckpointHead head = head_of(run, graph, name);
    const auto undo = [&] { CheckpointWriter::abandon(folder, run.step()); };
    const std::vector<int> first = first_parts(team);
    first_or_none(
        team, [&] { CheckpointWriter::prepare(folder, run.step()); }, undo);
    all_or_none(
        team,
        [&] {
            const auto rank = static_cast<std::size_t>(team.rank());
            write_parts(run, graph, team, head, folder, first[rank], first[rank + 1]);
        },
        undo);
    first_or_none(
        team, [&] { CheckpointWriter::commit(folder, head, first.back(), keep); }, undo);
}

namespace {

[[noreturn]] void refuse_restart(const std::filesystem::path& folder, const std::string& remedy) {
    throw Error("there is no checkpoint to go on from")
        .given(folder.string())
        .allowed("a folder with a whole checkpoint-NNNNNN")
        .remedy(remedy);
}

}  // namespace

void expect_checkpoint(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    if (!checkpoint_steps(folder).empty()) return;
    std::error_code none;
    refuse_restart(
        folder, fs::exists(folder / "checkpoint.json", none)
                    ? fmt::format("this is a checkpoint itself: --restart {} goes on from the last one "
                                  "in that folder",
                                  (folder / "..").lexically_normal().string())
                : fs::exists(folder, none)
                    ? "a run writes them with --checkpoint N"
                    : "there is no such folder; it was looked for at " + fs::absolute(folder, none).string());
}

std::filesystem::path restore_state(Simulation& run, Graph& graph, team::Team& team,
                                    const std::filesystem::path& folder, const StateName& name) {
    expect_checkpoint(folder);
    std::vector<std::string> passed_over;
    const std::optional<CheckpointReader> reader = CheckpointReader::latest(folder, &passed_over);
    if (!reader) refuse_restart(folder, fmt::format("damaged: {}", fmt::join(passed_over, "; ")));
    restore_state(run, graph, team, *reader, name);
    return reader->path();
}

void restore_state(Simulation& run, Graph& graph, team::Team& team, const CheckpointReader& reader,
                   const StateName& name) {
    reader.expect(head_of(run, graph, name));
    for (const auto& [parameter, value] : reader.head().parameters)
        for (Parameter& own : graph.parameters())
            if (own.name == parameter) own.value = value;
    run.restore(reader.head().step, [&](const Plan& plan) {
        const std::vector<OwnPatch> patches = own_patches(plan, graph);
        const auto read = [&](const OwnPatch& own, const Kept& kept, std::vector<std::byte>& bytes) {
            const LabelInfo& info = label_of(graph, kept);
            if (is_added(name, info)) return;
            if (!read_chunk(reader, graph, info, own.patch, kept.back, bytes))
                throw Error("a checkpoint lacks values")
                    .at(reader.path().string())
                    .given(fmt::format("no values of '{}' on patch {}", info.name, own.patch))
                    .remedy("start from an earlier checkpoint");
            write_values(plan, kept, own.local, 0, bytes);
        };
        // Each patch by the thread that its tasks prefer: its pages will lie beside it.
        team.crew().parallel_region([&](int thread, int threads) {
            std::vector<std::byte> buffer;
            const Family* family = nullptr;
            std::vector<int> home{0};  // of scalars
            for (const OwnPatch& own : patches) {
                if (own.family != family) {
                    family = own.family;
                    home = home_threads(*family, plan.memory().patches()[number_of(graph, *family)], threads);
                }
                if (home[static_cast<std::size_t>(own.local)] == thread)
                    for (const Kept& kept : own.kept) read(own, kept, buffer);
            }
        });
    });
}

namespace {

/// A difference of one member's values, and where it comes in the order of all.
struct FirstDifference {
    std::int64_t order = std::numeric_limits<std::int64_t>::max();
    std::string text;
};

FirstDifference own_difference(const Simulation& run, Graph& graph, int rank,
                               const CheckpointReader& checkpoint, const StateName& name) {
    FirstDifference first;
    std::vector<std::byte> now, then;
    for (const OwnPatch& own : own_patches(run.plan(), graph))
        for (const Kept& kept : own.kept) {
            const LabelInfo& info = label_of(graph, kept);
            if (is_added(name, info) || (info.family == nullptr && rank != 0)) continue;
            const int label = checkpoint.head().label(info.name);
            const std::int64_t order = (std::int64_t{label} << 40) + own.patch;
            if (order >= first.order) continue;
            read_values(run.plan(), kept, own.local, run.rounds(kept), now);
            std::string found = "there are more or fewer values";
            if (read_chunk(checkpoint, graph, info, own.patch, kept.back, then) &&
                then.size() == now.size()) {
                const bool floating = info.element == Element::f64 || info.element == Element::f32;
                found = first_difference(then.data(), now.data(), now.size(), bytes_of(info), floating);
            }
            if (found.empty()) continue;
            const std::string where = info.family == nullptr ? "" : fmt::format(" on patch {}", own.patch);
            first = {order, fmt::format("'{}'{}, {}", info.name, where, found)};
        }
    return first;
}

}  // namespace

std::string state_difference(const Simulation& run, Graph& graph, team::Team& team,
                             const CheckpointReader& checkpoint, const StateName& name) {
    checkpoint.expect(head_of(run, graph, name));
    for (const auto& [parameter, value] : checkpoint.head().parameters)
        for (const Parameter& own : graph.parameters())
            if (own.name == parameter && own.value != value)
                return fmt::format("parameter '{}': {} and {}", parameter, value, own.value);
    const FirstDifference mine = own_difference(run, graph, team.rank(), checkpoint, name);
    const auto least = [](auto a, auto b) { return std::min(a, b); };
    const std::int64_t first = team.together().reduce(mine.order, least);
    if (first == FirstDifference().order) return "";
    const int holder = team.together().reduce(first == mine.order ? team.rank() : team.size(), least);
    return team::text_from(team, holder, mine.text);
}

}  // namespace strata::graph
