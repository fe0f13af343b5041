// Zones cut where ranges end within a face.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/error.hpp"
#include "methods/curvilinear/grid.hpp"
#include "methods/curvilinear/ranges.hpp"

namespace strata::flow {

namespace {

/// Where a zone is cut, along each axis: nodes strictly inside, ascending.
using Cuts = std::array<std::set<int>, 3>;

/// What lies on a face: a table over the rectangles between the ends of all ranges on it.
class FaceTable {
  public:
    static constexpr int kNothing = -1, kJoined = -2;

    FaceTable(const GridSource& source, int zone, const Face& face)
        : source_(source), zone_(zone), face_(face), axes_(along(face.axis)) {
        const Int3& cells = source.zones()[static_cast<std::size_t>(zone)].cells;
        for (std::size_t t = 0; t < 2; ++t) ends_[t] = {0, cells[axes_[t]]};
    }
    void add(const Points& points, int what) {
        ranges_.emplace_back(points, what);
        for (std::size_t t = 0; t < 2; ++t) {
            ends_[t].insert(points.begin[axes_[t]]);
            ends_[t].insert(points.end[axes_[t]]);
        }
    }
    /// Adds the lines along which the face must be cut, and to `bare` the parts that have nothing. Throws
    /// Error for a part with two things.
    void find_cuts(const std::vector<std::string>& names, Cuts& cuts, std::vector<std::string>& bare) const {
        const std::vector<int> u(ends_[0].begin(), ends_[0].end()), v(ends_[1].begin(), ends_[1].end());
        std::vector<std::vector<int>> table;
        for (std::size_t b = 0; b + 1 < v.size(); ++b) {
            table.emplace_back();
            for (std::size_t a = 0; a + 1 < u.size(); ++a)
                table.back().push_back(what(u[a], u[a + 1], v[b], v[b + 1], names, bare));
        }
        for (std::size_t b = 0; b < table.size(); ++b)
            for (std::size_t a = 0; a < table[b].size(); ++a) {
                if (a > 0 && table[b][a] != table[b][a - 1]) cuts[axes_[0]].insert(u[a]);
                if (b > 0 && table[b][a] != table[b - 1][a]) cuts[axes_[1]].insert(v[b]);
            }
    }

  private:
    [[nodiscard]] int what(int u0, int u1, int v0, int v1, const std::vector<std::string>& names,
                           std::vector<std::string>& bare) const {
        int found = kNothing;
        for (const auto& [points, id] : ranges_) {
            if (points.begin[axes_[0]] > u0 || points.end[axes_[0]] < u1 || points.begin[axes_[1]] > v0 ||
                points.end[axes_[1]] < v1)
                continue;
            if (found != kNothing)
                throw refuse(fmt::format("is {} and {}", text(found, names), text(id, names)), u0, u1, v0,
                             v1);
            found = id;
        }
        if (found == kNothing)
            bare.push_back(fmt::format("{} of {}, nodes {}", face_text(source_, zone_, face_),
                                       zone_text(source_, zone_),
                                       range_text(source_, zone_, range(u0, u1, v0, v1))));
        return found;
    }
    static std::string text(int id, const std::vector<std::string>& names) {
        return id == kJoined ? "joined" : "'" + names[static_cast<std::size_t>(id)] + "'";
    }
    [[nodiscard]] Points range(int u0, int u1, int v0, int v1) const {
        Points points = whole_face(source_.zones()[static_cast<std::size_t>(zone_)].cells, face_);
        points.begin[axes_[0]] = u0, points.end[axes_[0]] = u1;
        points.begin[axes_[1]] = v0, points.end[axes_[1]] = v1;
        return points;
    }
    [[nodiscard]] Error refuse(const std::string& why, int u0, int u1, int v0, int v1) const {
        return Error(fmt::format("a part of face {} of {} {}", face_text(source_, zone_, face_),
                                 zone_text(source_, zone_), why))
            .given("nodes " + range_text(source_, zone_, range(u0, u1, v0, v1)))
            .remedy("take it out of one of the two lines of the map");
    }
    const GridSource& source_;
    int zone_;
    Face face_;
    std::array<std::size_t, 2> axes_;
    std::array<std::set<int>, 2> ends_;
    std::vector<std::pair<Points, int>> ranges_;
};

/// Zones that are boxes of those of another source.
class CutSource final : public GridSource {
  public:
    struct Part {
        int zone;
        Int3 first;
    };
    CutSource(std::shared_ptr<const GridSource> whole, std::vector<ZoneShape> zones, std::vector<Part> parts)
        : whole_(std::move(whole)), zones_(std::move(zones)), parts_(std::move(parts)) {}
    [[nodiscard]] std::span<const ZoneShape> zones() const override { return zones_; }
    [[nodiscard]] int dimensions() const override { return whole_->dimensions(); }
    void nodes(int zone, const Box& nodes, double* x) const override {
        const Part& part = parts_[static_cast<std::size_t>(zone)];
        whole_->nodes(part.zone, nodes.shifted(part.first), x);
    }
    [[nodiscard]] bool has_blanks() const override { return whole_->has_blanks(); }
    void blanks(int zone, const Box& nodes, std::int32_t* blank) const override {
        const Part& part = parts_[static_cast<std::size_t>(zone)];
        whole_->blanks(part.zone, nodes.shifted(part.first), blank);
    }

