#include "core/run/driver/showing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/private_folder.hpp"
#include "core/base/steps.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/run/checkpoint/all_or_none.hpp"
#include "core/run/driver/driver.hpp"
#include "core/run/driver/shape_values.hpp"
#include "core/run/driver/shown_values.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

const LabelInfo& label_of(const Graph& graph, LabelId id) { return graph.labels()[id]; }

/// The label with the positions of a set's particles; none where they are never relocated.
LabelId position_of(const Graph& graph, SetId set) {
    for (const Scope& scope : graph.scopes())
        for (const Scope::Relocation& relocation : scope.relocations())
            if (relocation.set == set) return relocation.position.label;
    return {};
}

/// Finds the files of labels.
class Files {
  public:
    Files(const Graph& graph, const Resolved& resolved, const std::vector<ShownShape>& shapes,
          const std::optional<ShownScale>& scale = {})
        : graph_(graph), resolved_(resolved), scale_(scale) {
        for (const ShownShape& shape : shapes) {
            check_shape(graph, resolved, shape);
            ShownFile file;
            file.name = name_in_files(shape.name);
            file.shape = std::make_shared<const ShownShape>(shape);
            files_.push_back(std::move(file));
        }
    }

    /// "" where a label can be shown, else the reason why not.
    [[nodiscard]] std::string why_not(const LabelInfo& label) const {
        return why_not(label, is_kept(resolved_, label.id));
    }
    [[nodiscard]] std::string why_not(const LabelInfo& label, bool kept) const {
        if (label.kind == Kind::scalar) return "it is one number; series.csv has those";
        if (label.element == Element::bytes) return "its values are no numbers";
        if (label.kind == Kind::particles && !position_of(graph_, label.particle_set))
            return "nothing relocates its particles, so their position is not known";
        if (!kept) return "it does not live until the next step (LabelOptions::kept or history = 1 keeps it)";
        if (!in_shapes(label).empty()) return "";
        if (label.kind == Kind::list)
            return "it is a list that belongs to no points, cells or table of a shape (Solver::shapes)";
        if (label.kind == Kind::field && has_shape(*label.family))
            return "it lies on faces, which curvilinear blocks do not have";
        if (label.kind == Kind::field && static_cast<const Grid*>(label.family)->zones() > 1)
            return "it lies on several zones, which only a shape of curvilinear blocks shows "
                   "(Solver::shapes)";
        return "";
    }
    /// Whether a label is shown where nothing is chosen: not where it says what a shape looks like.
    [[nodiscard]] bool by_itself(const LabelInfo& label) const {
        return std::none_of(files_.begin(), files_.end(),
                            [&](const ShownFile& f) { return f.shape && f.shape->uses(label.id); });
    }
    void add(const LabelInfo& label) {
        const auto places = in_shapes(label);
        const std::string name = array_name(label);
        for (const auto& [file, part, where] : places) {
            const On on = where == Belongs::to_points ? On::nodes : On::cells;
            add(files_[file], {{name, label.element, label.components, label.unit, on}, label.id, part});
        }
        if (places.empty())
            add(file_of(label), {{name, label.element, label.components, label.unit, label.on}, label.id});
    }
    /// The files. `chosen`: shapes without a chosen label are left out.
    [[nodiscard]] std::vector<ShownFile> all(bool chosen) && {
        std::erase_if(files_, [&](const ShownFile& file) {
            return file.shape && file.arrays.empty() &&
                   (chosen || file.shape->form == ShownShape::Form::table);
        });
        for (std::size_t i = 0; i < files_.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (files_[i].name == files_[j].name)
                    throw Error("two kinds of field files would have one name")
                        .given(files_[i].name)
                        .allowed("for a shape, a name that no grid, set of particles or other shape has");
        return std::move(files_);
    }

  private:
    struct InShape {
        std::size_t file, part;
        Belongs where;
    };
    [[nodiscard]] std::vector<InShape> in_shapes(const LabelInfo& label) const {
        std::vector<InShape> all;
        for (std::size_t f = 0; f < files_.size(); ++f)
            for (std::size_t p = 0; files_[f].shape && p < files_[f].shape->parts.size(); ++p) {
                const ShownShape& shape = *files_[f].shape;
                const Belongs where = belongs(graph_, shape, shape.parts[p], label);
                if (where != Belongs::nowhere) all.push_back({f, p, where});
            }
        return all;
    }
    [[nodiscard]] bool has_shape(const Family& family) const {
        for (const ShownFile& file : files_)
            for (std::size_t p = 0; file.shape && p < file.shape->parts.size(); ++p)
                if (file.shape->parts[p].grid == &family) return true;
        return false;
    }
    static void add(ShownFile& file, ShownFile::Array array) {
        const auto same = [&](const ShownFile::Array& a) {
            return a.label == array.label && a.part == array.part;
        };
        if (std::none_of(file.arrays.begin(), file.arrays.end(), same))
            file.arrays.push_back(std::move(array));
    }
    ShownFile& file_of(const LabelInfo& label);
    /// "dust.id" is "id" in the file of the dust; so it is with the labels of a block.
    [[nodiscard]] std::string array_name(const LabelInfo& label) const {
        std::string of;
        if (label.kind == Kind::particles) of = graph_.particle_sets()[label.particle_set].name + '.';
        if (label.kind == Kind::field && has_shape(*label.family)) of = label.family->name() + '.';
        const bool named = !of.empty() && label.name.starts_with(of) && label.name.size() > of.size();
        return name_in_files(named ? label.name.substr(of.size()) : label.name);
    }

    const Graph& graph_;
    const Resolved& resolved_;
    std::optional<ShownScale> scale_;
    std::vector<ShownFile> files_;
};

/// The file of an image or of particles to which a label belongs; added for its first label.
ShownFile& Files::file_of(const LabelInfo& label) {
    const bool particles = label.kind == Kind::particles;
    const auto* grid = static_cast<const Grid*>(label.family);
    const SetId set = particles ? label.particle_set : SetId();
    const On on = particles || label.on == On::nodes ? On::cells : label.on;
    for (ShownFile& file : files_)
        if (!file.shape && file.set == set && file.grid == grid && file.on == on) return file;
    ShownFile file;
    file.grid = grid;
    file.on = on;
    file.set = set;
    file.name = name_in_files(grid->name());
    for (std::size_t a = 0; a < 3; ++a)
        if (on != On::cells && on_sides(on, a)) file.name += fmt::format("-{}-faces", "xyz"[a]);
    if (particles) {
        file.name = name_in_files(graph_.particle_sets()[set].name);
        if (file.name == name_in_files(grid->name())) file.name += "-particles";
        file.position = position_of(graph_, set);
        if (scale_ && scale_->set == set) file.scale = scale_;
        const LabelInfo& at = label_of(graph_, file.position);
        file.arrays.push_back({{"Points", at.element, 3, at.unit, On::cells}, file.position});
    }
    files_.push_back(std::move(file));
    return files_.back();
}

/// `labels`, or all that can be shown.
void add_shown(Files& files, const Graph& graph, const std::vector<ShownLabel>& labels) {
    for (const ShownLabel& shown : labels) {
        const LabelInfo& label = label_of(graph, shown.label());
        const std::string not_shown = files.why_not(label);
        if (!not_shown.empty())
            throw Error(fmt::format("the solver cannot show '{}': {}", label.name, not_shown));
        files.add(label);
    }
    for (const LabelInfo& label : graph.labels())
        if (labels.empty() && files.by_itself(label) && files.why_not(label).empty()) files.add(label);
}

fs::path list_of(const ShownFile& file, const fs::path& folder) {
    return folder / (file.name + ".vtkhdf.series");
}

}  // namespace

