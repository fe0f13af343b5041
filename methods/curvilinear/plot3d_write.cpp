// PLOT3D files made: room first, then boxes put to their places.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/base/error.hpp"
#include "methods/curvilinear/plot3d.hpp"
#include "methods/curvilinear/plot3d_layout.hpp"

namespace strata::flow {

using graph::Box;
using graph::Int3;

namespace {

class Output {
  public:
    Output(const std::filesystem::path& path, int flags)
        : name_(path.string()), file_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
        if (file_ < 0) fail("the file cannot be opened to write");
    }
    ~Output() { ::close(file_); }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    void room(std::int64_t bytes) {
        if (ftruncate(file_, bytes) != 0) fail("there is no room for the file");
    }
    void write(std::int64_t at, const char* from, std::int64_t count) {
        while (count > 0) {
            const ssize_t put = pwrite(file_, from, static_cast<std::size_t>(count), at);
            if (put < 0 && errno == EINTR) continue;
            if (put <= 0) fail("the file cannot be written");
            at += put, from += put, count -= put;
        }
    }

  private:
    [[noreturn]] void fail(const std::string& what) { throw system_error(what, errno).at(name_); }
    std::string name_;
    int file_;
};

void append(std::string& bytes, std::int32_t value, bool swap) {
    char raw[4];
    std::memcpy(raw, &value, 4);
    if (swap) std::reverse(raw, raw + 4);
    bytes.append(raw, 4);
}

template <class Real>
std::string packed(const double* from, std::int64_t count, bool swap) {
    std::string bytes(static_cast<std::size_t>(count) * sizeof(Real), '\0');
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<Real>(from[i]);
        char* at = bytes.data() + static_cast<std::size_t>(i) * sizeof(Real);
        std::memcpy(at, &value, sizeof(Real));
        if (swap) std::reverse(at, at + sizeof(Real));
    }
    return bytes;
}

}  // namespace

/// Where the numbers of a file are, and how they are written.
struct Plot3dWriter::Place {
    Plot3dLayout layout;
    std::vector<std::int64_t> text;  // of a text: the first byte of each zone's conditions, or values
    std::int64_t bytes = 0;
    std::string head;  // of a text

    Place(Plot3dContent content, const Plot3dForm& form, const std::vector<Plot3dZone>& zones)
        : layout(content, form, zones) {
        bytes = layout.bytes;
        if (form.kind != Plot3dKind::formatted) return;
        if (form.multi) head += fmt::format("{:>10}\n", zones.size());
        for (const Plot3dZone& zone : zones) {
            for (std::size_t d = 0; d < static_cast<std::size_t>(form.dimensions); ++d)
                head += fmt::format("{:>10}", zone.points[d]);
            head += content == Plot3dContent::function ? fmt::format("{:>10}\n", zone.variables) : "\n";
        }
        bytes = static_cast<std::int64_t>(head.size());
        for (int z = 0; z < static_cast<int>(zones.size()); ++z) {
            text.push_back(bytes);
            const std::int64_t n = layout.points(z);
            if (content == Plot3dContent::q) bytes += length(real(), 4);
            bytes += length(real(), n * layout.components(z));
            if (form.blanks) bytes += length(blank(), n);
        }
    }
    [[nodiscard]] TextField real() const { return {layout.form.single_precision ? 16 : 25, 4}; }
    [[nodiscard]] static TextField blank() { return {8, 10}; }
    /// Bytes of n numbers, ends of lines included.
    [[nodiscard]] static std::int64_t length(const TextField& field, std::int64_t n) {
        return n * field.width + (n + field.on_line - 1) / field.on_line;
    }
    /// Numbers `first` on of a row of `all`: each brings the end of its line.
    template <class Value>
    void put_text(Output& file, std::int64_t base, const TextField& field, std::int64_t first,
                  std::int64_t all, const Value* from, std::int64_t count) const {
        std::string text;
        for (std::int64_t i = 0; i < count; ++i) {
            if constexpr (std::is_same_v<Value, double>)
                fmt::format_to(std::back_inserter(text), "{:{}.{}E}", from[i], field.width,
                               layout.form.single_precision ? 8 : 16);
            else
                fmt::format_to(std::back_inserter(text), "{:{}}", from[i], field.width);
            if ((first + i + 1) % field.on_line == 0 || first + i + 1 == all) text += '\n';
        }
        file.write(base + first * field.width + first / field.on_line, text.data(),
                   static_cast<std::int64_t>(text.size()));
    }
    void put_bytes(Output& file, const Plot3dLayout::Record& record, std::int64_t byte,
                   const std::string& from) const {
        std::int64_t count = static_cast<std::int64_t>(from.size());
        for (const char* at = from.data(); count > 0;) {
            const std::int64_t now = std::min(count, layout.run(byte));
            file.write(layout.place(record, byte), at, now);
            byte += now, at += now, count -= now;
        }
    }
    [[nodiscard]] std::string reals(const double* from, std::int64_t count) const {
        return layout.form.single_precision ? packed<float>(from, count, layout.swapped())
                                            : packed<double>(from, count, layout.swapped());
    }
};

Plot3dWriter::Plot3dWriter(std::filesystem::path path, Plot3dContent content, const Plot3dForm& form,
                           std::vector<Plot3dZone> zones)
    : path_(std::move(path)), content_(content), form_(form), zones_(std::move(zones)) {
    if (content_ != Plot3dContent::grid) form_.blanks = false;
    if (form_.marker != 4) form_.marker = 4, form_.record_part = Plot3dForm{}.record_part;
    if (!form_.multi && zones_.size() != 1)
        throw Error("a file of a single zone cannot hold several")
            .at(path_.string())
            .given(fmt::format("{} zones", zones_.size()));
}