  private:
    std::shared_ptr<const GridSource> whole_;
    std::vector<ZoneShape> zones_;
    std::vector<Part> parts_;
};

std::vector<Cuts> find_cuts(const GridSystem& whole) {
    const GridSource& source = *whole.source;
    const auto zones = source.zones();
    std::vector<std::string> names;
    std::vector<FaceTable> tables;
    const auto faces = static_cast<std::size_t>(2 * whole.dimensions);
    for (std::size_t z = 0; z < zones.size(); ++z)
        for (std::size_t f = 0; f < faces; ++f)
            tables.emplace_back(source, static_cast<int>(z), Face{static_cast<int>(f / 2), f % 2 == 1});
    const auto add = [&](int zone, const Points& points, int id, const std::string& what) {
        const Face face = face_of(source, zone, points, what);
        if (face.axis >= whole.dimensions) return;
        tables[static_cast<std::size_t>(zone) * faces + static_cast<std::size_t>(2 * face.axis + face.upper)]
            .add(points, id);
    };
    for (const BoundaryRange& b : whole.boundaries) {
        const auto known = std::find(names.begin(), names.end(), b.name);
        const int id = static_cast<int>(known - names.begin());
        if (known == names.end()) names.push_back(b.name);
        add(b.zone, b.points, id, fmt::format("boundary '{}'", b.name));
    }
    for (const JoinRange& join : whole.joins) {
        add(join.zone, join.points, FaceTable::kJoined, "a join");
        add(join.donor, upward(join.donor_points), FaceTable::kJoined, "the donor of a join");
    }
    std::vector<Cuts> cuts(zones.size());
    std::vector<std::string> bare;
    for (std::size_t t = 0; t < tables.size(); ++t) tables[t].find_cuts(names, cuts[t / faces], bare);
    if (!bare.empty()) {
        const std::size_t all = bare.size(), most = 50;
        if (all > most) bare.resize(most), bare.push_back(fmt::format("and {} more", all - most));
        throw Error(fmt::format("{} of faces {} neither a boundary nor a join",
                                all == 1 ? "a part" : fmt::format("{} parts", all),
                                all == 1 ? "has" : "have"))
            .given(fmt::format("{}", fmt::join(bare, "; ")))
            .allowed("a line of the map for each part of each face")
            .remedy("add lines to the map: those of a map that is found with `strata overset map GRID`, say");
    }
    return cuts;
}

/// Intervals between cuts that lie within [begin, end].
std::vector<std::pair<int, int>> pieces(const std::set<int>& cuts, int begin, int end) {
    std::vector<std::pair<int, int>> found;
    int from = begin;
    for (const int cut : cuts)
        if (cut > begin && cut < end) found.emplace_back(from, cut), from = cut;
    found.emplace_back(from, end);
    return found;
}

/// Cuts of a zone that is longer than it may be, between those that it has.
void shorten(int cells, int most, std::set<int>& cuts) {
    if (most <= 0) return;
    for (const auto& [begin, end] : pieces(cuts, 0, cells)) {
        const int length = end - begin, parts = (length + most - 1) / most;
        int unit = 16;  // grids of every second point of the parts are wanted, too
        while (length % unit != 0 || (length / unit + parts - 1) / parts * unit > most) unit /= 2;
        for (int part = 1; part < parts; ++part) cuts.insert(begin + length / unit * part / parts * unit);
    }
}

/// New zones, and which one has which part of the old ones.
struct Division {
    std::vector<Cuts> cuts;
    std::vector<ZoneShape> zones;
    std::vector<CutSource::Part> parts;
    std::vector<int> first;  // [old zone] its first new one

