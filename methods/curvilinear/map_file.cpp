#include "methods/curvilinear/map_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/named_file.hpp"
#include "core/base/text.hpp"
#include "methods/curvilinear/bytes.hpp"
#include "methods/curvilinear/face_nodes.hpp"
#include "methods/curvilinear/ranges.hpp"

namespace strata::flow {

namespace {

constexpr int kFaceAxis[6] = {2, 2, 0, 0, 1, 1};
/// The axes of the first and second range of a face, by the axis across it.
constexpr int kRangeAxes[3][2] = {{1, 2}, {2, 0}, {0, 1}};

struct Line {
    int number;
    std::vector<std::string> words;
};

std::vector<Line> lines_of(const std::string& text) {
    std::vector<Line> lines;
    std::istringstream in(text);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        line.resize(std::min(line.size(), line.find_first_of("#!")));
        Line found{number, {}};
        std::string word;
        char quote = 0;
        bool quoted = false;
        const auto end_word = [&] {
            if (!word.empty() || quoted) found.words.push_back(word);
            word.clear(), quoted = false;
        };
        for (const char c : line) {
            if (quote != 0) {
                if (c == quote)
                    quote = 0;
                else
                    word += c;
            } else if (c == '\'' || c == '"') {
                quote = c, quoted = true;
            } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',') {
                end_word();
            } else {
                word += c;
            }
        }
        end_word();
        if (!found.words.empty() && found.words.back() == "\\") found.words.pop_back();
        if (!found.words.empty()) lines.push_back(std::move(found));
    }
    return lines;
}

class MapReader {
  public:
    MapReader(const std::filesystem::path& path, GridSystem& system, int across)
        : file_(path.string()), system_(system), zones_(system.source->zones()), across_(across) {}

    void read(const std::vector<Line>& lines) {
        std::size_t at = read_sizes(lines);
        for (; at < lines.size(); ++at) {
            const Line& line = lines[at];
            const std::string& name = line.words[0];
            std::string plain;
            for (const char c : name)
                plain += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            if (line.words.size() == 7)
                boundary(line, name);
            else if (line.words.size() == 13 || line.words.size() == 14)
                join(line, plain);
            else
                throw refuse(line, "a line of a map file has too few or too many words")
                    .given(fmt::format("{} words", line.words.size()))
                    .allowed(
                        "'NAME' ZONE FACE S1 E1 S2 E2, and of a join the same for the other side and true or "
                        "false");
        }
    }

  private:
    /// One side as the file has it, on the axes of the grid. Begin and end keep their direction.
    struct Side {
        int zone = 0;
        Face face;
        Int3 begin{}, end{};
        std::array<std::size_t, 2> axes{};  // of the first and the second range
    };

    [[nodiscard]] Error refuse(const Line& line, const std::string& message) const {
        Error error(message);
        error.at(file_, line.number);
        return error;
    }
    [[nodiscard]] int number(const Line& line, std::size_t word) const {
        if (word >= line.words.size())
            throw refuse(line, "a number is missing in this line of the map")
                .given(fmt::format("{} words", line.words.size()))
                .allowed("first the number of zones; then for each zone its number and points along i, j, k");
        const std::string& text = line.words[word];
        if (const auto value = parse_number<int>(text)) return *value;
        throw refuse(line, fmt::format("word {} of this line of the map is no whole number", word + 1))
            .given(text)
            .allowed("zones, faces and ranges are numbers; a name with blanks stands in quotes");
    }

