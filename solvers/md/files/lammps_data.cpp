#include "solvers/md/files/lammps_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "core/base/text.hpp"

namespace strata::md {

namespace {

constexpr const char* kSections = "Masses, Pair Coeffs, PairIJ Coeffs, Atoms, Velocities";
constexpr const char* kStyles =
    "atomic (ID KIND X Y Z), charge (ID KIND Q X Y Z), molecular (ID MOLECULE KIND X Y Z)";
constexpr std::size_t kVelocityWords = 4;  // lines of atoms have five and more

/// Words of a line of atoms, without the three numbers of images.
std::size_t words_of_style(const std::string& style) { return style == "atomic" ? 5 : 6; }

bool starts_with_letter(std::string_view line) {
    const std::size_t at = line.find_first_not_of(" \t\r");
    return at != std::string_view::npos && std::isalpha(static_cast<unsigned char>(line[at])) != 0;
}

std::string title_of(const std::vector<std::string_view>& words) {
    return fmt::format("{}", fmt::join(words, " "));
}

/// Whether the last three words may be numbers of periodic images.
bool are_images(const std::vector<std::string_view>& words) {
    return std::all_of(words.end() - 3, words.end(), [](std::string_view word) { return whole_of(word); });
}

}  // namespace

LammpsData::LammpsData(const std::filesystem::path& path, const std::string& style)
    : file_(path, "the data file"), style_(style) {
    read_head();
}

double LammpsData::number_of(std::string_view word, std::int64_t at) const {
    if (const auto value = real_of(word)) return *value;
    throw file_.wrong(at, "a number is expected").given(std::string(word)).allowed("a finite number");
}

std::int32_t LammpsData::kind_of(std::string_view word, std::int64_t at) const {
    const auto kind = whole_of(word);
    if (kind && *kind >= 1 && *kind <= kinds_) return static_cast<std::int32_t>(*kind - 1);
    throw file_.wrong(at, "there is no such kind of atoms")
        .given(std::string(word))
        .allowed(fmt::format("1 to {}", kinds_));
}

std::optional<std::string> LammpsData::section_title(std::string_view line, std::int64_t at) const {
    if (!starts_with_letter(line)) return std::nullopt;
    const std::string title = title_of(words_of(line));
    for (const char* known : {"Masses", "Pair Coeffs", "PairIJ Coeffs", "Atoms", "Velocities"})
        if (title == known) return title;
    throw file_.wrong(at, "a section that this solver does not read")
        .given(title)
        .allowed(kSections)
        .remedy(
            "bonds, angles and the like are not computed: write the file without them (LAMMPS: "
            "atom_style atomic, write_data FILE nocoeff)");
}

void LammpsData::read_head() {
    std::string section;  // "": the head
    std::int64_t last = 0;
    for (std::int64_t from = 0, next = 0; from < file_.size(); from = next) {
        next = file_.size();
        file_.lines({from, file_.size()}, [&](std::string_view line, std::int64_t at) {
            last = at;
            const std::vector<std::string_view> words = words_of(line);
            if (at == 0 || words.empty()) return true;  // the first line is a title, whatever it says
            if (const auto title = section_title(line, at)) {
                if (section.empty()) end_head(at);
                if (!sections_.insert(*title).second)
                    throw file_.wrong(at, "a section is there twice")
                        .given(*title)
                        .allowed("each section once")
                        .remedy("join the two, or take one of them out");
                section = *title;
                if (section != "Atoms" && section != "Velocities") return true;
                const std::int64_t begin = at + static_cast<std::int64_t>(line.size()) + 1;
                next = end_of(section, begin);
                (section == "Atoms" ? bulk_ : velocities_) = Bytes{begin, next};
                if (section == "Atoms") read_style(line, at);
                return false;
            }
            if (section.empty())
                read_head_line(words, at);
            else
                read_section_line(section, words, at);
            return true;
        });
    }
    if (!sections_.contains("Atoms"))
        throw file_.wrong(last, "the file has no section Atoms")
            .given(sections_.empty() ? "no section" : fmt::format("{}", fmt::join(sections_, ", ")))
            .allowed(kSections)
            .remedy("write the atoms too (LAMMPS: write_data FILE)");
}

/// What the head must have said, at the first section.
void LammpsData::end_head(std::int64_t at) {
    if (atoms_ < 0) throw file_.wrong(at, "the number of atoms is missing").allowed("a line: N atoms");
    if (kinds_ == 0) throw file_.wrong(at, "the number of kinds is missing").allowed("a line: N atom types");
    for (std::size_t d = 0; d < 3; ++d)
        if (!sized_[d])
            throw file_.wrong(at, "the box is missing")
                .allowed(fmt::format("a line: LOW HIGH {0}lo {0}hi", "xyz"[d]));
    for (const Tilt& tilt : tilts_)
        if (!is_rounding(tilt.by, {high_[0] - low_[0], high_[1] - low_[1], high_[2] - low_[2]}))
            throw file_.wrong(tilt.at, "the box is not orthogonal")
                .given(tilt.line)
                .allowed("boxes with edges along x, y and z: xlo xhi, ylo yhi, zlo zhi, and of what tilts 0")
                .remedy("an orthogonal cell of the same crystal (a multiple of its own), for instance");
    masses_.resize(static_cast<std::size_t>(kinds_));
}

/// Lines of a box that may be tilted: whether it is says end_head(), when all edges are known.
bool LammpsData::read_tilt(const std::vector<std::string_view>& words, const std::string& line,
                           std::int64_t at) {
    if (words.size() == 6 && line.ends_with(" xy xz yz")) {
        for (std::size_t k = 0; k < 3; ++k) tilts_.push_back({number_of(words[k], at), at, line});
        return true;
    }
    if (words.size() == 5 && line.ends_with(" abc origin")) {
        for (std::size_t d = 0; d < 3; ++d) {
            const double corner = number_of(words[d], at);
            high_[d] += corner - low_[d], low_[d] = corner;
        }
        return true;
    }
    for (std::size_t d = 0; d < 3; ++d) {
        if (words.size() != 4 || words[3] != std::string{"abc"[d]} + "vec") continue;
        for (std::size_t k = 0; k < 3; ++k)
            if (k != d) tilts_.push_back({number_of(words[k], at), at, line});
        const double edge = number_of(words[d], at);
        if (!(edge > 0)) throw file_.wrong(at, "the box has no width").given(line).allowed("an edge above 0");
        high_[d] = low_[d] + edge;
        return sized_[d] = true;
    }
    return false;
}

void LammpsData::read_head_line(const std::vector<std::string_view>& words, std::int64_t at) {
    const std::string line = title_of(words);
    const auto ends = [&](const std::string& what) { return line.ends_with(" " + what); };
    if (read_tilt(words, line, at)) return;
    for (std::size_t d = 0; d < 3; ++d) {
        if (!ends(fmt::format("{0}lo {0}hi", "xyz"[d]))) continue;
        low_[d] = number_of(words[0], at);
        high_[d] = words.size() == 4 ? number_of(words[1], at) : low_[d];
        sized_[d] = true;
        if (high_[d] > low_[d]) return;
        throw file_.wrong(at, "the box has no width").given(line).allowed("LOW below HIGH");
    }
    const auto count = whole_of(words[0]);
    if (!count || *count < 0 || words.size() < 2)
        throw file_.wrong(at, "this is no line of a head")
            .given(line)
            .allowed("N atoms, N atom types, LOW HIGH xlo xhi, and the sections " + std::string(kSections));
    if (line == fmt::format("{} atoms", words[0])) {
        if (*count == 0) throw file_.wrong(at, "the file has no atoms").given(line).allowed("1 and more");
        atoms_ = *count;
    } else if (ends("atom types")) {
        if (*count < 1 || *count > 10000)
            throw file_.wrong(at, "kinds of atoms").given(line).allowed("1 to 10000");
        kinds_ = static_cast<std::int32_t>(*count);
    } else if (*count != 0) {
        throw file_.wrong(at, "this solver has atoms alone")
            .given(line)
            .allowed("N atoms, N atom types; of everything else 0");
    }
}

void LammpsData::read_section_line(const std::string& title, const std::vector<std::string_view>& words,
                                   std::int64_t at) {
    const std::int32_t kind = kind_of(words[0], at);
    if (title == "Masses") {
        double& mass = masses_[static_cast<std::size_t>(kind)];
        if (mass > 0)
            throw file_.wrong(at, "a kind of atoms has two masses")
                .given(title_of(words))
                .allowed("a line for each kind");
        if (words.size() == 2) mass = number_of(words[1], at);
        if (words.size() == 2 && mass > 0) return;
        throw file_.wrong(at, "this is no line of Masses")
            .given(title_of(words))
            .allowed("KIND MASS, a positive number");
    }
    const std::size_t named = title == "Pair Coeffs" ? 1 : 2;
    if (words.size() <= named)
        throw file_.wrong(at, "this is no line of " + title).given(title_of(words)).allowed("KIND NUMBERS");
    Coefficients all{kind, named == 2 ? kind_of(words[1], at) : kind, {}};
    for (std::size_t k = named; k < words.size(); ++k) all.numbers.push_back(number_of(words[k], at));
    coefficients_.push_back(std::move(all));
}

/// Where a section of all atoms ends that begins there: at the next title, or with the file. Lines of
/// velocities have four words, those of atoms more, and all other sections are short. So the end is found by
/// halving, and no process reads all of the file.
std::int64_t LammpsData::end_of(const std::string& section, std::int64_t begin) const {
    // More bytes than any other section has: a line for each pair of kinds.
    const std::int64_t longest = 4096 + std::int64_t{100} * kinds_ * (kinds_ + 1);
    const auto within = [&](std::int64_t at) {
        bool titled = false;
        std::size_t count = 0;  // words of the last line before
        file_.lines({std::max(begin, at - longest), at}, [&](std::string_view line, std::int64_t start) {
            const auto words = words_of(line);
            if (!words.empty()) count = words.size(), titled = section_title(line, start).has_value();
            return !titled;
        });
        return !titled && (at - longest <= begin || (count == kVelocityWords) == (section == "Velocities"));
    };
    std::int64_t low = begin, end = file_.size();
    for (std::int64_t high = end; high - low > longest;) {
        const std::int64_t middle = low + (high - low) / 2;
        (within(middle) ? low : high) = middle;
    }
    file_.lines({low, end}, [&](std::string_view line, std::int64_t start) {
        if (section_title(line, start)) end = start;
        return start < end;
    });
    return end;
}

/// The style of the atoms: from the title "Atoms # charge", or where it has none from the first line.
void LammpsData::read_style(std::string_view title, std::int64_t at) {
    const std::size_t hash = title.find('#');
    const auto said =
        hash == std::string_view::npos ? std::vector<std::string_view>() : words_of(title.substr(hash + 1));
    if (!said.empty()) style_ = std::string(said[0]);
    if (style_.empty())
        file_.lines(bulk_, [&](std::string_view text, std::int64_t) {
            const auto words = words_of(text);
            if (words.size() == 5 || (words.size() == 8 && are_images(words))) style_ = "atomic";
            return words.empty();
        });
    if (style_ != "atomic" && style_ != "charge" && style_ != "molecular")
        throw file_
            .wrong(at, style_.empty() ? "the style of the atoms is not said"
                                      : "a style of atoms that this solver does not read")
            .given(style_.empty() ? std::string(title) : style_)
            .allowed(kStyles)
            .remedy(style_.empty() ? "say it in the title: Atoms # charge"
                                   : "write the file in one of these styles");
}

AtomRow LammpsData::atom(const std::vector<std::string_view>& words, std::string_view line,
                         std::int64_t at) const {
    if (starts_with_letter(line))
        throw file_.wrong(at, "a section begins within the lines of the section Atoms")
            .given(std::string(line))
            .allowed("all lines of a section together: first all atoms, then another section");
    const std::size_t count = words_of_style(style_), kind_at = style_ == "molecular" ? 2 : 1;
    if (words.size() != count && words.size() != count + 3)
        throw file_.wrong(at, fmt::format("this is no line of an atom of style {}", style_))
            .given(std::string(line))
            .allowed(std::string(kStyles) + ", and maybe three numbers of images");
    if (words.size() != count && !are_images(words))
        throw file_.wrong(at, "numbers of images are whole numbers")
            .given(fmt::format("{}", fmt::join(words.end() - 3, words.end(), " ")))
            .allowed(std::string(kStyles) + ", and maybe three whole numbers behind it");
    AtomRow row;
    const auto id = whole_of(words[0]);
    if (!id || *id < 1)
        throw file_.wrong(at, "the number of an atom").given(std::string(words[0])).allowed("1 and more");
    row.id = *id;
    row.kind = kind_of(words[kind_at], at);
    for (std::size_t d = 0; d < 3; ++d) row.x[d] = number_of(words[count - 3 + d], at);
    return row;
}

std::int64_t LammpsData::velocity_of(const std::vector<std::string_view>& words, std::string_view line,
                                     std::int64_t at) const {
    const auto id = words.size() == kVelocityWords ? whole_of(words[0]) : std::nullopt;
    if (id && *id >= 1) return *id;
    throw file_.wrong(at, "this is no line of a velocity").given(std::string(line)).allowed("ID VX VY VZ");
}

AtomRows LammpsData::piece(std::int64_t part, std::int64_t parts) const {
    AtomRows rows;
    file_.lines(bulk_.share(part, parts), [&](std::string_view line, std::int64_t at) {
        const auto words = words_of(line);
        if (!words.empty()) rows.push_back(atom(words, line, at));
        return true;
    });
    if (has_velocities() && !rows.empty()) add_velocities(rows, part, parts);
    return rows;
}

void LammpsData::add_velocities(AtomRows& rows, std::int64_t part, std::int64_t parts) const {
    std::unordered_map<std::int64_t, std::size_t> missing;
    for (std::size_t k = 0; k < rows.size(); ++k) missing.emplace(rows[k].id, k);
    const auto take = [&](const Bytes& range) {
        file_.lines(range, [&](std::string_view line, std::int64_t at) {
            const auto words = words_of(line);
            if (words.empty()) return true;
            const auto found = missing.find(velocity_of(words, line, at));
            if (found == missing.end()) return true;
            for (std::size_t d = 0; d < 3; ++d) rows[found->second].v[d] = number_of(words[1 + d], at);
            missing.erase(found);
            return !missing.empty();
        });
    };
    const Bytes first = velocities_.share(part, parts);
    take(first);
    // Around it, each time twice as far.
    Bytes seen = first;
    for (std::int64_t wider = std::max<std::int64_t>(first.size() / 16, 4096);
         !missing.empty() && (seen.from > velocities_.from || seen.to < velocities_.to); wider *= 2) {
        const Bytes next{std::max(velocities_.from, seen.from - wider),
                         std::min(velocities_.to, seen.to + wider)};
        take({next.from, seen.from});
        if (!missing.empty()) take({seen.to, next.to});
        seen = next;
    }
    if (missing.empty()) return;
    std::int64_t least = missing.begin()->first;
    for (const auto& [id, at] : missing) least = std::min(least, id);
    throw file_.wrong(velocities_.from, "an atom has no velocity")
        .given(fmt::format("atom {} in the section Atoms alone", least))
        .allowed("a line for each atom, or no section Velocities");
}

std::int64_t LammpsData::velocity_lines(std::int64_t part, std::int64_t parts) const {
    std::int64_t count = 0;
    file_.lines(velocities_.share(part, parts),
                [&](std::string_view line, std::int64_t) { return count += !words_of(line).empty(), true; });
    return count;
}

void LammpsData::explain() const {
    IdsSeen seen(file_.size());
    std::int64_t last = bulk_.from;
    file_.lines(bulk_, [&](std::string_view line, std::int64_t at) {
        const auto words = words_of(line);
        if (words.empty()) return true;
        const AtomRow row = atom(words, line, at);
        if (!seen.add(row.id))
            throw file_.wrong(at, "two atoms have one number")
                .given(fmt::format("{}", row.id))
                .allowed("each number once");
        last = at;
        return true;
    });
    if (seen.count() != atoms_)
        throw file_.wrong(last, "the section Atoms has another number of lines than the head says")
            .given(fmt::format("{}", seen.count()))
            .allowed(fmt::format("{}", atoms_));
    IdsSeen moving(file_.size());
    file_.lines(velocities_, [&](std::string_view line, std::int64_t at) {
        const auto words = words_of(line);
        const std::int64_t id = words.empty() ? 0 : velocity_of(words, line, at);
        if (!words.empty() && seen.add(id))
            throw file_.wrong(at, "a velocity of an atom that is not in the section Atoms")
                .given(std::string(line))
                .allowed("a line for each atom");
        if (!words.empty() && !moving.add(id))
            throw file_.wrong(at, "an atom has two velocities")
                .given(std::string(line))
                .allowed("a line for each atom");
        return true;
    });
}

}  // namespace strata::md
