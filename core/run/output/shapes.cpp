#include "core/run/output/shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"

namespace strata::graph {

namespace {

ShownShape with_one_part(ShownShape::Form form, std::string name, const Family& family, Coordinates at,
                         const ShapeOptions& options) {
    ShownShape shape;
    shape.form = form;
    shape.name = std::move(name);
    ShownShape::Part part;
    part.family = &family;
    part.at = std::move(at.labels);
    part.blank = options.blank.label();
    part.points_now = options.points_now.label();
    part.cells_now = options.cells_now.label();
    for (const ShownLabel& label : options.on_points) part.on_points.push_back(label.label());
    shape.parts.push_back(std::move(part));
    return shape;
}

ShownShape with_cells(ShownShape shape, const CellLists& cells) {
    shape.connectivity = cells.connectivity.label();
    shape.type = cells.type;
    shape.offsets = cells.offsets.label();
    shape.types = cells.types.label();
    return shape;
}

int directions_of(const Graph& graph, const ShownShape::Part& part) {
    return part.at.size() > 1 ? static_cast<int>(part.at.size()) : graph.labels()[part.at[0]].components;
}

std::string text_of(const LabelInfo& label) {
    const char* kinds[] = {"a field", "a list", "a label of particles", "a scalar"};
    const char* places[] = {" on cells", " on nodes", " on faces", " on faces", " on faces"};
    const char* numbers[] = {"f64", "f32", "i64", "i32", "u8", "bytes"};
    return fmt::format("{}{}{} of {} with {} component{}", kinds[static_cast<int>(label.kind)],
                       label.kind == Kind::field ? places[static_cast<int>(label.on)] : "",
                       label.family == nullptr ? "" : fmt::format(" of '{}'", label.family->name()),
                       numbers[static_cast<int>(label.element)], label.components,
                       label.components == 1 ? "" : "s");
}

/// Checks the labels of one shape.
class Check {
  public:
    Check(const Graph& graph, const Resolved& resolved, const ShownShape& shape)
        : graph_(graph), resolved_(resolved), shape_(shape) {}

    void all() const {
        if (shape_.name.empty() || shape_.name.find_first_of("/.") != std::string::npos)
            throw Error("a shape cannot have this name").given(shape_.name).allowed("no '/' or '.'");
        if (shape_.parts.empty()) throw said("has no blocks").allowed("one or more");
        if (shape_.counted()) check_counts(shape_.parts[0]);
        if (shape_.form == ShownShape::Form::table) return check_table();
        for (const ShownShape::Part& part : shape_.parts) {
            check_places(part);
            if (part.blank) check_blank(part);
            if (shape_.form == ShownShape::Form::blocks) check_blocks(part);
        }
        if (shape_.form != ShownShape::Form::blocks) check_lists(shape_.parts[0]);
    }

