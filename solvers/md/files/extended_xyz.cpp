#include "solvers/md/files/extended_xyz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"

namespace strata::md {

namespace {

constexpr int kMostColumns = 1'000'000;
constexpr const char* kComment =
    R"(Lattice="Ax 0 0 0 By 0 0 0 Cz" Properties=species:S:1:pos:R:3 pbc="T T T")";

/// key=value, key="value with blanks"; keys in small letters.
std::vector<std::pair<std::string, std::string>> pairs_of(std::string_view line) {
    std::vector<std::pair<std::string, std::string>> all;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t equals = line.find('=', at);
        if (equals == std::string_view::npos) break;
        const std::size_t blank = line.substr(at, equals - at).find_last_of(" \t");
        std::size_t from = blank == std::string_view::npos ? at : at + blank + 1;
        std::string key(line.substr(from, equals - from));
        std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
        from = equals + 1;
        const bool quoted = from < line.size() && (line[from] == '"' || line[from] == '\'');
        std::size_t end = quoted ? line.find(line[from], from + 1) : line.find_first_of(" \t\r", from);
        end = std::min(end, line.size());
        all.emplace_back(std::move(key), line.substr(from + (quoted ? 1 : 0), end - from - (quoted ? 1 : 0)));
        at = std::min(end + 1, line.size());
    }
    return all;
}

/// Words, and '#' is none of a comment here.
std::vector<std::string_view> plain_words(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t i = line.find_first_not_of(" \t\r"); i != std::string_view::npos;
         i = line.find_first_not_of(" \t\r", i)) {
        const std::size_t end = std::min(line.find_first_of(" \t\r", i), line.size());
        words.push_back(line.substr(i, end - i));
        i = end;
    }
    return words;
}

}  // namespace

ExtendedXyz::ExtendedXyz(const std::filesystem::path& path, std::vector<std::string> names)
    : file_(path, "the XYZ file"), names_(std::move(names)) {
    int number = 0;
    file_.lines({0, file_.size()}, [&](std::string_view line, std::int64_t at) {
        if (++number == 1) {
            const auto words = plain_words(line);
            const auto count = words.size() == 1 ? whole_of(words[0]) : std::nullopt;
            if (!count || *count < 1)
                throw file_.wrong(at, "the first line is the number of atoms")
                    .given(std::string(line.substr(0, 80)))
                    .allowed("1 and more");
            atoms_ = *count;
        } else if (number == 2) {
            read_comment(line, at);
        } else {
            bulk_ = {at, file_.size()};
            line_bytes_ = static_cast<std::int64_t>(line.size()) + 1;
        }
        return number < 3;
    });
    if (number < 3)
        throw file_.wrong(file_.size(), "the file ends before its first atom")
            .allowed("the number of atoms, a comment, and a line for each atom");
}

void ExtendedXyz::read_comment(std::string_view line, std::int64_t at) {
    bool lattice = false, properties = false;
    for (const auto& [key, value] : pairs_of(line)) {
        if (key == "lattice") {
            read_lattice(value, at);
            lattice = true;
        } else if (key == "properties") {
            read_properties(value, at);
            properties = true;
        } else if (key == "pbc") {
            const auto words = plain_words(value);
            for (std::size_t d = 0; d < 3; ++d) {
                const std::string_view word = d < words.size() ? words[d] : "";
                if (word != "T" && word != "F" && word != "1" && word != "0")
                    throw file_.wrong(at, "which directions are periodic")
                        .given(value)
                        .allowed("pbc=\"T T F\"");
                open_[d] = word == "F" || word == "0";
            }
        } else if (key == "origin") {
            const auto words = plain_words(value);
            for (std::size_t d = 0; d < 3; ++d) {
                const auto number = d < words.size() ? real_of(words[d]) : std::nullopt;
                if (!number)
                    throw file_.wrong(at, "the corner of the box").given(value).allowed("Origin=\"x y z\"");
                low_[d] = *number;
            }
        }
    }
    if (!lattice)
        throw file_.wrong(at, "the box is missing").given(std::string(line.substr(0, 80))).allowed(kComment);
    if (!properties) read_properties("species:S:1:pos:R:3", at);
    for (std::size_t d = 0; d < 3; ++d) high_[d] += low_[d];
}

void ExtendedXyz::read_lattice(const std::string& text, std::int64_t at) {
    const auto words = plain_words(text);
    std::array<double, 9> rows{};
    for (std::size_t k = 0; k < 9; ++k) {
        const auto number = words.size() == 9 ? real_of(words[k]) : std::nullopt;
        if (!number || (k % 4 == 0 && *number <= 0))
            throw file_.wrong(at, "the box is nine numbers, with edges above 0")
                .given(text)
                .allowed(kComment);
        rows[k] = *number;
    }
    high_ = {rows[0], rows[4], rows[8]};
    for (std::size_t k = 0; k < 9; ++k)
        if (k % 4 != 0 && !is_rounding(rows[k], high_))
            throw file_.wrong(at, "the box is not orthogonal")
                .given(text)
                .allowed(kComment)
                .remedy("an orthogonal cell of the same crystal (a multiple of its own), for instance");
}

