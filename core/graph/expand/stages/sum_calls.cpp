// Contributions of many patches added up: to fields and to lists.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>

#include "core/graph/declare/shared.hpp"
#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

/// Divides `all` where the boxes begin and end: parts to which the same ones contribute everywhere. The boxes
/// 0 to 10 and 8 to 16 of 16 values give the parts 0 to 8, 8 to 10 (covered by both) and 10 to 16.
/// each(part, boxes that cover it, in their order).
template <class Each>
void each_region(const Box& all, const std::vector<Box>& boxes, Each each) {
    std::array<std::vector<int>, 3> cuts;
    for (std::size_t a = 0; a < 3; ++a) {
        cuts[a] = {all.lo[a], all.hi[a]};
        for (const Box& box : boxes) cuts[a].insert(cuts[a].end(), {box.lo[a], box.hi[a]});
        std::sort(cuts[a].begin(), cuts[a].end());
        cuts[a].erase(std::unique(cuts[a].begin(), cuts[a].end()), cuts[a].end());
    }
    // Of a sum into another family there may be hundreds of boxes: few of them cover a plane or a row.
    using Numbers = std::vector<std::uint32_t>;
    Numbers every(boxes.size()), in_plane, in_row, covering;
    std::iota(every.begin(), every.end(), 0U);
    const auto keep = [&](const Numbers& of, std::size_t a, std::size_t at, Numbers& kept) {
        kept.clear();
        std::copy_if(of.begin(), of.end(), std::back_inserter(kept), [&](std::uint32_t b) {
            return boxes[b].lo[a] <= cuts[a][at] && cuts[a][at + 1] <= boxes[b].hi[a];
        });
    };
    for (std::size_t k = 0; k + 1 < cuts[2].size(); ++k) {
        keep(every, 2, k, in_plane);
        for (std::size_t j = 0; j + 1 < cuts[1].size(); ++j) {
            keep(in_plane, 1, j, in_row);
            for (std::size_t i = 0; i + 1 < cuts[0].size(); ++i) {
                keep(in_row, 0, i, covering);
                each(Box{{cuts[0][i], cuts[1][j], cuts[2][k]},
                         {cuts[0][i + 1], cuts[1][j + 1], cuts[2][k + 1]}},
                     covering);
            }
        }
    }
}

/// The calls of one combination.
class Combination {
  public:
    Combination(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, PlanParts& plan, TaskId task)
        : in_(in), numbered_(numbered), arrays_(arrays), plan_(plan), task_(task) {}

    void all() {
        reader_ = {ops_.phase, kNone, position_of(in_, task_, Position::own)};
        for (int local = 0; local < static_cast<int>(ops_.count); ++local) {
            reader_.op = ops_.op(local);
            if (label_.kind == Kind::particles) {
                particles(local);
                continue;
            }
            const PatchArray& mine = in_.memory.own(result_, local);
            CombineCall& call = all_.store.one<CombineCall>();
            call.element = label_.element;
            call.components = label_.components;
            call.bytes = static_cast<std::int64_t>(label_.bytes);
            call.field = label_.kind == Kind::field;
            call.to = address(result_, mine, mine.origin);
            const int patch = in_.patches(ops_.family)[static_cast<std::size_t>(local)];
            call.field ? field(call, mine, patch) : lists(call, mine, patch);
            all_.set(reader_.op, call);
        }
    }

  private:
    [[nodiscard]] RoundAddress address(StorageId storage, const PatchArray& array, std::byte* base) const {
        return numbered_.address(ops_.phase, in_.storage(storage), base, array.buffer_stride, 0);
    }

    void particles(int local) {
        const Populations& populations = in_.memory.populations();
        HaloCombineCall& call = all_.store.one<HaloCombineCall>();
        call.column = populations.column(result_);
        call.here = &populations.own(call.column.set, local);
        call.element = label_.element;
        std::vector<HaloCombineCall::Part> parts;
        for (const Contributor& each : from_) {
            const auto& halo = static_cast<const ParticleHalo&>(*in_.use(each.task, each.use).relation);
            HaloCalls(in_, halo, in_.patches(ops_.family)[static_cast<std::size_t>(local)])
                .add_parts(each, parts);
        }
        call.parts = all_.store.keep(parts);
        all_.set(reader_.op, call);
    }

