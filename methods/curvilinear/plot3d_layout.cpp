#include "methods/curvilinear/plot3d_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "core/base/error.hpp"

namespace strata::flow {

std::string text_of(const Plot3dForm& form) {
    std::string text =
        fmt::format("{}-dimensional, {}", form.dimensions, form.multi ? "multi-zone" : "single-zone");
    if (form.blanks) text += ", iblank";
    if (form.kind == Plot3dKind::formatted) return text + ", formatted";
    return text +
           fmt::format(", {}, {} precision, {}-endian",
                       form.kind == Plot3dKind::unformatted ? "unformatted" : "stream",
                       form.single_precision ? "single" : "double", form.big_endian ? "big" : "little") +
           (form.marker == 8 ? ", lengths of 8 bytes around records" : "");
}

Plot3dKnown known_form(const std::string& words) {
    Plot3dKnown known;
    const std::map<std::string, std::function<void()>> meanings{
        {"formatted", [&] { known.kind = Plot3dKind::formatted; }},
        {"unformatted", [&] { known.kind = Plot3dKind::unformatted; }},
        {"stream", [&] { known.kind = Plot3dKind::stream; }},
        {"big-endian", [&] { known.big_endian = true; }},
        {"little-endian", [&] { known.big_endian = false; }},
        {"single", [&] { known.single_precision = true; }},
        {"double", [&] { known.single_precision = false; }},
        {"multi-zone", [&] { known.multi = true; }},
        {"single-zone", [&] { known.multi = false; }},
        {"iblank", [&] { known.blanks = true; }},
        {"no-iblank", [&] { known.blanks = false; }},
        {"2d", [&] { known.dimensions = 2; }},
        {"3d", [&] { known.dimensions = 3; }},
    };
    std::istringstream in(words);
    for (std::string word; in >> word;) {
        const auto found = meanings.find(word);
        if (found != meanings.end()) {
            found->second();
            continue;
        }
        std::string all;
        for (const auto& [name, meaning] : meanings) all += (all.empty() ? "" : ", ") + name;
        throw Error("there is no such word for the form of a PLOT3D file").given(word).allowed(all);
    }
    return known;
}

std::string component_text(Plot3dContent content, int component) {
    if (content == Plot3dContent::grid) return std::string(1, "xyz"[component]);
    return fmt::format("{} {}", content == Plot3dContent::q ? "Q" : "function", component + 1);
}

Plot3dLayout::Plot3dLayout(Plot3dContent what, const Plot3dForm& how, std::vector<Plot3dZone> all)
    : content(what), form(how), zones(std::move(all)) {
    records.reserve(zones.size() * (content == Plot3dContent::q ? 2 : 1) + 2);
    first_numbers_.reserve(zones.size());
    if (form.multi) add_record(4, -1);
    add_record(4 * (head_numbers() - (form.multi ? 1 : 0)), -1);
    numbers = head_numbers();
    for (int z = 0; z < static_cast<int>(zones.size()); ++z) {
        first_numbers_.push_back(numbers);
        numbers += zone_numbers(z);
        if (content == Plot3dContent::q) add_record(4 * real_bytes(), z);
        add_record(points(z) * (std::int64_t{components(z)} * real_bytes() + (form.blanks ? 4 : 0)), z);
    }
}

int Plot3dLayout::components(int zone) const {
    if (content == Plot3dContent::grid) return form.dimensions;
    return content == Plot3dContent::q ? form.dimensions + 2
                                       : zones[static_cast<std::size_t>(zone)].variables;
}

std::int64_t Plot3dLayout::head_numbers() const {
    const int each = form.dimensions + (content == Plot3dContent::function ? 1 : 0);
    return (form.multi ? 1 : 0) + each * static_cast<std::int64_t>(zones.size());
}

std::int64_t Plot3dLayout::zone_numbers(int zone) const {
    return (content == Plot3dContent::q ? 4 : 0) + points(zone) * (components(zone) + (form.blanks ? 1 : 0));
}

void Plot3dLayout::add_record(std::int64_t length, int zone) {
    records.push_back({bytes, length, zone});
    bytes += length;
    if (form.kind == Plot3dKind::unformatted)
        bytes +=
            2 * form.marker * std::max<std::int64_t>(1, (length + form.record_part - 1) / form.record_part);
}

const Plot3dLayout::Record& Plot3dLayout::record_of_values(int zone) const {
    const std::size_t each = content == Plot3dContent::q ? 2 : 1;
    return records[(form.multi ? 2 : 1) + each * static_cast<std::size_t>(zone) + each - 1];
}

const Plot3dLayout::Record& Plot3dLayout::record_of_conditions(int zone) const {
    return records[(form.multi ? 2 : 1) + 2 * static_cast<std::size_t>(zone)];
}

std::int64_t Plot3dLayout::place(const Record& record, std::int64_t byte) const {
    if (form.kind != Plot3dKind::unformatted) return record.start + byte;
    return record.start + form.marker + byte + 2 * form.marker * (byte / form.record_part);
}

std::string Plot3dLayout::text_of_node(int zone, std::int64_t value) const {
    const auto& n = zones[static_cast<std::size_t>(zone)].points;
    const std::int64_t component = value / points(zone), node = value % points(zone);
    const std::int64_t i = node % n[0] + 1, j = node / n[0] % n[1] + 1, k = node / n[0] / n[1] + 1;
    return fmt::format(
        "zone {}, {} of node {}", zone + 1,
        component < components(zone) ? component_text(content, static_cast<int>(component)) : "iblank",
        form.dimensions == 2 ? fmt::format("({}, {})", i, j) : fmt::format("({}, {}, {})", i, j, k));
}

std::string Plot3dLayout::text_at_number(std::int64_t n) const {
    if (n < head_numbers()) return "the sizes of zones";
    const auto after = std::upper_bound(first_numbers_.begin(), first_numbers_.end(), n);
    const int zone = static_cast<int>(after - first_numbers_.begin()) - 1;
    n -= first_number(zone);
    if (content == Plot3dContent::q && n < 4) return fmt::format("zone {}, its conditions", zone + 1);
    return text_of_node(zone, content == Plot3dContent::q ? n - 4 : n);
}

std::string Plot3dLayout::text_at_byte(std::int64_t b) const {
    const Record* record = &records[0];
    for (const Record& r : records)
        if (r.start <= b) record = &r;
    if (record->zone < 0) return "the sizes of zones";
    if (content == Plot3dContent::q && record == &record_of_conditions(record->zone))
        return fmt::format("zone {}, its conditions", record->zone + 1);
    std::int64_t byte = b - record->start;
    if (form.kind == Plot3dKind::unformatted)
        byte -= form.marker + 2 * form.marker * (byte / (form.record_part + 2 * form.marker));
    const std::int64_t reals = points(record->zone) * components(record->zone);
    byte = std::clamp<std::int64_t>(byte, 0, record->length - 1);
    const std::int64_t value =
        byte < reals * real_bytes() ? byte / real_bytes() : reals + (byte - reals * real_bytes()) / 4;
    return text_of_node(record->zone, value);
}

}  // namespace strata::flow