void ExtendedXyz::read_properties(const std::string& text, std::int64_t at) {
    const std::vector<std::string_view> parts = split(text, ':');
    columns_ = 0;
    for (std::size_t k = 0; k + 2 < parts.size(); k += 3) {
        const auto count = whole_of(parts[k + 2]);
        if (parts[k + 1].size() != 1 || !count || *count < 1 || *count > 1000)
            throw file_.wrong(at, "properties are NAME:TYPE:COLUMNS").given(text).allowed(kComment);
        const Columns columns{columns_, static_cast<int>(*count), parts[k + 1][0]};
        const std::string_view name = parts[k];
        const auto is = [&](const char* wanted, char type, int wide) {
            if (name != wanted) return false;
            if (columns.type == type && columns.count == wide) return true;
            throw file_.wrong(at, fmt::format("the property {}", name))
                .given(fmt::format("{}:{}", columns.type, columns.count))
                .allowed(fmt::format("{}:{}", type, wide));
        };
        if (is("species", 'S', 1)) species_ = columns;
        if (is("pos", 'R', 3)) position_ = columns;
        if (is("id", 'I', 1)) id_ = columns;
        for (const char* velocity : {"velo", "vel", "velocities"})
            if (is(velocity, 'R', 3)) velocity_ = columns;
        columns_ += columns.count;
        if (columns_ > kMostColumns)
            throw file_.wrong(at, "properties of too many columns")
                .given(fmt::format("{} and more", columns_))
                .allowed(fmt::format("up to {}", kMostColumns));
    }
    if (parts.size() % 3 != 0 || species_.first < 0 || position_.first < 0)
        throw file_.wrong(at, "properties are NAME:TYPE:COLUMNS, with species and pos")
            .given(text)
            .allowed(kComment);
}

std::array<double, 3> ExtendedXyz::three(const std::vector<std::string_view>& words, const Columns& at,
                                         std::int64_t line_at) const {
    std::array<double, 3> all{};
    for (std::size_t d = 0; d < 3; ++d) {
        const std::string_view word = words[static_cast<std::size_t>(at.first) + d];
        const auto value = real_of(word);
        if (!value)
            throw file_.wrong(line_at, "a number is expected")
                .given(std::string(word))
                .allowed("a finite number");
        all[d] = *value;
    }
    return all;
}

AtomRow ExtendedXyz::atom(std::string_view line, std::int64_t at) const {
    const auto words = plain_words(line);
    if (words.size() != static_cast<std::size_t>(columns_))
        throw file_.wrong(at, "this is no line of an atom")
            .given(std::string(line.substr(0, 80)))
            .allowed(fmt::format("{} words, as Properties says; {} lines; one frame", columns_, atoms_));
    AtomRow row;
    const std::string_view name = words[static_cast<std::size_t>(species_.first)];
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end())
        throw file_.wrong(at, "there is no such kind of atoms")
            .given(std::string(name))
            .allowed(fmt::format("{}", fmt::join(names_, ", ")))
            .remedy("kinds.names of the case names all species of the file");
    row.kind = static_cast<std::int32_t>(found - names_.begin());
    row.x = three(words, position_, at);
    if (has_velocities()) row.v = three(words, velocity_, at);
    if (id_.first < 0) return row;
    const std::string_view number = words[static_cast<std::size_t>(id_.first)];
    const auto id = whole_of(number);
    if (!id || *id < 0)
        throw file_.wrong(at, "the number of an atom").given(std::string(number)).allowed("0 and more");
    row.id = *id;
    return row;
}

std::int64_t ExtendedXyz::lines_before(std::int64_t at) const { return file_.count({bulk_.from, at}); }

AtomRows ExtendedXyz::piece(std::int64_t part, std::int64_t parts) const {
    AtomRows rows;
    // Most programs write lines of one length.
    bool even = atoms_ <= bulk_.size() &&
                (bulk_.size() == atoms_ * line_bytes_ || bulk_.size() == atoms_ * line_bytes_ - 1);
    std::int64_t number = -1;
    file_.lines(bulk_.share(part, parts), [&](std::string_view line, std::int64_t at) {
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) return true;
        rows.push_back(atom(line, at));
        if (id_.first >= 0) return true;
        // All lines end where they would end with one length, so they have it.
        const bool odd = even && (at - bulk_.from) % line_bytes_ != 0;
        if (odd) even = false;  // counted once: from here on they follow each other
        if (odd || number < 0) number = even ? (at - bulk_.from) / line_bytes_ : lines_before(at);
        rows.back().id = ++number;
        return true;
    });
    return rows;
}

void ExtendedXyz::explain() const {
    IdsSeen seen(file_.size());
    std::int64_t number = 0, last = bulk_.from;
    file_.lines(bulk_, [&](std::string_view line, std::int64_t at) {
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) return true;
        const AtomRow row = atom(line, at);
        last = at;
        if (++number > atoms_)
            throw file_.wrong(at, "the file has more lines than atoms")
                .given(std::string(line.substr(0, 80)))
                .allowed(fmt::format("{} lines, one frame", atoms_));
        if (id_.first >= 0 && !seen.add(row.id))
            throw file_.wrong(at, "two atoms have one number")
                .given(fmt::format("{}", row.id))
                .allowed("each number once");
        return true;
    });
    if (number != atoms_)
        throw file_.wrong(last, "the file has fewer lines than atoms")
            .given(fmt::format("{}", number))
            .allowed(fmt::format("{}", atoms_));
}

}  // namespace strata::md
