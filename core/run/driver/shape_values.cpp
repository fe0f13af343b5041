#include "core/run/driver/shape_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "core/base/error.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/run/checkpoint/all_or_none.hpp"
#include "core/run/driver/grid_values.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

using Form = ShownShape::Form;

/// A patch's integers of i64 or i32.
std::vector<std::int64_t> integers(const LabelInfo& label, const std::vector<std::byte>& values) {
    std::vector<std::int64_t> all(values.size() / label.bytes);
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::int32_t narrow = 0;
        if (label.bytes == sizeof narrow) {
            std::memcpy(&narrow, values.data() + i * sizeof narrow, sizeof narrow);
            all[i] = narrow;
        } else {
            std::memcpy(&all[i], values.data() + i * sizeof all[i], sizeof all[i]);
        }
    }
    return all;
}

Error wrong(const ShownShape& shape, int patch, const std::string& what) {
    return Error(fmt::format("shape '{}': patch {} of '{}': {}", shape.name, patch,
                             shape.parts[0].family->name(), what),
                 kFailure);
}

/// What a patch of this member has now.
FieldCounts counts_now(const ShownShape& shape, ValuesNow& now, const Graph& graph, int patch, int local) {
    const ShownShape::Part& part = shape.parts[0];
    const FieldCounts most = counts_of(graph, shape, patch);
    std::vector<std::byte> read;
    const auto number = [&](LabelId label, std::int64_t at, std::int64_t limit, const char* of) {
        now.read({label}, local, 1, read);
        const std::int64_t found = integers(now.label(label), read)[static_cast<std::size_t>(at)];
        if (found < 0 || found > limit)
            throw wrong(shape, patch, fmt::format("'{}' is no number of {}", now.label(label).name, of))
                .given(fmt::format("{}", found))
                .allowed(fmt::format("0 to {}, for which the lists have room", limit));
        return found;
    };
    FieldCounts own = most;
    if (part.points_now) own.points = number(part.points_now, 0, most.points, "points");
    if (!part.cells_now) return own;
    own.cells = number(part.cells_now, 0, most.cells, "cells");
    if (shape.form == Form::table) return own;
    const int corners = corners_of(shape.type);
    own.ids = corners > 0 ? own.cells * corners
                          : number(shape.offsets, own.cells, most.ids, "entries of the connectivity");
    return own;
}

FieldArray points_array(const Graph& graph, const ShownShape::Part& part) {
    const LabelInfo& at = graph.labels()[part.at[0]];
    return {"Points", at.element, 3, at.unit, On::nodes};
}

/// Points, ghost types and the further arrays of a part.
std::vector<FieldArray> arrays_of(const ShownFile& shown, const Graph& graph, std::size_t number) {
    const ShownShape::Part& part = shown.shape->parts[number];
    std::vector<FieldArray> arrays{points_array(graph, part)};
    if (part.blank) arrays.push_back({kGhosts, Element::u8, 1, "", On::cells});
    for (const ShownFile::Array& array : shown.arrays)
        if (array.part == number) arrays.push_back(array.form);
    return arrays;
}

/// The blocks of a part: its grid's zones, or patches of lists.
int blocks_of(const ShownShape::Part& part) {
    return part.grid != nullptr ? part.grid->zones() : part.family->patches();
}

Box cells_of(const ShownShape::Part& part, int block) {
    return part.grid != nullptr ? part.grid->cells(block) : Box{{0, 0, 0}, part.zone_cells(block)};
}

Box nodes_of(const Graph& graph, const ShownShape::Part& part, Box cells) {
    const bool flat = is_flat(graph, part, {cells.extent(0), cells.extent(1), cells.extent(2)});
    return {cells.lo, {cells.hi[0] + 1, cells.hi[1] + 1, cells.hi[2] + (flat ? 0 : 1)}};
}

std::string block_name(const ShownShape::Part& part, int block) {
    const std::string name = name_in_files(part.family->name());
    return part.grid != nullptr && blocks_of(part) == 1 ? name : fmt::format("{}-{:04}", name, block);
}

