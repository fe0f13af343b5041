// Versions that tasks on some patches make (Task::on): whoever needs one must find it where it looks.
#include <algorithm>
#include <set>
#include <tuple>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

/// Finds the tasks that make a version's values in the first place, with all patches or some; modifications
/// on the way change values that are there.
class Makers {
  public:
    Makers(Model& m, LabelId label) : m_(m), label_(label) {}

    void of(ScopeId scope, int version, int back) {
        if (!seen_.insert({scope, version, back}).second) return;
        for (const UseInRound& w : writers_of(m_, scope, label_, version, back)) {
            const UseInfo& use = m_.use(w.at);
            if (use.access == Access::modify)
                of(m_.task(w.at.task).scope, use.version, 0);
            else
                found.push_back(w.at.task);
        }
    }

    std::vector<TaskId> found;

  private:
    Model& m_;
    LabelId label_;
    std::set<std::tuple<ScopeId, int, int>> seen_;
};

class CheckPatches {
  public:
    explicit CheckPatches(Model& m) : m_(m) {}

    void task(TaskId t) {
        const TaskInfo& info = m_.graph.tasks()[m_.task(t).task];
        for (std::size_t u = 0; u < info.uses.size(); ++u) {
            const UseInfo& use = m_.uses[t][u];
            const LabelInfo& label = m_.label(use.label);
            const bool reads = use.access == Access::need || use.access == Access::modify;
            if (!reads || label.kind == Kind::scalar || info.uses[u].accepts_missing) continue;
            Makers makers(m_, use.label);
            if (use.back > 0)
                makers.of(m_.home[use.label], m_.timeline(m_.home[use.label], use.label)->last(), use.back);
            else
                makers.of(m_.task(t).scope, use.version, 0);
            for (const TaskId maker : makers.found)
                if (m_.partial(maker))
                    compare(info, info.uses[u], label, m_.graph.tasks()[m_.task(maker).task]);
        }
    }

  private:
    void compare(const TaskInfo& reader, const Use& use, const LabelInfo& label, const TaskInfo& maker) {
        const Family& family = reader.family != nullptr ? *reader.family : *label.family;
        for (int patch = 0; patch < family.patches(); ++patch)
            if (reader.runs_on(patch))
                for (const int from : sources(use, label, patch))
                    if (!maker.runs_on(from)) throw missing(reader, label, maker, from);
    }

    /// The patches whose values the use reads for this one.
    const std::vector<int>& sources(const Use& use, const LabelInfo& label, int patch) {
        from_.clear();
        if (use.relation != nullptr) {
            for (const Piece& piece : use.relation->pieces(patch, label.on)) from_.push_back(piece.from);
        } else if (use.width != Int3{}) {
            const auto& grid = static_cast<const Grid&>(*label.family);
            grid.find_owners(grid.owned(patch, label.on, label.border).grown(use.width), label.on,
                             label.border, met_);
            for (const Grid::Meeting& each : met_) from_.push_back(each.patch);
        } else {
            from_.push_back(patch);
        }
        return from_;
    }

    [[nodiscard]] Error missing(const TaskInfo& reader, const LabelInfo& label, const TaskInfo& maker,
                                int patch) const {
        return m_
            .refuse(fmt::format("task '{}' needs '{}' of patch {} of '{}', where no task makes it",
                                reader.name, label.name, patch, label.family->name()))
            .given(fmt::format("task '{}' makes it, on {} of {} patches", maker.name,
                               std::count(maker.where.begin(), maker.where.end(), true), maker.where.size()))
            .remedy(
                fmt::format("let '{}' run on patches that find it, on(...), or accept_missing() where the "
                            "values do not matter",
                            reader.name));
    }

    Model& m_;
    std::vector<int> from_;
    std::vector<Grid::Meeting> met_;
};

}  // namespace

void check_patches(Model& m) {
    const auto& tasks = m.graph.tasks();
    if (std::none_of(tasks.begin(), tasks.end(), [](const TaskInfo& task) { return task.partial(); })) return;
    CheckPatches check(m);
    for (const TaskId t : m.tasks_by_name) check.task(t);
}

}  // namespace strata::graph::resolving