    [[nodiscard]] std::array<int, 3> counts(int zone) const {
        const Cuts& c = cuts[static_cast<std::size_t>(zone)];
        return {static_cast<int>(c[0].size()) + 1, static_cast<int>(c[1].size()) + 1,
                static_cast<int>(c[2].size()) + 1};
    }
    /// The new zone that has a range which no cut crosses; on a face the one that has this face.
    [[nodiscard]] int of(int zone, const Points& points) const {
        int index[3];
        for (std::size_t a = 0; a < 3; ++a) {
            const auto& c = cuts[static_cast<std::size_t>(zone)][a];
            // Twice the middle, so that ends of intervals are not met.
            const int middle = points.begin[a] + points.end[a];
            index[a] = static_cast<int>(
                std::count_if(c.begin(), c.end(), [&](int cut) { return 2 * cut < middle; }));
        }
        const auto n = counts(zone);
        return first[static_cast<std::size_t>(zone)] + index[0] + n[0] * (index[1] + n[1] * index[2]);
    }
    [[nodiscard]] Points local(int part, const Points& points) const {
        const Int3& by = parts[static_cast<std::size_t>(part)].first;
        Points moved = points;
        for (std::size_t a = 0; a < 3; ++a) moved.begin[a] -= by[a], moved.end[a] -= by[a];
        return moved;
    }
};

Division divide(const GridSystem& whole, std::vector<Cuts> cuts) {
    Division division{std::move(cuts), {}, {}, {}};
    const auto zones = whole.source->zones();
    for (std::size_t z = 0; z < zones.size(); ++z) {
        const ZoneShape& old = zones[z];
        division.first.push_back(static_cast<int>(division.zones.size()));
        std::array<std::vector<std::pair<int, int>>, 3> along_axis;
        for (std::size_t a = 0; a < 3; ++a) along_axis[a] = pieces(division.cuts[z][a], 0, old.cells[a]);
        const std::size_t count = along_axis[0].size() * along_axis[1].size() * along_axis[2].size();
        for (const auto& k : along_axis[2])
            for (const auto& j : along_axis[1])
                for (const auto& i : along_axis[0]) {
                    ZoneShape part = old;
                    const Int3 first{i.first, j.first, k.first};
                    part.cells = {i.second - i.first, j.second - j.first, k.second - k.first};
                    for (std::size_t a = 0; a < 3; ++a) part.first[a] += old.step[a] * first[a];
                    if (count > 1)
                        part.name = fmt::format(
                            "{}{}{}", old.name.empty() ? fmt::format("zone{}", z + 1) : old.name,
                            old.name.empty() || old.name.back() != '.' ? "." : "",
                            division.zones.size() + 1 - static_cast<std::size_t>(division.first.back()));
                    division.zones.push_back(std::move(part));
                    division.parts.push_back({static_cast<int>(z), first});
                }
    }
    return division;
}

/// Adds the parts of a join between the cuts of both zones.
void cut_join(const Division& division, const JoinRange& join, std::vector<JoinRange>& joins) {
    std::array<std::set<int>, 3> cuts = division.cuts[static_cast<std::size_t>(join.zone)];
    const JoinRange other = other_side(join);
    for (std::size_t a = 0; a < 3; ++a) {
        if (join.points.begin[a] == join.points.end[a]) continue;
        const auto there = static_cast<std::size_t>(std::abs(join.transform[a]) - 1);
        for (const int cut : division.cuts[static_cast<std::size_t>(join.donor)][there]) {
            if (cut <= other.points.begin[there] || cut >= other.points.end[there]) continue;
            Int3 point = other.points.begin;
            point[there] = cut;
            cuts[a].insert(donor_point(other, point)[a]);
        }
    }
    std::array<std::vector<std::pair<int, int>>, 3> parts;
    for (std::size_t a = 0; a < 3; ++a) parts[a] = pieces(cuts[a], join.points.begin[a], join.points.end[a]);
    for (const auto& k : parts[2])
        for (const auto& j : parts[1])
            for (const auto& i : parts[0]) {
                JoinRange part = part_of(join, {{i.first, j.first, k.first}, {i.second, j.second, k.second}});
                part.zone = division.of(join.zone, part.points);
                part.donor = division.of(join.donor, part.donor_points);
                part.points = division.local(part.zone, part.points);
                part.donor_points = division.local(part.donor, part.donor_points);
                joins.push_back(part);
            }
}

/// Joins between the parts of an old zone.
void join_parts(const Division& division, int zone, std::vector<JoinRange>& joins) {
    const auto n = division.counts(zone);
    for (int k = 0; k < n[2]; ++k)
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i)
                for (std::size_t a = 0; a < 3; ++a) {
                    const int at[3] = {i, j, k};
                    if (at[a] + 1 == n[a]) continue;
                    const int step = a == 0 ? 1 : a == 1 ? n[0] : n[0] * n[1];
                    const int part =
                        division.first[static_cast<std::size_t>(zone)] + i + n[0] * (j + n[1] * k);
                    const Face up{static_cast<int>(a), true}, down{static_cast<int>(a), false};
                    JoinRange join;
                    join.zone = part, join.donor = part + step;
                    join.points = whole_face(division.zones[static_cast<std::size_t>(part)].cells, up);
                    join.donor_points =
                        whole_face(division.zones[static_cast<std::size_t>(part + step)].cells, down);
                    joins.push_back(join);
                }
}

}  // namespace

