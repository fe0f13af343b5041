#include "methods/curvilinear/plot3d_head.hpp"

#include <bit>

namespace strata::flow {

namespace {

constexpr std::int64_t kMostPoints = std::int64_t{1} << 40;

/// Records with lengths of 8 bytes are not made of parts.
constexpr std::int64_t kOnePart = std::int64_t{1} << 60;

}  // namespace

std::vector<Plot3dForm> plot3d_forms(const Plot3dKnown& known, Plot3dContent content, bool text) {
    std::vector<Plot3dForm> all;
    const auto fits = [](const auto& wanted, const auto& value) { return !wanted || *wanted == value; };
    const std::vector<Plot3dKind> kinds =
        text ? std::vector{Plot3dKind::formatted} : std::vector{Plot3dKind::unformatted, Plot3dKind::stream};
    for (const Plot3dKind kind : kinds)
        for (const bool multi : {true, false})
            for (const int dimensions : {3, 2})
                for (const bool blanks : {false, true})
                    for (const bool big : {false, true})
                        for (const bool single : {false, true}) {
                            if (!fits(known.kind, kind) || !fits(known.multi, multi) ||
                                !fits(known.dimensions, dimensions) || !fits(known.blanks, blanks) ||
                                (blanks && content != Plot3dContent::grid))
                                continue;
                            if (text ? big || single
                                     : !fits(known.big_endian, big) || !fits(known.single_precision, single))
                                continue;
                            all.push_back({kind, big, single, multi, blanks, dimensions});
                            if (kind != Plot3dKind::unformatted) continue;
                            all.push_back(all.back());
                            all.back().marker = 8, all.back().record_part = kOnePart;
                        }
    return all;
}

std::optional<Plot3dLayout> Plot3dHead::layout(Plot3dContent content, Plot3dForm form) const {
    std::int64_t zones = 1, at = 0;
    if (form.multi && (!record(form, at, 4) || !read(form, at, 1, &zones))) return {};
    if (form.multi)
        at = text_ != nullptr ? 1 : at + (form.kind == Plot3dKind::unformatted ? 4 + 2 * form.marker : 4);
    const int each = form.dimensions + (content == Plot3dContent::function ? 1 : 0);
    if (zones < 1 || zones > kMostZones || zones > bytes_.size()) return {};
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(zones * each));
    if (!record(form, at, 4 * zones * each) || !read(form, at, zones * each, sizes.data())) return {};
    std::vector<Plot3dZone> found;
    found.reserve(static_cast<std::size_t>(zones));
    std::int64_t all = 0;
    for (std::size_t z = 0; z < static_cast<std::size_t>(zones); ++z) {
        const std::int64_t* n = &sizes[z * static_cast<std::size_t>(each)];
        Plot3dZone zone;
        std::int64_t points = 1;
        for (int d = 0; d < form.dimensions; ++d) {
            if (n[d] < 1 || n[d] > INT32_MAX - 1) return {};
            zone.points[static_cast<std::size_t>(d)] = static_cast<int>(n[d]);
            if (n[d] > kMostPoints / points) return {};
            points *= n[d];
        }
        if (content == Plot3dContent::function) {
            if (n[form.dimensions] < 1 || n[form.dimensions] > 10000) return {};
            zone.variables = static_cast<int>(n[form.dimensions]);
        }
        all += points;
        if (all > kMostPoints) return {};
        found.push_back(zone);
    }
    Plot3dLayout layout(content, form, found);
    if (form.kind != Plot3dKind::unformatted) return layout;
    // A negative length is that of a part; all but the last one are as long.
    const auto marker = this->marker(form, layout.records[form.multi ? 2 : 1].start);
    if (form.marker == 4 && marker && *marker < 0) {
        if (*marker > -16) return {};
        form.record_part = -*marker;
        layout = Plot3dLayout(content, form, found);
    }
    return layout;
}

std::optional<std::int64_t> Plot3dHead::marker(const Plot3dForm& form, std::int64_t at) const {
    if (at + form.marker > bytes_.size()) return {};
    const auto value = [&](auto of) {
        bytes_.read(at, form.marker, reinterpret_cast<char*>(&of));
        return std::int64_t{byte_swapped(of, form.big_endian != (std::endian::native == std::endian::big))};
    };
    return form.marker == 8 ? value(std::int64_t{0}) : value(std::int32_t{0});
}

/// Whether a record of this length begins here.
bool Plot3dHead::record(const Plot3dForm& form, std::int64_t at, std::int64_t length) const {
    if (form.kind != Plot3dKind::unformatted) return true;
    return marker(form, at) == length && marker(form, at + form.marker + length) == length;
}

bool Plot3dHead::read(const Plot3dForm& form, std::int64_t at, std::int64_t count, std::int64_t* to) const {
    if (text_ != nullptr) return text_->read_whole_numbers(at, count, to);
    if (form.kind == Plot3dKind::unformatted) at += form.marker;
    if (count > (bytes_.size() - at) / 4) return false;
    std::vector<std::int32_t> values(static_cast<std::size_t>(count));
    bytes_.read(at, 4 * count, reinterpret_cast<char*>(values.data()));
    for (std::size_t i = 0; i < values.size(); ++i)
        to[i] = byte_swapped(values[i], form.big_endian != (std::endian::native == std::endian::big));
    return true;
}

}  // namespace strata::flow