const char* where(const FieldArray& array) { return array.on == On::nodes ? "PointData/" : "CellData/"; }

void create_blocks(const ShownFile& shown, const fs::path& path, const Graph& graph, double time) {
    std::vector<FileBlock> blocks;
    for (std::size_t n = 0; n < shown.shape->parts.size(); ++n) {
        const ShownShape::Part& part = shown.shape->parts[n];
        for (int b = 0; b < blocks_of(part); ++b) {
            const Box cells = cells_of(part, b);
            blocks.push_back(
                {block_name(part, b), cells, nodes_of(graph, part, cells), arrays_of(shown, graph, n)});
        }
    }
    FieldFile::create_blocks(path, blocks, time);
}

/// A block on a grid's zone: each member writes its patches' boxes.
void write_grid_block(FieldFile& file, const ShownFile& shown, std::size_t number, int zone, ValuesNow& now,
                      const Graph& graph) {
    const ShownShape::Part& part = shown.shape->parts[number];
    const Grid& grid = *part.grid;
    const Box cells = cells_of(part, zone), nodes = nodes_of(graph, part, cells);
    const std::string name = block_name(part, zone) + "/";
    const auto write = [&](const std::string& array, const std::vector<LabelId>& labels, int components,
                           const Box& limits, bool hides) {
        file.frame(array, limits, components);
        write_grid_array(file, {array, labels, components, limits, hides, zone}, grid, now);
    };
    write(name + "Points", part.at, 3, nodes, false);
    if (part.blank) write(name + "CellData/" + kGhosts, {part.blank}, 1, cells, true);
    for (const ShownFile::Array& array : shown.arrays)
        if (array.part == number)
            write(name + where(array.form) + array.form.name, {array.label}, array.form.components,
                  array.form.on == On::nodes ? nodes : cells, false);
}

/// What a patch has, by where it and the next one begin.
FieldCounts between(const std::vector<FieldCounts>& first, int patch) {
    const FieldCounts &from = first[static_cast<std::size_t>(patch)],
                      &to = first[static_cast<std::size_t>(patch) + 1];
    return {to.points - from.points, to.cells - from.cells, to.ids - from.ids};
}

/// Writes one patch's share of a shape of lists.
class PatchOfLists {
  public:
    PatchOfLists(FieldFile& file, const ShownFile& shown, ValuesNow& now, int patch, int local,
                 std::string block)
        : file_(file),
          shown_(shown),
          shape_(*shown.shape),
          now_(now),
          patch_(patch),
          local_(local),
          block_(std::move(block)) {}

    void write(const FieldCounts& first, const FieldCounts& own, const Graph& graph) {
        const ShownShape::Part& part = shape_.parts[0];
        most_ = counts_of(graph, shape_, patch_);
        if (shape_.form == Form::blocks) {
            cells_ = cells_of(part, patch_);
            nodes_ = nodes_of(graph, part, cells_);
        }
        if (shape_.form != Form::table) values(block_ + "Points", part.at, 3, true, first.points, own.points);
        if (shape_.connectivity) cells(first, own);
        if (part.blank) {
            now_.read_hidden(part.blank, local_, read_);
            put(block_ + "CellData/" + kGhosts, 1, false, first.cells, own.cells);
        }
        for (const ShownFile::Array& array : shown_.arrays) {
            const bool points = array.form.on == On::nodes;
            const std::string group = shape_.form == Form::table ? "RowData/" : where(array.form);
            values(block_ + group + array.form.name, {array.label}, array.form.components, points,
                   points ? first.points : first.cells, points ? own.points : own.cells);
        }
    }

