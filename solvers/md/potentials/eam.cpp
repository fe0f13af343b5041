#include "solvers/md/potentials/eam.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/base/text.hpp"
#include "core/base/text_file.hpp"

namespace strata::md {

namespace {

constexpr std::size_t kFewest = 5;       // knots
constexpr std::int64_t kMost = 1 << 18;  // of one function: a knot takes 32 bytes, and may be 2 of the file

/// Of the polynomial through the nearest knots, in units of the step.
std::vector<double> slopes_of(const std::vector<double>& y) {
    const std::size_t n = y.size();
    std::vector<double> slopes(n);
    for (std::size_t k = 2; k + 2 < n; ++k)
        slopes[k] = ((y[k - 2] - y[k + 2]) + 8 * (y[k + 1] - y[k - 1])) / 12;
    slopes[0] = y[1] - y[0];
    slopes[1] = (y[2] - y[0]) / 2;
    slopes[n - 2] = (y[n - 1] - y[n - 3]) / 2;
    slopes[n - 1] = y[n - 1] - y[n - 2];
    return slopes;
}

}  // namespace

KnotFunction::KnotFunction(const std::vector<double>& values, double step)
    : step_(step), per_step_(1 / step) {
    const std::vector<double> m = slopes_of(values);
    for (std::size_t k = 0; k + 1 < values.size(); ++k) {
        const double change = values[k + 1] - values[k];
        pieces_.push_back({values[k], m[k], 3 * change - 2 * m[k] - m[k + 1], m[k] + m[k + 1] - 2 * change});
    }
}

namespace {

/// A setfl file (LAMMPS's eam/alloy), part after part.
struct Setfl {
    explicit Setfl(const std::filesystem::path& path) : file(path, "the potential") {}

    TextFile file;
    std::vector<std::string> names;  // of its elements
    std::size_t n_rho = 0, n_r = 0;  // knots of functions of the density, and of the distance
    double d_rho = 0, dr = 0, cutoff = 0;