    /// The sizes of all zones: they must be those of the grid. Returns the first line behind them.
    std::size_t read_sizes(const std::vector<Line>& lines) {
        const Line nothing{1, {}};
        if (lines.empty()) throw refuse(nothing, "the map file is empty");
        const int count = number(lines[0], 0);
        if (count != static_cast<int>(zones_.size()))
            throw refuse(lines[0], "the map file has another number of zones than the grid")
                .given(fmt::format("{}", count))
                .allowed(fmt::format("{}", zones_.size()))
                .remedy("is it the map of this grid? `strata overset map GRID` writes one");
        if (lines.size() < zones_.size() + 1)
            throw refuse(lines.back(), "the map file ends in the sizes of its zones")
                .given(fmt::format("sizes of {} zones", lines.size() - 1))
                .allowed(fmt::format("a line for each of {} zones: its number, points along i, j, k", count));
        std::vector<Int3> sizes(zones_.size());
        std::vector<std::size_t> line_of(zones_.size(), 0);
        for (std::size_t n = 1; n <= zones_.size(); ++n) {
            const int zone = number(lines[n], 0);
            if (zone < 1 || zone > count)
                throw refuse(lines[n], "the map has sizes of a zone that the grid does not have")
                    .given(fmt::format("{}", zone))
                    .allowed(fmt::format("1 to {}", count));
            if (std::exchange(line_of[static_cast<std::size_t>(zone - 1)], n) != 0)
                throw refuse(lines[n], fmt::format("the map has sizes of zone {} twice", zone))
                    .allowed(fmt::format("one line for each of {} zones", count));
            sizes[static_cast<std::size_t>(zone - 1)] = {number(lines[n], 1), number(lines[n], 2),
                                                         number(lines[n], 3)};
        }
        if (system_.dimensions == 3) across_ = -1;
        for (int axis = 0; axis < 3 && system_.dimensions == 2 && across_ < 0; ++axis)
            if (std::all_of(zones_.begin(), zones_.end(), [&](const ZoneShape& zone) {
                    return fits(zone, sizes[static_cast<std::size_t>(&zone - zones_.data())], axis);
                }))
                across_ = axis;
        const bool lost = system_.dimensions == 2 && across_ < 0;  // no index is across all zones
        const auto fits_some = [&](std::size_t z) {
            return fits(zones_[z], sizes[z], 0) || fits(zones_[z], sizes[z], 1) ||
                   fits(zones_[z], sizes[z], 2);
        };
        for (std::size_t z = 0; z < zones_.size(); ++z)
            if (lost ? !fits_some(z) || z + 1 == zones_.size() : !fits(zones_[z], sizes[z], across_))
                throw refuse(lines[line_of[z]],
                             fmt::format("zone {} has other sizes in the map file than in the grid", z + 1))
                    .given(fmt::format("{} x {} x {}", sizes[z][0], sizes[z][1], sizes[z][2]))
                    .allowed(system_.dimensions == 2
                                 ? fmt::format("{} x {}, and 1 or 2 across", zones_[z].cells[0] + 1,
                                               zones_[z].cells[1] + 1)
                                 : fmt::format("{} x {} x {}", zones_[z].cells[0] + 1, zones_[z].cells[1] + 1,
                                               zones_[z].cells[2] + 1))
                    .remedy("is it the map of this grid? `strata overset map GRID` writes one");
        for (int axis = 0, next = 0; axis < 3; ++axis) to_[axis] = axis == across_ ? 2 : next++;
        sizes_ = sizes;
        return zones_.size() + 1;
    }
    [[nodiscard]] static bool fits(const ZoneShape& zone, const Int3& size, int across) {
        std::size_t next = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const int n = size[static_cast<std::size_t>(axis)];
            if (axis == across ? n != 1 && n != 2 : n != zone.cells[next++] + 1) return false;
        }
        return true;
    }

    [[nodiscard]] Side side(const Line& line, std::size_t word) const {
        Side found;
        found.zone = number(line, word) - 1;
        if (found.zone < 0 || found.zone >= static_cast<int>(zones_.size()))
            throw refuse(line, "the map speaks of a zone that the grid does not have")
                .given(line.words[word])
                .allowed(fmt::format("1 to {}", zones_.size()));
        const int face = number(line, word + 1);
        if (face < 1 || face > 6)
            throw refuse(line, "a zone has no face of this number")
                .given(line.words[word + 1])
                .allowed("1, 2 (k-min, k-max), 3, 4 (i-min, i-max), 5, 6 (j-min, j-max)");
        const ZoneShape& zone = zones_[static_cast<std::size_t>(found.zone)];
        const int axis = kFaceAxis[face - 1];
        const auto here = static_cast<std::size_t>(to_[axis]);
        found.face = {to_[axis], (face % 2 == 0) == (zone.step[here] > 0)};
        found.begin[here] = found.end[here] = found.face.upper ? zone.cells[here] : 0;
        for (std::size_t r = 0; r < 2; ++r) {
            const int along = kRangeAxes[axis][r];
            const int most = sizes_[static_cast<std::size_t>(found.zone)][static_cast<std::size_t>(along)];
            const int s = number(line, word + 2 + 2 * r), e = number(line, word + 3 + 2 * r);
            if (s < 1 || e < 1 || s > most || e > most || (s == e && along != across_))
                throw refuse(line, fmt::format("the range along {} does not lie in zone {}", "ijk"[along],
                                               found.zone + 1))
                    .given(fmt::format("{} to {}", s, e))
                    .allowed(fmt::format("two different points from 1 to {}", most));
            const auto a = static_cast<std::size_t>(to_[along]);
            found.axes[r] = a;
            if (along == across_) {
                found.begin[a] = s > e ? 1 : 0, found.end[a] = 1 - found.begin[a];
            } else {
                found.begin[a] = (s - 1 - zone.first[a]) * zone.step[a];
                found.end[a] = (e - 1 - zone.first[a]) * zone.step[a];
            }
        }
        return found;
    }

    void boundary(const Line& line, const std::string& name) {
        const Side found = side(line, 1);
        if (found.face.axis < system_.dimensions)
            system_.boundaries.push_back({found.zone, found.face, upward({found.begin, found.end}), name});
    }

    void join(const Line& line, const std::string& kind) {
        const bool periodic = kind.find("periodic") != std::string::npos;
        if (!periodic && kind != "one-to-one")
            throw refuse(line, "a line of the map has two sides and is no join")
                .given(line.words[0])
                .allowed("'one-to-one', 'periodic'");
        bool swap = false;
        if (line.words.size() == 14) {
            const char first = static_cast<char>(std::tolower(static_cast<unsigned char>(
                line.words[13][line.words[13].size() > 1 && line.words[13][0] == '.' ? 1 : 0])));
            if (first != 't' && first != 'f')
                throw refuse(line, "the last word of a join says whether its ranges are swapped")
                    .given(line.words[13])
                    .allowed("true, false");
            swap = first == 't';
        }
        const Side here = side(line, 1);
        Side there = side(line, 7);
        if (swap) std::swap(there.axes[0], there.axes[1]);
        if (here.face.axis >= system_.dimensions) return;  // across a two-dimensional grid
        JoinRange join;
        join.zone = here.zone, join.donor = there.zone;
        join.points.begin = join.points.end = here.begin;
        join.donor_points = {there.begin, there.end};
        join.transform[static_cast<std::size_t>(here.face.axis)] =
            (here.face.upper == there.face.upper ? -1 : 1) * (there.face.axis + 1);
        for (std::size_t r = 0; r < 2; ++r) {
            const std::size_t a = here.axes[r], b = there.axes[r];
            const int extent = here.end[a] - here.begin[a], other = there.end[b] - there.begin[b];
            if (std::abs(extent) != std::abs(other))
                throw refuse(line, "the two sides of a join have different sizes")
                    .given(fmt::format("{} and {} cells", std::abs(extent), std::abs(other)))
                    .remedy(swap ? "is 'true' right? ranges are swapped by it"
                                 : "should ranges be swapped ('true')?");
            join.points.begin[a] = std::min(here.begin[a], here.end[a]);
            join.points.end[a] = std::max(here.begin[a], here.end[a]);
            if (extent < 0) std::swap(join.donor_points.begin[b], join.donor_points.end[b]);
            join.transform[a] = ((extent < 0) == (other < 0) ? 1 : -1) * (static_cast<int>(b) + 1);
        }
        if (system_.dimensions == 2 && join.transform[2] != 3)
            throw refuse(line, "this join lays the index across the plane along it")
                .given(swap ? "ranges swapped" : "ranges not swapped")
                .allowed("the range across the plane, such as 1 2, opposite to that of the other side")
                .remedy(swap ? "false as the last word" : "true as the last word");
        if (periodic) {
            const Real3 x = FaceNodes(*system_.source, join.zone, join.points)(join.points.begin);
            const Real3 y =
                FaceNodes(*system_.source, join.donor, upward(join.donor_points))(join.donor_points.begin);
            for (std::size_t d = 0; d < 3; ++d) join.shift[d] = x[d] - y[d];
        }
        // Some programs say joins for both sides.
        const JoinRange back = other_side(join);
        for (const JoinRange& known : system_.joins)
            if (known.zone == back.zone && known.donor == back.donor &&
                known.points.begin == back.points.begin && known.points.end == back.points.end &&
                known.donor_points.begin == back.donor_points.begin &&
                known.donor_points.end == back.donor_points.end)
                return;
        system_.joins.push_back(join);
    }

    std::string file_;
    GridSystem& system_;
    std::span<const ZoneShape> zones_;
    int across_;
    int to_[3] = {0, 1, 2};  // axes of the grid, by those of the file
    std::vector<Int3> sizes_;
};

}  // namespace