    void field(CombineCall& call, const PatchArray& mine, int patch) {
        const Box own = owned(label_, patch);
        call.to.base += distance(mine, own.lo, label_.bytes);
        call.add = add_regions(label_.element);
        std::vector<bool> there;  // its values are in their place already
        std::vector<RoundAddress> parts;
        std::vector<const PatchArray*> windows;
        std::vector<Box> boxes;
        for (const auto& [maker, storage, piece] : parts_.of(patch)) {
            const PatchArray& window = arrays_.of(storage, piece.from, reader_);
            parts.push_back(address(storage, window,
                                    window.origin + distance(window, own.lo, label_.bytes) +
                                        distance(window, negative(piece.shift), label_.bytes)));
            windows.push_back(&window);
            boxes.push_back(piece.into());
            there.push_back(in_place_ && piece.from == patch && piece.shift == Int3{});
        }
        SumRows rows;
        each_region(own, boxes, [&](const Box& box, const std::vector<std::uint32_t>& in) {
            if (in.size() == 1 && there[in.front()]) return;
            const Int3 at{box.lo[0] - own.lo[0], box.lo[1] - own.lo[1], box.lo[2] - own.lo[2]};
            const auto offset = [&](const PatchArray& array) {
                return SumRows::BoxOrigin{distance(array, at, 1), strides(array, 1)};
            };
            std::vector<std::pair<std::uint32_t, SumRows::BoxOrigin>> from;
            for (const std::uint32_t part : in) from.emplace_back(part, offset(*windows[part]));
            rows.add(extent_of(box), label_.components, offset(mine), from);
        });
        call.parts = all_.store.keep(parts);
        call.rows = &*all_.sums.insert(std::move(rows)).first;
    }

    void lists(CombineCall& call, const PatchArray& mine, int patch) {
        call.count = mine.count;
        call.component = mine.component;
        std::vector<CombineCall::Entries> lists;
        for (const auto& [maker, use] : from_) {
            const auto& shared = static_cast<const Shared&>(*in_.use(maker, use).relation);
            const StorageId theirs = in_.task(maker).uses[static_cast<std::size_t>(use)].storage;
            std::map<int, std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> by_patch;
            by_patch[patch];
            for (const Shared::Link& link : shared.links(patch)) {
                by_patch[link.patch].first.push_back(link.entry);
                by_patch[link.patch].second.push_back(link.their_entry);
            }
            for (const auto& [other, entries] : by_patch) {
                if (!in_.runs_on(maker, other)) continue;
                const PatchArray& source = arrays_.of(theirs, other, reader_);
                CombineCall::Entries part;
                part.from = address(theirs, source, source.origin);
                part.from_component = source.component;
                if (other != patch) {
                    part.here = all_.store.keep(entries.first);
                    part.there = all_.store.keep(entries.second);
                }
                lists.push_back(part);
            }
        }
        call.lists = all_.store.keep(lists);
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    Arrays& arrays_;
    PlanParts& plan_;
    const TaskId task_;
    const TaskOps& ops_ = numbered_.tasks[task_];
    ProgramData& all_ = plan_.of(ops_.phase);
    const LabelInfo& label_ = in_.completed(task_);
    const StorageId result_ = in_.task(task_).uses[0].storage;
    const std::vector<Contributor> from_ = contributors(in_, task_);
    const bool in_place_ = std::any_of(in_.sums_in_place.begin(), in_.sums_in_place.end(),
                                       [&](const SumInPlace& sum) { return sum.combine == task_; });
    PartsOfSum parts_{in_, task_};
    Reader reader_;
};

}  // namespace

void make_combines(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, PlanParts& plan) {
    for (const TaskId task : in.resolved.tasks.ids())
        if (in.is(task, ResolvedTask::What::combine)) Combination(in, numbered, arrays, plan, task).all();
}

}  // namespace strata::graph::detail
