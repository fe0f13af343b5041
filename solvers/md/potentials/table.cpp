#include "solvers/md/potentials/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/text.hpp"
#include "core/base/text_file.hpp"
#include "solvers/md/potentials/cubic_spline.hpp"
#include "solvers/md/potentials/visit.hpp"

namespace strata::md {

namespace {

/// What a section of the file has.
struct Section {
    std::vector<double> r, energy, force;
    std::optional<double> first_slope, last_slope;  // of the force
};

/// The line "N 500 R 1.0 8.0 FPRIME 3 0": how many lines follow, and how their distances are spaced.
struct Parameters {
    std::int64_t count = 0;
    bool in_r = false, in_square = false;
    double lo = 0, hi = 0;

    /// The distance of line k.
    [[nodiscard]] double distance(std::int64_t k, double in_line) const {
        const double share = static_cast<double>(k) / static_cast<double>(count - 1);
        if (in_r) return lo + (hi - lo) * share;
        if (in_square) return std::sqrt(lo * lo + (hi * hi - lo * lo) * share);
        return in_line;
    }
};

Parameters read_parameters(TextFile& file, Section& section) {
    const std::string form = "N COUNT, and R LO HI or RSQ LO HI, and FPRIME FIRST LAST";
    Parameters p;
    for (std::size_t k = 0; k < file.words().size();) {
        const std::string_view word = file.words()[k];
        if (word == "N") {
            p.count = file.whole(k + 1, 2, 1 << 24, form);
            k += 2;
        } else if (word == "R" || word == "RSQ") {
            (word == "R" ? p.in_r : p.in_square) = true;
            p.lo = file.real(k + 1, form);
            p.hi = file.real(k + 2, form);
            if (!(p.lo > 0 && p.hi > p.lo))
                throw file.wrong("the distances of a table rise and are positive")
                    .given(std::string(file.line()))
                    .allowed("0 < LO < HI");
            k += 3;
        } else if (word == "FPRIME") {
            section.first_slope = file.real(k + 1, form);
            section.last_slope = file.real(k + 2, form);
            k += 3;
        } else {
            throw file.wrong("a parameter of a table that is not known")
                .given(std::string(word))
                .allowed(form);
        }
    }
    if (p.count == 0) throw file.wrong("the number of lines is missing").allowed(form);
    return p;
}

/// Goes to the line with the section's name; those of others are passed over, line by line.
void find_section(TextFile& file, const std::string& name) {
    std::vector<std::string> others;
    while (file.next_words()) {
        if (file.words()[0] == name) return;
        if (file.words().size() == 1) others.emplace_back(file.words()[0]);
    }
    throw file.wrong("the file has no section of this name")
        .given(name)
        .allowed(fmt::format("{}", fmt::join(others, ", ")));
}

Section read_section(const std::filesystem::path& path, const std::string& name) {
    TextFile file(path, "the table");
    find_section(file, name);
    file.need_words("the parameters of the section " + name);
    Section section;
    const Parameters p = read_parameters(file, section);
    for (std::int64_t k = 0; k < p.count; ++k) {
        const std::string form = fmt::format("line {} of {}: NUMBER DISTANCE ENERGY FORCE", k + 1, p.count);
        file.need_words(form);
        if (file.words().size() != 4)
            throw file.wrong("this is not a line of a table").given(std::string(file.line())).allowed(form);
        const double given = file.real(1, form), r = p.distance(k, given);
        if (!(r > 0) || (!section.r.empty() && r <= section.r.back()))
            throw file.wrong("the distances of a table rise and are positive")
                .given(std::string(file.words()[1]))
                .allowed(fmt::format("above {}", section.r.empty() ? 0 : section.r.back()));
        if (std::abs(given - r) > 1e-3 * r)
            throw file.wrong("the distance is another one than R or RSQ says")
                .given(std::string(file.words()[1]))
                .allowed(fmt::format("about {}", r));
        section.r.push_back(r);
        section.energy.push_back(file.real(2, form));
        section.force.push_back(file.real(3, form));
    }
    if (file.next_words() && whole_of(file.words()[0]))
        throw file.wrong(fmt::format("the section {} goes on after its last line", name))
            .given(std::string(file.line()))
            .allowed(fmt::format("{} lines, as its N says", p.count));
    return section;
}

/// Values of the splines through the file's points.
class FileSplines {
  public:
    explicit FileSplines(const Section& s) : s_(s) {
        const std::size_t n = s.r.size();
        first = s.first_slope.value_or((s.force[1] - s.force[0]) / (s.r[1] - s.r[0]));
        last = s.last_slope.value_or((s.force[n - 1] - s.force[n - 2]) / (s.r[n - 1] - s.r[n - 2]));
        energy_bends_ = spline_bends(s.r, s.energy, -s.force.front(), -s.force.back());
        force_bends_ = spline_bends(s.r, s.force, first, last);
    }
    double first, last;  // slopes of the force