    void read_names();
    [[nodiscard]] std::size_t number_of(const std::string& element) const;
    void read_sizes();
    /// Of the element that begins here.
    [[nodiscard]] double read_mass(const std::string& element);
    /// What the case does not name is read, and not kept.
    [[nodiscard]] KnotFunction read_function(bool kept, std::size_t n, double step, const std::string& what) {
        const std::vector<double> values = file.numbers(n, what);
        return kept ? KnotFunction(values, step) : KnotFunction();
    }
    void expect_end();
};

void Setfl::read_names() {
    for (int comment = 0; comment < 3; ++comment)
        if (!file.next())
            throw file.wrong("a setfl file begins with three lines of comments")
                .given("the end of the file")
                .allowed("LAMMPS's pair_style eam/alloy: comments, elements, sizes of tables, tables");
    file.need_words("the number of elements, and their names");
    if (!whole_of(file.words()[0]))
        throw file.wrong("the fourth line says how many elements there are, and their names")
            .given(std::string(file.line()))
            .allowed("2 Cu Ni, for instance: a setfl file (LAMMPS's pair_style eam/alloy)")
            .remedy(
                "a file of one element that has its mass in the second line is in the form funcfl "
                "(pair_style "
                "eam): write it as setfl");
    const auto count = static_cast<std::size_t>(file.whole(0, 1, 1000, "the number of elements"));
    for (std::size_t k = 1; k < file.words().size(); ++k) names.emplace_back(file.words()[k]);
    if (names.size() != count)
        throw file.wrong("the line says how many elements there are, and their names")
            .given(std::string(file.line()))
            .allowed(fmt::format("{} names", count));
}

std::size_t Setfl::number_of(const std::string& element) const {
    const auto at = std::find(names.begin(), names.end(), element);
    if (at == names.end())
        throw file.wrong("the potential has no such element")
            .given(element)
            .allowed(fmt::format("{}", fmt::join(names, ", ")))
            .remedy("kinds.names of the case are elements of this file");
    return static_cast<std::size_t>(at - names.begin());
}

void Setfl::read_sizes() {
    const std::string sizes = "Nrho drho Nr dr cutoff";
    file.need_words(sizes);
    n_rho = static_cast<std::size_t>(file.whole(0, kFewest, kMost, "Nrho of " + sizes));
    n_r = static_cast<std::size_t>(file.whole(2, kFewest, kMost, "Nr of " + sizes));
    d_rho = file.real(1, sizes), dr = file.real(3, sizes);
    cutoff = file.real(4, sizes);
    const bool small = !std::isfinite(1 / d_rho) || !std::isfinite(1 / dr);  // a step that cannot divide
    if (!(d_rho > 0 && dr > 0 && cutoff > 0) || small)
        throw file.wrong("steps and cutoff must be positive").given(std::string(file.line())).allowed(sizes);
    if (cutoff > static_cast<double>(n_r) * dr * (1 + 1e-9))
        throw file.wrong("the cutoff lies beyond the table")
            .given(fmt::format("{}", cutoff))
            .allowed(fmt::format("up to Nr dr = {}", static_cast<double>(n_r) * dr));
}

double Setfl::read_mass(const std::string& element) {
    const std::string form = "atomic number, mass, lattice constant and lattice of " + element;
    file.need_words(form);
    if (!whole_of(file.words()[0]) || file.words().size() < 2)
        throw file.wrong("here an element begins, by its number and mass")
            .given(std::string(file.line()))
            .allowed(form)
            .remedy(fmt::format("is this a file of pair_style eam/fs, with a density for each pair? This is "
                                "read: F ({} numbers) and f ({}) of each element, then r phi of each pair "
                                "(eam/alloy)",
                                n_rho, n_r));
    const double mass = file.real(1, "the mass of " + element);
    if (!(mass > 0))
        throw file.wrong("a mass must be positive").given(std::string(file.words()[1])).allowed(form);
    return mass;
}

void Setfl::expect_end() {
    if (file.next_words())
        throw file.wrong("the file goes on after its last table")
            .given(std::string(file.line()))
            .allowed(
                "Nrho and Nr of line 5 as the tables have them; of eam/adp, eam/fs and other forms with more "
                "tables none")
            .remedy("pair.form = \"eam\" reads setfl files (LAMMPS's pair_style eam/alloy)");
}

}  // namespace

Eam Eam::read(const std::filesystem::path& setfl, const std::vector<std::string>& elements) {
    Setfl file(setfl);
    file.read_names();
    const std::vector<std::string>& names = file.names;
    Eam eam;
    for (const std::string& element : elements) eam.elements_.push_back(file.number_of(element));
    file.read_sizes();
    eam.cutoff_ = file.cutoff;

    std::vector<char> used(names.size());
    for (const std::size_t e : eam.elements_) used[e] = 1;
    std::vector<double> masses;
    std::vector<KnotFunction> densities, pairs;  // the latter in rows of the lower triangle
    for (std::size_t e = 0; e < names.size(); ++e) {
        const bool kept = used[e] != 0;
        masses.push_back(file.read_mass(names[e]));
        eam.embeddings_.push_back(
            file.read_function(kept, file.n_rho, file.d_rho, "the embedding energy of " + names[e]));
        densities.push_back(file.read_function(kept, file.n_r, file.dr, "the density of " + names[e]));
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j)
            pairs.push_back(file.read_function(used[i] != 0 && used[j] != 0, file.n_r, file.dr,
                                               fmt::format("r phi of {} and {}", names[i], names[j])));
    file.expect_end();
    eam.rows_ = static_cast<std::int64_t>(file.n_r) - 1, eam.per_step_ = 1 / file.dr;
    for (const std::size_t a : eam.elements_) {
        eam.masses_.push_back(masses[a]);
        densities[a].add_rows(eam.density_rows_);
        for (const std::size_t b : eam.elements_) {
            const auto [j, i] = std::minmax(a, b);
            pairs[i * (i + 1) / 2 + j].add_rows(eam.pair_rows_);
        }
    }
    return eam;
}

KnotFunction::Value Eam::embedding(std::int32_t kind, double rho) const {
    const KnotFunction& f = embeddings_[elements_[static_cast<std::size_t>(kind)]];
    KnotFunction::Value value = f(rho);
    if (rho > f.end()) value.y += value.slope * (rho - f.end());
    return value;
}

}  // namespace strata::md
