#include "solvers/md/files/lammps_data.hpp"

#include <fmt/format.h>

#include <cctype>
#include <unordered_map>

#include "solvers/md/files/text.hpp"

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
    std::string section;
    std::int64_t last = 0;
    bool title = true;  // of the file: its first line
    file_.lines({0, file_.size()}, [&](std::string_view line, std::int64_t at) {
        last = at;
        if (title) return title = false, true;
        const std::vector<std::string_view> words = words_of(line);
        if (words.empty()) return true;
        if (const auto next = section_title(line, at)) {
            if (atoms_ < 0)
                throw file_.wrong(at, "the number of atoms is missing").allowed("a line: N atoms");
            if (kinds_ == 0)
                throw file_.wrong(at, "the number of kinds is missing").allowed("a line: N atom types");
            for (std::size_t d = 0; d < 3; ++d)
                if (!sized_[d])
                    throw file_.wrong(at, "the box is missing")
                        .allowed(fmt::format("a line: LOW HIGH {0}lo {0}hi", "xyz"[d]));
            masses_.resize(static_cast<std::size_t>(kinds_));
            section = *next;
            if (section != "Atoms" && section != "Velocities") return true;
            begin_bulk(section, line, at, at + static_cast<std::int64_t>(line.size()) + 1);
            return false;
        }
        if (section.empty())
            read_head_line(words, at);
        else
            read_section_line(section, words, at);
        return true;
    });
    if (bulk_.size() <= 0) throw file_.wrong(last, "the file has no section Atoms").allowed(kSections);
}

void LammpsData::read_head_line(const std::vector<std::string_view>& words, std::int64_t at) {
    const std::string line = title_of(words);
    const auto ends = [&](const std::string& what) { return line.ends_with(" " + what); };
    if (ends("xy xz yz") || ends("avec") || ends("bvec") || ends("cvec") || ends("abc origin"))
        throw file_.wrong(at, "the box is not orthogonal")
            .given(line)
            .allowed("xlo xhi, ylo yhi, zlo zhi alone: boxes with edges along x, y and z");
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

/// The sections Atoms and Velocities are the rest of the file, in either order.
void LammpsData::begin_bulk(const std::string& title, std::string_view line, std::int64_t at,
                            std::int64_t next) {
    Bytes first{next, file_.size()}, second{};
    const bool velocities_first = title == "Velocities";
    // Lines of velocities have four words, those of atoms more: so the title between them is found by
    // halving, and no process reads all of the file.
    std::int64_t low = first.from, high = first.to;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (is_velocity(middle) == velocities_first ? low : high) = middle;
    }
    const Bytes around{std::max(first.from, low - 400), first.to};
    std::string style_line = velocities_first ? "" : std::string(line);
    std::int64_t style_at = at;
    int looked = 0;
    file_.lines(around, [&](std::string_view text, std::int64_t start) {
        if (const auto other = section_title(text, start)) {
            if (*other == title || (*other != "Atoms" && *other != "Velocities"))
                throw file_.wrong(start, "a section at the wrong place")
                    .given(*other)
                    .allowed(velocities_first ? "Atoms" : "Velocities, or the end of the file");
            first.to = start;
            second = {start + static_cast<std::int64_t>(text.size()) + 1, file_.size()};
            if (*other == "Atoms") style_line = text, style_at = start;
            return false;
        }
        return start <= high || ++looked < 8;
    });
    bulk_ = velocities_first ? second : first;
    velocities_ = velocities_first ? first : second;
    const std::size_t hash = style_line.find('#');
    if (hash != std::string::npos) {
        const auto words = words_of(std::string_view(style_line).substr(hash + 1));
        if (!words.empty()) style_ = std::string(words[0]);
    }
    if (style_.empty())
        file_.lines(bulk_, [&](std::string_view text, std::int64_t) {
            const std::size_t count = words_of(text).size();
            if (count == 5 || count == 8) style_ = "atomic";
            return count == 0;
        });
    if (style_ != "atomic" && style_ != "charge" && style_ != "molecular")
        throw file_
            .wrong(style_at, style_.empty() ? "the style of the atoms is not said"
                                            : "a style of atoms that this solver does not read")
            .given(style_.empty() ? style_line : style_)
            .allowed(kStyles)
            .remedy("say it in the title: Atoms # charge");
}

/// Whether the next line of numbers after a place is one of Velocities.
bool LammpsData::is_velocity(std::int64_t at) const {
    std::optional<bool> found;
    file_.lines({at, file_.size()}, [&](std::string_view line, std::int64_t start) {
        const auto words = words_of(line);
        if (words.empty()) return true;
        if (starts_with_letter(line)) {
            const auto title = section_title(line, start);
            found = *title == "Velocities";
        } else {
            found = words.size() == kVelocityWords;
        }
        return false;
    });
    // At the end of the file: whatever is last there.
    if (!found) {
        file_.lines({std::max<std::int64_t>(0, file_.size() - 4096), file_.size()},
                    [&](std::string_view line, std::int64_t) {
                        const auto words = words_of(line);
                        if (!words.empty()) found = words.size() == kVelocityWords;
                        return true;
                    });
    }
    return found.value_or(false);
}

AtomRow LammpsData::atom(std::string_view line, std::int64_t at) const {
    const auto words = words_of(line);
    const std::size_t count = words_of_style(style_), kind_at = style_ == "molecular" ? 2 : 1;
    if (words.size() != count && words.size() != count + 3)
        throw file_.wrong(at, fmt::format("this is no line of an atom of style {}", style_))
            .given(std::string(line))
            .allowed(std::string(kStyles) + ", and maybe three numbers of images");
    AtomRow row;
    const auto id = whole_of(words[0]);
    if (!id || *id < 1)
        throw file_.wrong(at, "the number of an atom").given(std::string(words[0])).allowed("1 and more");
    row.id = *id;
    row.kind = kind_of(words[kind_at], at);
    for (std::size_t d = 0; d < 3; ++d) row.x[d] = number_of(words[count - 3 + d], at);
    return row;
}

AtomRows LammpsData::piece(std::int64_t part, std::int64_t parts) const {
    AtomRows rows;
    file_.lines(bulk_.share(part, parts), [&](std::string_view line, std::int64_t at) {
        if (starts_with_letter(line)) explain();  // the first line that is wrong is before this one
        if (line.find_first_not_of(" \t\r") != std::string_view::npos) rows.push_back(atom(line, at));
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
            const auto id = words.size() == kVelocityWords ? whole_of(words[0]) : std::nullopt;
            if (!id)
                throw file_.wrong(at, "this is no line of a velocity")
                    .given(std::string(line))
                    .allowed("ID VX VY VZ");
            const auto found = missing.find(*id);
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

void LammpsData::explain() const {
    IdsSeen seen(file_.size());
    std::int64_t last = bulk_.from;
    file_.lines(bulk_, [&](std::string_view line, std::int64_t at) {
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) return true;
        const AtomRow row = atom(line, at);
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
}

}  // namespace strata::md