GridSystem cut(GridSystem whole, const Int3& most) {
    std::vector<Cuts> cuts = find_cuts(whole);
    for (std::size_t z = 0; z < cuts.size(); ++z)
        for (std::size_t a = 0; a < static_cast<std::size_t>(whole.dimensions); ++a)
            shorten(whole.source->zones()[z].cells[a], most[a], cuts[z][a]);
    const Division division = divide(whole, std::move(cuts));
    GridSystem parts{nullptr, {}, {}, whole.dimensions, whole.notes, {}, whole.turned};
    for (const JoinRange& join : whole.joins) cut_join(division, join, parts.joins);
    for (std::size_t z = 0; z < division.first.size(); ++z)
        join_parts(division, static_cast<int>(z), parts.joins);
    // Each face of a part is wholly of one name: it is said once.
    std::set<std::pair<int, int>> said;
    for (const BoundaryRange& b : whole.boundaries) {
        const auto a = static_cast<std::size_t>(b.face.axis);
        if (b.face.axis >= whole.dimensions) continue;
        std::array<std::vector<std::pair<int, int>>, 3> along_axis;
        for (std::size_t t = 0; t < 3; ++t)
            along_axis[t] =
                pieces(t == a ? std::set<int>{} : division.cuts[static_cast<std::size_t>(b.zone)][t],
                       b.points.begin[t], b.points.end[t]);
        for (const auto& k : along_axis[2])
            for (const auto& j : along_axis[1])
                for (const auto& i : along_axis[0]) {
                    const int part =
                        division.of(b.zone, {{i.first, j.first, k.first}, {i.second, j.second, k.second}});
                    if (!said.insert({part, 2 * b.face.axis + b.face.upper}).second) continue;
                    parts.boundaries.push_back(
                        {part, b.face,
                         whole_face(division.zones[static_cast<std::size_t>(part)].cells, b.face), b.name});
                }
    }
    const auto zones = whole.source->zones();
    for (std::size_t z = 0; z < zones.size(); ++z) {
        const auto n = division.counts(static_cast<int>(z));
        if (n[0] * n[1] * n[2] > 1)
            parts.notes.push_back(fmt::format("{} is cut into {} x {} x {} zones{}",
                                              zone_text(*whole.source, static_cast<int>(z)), n[0], n[1], n[2],
                                              most == Int3{} ? ", where ranges end within its faces" : ""));
    }
    parts.source = division.zones.size() == zones.size()
                       ? whole.source
                       : std::make_shared<CutSource>(whole.source, division.zones, division.parts);
    return parts;
}

}  // namespace strata::flow