void Plot3dWriter::create(const std::vector<std::array<double, 4>>& conditions) const {
    const Place place(content_, form_, zones_);
    const Plot3dLayout& l = place.layout;
    Output file(path_, O_WRONLY | O_CREAT | O_TRUNC);
    file.room(place.bytes);
    const auto condition = [&](std::size_t z) {
        return z < conditions.size() ? conditions[z] : std::array<double, 4>{};
    };
    if (form_.kind == Plot3dKind::formatted) {
        file.write(0, place.head.data(), static_cast<std::int64_t>(place.head.size()));
        for (std::size_t z = 0; z < zones_.size(); ++z) {
            std::int64_t base = place.text[z];
            const int zone = static_cast<int>(z);
            if (content_ == Plot3dContent::q) {
                place.put_text(file, base, place.real(), 0, 4, condition(z).data(), 4);
                base += Place::length(place.real(), 4);
            }
            // Zeros, piece by piece.
            const auto fill = [&](const TextField& field, std::int64_t all, auto zero) {
                const std::vector<decltype(zero)> zeros(4096, zero);
                for (std::int64_t n = 0; n < all; n += 4096)
                    place.put_text(file, base, field, n, all, zeros.data(),
                                   std::min<std::int64_t>(4096, all - n));
                base += Place::length(field, all);
            };
            fill(place.real(), l.points(zone) * l.components(zone), 0.0);
            if (form_.blanks) fill(Place::blank(), l.points(zone), std::int32_t{0});
        }
        return;
    }
    std::string head;
    if (form_.multi) append(head, static_cast<std::int32_t>(zones_.size()), l.swapped());
    std::string sizes;
    for (const Plot3dZone& zone : zones_) {
        for (std::size_t d = 0; d < static_cast<std::size_t>(form_.dimensions); ++d)
            append(sizes, zone.points[d], l.swapped());
        if (content_ == Plot3dContent::function) append(sizes, zone.variables, l.swapped());
    }
    std::size_t record = 0;
    if (form_.multi) place.put_bytes(file, l.records[record++], 0, head);
    place.put_bytes(file, l.records[record], 0, sizes);
    for (std::size_t z = 0; z < zones_.size() && content_ == Plot3dContent::q; ++z)
        place.put_bytes(file, l.record_of_conditions(static_cast<int>(z)), 0,
                        place.reals(condition(z).data(), 4));
    if (form_.kind != Plot3dKind::unformatted) return;
    for (const auto& r : l.records)
        for (std::int64_t byte = 0; byte < std::max<std::int64_t>(r.length, 1); byte += form_.record_part) {
            const std::int64_t part = std::min(form_.record_part, r.length - byte), at = l.place(r, byte);
            const auto size = static_cast<std::int32_t>(part);
            std::string before, after;
            append(before, byte + part == r.length ? size : -size, l.swapped());
            append(after, byte == 0 ? size : -size, l.swapped());
            file.write(at - 4, before.data(), 4);
            file.write(at + part, after.data(), 4);
        }
}

namespace {

/// Calls call(first node, place in the box) for each row of a box.
template <class Call>
void for_rows(const Int3& points, const Box& nodes, Call&& call) {
    std::int64_t from = 0;
    for (std::int64_t k = nodes.lo[2]; k < nodes.hi[2]; ++k)
        for (std::int64_t j = nodes.lo[1]; j < nodes.hi[1]; ++j, from += nodes.extent(0))
            call(nodes.lo[0] + points[0] * (j + points[1] * k), from);
}

}  // namespace

void Plot3dWriter::values(int zone, int component, const Box& nodes, const double* from) const {
    const Place place(content_, form_, zones_);
    const Plot3dLayout& l = place.layout;
    Output file(path_, O_WRONLY);
    for_rows(zones_[static_cast<std::size_t>(zone)].points, nodes, [&](std::int64_t node, std::int64_t at) {
        const std::int64_t first = component * l.points(zone) + node, count = nodes.extent(0);
        if (form_.kind == Plot3dKind::formatted) {
            std::int64_t base = place.text[static_cast<std::size_t>(zone)];
            if (content_ == Plot3dContent::q) base += Place::length(place.real(), 4);
            place.put_text(file, base, place.real(), first, l.points(zone) * l.components(zone), from + at,
                           count);
        } else {
            place.put_bytes(file, l.record_of_values(zone), first * l.real_bytes(),
                            place.reals(from + at, count));
        }
    });
}

void Plot3dWriter::blanks(int zone, const Box& nodes, const std::int32_t* from) const {
    const Place place(content_, form_, zones_);
    const Plot3dLayout& l = place.layout;
    if (!form_.blanks) throw Error("the file has no iblank").at(path_.string());
    Output file(path_, O_WRONLY);
    const std::int64_t values = l.points(zone) * l.components(zone);
    for_rows(zones_[static_cast<std::size_t>(zone)].points, nodes, [&](std::int64_t node, std::int64_t at) {
        const std::int64_t count = nodes.extent(0);
        if (form_.kind == Plot3dKind::formatted) {
            const std::int64_t base =
                place.text[static_cast<std::size_t>(zone)] + Place::length(place.real(), values);
            place.put_text(file, base, Place::blank(), node, l.points(zone), from + at, count);
        } else {
            std::string bytes;
            for (std::int64_t i = 0; i < count; ++i) append(bytes, from[at + i], l.swapped());
            place.put_bytes(file, l.record_of_values(zone), values * l.real_bytes() + 4 * node, bytes);
        }
    });
}

}  // namespace strata::flow
