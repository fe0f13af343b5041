#include "core/graph/run/state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/checkpoint/reader.hpp"
#include "core/graph/checkpoint/writer.hpp"
#include "core/graph/run/all_or_none.hpp"

namespace strata::graph {

namespace {

const LabelInfo& label_of(const Graph& graph, const Kept& kept) {
    return graph.labels()[static_cast<std::size_t>(kept.label)];
}

CheckpointHead head_of(const Simulation& run, Graph& graph, const StateName& name) {
    CheckpointHead head;
    head.case_name = name.case_name;
    head.case_hash = name.case_hash;
    head.step = run.step();
    head.time = name.time;
    for (const auto& family : graph.families()) head.families.push_back({family->name(), family->patches()});
    for (const Kept& kept : kept_versions(run.plan())) {
        const LabelInfo& info = label_of(graph, kept);
        if (head.labels.empty() || head.labels.back().name != info.name)
            head.labels.push_back({info.name, info.family != nullptr ? info.family->name() : "", info.element,
                                   info.bytes, info.components, 0});
        head.labels.back().generations = std::max(head.labels.back().generations, kept.back + 1);
    }
    for (const Parameter& parameter : graph.parameters())
        head.parameters.emplace_back(parameter.name, parameter.value);
    return head;
}

/// All kept values of one patch of this process; a scalar is patch 0 of everybody's.
struct OwnPatch {
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
            for (const int patch :
                 plan.memory().patches()[static_cast<std::size_t>(number_of(graph, *family))])
                patches.push_back({static_cast<int>(patches.size()), patch, {}});
        for (OwnPatch& patch : patches) patch.kept.push_back(kept);
    }
    std::vector<OwnPatch> all;
    for (auto& [family, patches] : families)
        for (OwnPatch& patch : patches) all.push_back(std::move(patch));
    return all;
}

}  // namespace

void save_state(const Simulation& run, Graph& graph, team::Team& team, const std::filesystem::path& folder,
                const StateName& name, int keep) {
    const CheckpointHead head = head_of(run, graph, name);
    const auto undo = [&] { CheckpointWriter::abandon(folder, run.step()); };
    const auto by_first = [&](const auto& part) {
        all_or_none(
            team,
            [&] {
                if (team.rank() == 0) part();
            },
            undo);
    };
    by_first([&] { CheckpointWriter::prepare(folder, run.step()); });
    all_or_none(
        team,
        [&] {
            CheckpointWriter writer(folder, run.step(), team.rank());
            const std::vector<OwnPatch> patches = own_patches(run.plan(), graph);
            const auto write = [&](const OwnPatch& own, const Kept& kept) {
                const LabelInfo& info = label_of(graph, kept);
                if (info.family == nullptr && team.rank() != 0) return;
                const std::vector<std::byte> bytes =
                    read_values(run.plan(), kept, own.local, run.rounds(kept));
                const std::size_t value = info.bytes * static_cast<std::size_t>(info.components);
                writer.add(head.label(info.name), own.patch, bytes,
                           static_cast<std::int64_t>(bytes.size() / value), kept.back);
            };
            team.crew().parallel_for(
                0, patches.size(),
                [&](std::size_t i) {
                    for (const Kept& kept : patches[i].kept) write(patches[i], kept);
                },
                team::Dynamic{});
            writer.finish();
        },
        undo);
    by_first([&] { CheckpointWriter::commit(folder, head, team.size(), keep); });
}

std::filesystem::path restore_state(Simulation& run, Graph& graph, team::Team& team,
                                    const std::filesystem::path& folder, const StateName& name) {
    std::vector<std::string> passed_over;
    const std::optional<CheckpointReader> reader = CheckpointReader::latest(folder, &passed_over);
    if (!reader)
        throw Error("there is no checkpoint to go on from")
            .given(folder.string())
            .allowed("a folder with a whole checkpoint-NNNNNN")
            .remedy(passed_over.empty() ? "a run writes them with --checkpoint N"
                                        : fmt::format("damaged: {}", fmt::join(passed_over, "; ")));
    CheckpointHead now = head_of(run, graph, name);
    reader->expect(now);
    for (const auto& [parameter, value] : reader->head().parameters)
        for (Parameter& own : graph.parameters())
            if (own.name == parameter) own.value = value;
    run.restore(reader->head().step, [&](const Plan& plan) {
        const std::vector<OwnPatch> patches = own_patches(plan, graph);
        const auto read = [&](const OwnPatch& own, const Kept& kept) {
            const std::string& label_name = label_of(graph, kept).name;
            const int label = reader->head().label(label_name);
            const auto chunk = reader->find(label, own.patch, kept.back);
            if (!chunk)
                throw Error("a checkpoint lacks values")
                    .at(reader->path().string())
                    .given(fmt::format("'{}', patch {}", label_name, own.patch));
            std::vector<std::byte> bytes(chunk->bytes);
            reader->read(label, own.patch, bytes, kept.back);
            write_values(plan, kept, own.local, 0, bytes);
        };
        // A patch's particles are made room for by the first of their labels: one thread has all of a patch.
        team.crew().parallel_for(
            0, patches.size(),
            [&](std::size_t i) {
                for (const Kept& kept : patches[i].kept) read(patches[i], kept);
            },
            team::Dynamic{});
    });
    return reader->path();
}

}  // namespace strata::graph