void OutputSettings::declare(CaseSchema& schema) {
    schema.key("output.steps", &steps,
               {.least = 0,
                .most = 1LL << 40,
                .decides = false,
                .meaning = "fields for ParaView every so many steps; 0: not by steps"});
    schema.key(
        "output.interval", &interval,
        {.least = 0, .decides = false, .meaning = "fields every so much time of the case; 0: not by time"});
    schema.key("output.fields", &fields,
               {.decides = false, .meaning = "which; empty: those that the solver shows"});
}

std::string name_in_files(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
    return name;
}

std::vector<ShownFile> shown_files(const Graph& graph, const Resolved& resolved, const Solver& solver,
                                   const CaseSchema& schema, const OutputSettings& settings,
                                   const std::vector<LabelId>& added) {
    Files files(graph, resolved, solver.shapes, solver.scale);
    if (settings.fields.empty()) {
        add_shown(files, graph, solver.fields);
        for (const LabelId label : added) files.add(label_of(graph, label));
        return std::move(files).all(false);
    }
    std::vector<std::string> names;
    for (const LabelInfo& label : graph.labels())
        if (files.why_not(label).empty()) names.push_back(label.name);
    for (const std::string& name : settings.fields) {
        if (std::count(names.begin(), names.end(), name) == 0)
            schema.refuse("output.fields", fmt::format("'{}' is nothing that can be shown", name),
                          fmt::format("{}", fmt::join(names, ", ")));
        files.add(*std::find_if(graph.labels().begin(), graph.labels().end(),
                                [&](const LabelInfo& label) { return label.name == name; }));
    }
    for (const LabelId label : added) files.add(label_of(graph, label));
    return std::move(files).all(true);
}