    [[nodiscard]] std::pair<double, double> at(double r) const {
        const auto above = std::upper_bound(s_.r.begin() + 1, s_.r.end() - 1, r);
        const auto k = static_cast<std::size_t>(above - s_.r.begin());
        const double h = s_.r[k] - s_.r[k - 1], t = (r - s_.r[k - 1]) / h;
        return {spline_value(t, h, s_.energy[k - 1], s_.energy[k], energy_bends_[k - 1], energy_bends_[k]),
                spline_value(t, h, s_.force[k - 1], s_.force[k], force_bends_[k - 1], force_bends_[k])};
    }

  private:
    const Section& s_;
    std::vector<double> energy_bends_, force_bends_;
};

}  // namespace

PairFunction PairFunction::read(const std::filesystem::path& file, const std::string& name,
                                Interpolation interpolation, std::int64_t points, double cutoff) {
    const Section section = read_section(file, name);
    const auto last = section.r.back();
    if (points < 2)
        throw Error("a table needs points").given(fmt::format("{}", points)).allowed("2 and more");
    if (cutoff > last * (1 + 1e-12) || (cutoff > 0 && cutoff <= section.r.front()))
        throw Error(fmt::format("the table '{}' does not reach to the cutoff", name))
            .at(file.string())
            .given(fmt::format("{}", cutoff))
            .allowed(fmt::format("above {}, up to {}", section.r.front(), last));
    PairFunction made;
    made.least_ = section.r.front();
    made.cutoff_ = cutoff > 0 ? std::min(cutoff, last) : last;
    made.from_ = made.least_ * made.least_;
    made.step_ = (made.cutoff_ * made.cutoff_ - made.from_) / static_cast<double>(points - 1);
    const FileSplines splines(section);
    std::vector<double> square, energy, force;
    for (std::int64_t k = 0; k < points; ++k) {
        square.push_back(made.from_ + static_cast<double>(k) * made.step_);
        const double r = std::sqrt(square.back());
        const auto [e, f] = splines.at(r);
        energy.push_back(e);
        force.push_back(f / r);
    }
    std::vector<double> energy_bends(square.size()), force_bends(square.size());
    if (interpolation == Interpolation::spline) {
        // d/d(r^2) = 1/(2 r) d/dr
        const auto slope = [](double of_force, double force_over_r, double at) {
            return (of_force - force_over_r) / (2 * at);
        };
        const double inner = made.from_, outer = square.back();
        // A cutoff within the table ends where the slope of the file's spline is not kept: a difference.
        const auto [e, f] = splines.at(std::sqrt(outer));
        const double h = 1e-4 * (std::sqrt(outer) - made.least_);
        const double last_slope =
            cutoff > 0 && cutoff < last ? (f - splines.at(std::sqrt(outer) - h).second) / h : splines.last;
        energy_bends = spline_bends(square, energy, -force.front() / 2, -force.back() / 2);
        force_bends = spline_bends(square, force, slope(splines.first, force.front(), inner),
                                   slope(last_slope, force.back(), outer));
    }
    for (std::size_t k = 0; k < square.size(); ++k)
        made.knots_.push_back({energy[k], force[k], energy_bends[k], force_bends[k]});
    return made;
}

PairFunction::Value PairFunction::operator()(double square) const {
    const double place = (square - from_) / step_;
    const auto k = std::clamp<std::int64_t>(static_cast<std::int64_t>(place), 0,
                                            static_cast<std::int64_t>(knots_.size()) - 2);
    const double t = place - static_cast<double>(k);
    const Knot &a = knots_[static_cast<std::size_t>(k)], &b = knots_[static_cast<std::size_t>(k) + 1];
    return {spline_value(t, step_, a.energy, b.energy, a.energy_bend, b.energy_bend),
            spline_value(t, step_, a.force, b.force, a.force_bend, b.force_bend)};
}

Sums add_table_forces(const Pairs& pairs, const Sight& sight, int species,
                      std::span<const PairFunction> functions, double* const f[3]) {
    double reach = 0;
    for (const PairFunction& function : functions) reach = std::max(reach, function.cutoff());
    Sums sums;
    visit(pairs, sight, reach, [&](const NearPair& pair) {
        const PairFunction& function = functions[static_cast<std::size_t>(pair.a * species + pair.b)];
        if (pair.square >= function.cutoff() * function.cutoff()) return;
        if (pair.square < function.least() * function.least())
            throw Error("two atoms are closer to each other than their table begins", kFailure)
                .given(fmt::format("{}", std::sqrt(pair.square)))
                .allowed(fmt::format("{} and more", function.least()))
                .remedy("a shorter time step, other first positions, or a table that begins nearer");
        const PairFunction::Value value = function(pair.square);
        sums.energy += value.energy;
        pair.pull(value.force_over_r, f, sums);
    });
    return sums;
}

}  // namespace strata::md
