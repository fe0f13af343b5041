// The form of a PLOT3D file found from what is in it, and its numbers read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/figures.hpp"
#include "methods/curvilinear/bytes.hpp"
#include "methods/curvilinear/plot3d.hpp"
#include "methods/curvilinear/plot3d_head.hpp"
#include "methods/curvilinear/plot3d_layout.hpp"
#include "methods/curvilinear/text_numbers.hpp"

namespace strata::flow {

using graph::Box;
using graph::Int3;

namespace {

constexpr std::int64_t kFewNodes = 1'000'000;  // may all be repeats

/// What helps where the form of a file is not clear.
std::string how_to_say(Plot3dContent content) {
    if (content != Plot3dContent::grid)
        return "write it unformatted, in double precision, the number of zones first: of a Q file nothing "
               "can be "
               "said beside it";
    return "say how it was written, in words such as \"unformatted big-endian single multi-zone no-iblank "
           "3d\" "
           "(or formatted, stream, little-endian, double, single-zone, iblank, 2d): grid.form or "
           "mesh.NAME.form in the case, --form of strata overset map";
}

bool is_text(const Bytes& bytes) {
    char head[1024];
    const std::int64_t count = std::min<std::int64_t>(bytes.size(), sizeof(head));
    bytes.read(0, count, head);
    return count > 0 && std::all_of(head, head + count, [](char c) {
               return (c >= ' ' && c < 127) || c == '\n' || c == '\r' || c == '\t';
           });
}

}  // namespace

struct Plot3dFile::Parts {
    std::string name;
    std::unique_ptr<Bytes> bytes;
    std::unique_ptr<TextNumbers> text;
    std::optional<Plot3dLayout> layout;

    [[nodiscard]] std::int64_t size() const { return text ? text->count() : bytes->size(); }
    [[nodiscard]] std::int64_t size_of(const Plot3dLayout& l) const { return text ? l.numbers : l.bytes; }
    [[nodiscard]] std::string unit() const { return text ? "numbers" : "bytes"; }

    void find_form(Plot3dContent content, const Plot3dKnown& known);
    [[nodiscard]] bool lengths_fit(const Plot3dLayout& l) const;
    [[nodiscard]] bool plausible(const Plot3dLayout& l) const;
    [[nodiscard]] bool nearer(const Plot3dLayout& one, const Plot3dLayout& other) const;
    [[nodiscard]] Error no_form(Plot3dContent content, const std::optional<Plot3dLayout>& nearest) const;
    void refuse_repeated_nodes() const;