std::vector<LabelId> showable(const Graph& graph, const Resolved& resolved,
                              const std::vector<ShownShape>& shapes) {
    const Files files(graph, resolved, shapes);
    const auto makes = [](const ResolvedTask& task, LabelId label) {
        return task.scope != kStart && std::any_of(task.uses.begin(), task.uses.end(),
                                                   [&](const auto& use) { return use.label == label; });
    };
    std::vector<LabelId> all;
    for (const LabelInfo& label : graph.labels()) {
        const bool in_step = std::any_of(resolved.tasks.begin(), resolved.tasks.end(),
                                         [&](const ResolvedTask& task) { return makes(task, label.id); });
        if (files.why_not(label, in_step || is_kept(resolved, label.id)).empty()) all.push_back(label.id);
    }
    return all;
}

std::vector<ShownFile> shown_files(const Graph& graph, const Resolved& resolved,
                                   const std::vector<ShownShape>& shapes,
                                   const std::vector<ShownLabel>& labels) {
    Files files(graph, resolved, shapes);
    add_shown(files, graph, labels);
    return std::move(files).all(false);
}

void ShownTimes::pass(double now) {
    constexpr double never = std::numeric_limits<double>::infinity();
    next_ = never;
    if (interval_ <= 0) return;
    constexpr double whole = 1e15;  // beyond it there is nothing between two multiples
    if (now / interval_ < whole) next_ = static_cast<double>(steps_within(now, interval_) + 1) * interval_;
    // An interval too small to change the time: fields are written after each step.
    if (next_ == never || reached(now, next_)) next_ = std::nextafter(now, never);
}

void write_shown(const std::vector<ShownFile>& files, const Simulation& run, team::Team& team,
                 const fs::path& folder, double time) {
    for (const ShownFile& shown : files) {
        const fs::path path = folder / fmt::format("{}-{:06}.vtkhdf", shown.name, run.step());
        const auto undo = [&] { FieldFile::abandon(path); };
        std::vector<std::int64_t> first;
        std::vector<FieldCounts> of_lists;
        if (shown.set) first = first_particles(shown, run, team);
        if (shown.shape) of_lists = first_of_patches(shown, run, team, undo);
        const auto create = [&] {
            if (shown.shape) return create_shape(shown, path, run.plan().graph(), of_lists, time);
            std::vector<FieldArray> arrays;
            for (const ShownFile::Array& array : shown.arrays) arrays.push_back(array.form);
            if (leaves_some_out(shown)) arrays.push_back(ghosts_array(shown));
            if (!shown.set)
                FieldFile::create_grid(path, shown.grid->shape(), arrays, time);
            else
                FieldFile::create_particles(path, first.back(), arrays, time);
            if (leaves_some_out(shown)) hide_all(shown, path);
        };
        first_or_none(team, create, undo);
        for (int node = 0; node < team.nodes(); ++node)
            all_or_none(
                team,
                [&] {
                    if (team.node() != node) return;
                    if (shown.shape)
                        write_shape(shown, path, run, of_lists);
                    else
                        write_values(shown, path, run, first);
                },
                undo);
        first_or_none(
            team, [&] { FieldFile::finish(path, list_of(shown, folder), time); }, undo);
    }
}

void begin_shown(const std::vector<ShownFile>& files, const fs::path& folder, bool restarted, double time) {
    if (const std::error_code failed = make_results_folder(folder))
        throw system_error("the folder of the fields cannot be made", failed.value()).at(folder.string());
    FieldFile::sweep(folder);
    for (const ShownFile& file : files) {
        const fs::path list = list_of(file, folder);
        if (restarted)
            forget_later_fields(list, time);
        else if (fs::exists(list))
            throw Error("there are field files already")
                .at(list.string())
                .remedy("choose another folder, or restart");
    }
}

}  // namespace strata::graph
