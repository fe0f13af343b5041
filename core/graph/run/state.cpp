#include "core/graph/run/state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/checkpoint/reader.hpp"
#include "core/graph/checkpoint/writer.hpp"

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

/// Calls each(kept, local, patch) for all values of this process; a scalar is patch 0 of everybody's.
template <class Each>
void for_each_own(const Plan& plan, const Graph& graph, Each each) {
    for (const Kept& kept : kept_versions(plan)) {
        const LabelInfo& info = label_of(graph, kept);
        if (info.family == nullptr) {
            each(kept, 0, 0);
            continue;
        }
        const std::vector<int>& mine =
            plan.memory().patches()[static_cast<std::size_t>(number_of(graph, *info.family))];
        for (std::size_t i = 0; i < mine.size(); ++i) each(kept, static_cast<int>(i), mine[i]);
    }
}

}  // namespace

void save_state(const Simulation& run, Graph& graph, team::Team& team, const std::filesystem::path& folder,
                const StateName& name, int keep) {
    const CheckpointHead head = head_of(run, graph, name);
    if (team.rank() == 0) CheckpointWriter::prepare(folder, run.step());
    team.barrier();
    {
        CheckpointWriter writer(folder, run.step(), team.rank());
        for_each_own(run.plan(), graph, [&](const Kept& kept, int local, int patch) {
            const LabelInfo& info = label_of(graph, kept);
            if (info.family == nullptr && team.rank() != 0) return;
            const std::vector<std::byte> bytes = read_values(run.plan(), kept, local, run.rounds(kept));
            const std::size_t value = info.bytes * static_cast<std::size_t>(info.components);
            writer.add(head.label(info.name), patch, bytes, static_cast<std::int64_t>(bytes.size() / value),
                       kept.back);
        });
        writer.finish();
    }
    team.barrier();
    if (team.rank() == 0) CheckpointWriter::commit(folder, head, team.size(), keep);
    team.barrier();
}

std::filesystem::path restore_state(Simulation& run, Graph& graph, const std::filesystem::path& folder,
                                    const StateName& name) {
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
        for_each_own(plan, graph, [&](const Kept& kept, int local, int patch) {
            const int label = reader->head().label(label_of(graph, kept).name);
            const auto chunk = reader->find(label, patch, kept.back);
            if (!chunk)
                throw Error("a checkpoint lacks values")
                    .at(reader->path().string())
                    .given(fmt::format("'{}', patch {}", label_of(graph, kept).name, patch));
            std::vector<std::byte> bytes(chunk->bytes);
            reader->read(label, patch, bytes, kept.back);
            write_values(plan, kept, local, 0, bytes);
        });
    });
    return reader->path();
}

}  // namespace strata::graph
