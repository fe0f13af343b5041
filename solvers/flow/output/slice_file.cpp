#include "solvers/flow/output/slice_file.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/flow/output/row_file.hpp"

namespace strata::flow {

namespace {

constexpr std::size_t kPoints = 0, kPolygons = 1, kCorners = 2;  // what there is so many of
using Counts = std::array<std::int64_t, 3>;

constexpr std::size_t kFlowArrays = 3;  // density, velocity, pressure

/// An array of the file: of what, how wide an entry is, and how VTK's header tells it.
struct Array {
    std::size_t of;
    std::int64_t bytes;
    const char* tag;
    std::function<std::string(const PatchSurface&, const Counts& before)> values;
};

template <class T>
void append(std::string& text, const T& value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string values_of(const PatchSurface& part, std::size_t first, std::size_t count) {
    std::string text;
    for (const auto& value : part.surface.values)
        for (std::size_t c = first; c < first + count; ++c) append(text, value[c]);
    return text;
}
std::string shifted(const std::vector<std::int64_t>& values, std::int64_t by) {
    std::string text;
    for (const std::int64_t value : values) append(text, value + by);
    return text;
}

/// In the order of the header: data of points, of cells; points; polygons.
std::vector<Array> arrays(bool vortices) {
    std::vector<Array> all = {
        {kPoints, 8, R"(type="Float64" Name="density")",
         [](const PatchSurface& part, const Counts&) { return values_of(part, 0, 1); }},
        {kPoints, 24, R"(type="Float64" Name="velocity" NumberOfComponents="3")",
         [](const PatchSurface& part, const Counts&) { return values_of(part, 1, 3); }},
        {kPoints, 8, R"(type="Float64" Name="pressure")",
         [](const PatchSurface& part, const Counts&) { return values_of(part, 4, 1); }},
        {kPolygons, 4, R"(type="Int32" Name="zone")",
         [](const PatchSurface& part, const Counts&) {
             std::string text;
             for (const auto& cell : part.cells) append(text, cell[0]);
             return text;
         }},
        {kPolygons, 12, R"(type="Int32" Name="cell" NumberOfComponents="3")",
         [](const PatchSurface& part, const Counts&) {
             std::string text;
             for (const auto& cell : part.cells)
                 for (std::size_t d = 1; d < 4; ++d) append(text, cell[d]);
             return text;
         }},
        {kPoints, 24, R"(type="Float64" Name="Points" NumberOfComponents="3")",
         [](const PatchSurface& part, const Counts&) {
             std::string text;
             for (const auto& x : part.surface.points)
                 for (const double value : x) append(text, value);
             return text;
         }},
        {kCorners, 8, R"(type="Int64" Name="connectivity")",
         [](const PatchSurface& part, const Counts& before) {
             return shifted(part.surface.corners, before[kPoints]);
         }},
        {kPolygons, 8, R"(type="Int64" Name="offsets")",
         [](const PatchSurface& part, const Counts& before) {
             return shifted(part.surface.ends, before[kCorners]);
         }},
    };
    if (vortices) {
        const auto behind = all.begin() + kFlowArrays;
        all.insert(behind, {{kPoints, 24, R"(type="Float64" Name="vorticity" NumberOfComponents="3")",
                             [](const PatchSurface& part, const Counts&) { return values_of(part, 5, 3); }},
                            {kPoints, 8, R"(type="Float64" Name="q_criterion")",
                             [](const PatchSurface& part, const Counts&) { return values_of(part, 8, 1); }}});
    }
    return all;
}

/// The header up to the first byte of the arrays, each of which begins with how many bytes it has.
std::string header(const std::vector<Array>& all, const Counts& counts, int dimensions, double time) {
    const bool little = std::endian::native == std::endian::little;
    std::string text = fmt::format(
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"{}\" header_type=\"UInt64\">\n<PolyData>\n"
        "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
        "format=\"ascii\">{:.17g}</DataArray></FieldData>\n"
        "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
        "NumberOfPolys=\"{}\">\n",
        little ? "LittleEndian" : "BigEndian", time, counts[kPoints], dimensions == 2 ? counts[kPolygons] : 0,
        dimensions == 2 ? 0 : counts[kPolygons]);
    std::int64_t offset = 0;
    std::size_t next = 0;
    const auto group = [&](const char* name, std::size_t count) {
        text += fmt::format("<{}>\n", name);
        for (const std::size_t end = next + count; next < end; ++next) {
            text += fmt::format("<DataArray {} format=\"appended\" offset=\"{}\"/>\n", all[next].tag, offset);
            offset += 8 + all[next].bytes * counts[all[next].of];
        }
        text += fmt::format("</{}>\n", name);
    };
    group("PointData", all.size() - 5), group("CellData", 2), group("Points", 1);
    group(dimensions == 2 ? "Lines" : "Polys", 2);
    return text + "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_";
}

}  // namespace

void write_slice(team::Team& team, const std::filesystem::path& path, const std::vector<PatchSurface>& mine,
                 int patches, int dimensions, bool vortices, double time) {
    // What the patches before each have, and at the end all.
    std::vector<std::int64_t> before(3 * (static_cast<std::size_t>(patches) + 1), 0);
    const auto counts = [&](int patch) {
        return std::span(before).subspan(3 * static_cast<std::size_t>(patch)).first<3>();
    };
    for (const PatchSurface& part : mine) {
        const auto own = counts(part.patch + 1);
        own[kPoints] = static_cast<std::int64_t>(part.surface.points.size());
        own[kPolygons] = static_cast<std::int64_t>(part.surface.ends.size());
        own[kCorners] = static_cast<std::int64_t>(part.surface.corners.size());
    }
    team.together().reduce(std::span<std::int64_t>(before), std::plus<>());
    for (std::size_t n = 3; n < before.size(); ++n) before[n] += before[n - 3];
    const auto of = [&](int patch) {
        const auto own = counts(patch);
        return Counts{own[0], own[1], own[2]};
    };
    const Counts all = of(patches);
    const std::vector<Array> parts = arrays(vortices);
    RowFile::write(team, path, header(parts, all, dimensions, time), [&](const RowFile::Place& put) {
        std::int64_t at = 0;
        for (const Array& array : parts) {
            const std::int64_t bytes = array.bytes * all[array.of];
            std::string length;
            append(length, static_cast<std::uint64_t>(bytes));
            if (team.rank() == 0) put(length, at);
            at += 8;
            for (const PatchSurface& part : mine) {
                const Counts first = of(part.patch);
                put(array.values(part, first), at + array.bytes * first[array.of]);
            }
            at += bytes;
        }
        if (team.rank() == 0) put("\n</AppendedData>\n</VTKFile>\n", at);
    });
}

}  // namespace strata::flow