    /// `count` values from number `first` of a zone's values on (conditions of Q: from -4 on).
    void read(const Plot3dLayout& l, int zone, std::int64_t first, std::int64_t count, double* to) const;
    [[nodiscard]] bool read_blanks(const Plot3dLayout& l, int zone, std::int64_t first, std::int64_t count,
                                   std::int64_t* to) const;
    void read_bytes(const Plot3dLayout& l, const Plot3dLayout::Record& record, std::int64_t byte,
                    std::int64_t count, char* to) const;
    void check(int zone, const Box& nodes) const;
};

void Plot3dFile::Parts::read_bytes(const Plot3dLayout& l, const Plot3dLayout::Record& record,
                                   std::int64_t byte, std::int64_t count, char* to) const {
    while (count > 0) {
        const std::int64_t now = std::min(count, l.run(byte));
        bytes->read(l.place(record, byte), now, to);
        byte += now, to += now, count -= now;
    }
}

void Plot3dFile::Parts::read(const Plot3dLayout& l, int zone, std::int64_t first, std::int64_t count,
                             double* to) const {
    if (text) {
        text->read(l.first_number(zone) + first + (l.content == Plot3dContent::q ? 4 : 0), count, to);
        return;
    }
    const auto& record = first < 0 ? l.record_of_conditions(zone) : l.record_of_values(zone);
    const std::int64_t byte = (first < 0 ? first + 4 : first) * l.real_bytes();
    if (l.form.single_precision) {
        std::vector<float> values(static_cast<std::size_t>(count));
        read_bytes(l, record, byte, 4 * count, reinterpret_cast<char*>(values.data()));
        for (std::size_t i = 0; i < values.size(); ++i) to[i] = byte_swapped(values[i], l.swapped());
    } else {
        read_bytes(l, record, byte, 8 * count, reinterpret_cast<char*>(to));
        if (l.swapped())
            for (std::int64_t i = 0; i < count; ++i) to[i] = byte_swapped(to[i], true);
    }
}

bool Plot3dFile::Parts::read_blanks(const Plot3dLayout& l, int zone, std::int64_t first, std::int64_t count,
                                    std::int64_t* to) const {
    const std::int64_t values = l.components(zone) * l.points(zone);
    if (text) return text->read_whole_numbers(l.first_number(zone) + values + first, count, to);
    std::vector<std::int32_t> blanks(static_cast<std::size_t>(count));
    read_bytes(l, l.record_of_values(zone), values * l.real_bytes() + 4 * first, 4 * count,
               reinterpret_cast<char*>(blanks.data()));
    for (std::size_t i = 0; i < blanks.size(); ++i) to[i] = byte_swapped(blanks[i], l.swapped());
    return true;
}

/// Whether the lengths before and after all records are those of this form.
bool Plot3dFile::Parts::lengths_fit(const Plot3dLayout& l) const {
    if (l.form.kind != Plot3dKind::unformatted) return true;
    const Plot3dHead head(*bytes, nullptr);
    for (const auto& record : l.records)
        for (std::int64_t byte = 0; byte < std::max<std::int64_t>(record.length, 1);
             byte += l.form.record_part) {
            const std::int64_t part = std::min(l.form.record_part, record.length - byte),
                               at = l.place(record, byte);
            const bool first = byte == 0, last = byte + part == record.length;
            if (head.marker(l.form, at - l.form.marker) != (last ? part : -part) ||
                head.marker(l.form, at + part) != (first ? part : -part))
                return false;
        }
    return true;
}

/// Whether some values are what a file of this form would have: used where several forms have the same size.
bool Plot3dFile::Parts::plausible(const Plot3dLayout& l) const {
    for (int z = 0; z < std::min<int>(8, static_cast<int>(l.zones.size())); ++z) {
        for (int c = 0; c < l.components(z); ++c) {
            double values[16];
            const std::int64_t count = std::min<std::int64_t>(16, l.points(z));
            read(l, z, c * l.points(z), count, values);
            for (std::int64_t i = 0; i < count; ++i) {
                const double size = std::abs(values[i]);
                if (!(size == 0 || (size > 1e-30 && size < 1e30))) return false;
            }
        }
        if (!l.form.blanks) continue;
        std::vector<std::int64_t> blanks(static_cast<std::size_t>(std::min<std::int64_t>(4096, l.points(z))));
        if (!read_blanks(l, z, 0, static_cast<std::int64_t>(blanks.size()), blanks.data())) return false;
        bool any = false;
        for (const std::int64_t blank : blanks) {
            if (std::abs(blank) > Plot3dHead::kMostZones) return false;
            any = any || blank != 0;
        }
        if (!any) return false;
    }
    return true;
}

/// Whether the size of one form is nearer to the file's. Files that end too early are likelier than those
/// that go on.
bool Plot3dFile::Parts::nearer(const Plot3dLayout& one, const Plot3dLayout& other) const {
    const auto rank = [&](const Plot3dLayout& which) {
        const std::int64_t missing = size_of(which) - size();
        return std::tuple(missing != 0, missing < 0, std::abs(missing));
    };
    return rank(one) < rank(other);
}

/// No form fits: says where the file ends in the form whose size is nearest.
Error Plot3dFile::Parts::no_form(Plot3dContent content, const std::optional<Plot3dLayout>& nearest) const {
    if (!nearest) {
        Error error("the file is no PLOT3D file of any form that may be");
        error.at(name)
            .allowed(
                "sizes of zones first: formatted, unformatted (lengths of 4 or 8 bytes around records) or "
                "stream; "
                "4 bytes a whole number")
            .remedy(how_to_say(content));
        return error;
    }
    const std::int64_t wanted = size_of(*nearest), here = size();
    Error error(here == wanted ? "the lengths of records are not those that the sizes of zones give"
                : here > wanted
                    ? fmt::format("the file goes on after the last value of zone {}", nearest->zones.size())
                    : fmt::format("the file ends in {}",
                                  text ? nearest->text_at_number(here) : nearest->text_at_byte(here)));
    error.at(name)
        .given(fmt::format("{} {}", here, unit()))
        .allowed(fmt::format("{} {} ({})", wanted, unit(), text_of(nearest->form)))
        .remedy("if it is whole: " + how_to_say(content));
    return error;
}

void Plot3dFile::Parts::find_form(Plot3dContent content, const Plot3dKnown& known) {
    const Plot3dHead head(*bytes, text.get());
    std::vector<Plot3dLayout> fitting;
    std::optional<Plot3dLayout> nearest;
    for (const Plot3dForm& form : plot3d_forms(known, content, text != nullptr)) {
        auto l = head.layout(content, form);
        if (!l) continue;
        if (size_of(*l) == size() && lengths_fit(*l))
            fitting.push_back(std::move(*l));
        else if (fitting.empty() && (!nearest || nearer(*l, *nearest)))
            nearest = std::move(*l);
    }
    if (fitting.empty()) throw no_form(content, nearest);
    if (fitting.size() > 1) {
        std::vector<Plot3dLayout> likely;
        for (const Plot3dLayout& l : fitting)
            if (plausible(l)) likely.push_back(l);
        if (!likely.empty()) fitting = std::move(likely);
        // One two-dimensional zone begins as a single three-dimensional one with a single point along i.
        if (fitting.size() > 1)
            std::erase_if(fitting, [](const Plot3dLayout& l) {
                return !l.form.multi && l.form.dimensions == 3 && l.zones[0].points[0] == 1;
            });
    }
    if (fitting.size() > 1) {
        std::string all;
        for (const Plot3dLayout& l : fitting) all += (all.empty() ? "" : "; ") + text_of(l.form);
        Error error("the file can be read in several forms");
        error.at(name).given(all).remedy(how_to_say(content));
        throw error;
    }
    layout = std::move(fitting[0]);
    if (text && content == Plot3dContent::grid) refuse_repeated_nodes();
}

/// From node to node something changes, so a text has a character for each at least. A line of repeats would
/// else stand for a grid that no memory holds.
void Plot3dFile::Parts::refuse_repeated_nodes() const {
    std::int64_t points = 0;
    for (int z = 0; z < static_cast<int>(layout->zones.size()); ++z) points += layout->points(z);
    if (points <= bytes->size() + kFewNodes) return;
    Error error("the nodes of the grid are repeats of each other");
    error.at(name)
        .given(fmt::format("{} nodes in {} bytes", points, bytes->size()))
        .allowed(fmt::format("nodes that differ: a byte for each beyond {} at least", kFewNodes));
    throw error;
}

Plot3dFile::Plot3dFile(const std::filesystem::path& path, Plot3dContent content, const Plot3dKnown& known)
    : parts_(std::make_unique<Parts>()) {
    parts_->name = path.string();
    parts_->bytes = Bytes::open(path);
    const bool text = known.kind ? *known.kind == Plot3dKind::formatted : is_text(*parts_->bytes);
    if (text) parts_->text = std::make_unique<TextNumbers>(*parts_->bytes, parts_->name);
    parts_->find_form(content, known);
}
Plot3dFile::~Plot3dFile() = default;
Plot3dFile::Plot3dFile(Plot3dFile&&) noexcept = default;
Plot3dFile& Plot3dFile::operator=(Plot3dFile&&) noexcept = default;

const Plot3dForm& Plot3dFile::form() const { return parts_->layout->form; }
const std::vector<Plot3dZone>& Plot3dFile::zones() const { return parts_->layout->zones; }
const std::string& Plot3dFile::name() const { return parts_->name; }

namespace {

/// Calls call(first node, count, place in the box) for runs of nodes that lie side by side.
template <class Call>
void for_runs(const Int3& points, const Box& nodes, Call&& call) {
    const bool rows = nodes.extent(0) == points[0], planes = rows && nodes.extent(1) == points[1];
    const std::int64_t nj = rows ? 1 : nodes.extent(1), nk = planes ? 1 : nodes.extent(2);
    const std::int64_t count = nodes.volume() / (nj * nk);
    std::int64_t to = 0;
    for (std::int64_t k = 0; k < nk; ++k)
        for (std::int64_t j = 0; j < nj; ++j) {
            const std::int64_t first =
                nodes.lo[0] + points[0] * (nodes.lo[1] + j + points[1] * (nodes.lo[2] + k));
            call(first, count, to);
            to += count;
        }
}

}  // namespace

void Plot3dFile::Parts::check(int zone, const Box& nodes) const {
    const Box all{{0, 0, 0}, layout->zones.at(static_cast<std::size_t>(zone)).points};
    if (!all.contains(nodes) || nodes.empty())
        throw Error(fmt::format("nodes of zone {} are asked for that it has not", zone + 1)).at(name);
}

void Plot3dFile::values(int zone, int component, const Box& nodes, double* to) const {
    const Plot3dLayout& l = *parts_->layout;
    parts_->check(zone, nodes);
    for_runs(l.zones[static_cast<std::size_t>(zone)].points, nodes,
             [&](std::int64_t first, std::int64_t count, std::int64_t at) {
                 parts_->read(l, zone, component * l.points(zone) + first, count, to + at);
                 for (std::int64_t i = 0; i < count; ++i)
                     if (!std::isfinite(to[at + i])) {
                         const auto& n = l.zones[static_cast<std::size_t>(zone)].points;
                         const std::int64_t node = first + i;
                         throw Error(fmt::format("{} of node ({}, {}, {}) of zone {} is no number",
                                                 component_text(l.content, component), node % n[0] + 1,
                                                 node / n[0] % n[1] + 1, node / n[0] / n[1] + 1, zone + 1))
                             .at(parts_->name)
                             .given(fmt::format("{}", without_nan_sign(to[at + i])))
                             .allowed("a finite number")
                             .remedy("write the file again: the program that made it went wrong there");
                     }
             });
}

void Plot3dFile::blanks(int zone, const Box& nodes, std::int32_t* to) const {
    const Plot3dLayout& l = *parts_->layout;
    parts_->check(zone, nodes);
    if (!l.form.blanks) throw Error("the file has no iblank").at(parts_->name);
    const auto zones = static_cast<std::int64_t>(l.zones.size());
    for_runs(l.zones[static_cast<std::size_t>(zone)].points, nodes,
             [&](std::int64_t first, std::int64_t count, std::int64_t at) {
                 std::vector<std::int64_t> found(static_cast<std::size_t>(count));
                 if (!parts_->read_blanks(l, zone, first, count, found.data()))
                     throw Error(fmt::format("an iblank of zone {} is no whole number", zone + 1))
                         .at(parts_->name)
                         .allowed("0, 1, 2, below 0 (joined), 101")
                         .remedy("if the file has no iblank: " + how_to_say(l.content));
                 for (std::int64_t i = 0; i < count; ++i) {
                     const std::int64_t value = found[static_cast<std::size_t>(i)];
                     if ((value < -zones || value > 2) && value != 101) {
                         const auto& n = l.zones[static_cast<std::size_t>(zone)].points;
                         const std::int64_t node = first + i;
                         throw Error(fmt::format("iblank of node ({}, {}, {}) of zone {} means nothing",
                                                 node % n[0] + 1, node / n[0] % n[1] + 1,
                                                 node / n[0] / n[1] + 1, zone + 1))
                             .at(parts_->name)
                             .given(fmt::format("{}", value))
                             .allowed(fmt::format(
                                 "0 (hole), 1 (field), 2 (wall), -1 to -{} (joined with this zone), "
                                 "101 (orphan)",
                                 zones));
                     }
                     to[at + i] = static_cast<std::int32_t>(value);
                 }
             });
}

std::array<double, 4> Plot3dFile::conditions(int zone) const {
    std::array<double, 4> values{};
    if (parts_->layout->content != Plot3dContent::q) throw Error("the file is no Q file").at(parts_->name);
    parts_->read(*parts_->layout, zone, -4, 4, values.data());
    return values;
}

}  // namespace strata::flow
