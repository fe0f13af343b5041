#include "core/run/module/company_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/error.hpp"
#include "core/base/private_folder.hpp"

namespace strata::graph {

namespace {

template <class T>
void append(std::vector<T>& all, std::vector<T>& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// A module's own files are in a folder of its name: two modules may give theirs the same names.
class FramesOfModule : public Frames {
  public:
    FramesOfModule(std::shared_ptr<Frames> frames, std::string module)
        : frames_(std::move(frames)), module_(std::move(module)) {}
    [[nodiscard]] std::int64_t every() const override { return frames_->every(); }
    [[nodiscard]] bool at_end() const override { return frames_->at_end(); }
    void begin(const Simulation& run, team::Team& team, const std::filesystem::path& folder,
               std::int64_t every, bool restarted) override {
        const std::filesystem::path own = folder / module_;
        if (team.rank() == 0)
            if (const std::error_code error = make_results_folder(own))
                throw system_error("the folder of a module's files cannot be made", error.value())
                    .at(own.string());
        team.barrier();
        frames_->begin(run, team, own, every, restarted);
    }
    void write(const Simulation& run, team::Team& team, double time) override {
        frames_->write(run, team, time);
    }

  private:
    std::shared_ptr<Frames> frames_;
    std::string module_;
};

}  // namespace

void CompanySolver::add(const std::string& name, Solver solver) {
    if (solver.done.id())
        throw Error(fmt::format("'{}' ends at no time that is known before, and has no company", name))
            .allowed("a solver whose steps have a time, and an end");
    if (solver.time.id()) {
        if (!timed_.empty() && solver.time_unit != all_.time_unit)
            throw Error("modules of one company measure time in two units")
                .given(fmt::format("'{}': {}, '{}': {}", timed_, all_.time_unit, name, solver.time_unit))
                .allowed("one unit");
        all_.end = timed_.empty() ? solver.end : std::min(all_.end, solver.end);
        if (timed_.empty()) all_.time_unit = solver.time_unit, timed_ = name;
    }
    if (solver.scale && all_.scale)
        throw Error("two modules of one company show particles on a scale of their own")
            .given(fmt::format("'{}' is the second", name))
            .allowed("one");
    if (solver.scale) all_.scale = solver.scale;
    if (solver.first_line) first_lines_.emplace_back(name, std::move(solver.first_line));
    if (!solver.notice.empty())
        all_.notice += fmt::format("{}{}: {}", all_.notice.empty() ? "" : "; ", name, solver.notice);
    if (!solver.series.empty()) all_.series_every = std::min(all_.series_every, solver.series_every);
    if (solver.series_due) due_.push_back(std::move(solver.series_due));
    append(all_.series, solver.series);
    append(all_.fields, solver.fields);
    for (ShownShape& shape : solver.shapes) shape.name = fmt::format("{}_{}", name, shape.name);
    append(all_.shapes, solver.shapes);
    for (auto& frames : solver.frames)
        all_.frames.push_back(std::make_shared<FramesOfModule>(std::move(frames), name));
    if (solver.facts) facts_.push_back(std::move(solver.facts));
    if (solver.verify) verify_.emplace_back(name, std::move(solver.verify));
}

double CompanySolver::end() const {
    if (timed_.empty())
        throw Error("no module of the company has a time")
            .allowed("one at least that says when the run ends");
    return all_.end;
}

Solver CompanySolver::solver() && {
    if (!first_lines_.empty())
        all_.first_line = [lines = std::move(first_lines_)](const Simulation& run) {
            std::string all;
            for (const auto& [name, line] : lines)
                all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", name, line(run));
            return all;
        };
    if (!due_.empty())
        all_.series_due = [due = std::move(due_)](std::int64_t step) {
            return std::all_of(due.begin(), due.end(), [&](const auto& asks) { return asks(step); });
        };
    if (!facts_.empty())
        all_.facts = [facts = std::move(facts_)](const Simulation& run) {
            std::vector<std::pair<std::string, std::vector<double>>> all;
            for (const auto& each : facts)
                for (auto& fact : each(run)) all.push_back(std::move(fact));
            return all;
        };
    if (!verify_.empty())
        all_.verify = [verify = std::move(verify_)](const Finished& run) {
            std::vector<Verification> criteria;
            std::vector<Figure> figures;
            std::string unasked;
            bool asked = false;  // one criterion of the case's is enough
            for (const auto& [name, ask] : verify) {
                Findings found = ask(run);
                asked = asked || found.unasked.empty();
                if (unasked.empty()) unasked = found.unasked;
                if (found.criteria.empty()) found.criteria.push_back(found);
                for (Verification& each : found.criteria) {
                    each.what = fmt::format("{}: {}", name, each.what);
                    criteria.push_back(std::move(each));
                }
                for (Figure& figure : found.figures) {
                    figure.name = fmt::format("{}: {}", name, figure.name);
                    figures.push_back(std::move(figure));
                }
            }
            Findings all = Findings::of(std::move(criteria), std::move(figures));
            if (!asked) all.unasked = std::move(unasked);
            return all;
        };
    return std::move(all_);
}

}  // namespace strata::graph