  private:
    [[nodiscard]] Error said(const std::string& what) const {
        return Error(fmt::format("shape '{}': {}", shape_.name, what));
    }
    /// The label; it must be kept, and be a field at `on` or a list of the part's family.
    const LabelInfo& label(const char* role, LabelId id, const ShownShape::Part& part, On on,
                           const std::vector<Element>& elements, const std::string& of) const {
        const std::string kind = part.grid != nullptr
                                     ? fmt::format("a field on {}", on == On::nodes ? "nodes" : "cells")
                                     : "a list";
        const std::string allowed = fmt::format("{} of '{}' of {}", kind, part.family->name(), of);
        if (!graph_.labels().has(id)) throw said(fmt::format("{} is missing", role)).allowed(allowed);
        const LabelInfo& info = graph_.labels()[id];
        const bool fits =
            part.grid != nullptr ? info.kind == Kind::field && info.on == on : info.kind == Kind::list;
        const bool number = std::count(elements.begin(), elements.end(), info.element) > 0;
        if (!fits || info.family != part.family || !number)
            throw said(fmt::format("'{}' cannot be {}", info.name, role))
                .given(text_of(info))
                .allowed(allowed);
        if (!is_kept(resolved_, id))
            throw said(fmt::format("'{}', {}, does not live until the next step", info.name, role))
                .remedy(fmt::format("declare '{}' with {{.kept = true}}", info.name));
        return info;
    }
    void check_places(const ShownShape::Part& part) const {
        const std::vector<Element> real{Element::f64, Element::f32};
        const LabelInfo* first = nullptr;
        for (const LabelId id : part.at) {
            const LabelInfo& at = label("its coordinates", id, part, On::nodes, real, "f64 or f32");
            if (first == nullptr) first = &at;
            if (at.element != first->element)
                throw said("its coordinates are of different types")
                    .given(fmt::format("'{}' and '{}'", first->name, at.name))
                    .allowed("all of f64, or all of f32");
            if (part.at.size() > 1 && at.components != 1)
                throw said(fmt::format("the coordinate '{}' has components", at.name))
                    .given(text_of(at))
                    .allowed("one label of two or three components, or one label for each direction");
            for (int p = 0; at.kind == Kind::list && p < part.family->patches(); ++p)
                same(at, p, first->entries(p), "values, as the other coordinates");
        }
        if (first == nullptr || (part.at.size() == 1 && (first->components < 2 || first->components > 3)))
            throw said(first == nullptr ? "it has no coordinates" : "one label with its coordinates")
                .given(first == nullptr ? "nothing" : text_of(*first))
                .allowed("one label of two or three components, or one label for each direction");
    }
    void check_counts(const ShownShape::Part& part) const {
        if (shape_.form == ShownShape::Form::blocks)
            throw said("the numbers of points and cells of blocks do not change");
        if (shape_.form == ShownShape::Form::table && part.points_now)
            throw said("a table has no points").allowed("cells_now: its rows");
        for (const auto& [id, role] : {std::pair(part.points_now, "its number of points"),
                                       std::pair(part.cells_now, "its number of cells")}) {
            if (!id) continue;
            const LabelInfo& count =
                label(role, id, part, On::cells, {Element::i64, Element::i32}, "i64 or i32");
            for (int p = 0; p < part.family->patches(); ++p) same(count, p, 1, "entry");
        }
    }
    void check_blank(const ShownShape::Part& part) const {
        const LabelInfo& blank =
            label("its blanking", part.blank, part, On::cells,
                  {Element::f64, Element::f32, Element::i64, Element::i32, Element::u8}, "numbers");
        if (blank.components != 1)
            throw said(fmt::format("'{}' cannot be its blanking", blank.name))
                .given(text_of(blank))
                .allowed("one component");
        if (part.grid != nullptr) return;
        for (int p = 0; p < part.family->patches(); ++p)
            same(blank, p, counts_of(graph_, shape_, p).cells, "cells");
    }
    void same(const LabelInfo& info, int patch, std::int64_t expected, const std::string& of) const {
        if (info.entries(patch) == expected) return;
        throw said(fmt::format("'{}' on patch {} of '{}'", info.name, patch, info.family->name()))
            .given(fmt::format("{} entries", info.entries(patch)))
            .allowed(fmt::format("{} {}", expected, of));
    }
    void check_blocks(const ShownShape::Part& part) const {
        if (part.grid != nullptr) check_filled(*part.grid);
        if (directions_of(graph_, part) == 3 && part.grid != nullptr) return;
        const auto deep = [&](const std::string& which, int cells) {
            throw said(fmt::format("{} has coordinates for x and y alone", which))
                .given(fmt::format("{} cells in z", cells))
                .allowed("1 cell in z, or coordinates for z");
        };
        for (int zone = 0; part.grid != nullptr && zone < part.grid->zones(); ++zone) {
            const int cells = part.grid->cells(zone).extent(2);
            if (cells == 1) continue;
            const std::string name = fmt::format("'{}'", part.grid->name());
            deep(part.grid->zones() > 1 ? fmt::format("zone {} of {}", zone, name) : name, cells);
        }
        if (part.grid != nullptr) return;
        for (int p = 0; p < part.family->patches(); ++p) {
            const Int3 cells = part.zone_cells(p);
            if (std::any_of(cells.begin(), cells.end(), [](int n) { return n < 1; }))
                throw said(fmt::format("patch {} has no cells in some direction", p))
                    .given(fmt::format("{} x {} x {}", cells[0], cells[1], cells[2]))
                    .allowed("1 or more in each");
            if (directions_of(graph_, part) == 2 && cells[2] != 1)
                deep(fmt::format("patch {} of '{}'", p, part.family->name()), cells[2]);
            same(graph_.labels()[part.at[0]], p, counts_of(graph_, shape_, p).points, "points");
        }
    }
    /// Nodes beside a gap have no owner, so nobody could say where they lie.
    void check_filled(const Grid& grid) const {
        std::int64_t cells = 0;
        for (int p = 0; p < grid.patches(); ++p) cells += grid.box(p).volume();
        if (cells == grid.all_cells()) return;
        throw said(fmt::format("the patches of '{}' leave parts of its domain out", grid.name()))
            .given(fmt::format("{} of {} cells", cells, grid.all_cells()))
            .allowed("all of them; or a grid for each part");
    }
    void check_lists(const ShownShape::Part& part) const {
        const std::vector<Element> whole{Element::i64, Element::i32};
        const LabelInfo& ids =
            label("its connectivity", shape_.connectivity, part, On::cells, whole, "i64 or i32");
        const int corners = corners_of(shape_.type);
        if (shape_.type != CellType::by_label) {
            if (corners == 0 || shape_.offsets || shape_.types)
                throw said("cells of one type have no offsets and no types")
                    .allowed("a CellType with a fixed number of corners, or offsets (and types)");
            for (int p = 0; p < part.family->patches(); ++p)
                if (ids.entries(p) % corners != 0)
                    throw said(fmt::format("'{}' on patch {} of '{}'", ids.name, p, part.family->name()))
                        .given(fmt::format("{} entries", ids.entries(p)))
                        .allowed(fmt::format("a multiple of {}, the corners of a cell", corners));
            return;
        }
        const LabelInfo& offsets = label("its offsets", shape_.offsets, part, On::cells, whole, "i64 or i32");
        for (int p = 0; p < part.family->patches(); ++p)
            if (offsets.entries(p) < 1) same(offsets, p, 1, "or more: one more than there are cells");
        if (shape_.form != ShownShape::Form::cells) return;
        const LabelInfo& types = label("its types", shape_.types, part, On::cells, {Element::u8}, "u8");
        for (int p = 0; p < part.family->patches(); ++p)
            same(types, p, offsets.entries(p) - 1, "cells, one less than offsets");
    }
    void check_table() const {
        const ShownShape::Part& part = shape_.parts[0];
        if (shape_.columns.empty()) throw said("has no columns").allowed("one label or more");
        for (const LabelId id : shape_.columns) {
            const LabelInfo& info =
                label("a column", id, part, On::cells,
                      {Element::f64, Element::f32, Element::i64, Element::i32, Element::u8}, "numbers");
            for (int p = 0; p < part.family->patches(); ++p)
                same(info, p, counts_of(graph_, shape_, p).cells, "rows, as the first column");
        }
    }