  private:
    void values(const std::string& array, const std::vector<LabelId>& labels, int components, bool points,
                std::int64_t from, std::int64_t count) {
        now_.read(labels, local_, components, read_);
        put(array, components, points, from, count);
    }
    /// Writes `read_`: to a list from an entry on, or to all of a block.
    void put(const std::string& array, int components, bool points, std::int64_t from, std::int64_t count) {
        if (shape_.form != Form::blocks)
            return file_.write(array, from, count, read_.data(), points ? most_.points : most_.cells);
        const Box& box = points ? nodes_ : cells_;
        const std::ptrdiff_t y = box.extent(0);
        file_.frame(array, box, components);
        const FieldFile::Part all{box, read_.data(), y, y * box.extent(1), count};
        file_.write(array, {&all, 1});
    }
    std::vector<std::int64_t> integers_of(LabelId label) {
        now_.read({label}, local_, 1, read_);
        return integers(now_.label(label), read_);
    }
    [[nodiscard]] Error said(const std::string& what) const { return wrong(shape_, patch_, what); }
    void cells(const FieldCounts& first, const FieldCounts& own) {
        const std::string kind = shape_.form == Form::surface ? "Polygons/"
                                 : shape_.form == Form::lines ? "Lines/"
                                                              : "";
        std::vector<std::int64_t> ids = integers_of(shape_.connectivity);
        ids.resize(static_cast<std::size_t>(own.ids));  // those of the cells that there are now
        for (std::int64_t& id : ids) {
            if (id < 0 || id >= own.points)
                throw said(fmt::format("'{}' names a point that the patch does not have",
                                       now_.label(shape_.connectivity).name))
                    .given(fmt::format("{}", id))
                    .allowed(fmt::format("0 to {}", own.points - 1));
            id += first.points;
        }
        file_.write(kind + "Connectivity", first.ids, own.ids, ids.data());
        if (shape_.type != CellType::by_label) return;
        std::vector<std::int64_t> offsets = integers_of(shape_.offsets);
        offsets.resize(static_cast<std::size_t>(own.cells) + 1);
        check_offsets(offsets, own.ids);
        if (shape_.types) {
            now_.read({shape_.types}, local_, 1, read_);
            check_types(offsets);
            file_.write("Types", first.cells, own.cells, read_.data());
        }
        for (std::int64_t& offset : offsets) offset += first.ids;
        file_.write(kind + "Offsets", first.cells, own.cells, offsets.data());
    }
    void check_offsets(const std::vector<std::int64_t>& offsets, std::int64_t ids) const {
        if (offsets.front() == 0 && offsets.back() == ids && std::is_sorted(offsets.begin(), offsets.end()))
            return;
        throw said(fmt::format("'{}' are no offsets", now_.label(shape_.offsets).name))
            .given(fmt::format("from {} to {}", offsets.front(), offsets.back()))
            .allowed(fmt::format("ascending from 0 to {}, the entries of '{}'", ids,
                                 now_.label(shape_.connectivity).name));
    }
    /// `read_` has the types.
    void check_types(const std::vector<std::int64_t>& offsets) const {
        constexpr int polyhedron = 42;  // needs lists of faces
        for (std::size_t c = 0; c + 1 < offsets.size(); ++c) {
            const int type = static_cast<int>(read_[c]);
            const int corners = corners_of(static_cast<CellType>(type));
            const std::int64_t found = offsets[c + 1] - offsets[c];
            if (type != polyhedron && (corners == 0 || corners == found)) continue;
            throw said(fmt::format("cell {} is of type {}", c, type))
                .given(fmt::format("{} points", found))
                .allowed(type == polyhedron ? "any type but polyhedra" : fmt::format("{} points", corners));
        }
    }

    FieldFile& file_;
    const ShownFile& shown_;
    const ShownShape& shape_;
    ValuesNow& now_;
    int patch_, local_;
    std::string block_;  // "NAME/" in a file of blocks
    Box cells_, nodes_;  // of a block
    FieldCounts most_;   // entries of lists
    std::vector<std::byte> read_;
};

}  // namespace