void read_map(const std::filesystem::path& path, GridSystem& system, int across) {
    MapReader(path, system, across).read(lines_of(read_whole(path)));
}

std::string map_text(const GridSystem& system) {
    const auto zones = system.source->zones();
    const bool flat = system.dimensions == 2;
    // In two dimensions i, j of the grid are j, k of the map, unless the grid's own file has three indices.
    const Int3 own = zones[0].axes;
    const Int3 axes = flat && own == Int3{0, 1, 2} ? Int3{1, 2, 0} : own;
    const auto axis_of = [&](int axis) { return axes[static_cast<std::size_t>(axis)]; };
    std::string text = "# Neutral map file: faces 1, 2 are k-min, k-max; 3, 4 i; 5, 6 j\n";
    if (axes != own) text += "# (of this plane grid: i-min, i-max are 5, 6; j-min, j-max are 1, 2)\n";
    text += fmt::format("{:>8}\n\n", zones.size());
    for (std::size_t z = 0; z < zones.size(); ++z) {
        int size[3];
        for (int a = 0; a < 3; ++a) size[axis_of(a)] = zones[z].cells[static_cast<std::size_t>(a)] + 1;
        text += fmt::format("{:>8}{:>8}{:>8}{:>8}\n", z + 1, size[0], size[1], size[2]);
    }
    text +=
        "\n# Type                          B1 F1     S1     E1     S2     E2     B2 F2     S1     E1     S2  "
        "   E2  Swap\n";
    struct Text {
        std::string words;
        std::size_t axes[2];  // of the grid
    };
    const auto side = [&](int zone, const Face& face, const Points& points) {
        const ZoneShape& shape = zones[static_cast<std::size_t>(zone)];
        const int axis = axis_of(face.axis);
        const bool upper = face.upper == (shape.step[static_cast<std::size_t>(face.axis)] > 0);
        const int number = (axis == 2 ? 1 : axis == 0 ? 3 : 5) + (upper ? 1 : 0);
        Text found{fmt::format("{:>6}{:>3}", zone + 1, number), {}};
        for (std::size_t r = 0; r < 2; ++r) {
            const int along = kRangeAxes[axis][r];
            const auto a =
                static_cast<std::size_t>(std::find(axes.begin(), axes.end(), along) - axes.begin());
            found.axes[r] = a;
            found.words += fmt::format("{:>7}{:>7}", 1 + shape.first[a] + shape.step[a] * points.begin[a],
                                       1 + shape.first[a] + shape.step[a] * points.end[a]);
        }
        return found;
    };
    for (const BoundaryRange& b : system.boundaries)
        text += fmt::format("{:<28}{}   # {}\n", "'" + b.name + "'", side(b.zone, b.face, b.points).words,
                            face_text(*system.source, b.zone, b.face));
    for (const JoinRange& join : system.joins) {
        const Face face = face_of(*system.source, join.zone, join.points, "a join");
        const Face there =
            face_of(*system.source, join.donor, upward(join.donor_points), "the donor of a join");
        const Text a = side(join.zone, face, join.points), b = side(join.donor, there, join.donor_points);
        const bool swap = static_cast<std::size_t>(std::abs(join.transform[a.axes[0]]) - 1) != b.axes[0];
        const bool moved = join.shift != Real3{} || join.turn != graph::kNoRotation;
        text +=
            fmt::format("{:<28}{}{}  {}\n", moved ? "'periodic'" : "'one-to-one'", a.words, b.words, swap);
    }
    return text;
}

void write_map(const std::filesystem::path& path, const GridSystem& system) {
    const int error = write_named(path.string(), map_text(system));
    if (error != 0)
        throw system_error("the map file cannot be written", error, kBadInput)
            .at(path.string())
            .remedy("is the folder there, is there room, and may you write there?");
}

}  // namespace strata::flow