    const Graph& graph_;
    const Resolved& resolved_;
    const ShownShape& shape_;
};

}  // namespace

int corners_of(CellType type) {
    switch (type) {
        case CellType::vertex:
            return 1;
        case CellType::line:
            return 2;
        case CellType::triangle:
            return 3;
        case CellType::quadrilateral:
        case CellType::tetrahedron:
            return 4;
        case CellType::pyramid:
            return 5;
        case CellType::wedge:
            return 6;
        case CellType::hexahedron:
            return 8;
        case CellType::by_label:
            break;
    }
    return 0;
}

bool ShownShape::uses(LabelId label) const {
    const auto in = [&](const Part& part) {
        return label == part.blank || label == part.points_now || label == part.cells_now ||
               std::count(part.at.begin(), part.at.end(), label) > 0;
    };
    return label == connectivity || label == offsets || label == types ||
           std::any_of(parts.begin(), parts.end(), in);
}

ShownShape curvilinear(std::string name, const std::vector<CurvilinearBlock>& blocks) {
    ShownShape shape;
    shape.form = ShownShape::Form::blocks;
    shape.name = std::move(name);
    for (const CurvilinearBlock& block : blocks)
        shape.parts.push_back({&block.grid, &block.grid, {}, block.at.labels, block.blank.label(), {}});
    return shape;
}

ShownShape curvilinear(std::string name, const Family& family, std::function<Int3(int)> cells, Coordinates at,
                       const ShapeOptions& options) {
    ShownShape shape =
        with_one_part(ShownShape::Form::blocks, std::move(name), family, std::move(at), options);
    shape.parts[0].zone_cells = std::move(cells);
    return shape;
}

ShownShape unstructured(std::string name, const Family& family, Coordinates at, const CellLists& cells,
                        const ShapeOptions& options) {
    return with_cells(with_one_part(ShownShape::Form::cells, std::move(name), family, std::move(at), options),
                      cells);
}

ShownShape surface(std::string name, const Family& family, Coordinates at, const CellLists& polygons,
                   const ShapeOptions& options) {
    return with_cells(
        with_one_part(ShownShape::Form::surface, std::move(name), family, std::move(at), options), polygons);
}

ShownShape lines(std::string name, const Family& family, Coordinates at, const CellLists& lines,
                 const ShapeOptions& options) {
    return with_cells(with_one_part(ShownShape::Form::lines, std::move(name), family, std::move(at), options),
                      lines);
}

ShownShape table(std::string name, const Family& family, const std::vector<ShownLabel>& columns,
                 const ShapeOptions& options) {
    ShownShape shape = with_one_part(ShownShape::Form::table, std::move(name), family, {}, options);
    for (const ShownLabel& column : columns) shape.columns.push_back(column.label());
    return shape;
}

bool is_kept(const Resolved& resolved, LabelId label) {
    return std::any_of(resolved.storages.begin(), resolved.storages.end(),
                       [&](const Storage& s) { return s.kept && s.label == label; });
}

void check_shape(const Graph& graph, const Resolved& resolved, const ShownShape& shape) {
    Check(graph, resolved, shape).all();
}

bool is_flat(const Graph& graph, const ShownShape::Part& part, const Int3& cells) {
    return cells[2] == 1 && directions_of(graph, part) == 2;
}

FieldCounts counts_of(const Graph& graph, const ShownShape& shape, int patch) {
    const auto entries = [&](LabelId label) { return graph.labels()[label].entries(patch); };
    const ShownShape::Part& part = shape.parts[0];
    if (shape.form == ShownShape::Form::table) return {0, entries(shape.columns[0]), 0};
    if (shape.form == ShownShape::Form::blocks) {
        const Int3 n = part.zone_cells(patch);
        const std::int64_t layers = is_flat(graph, part, n) ? 1 : n[2] + 1;
        return {(n[0] + std::int64_t{1}) * (n[1] + std::int64_t{1}) * layers,
                std::int64_t{n[0]} * n[1] * n[2], 0};
    }
    const std::int64_t ids = entries(shape.connectivity);
    const int corners = corners_of(shape.type);
    return {entries(part.at[0]), corners > 0 ? ids / corners : entries(shape.offsets) - 1, ids};
}

Belongs belongs(const Graph& graph, const ShownShape& shape, const ShownShape::Part& part,
                const LabelInfo& label) {
    if (label.family != part.family) return Belongs::nowhere;
    if (part.grid != nullptr) {
        if (label.kind != Kind::field) return Belongs::nowhere;
        return label.on == On::cells   ? Belongs::to_cells
               : label.on == On::nodes ? Belongs::to_points
                                       : Belongs::nowhere;
    }
    if (label.kind != Kind::list) return Belongs::nowhere;
    if (shape.form == ShownShape::Form::table)
        return std::count(shape.columns.begin(), shape.columns.end(), label.id) > 0 ? Belongs::to_cells
                                                                                    : Belongs::nowhere;
    bool to_cells = std::count(part.on_points.begin(), part.on_points.end(), label.id) == 0;
    bool to_points = true;
    for (int p = 0; p < label.family->patches() && (to_cells || to_points); ++p) {
        const FieldCounts counts = counts_of(graph, shape, p);
        to_cells = to_cells && label.entries(p) == counts.cells;
        to_points = to_points && label.entries(p) == counts.points;
    }
    return to_cells ? Belongs::to_cells : to_points ? Belongs::to_points : Belongs::nowhere;
}

}  // namespace strata::graph