std::vector<FieldCounts> first_of_patches(const ShownFile& shown, const Simulation& run, team::Team& team,
                                          const std::function<void()>& undo) {
    const ShownShape& shape = *shown.shape;
    const Graph& graph = run.plan().graph();
    if (shape.form == Form::blocks) return {};
    const auto patches = static_cast<std::size_t>(shape.parts[0].family->patches());
    std::vector<std::int64_t> numbers(3 * patches);
    const auto put = [&](int patch, const FieldCounts& own) {
        const std::array each{own.points, own.cells, own.ids};
        std::copy(each.begin(), each.end(), numbers.begin() + 3 * std::ptrdiff_t{patch});
    };
    if (shape.counted()) {
        const auto count = [&] {
            ValuesNow now(run);
            const std::vector<int>& mine = now.patches(*shape.parts[0].family);
            for (std::size_t i = 0; i < mine.size(); ++i)
                put(mine[i], counts_now(shape, now, graph, mine[i], static_cast<int>(i)));
        };
        all_or_none(team, count, undo);
        team.together().reduce(std::span(numbers), [](std::int64_t a, std::int64_t b) { return a + b; });
    } else {
        for (int p = 0; p < static_cast<int>(patches); ++p) put(p, counts_of(graph, shape, p));
    }
    std::vector<FieldCounts> first{{}};
    for (std::size_t n = 0; n < numbers.size(); n += 3) {
        const FieldCounts& last = first.back();
        first.push_back({last.points + numbers[n], last.cells + numbers[n + 1], last.ids + numbers[n + 2]});
    }
    return first;
}

void create_shape(const ShownFile& shown, const fs::path& path, const Graph& graph,
                  const std::vector<FieldCounts>& first, double time) {
    const ShownShape& shape = *shown.shape;
    if (shape.form == Form::blocks) return create_blocks(shown, path, graph, time);
    const FieldCounts all = first.back();
    if (shape.form == Form::table) {
        std::vector<FieldArray> columns;
        for (const ShownFile::Array& array : shown.arrays) columns.push_back(array.form);
        return FieldFile::create_table(path, all.cells, columns, time);
    }
    const std::string kind = shape.form == Form::surface ? "Polygons" : "Lines";
    const std::string list = shape.form == Form::cells ? "" : kind + "/";
    const std::vector<FieldArray> arrays = arrays_of(shown, graph, 0);
    if (shape.form == Form::cells)
        FieldFile::create_cells(path, all, arrays, time);
    else
        FieldFile::create_poly_data(path, kind, all, arrays, time);
    FieldFile file(path);
    if (shape.type == CellType::by_label) {
        file.write(list + "Offsets", all.cells, 1, &all.ids);
    } else {
        file.write_multiples(list + "Offsets", all.cells + 1, corners_of(shape.type));
        const std::vector<std::uint8_t> types(std::size_t{1} << 16, static_cast<std::uint8_t>(shape.type));
        const auto most = static_cast<std::int64_t>(types.size());
        for (std::int64_t from = 0; shape.form == Form::cells && from < all.cells; from += most)
            file.write("Types", from, std::min(most, all.cells - from), types.data());
    }
    file.close();
}

void write_shape(const ShownFile& shown, const fs::path& path, const Simulation& run,
                 const std::vector<FieldCounts>& first) {
    const ShownShape& shape = *shown.shape;
    const Graph& graph = run.plan().graph();
    ValuesNow now(run);
    FieldFile file(path);
    if (shape.parts[0].grid != nullptr) {
        for (std::size_t n = 0; n < shape.parts.size(); ++n)
            for (int zone = 0; zone < blocks_of(shape.parts[n]); ++zone)
                write_grid_block(file, shown, n, zone, now, graph);
    } else {
        const std::vector<int>& mine = now.patches(*shape.parts[0].family);
        for (std::size_t i = 0; i < mine.size(); ++i) {
            const int patch = mine[i];
            const bool block = shape.form == Form::blocks;
            PatchOfLists(file, shown, now, patch, static_cast<int>(i),
                         block ? block_name(shape.parts[0], patch) + "/" : "")
                .write(block ? FieldCounts{} : first[static_cast<std::size_t>(patch)],
                       block ? counts_of(graph, shape, patch) : between(first, patch), graph);
        }
    }
    file.close();
}

}  // namespace strata::graph
