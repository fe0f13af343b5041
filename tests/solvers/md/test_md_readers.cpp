// LAMMPS's data files and extended XYZ, read in pieces: any number of pieces has the same atoms; what is
// wrong with a file is said with its line.
#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "solvers/md/files/extended_xyz.hpp"
#include "solvers/md/files/lammps_data.hpp"
#include "solvers/md/files/said_units.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::md;
using namespace strata::tests;
namespace fs = std::filesystem;

namespace {

const fs::path kAlloy = fs::path(FIXTURES) / "alloy.data";

template <class File>
std::map<std::int64_t, AtomRow> all_of(const File& file, std::int64_t parts) {
    std::map<std::int64_t, AtomRow> all;
    std::int64_t count = 0;
    for (std::int64_t part = 0; part < parts; ++part)
        for (const AtomRow& row : file.piece(part, parts)) all[row.id] = row, ++count;
    CHECK(count == file.atoms());
    CHECK(std::int64_t(all.size()) == file.atoms());
    return all;
}

/// What a file has of an atom, word for word.
std::vector<std::string> line_of(const fs::path& file, const std::string& section, const std::string& id) {
    std::ifstream in(file);
    std::string line;
    while (std::getline(in, line) && !line.starts_with(section)) {
    }
    while (std::getline(in, line))
        if (line.starts_with(id + " ")) {
            std::vector<std::string> words(1);
            for (const char c : line)
                if (c == ' ')
                    words.emplace_back();
                else
                    words.back() += c;
            return words;
        }
    return {};
}

bool same(const AtomRow& a, const AtomRow& b) {
    return a.id == b.id && a.kind == b.kind && a.x == b.x && a.v == b.v;
}

std::string head(const std::string& body, const std::string& more = "") {
    return "title\n\n3 atoms\n2 atom types\n" + more + "0 4 xlo xhi\n-1 4 ylo yhi\n0 5e0 zlo zhi\n\n" + body;
}

const std::string kAtoms = "Atoms # atomic\n\n2 1 1 1 1\n1 2 2 2 2\n3 1 3 3 3 0 -1 0\n";

void refused(const std::string& text, const std::string& what, int line, std::int64_t parts = 2) {
    const TemporaryFolder folder;
    const fs::path path = folder.write("a.data", text);
    const std::string error = refusal([&] {
        const LammpsData file(path);
        std::int64_t count = 0;
        for (std::int64_t part = 0; part < parts; ++part)
            count += std::int64_t(file.piece(part, parts).size());
        if (count != file.atoms()) file.explain();
    });
    INFO(error);
    CHECK(has(error, what));
    CHECK(has(error, fmt::format("{}:{}", path.string(), line)));
}

}  // namespace

TEST_CASE("a file that LAMMPS wrote has the same atoms in any number of pieces", "[lammps]") {
    const LammpsData file(kAlloy);
    CHECK(file.atoms() == 256);
    CHECK(file.kinds() == 2);
    CHECK(file.high() == std::array<double, 3>{16, 16, 16});
    CHECK(file.masses() == std::vector<double>{30, 50});
    CHECK(file.style() == "atomic");
    const auto whole = all_of(file, 1);
    for (const std::int64_t parts : {2, 3, 7, 64, 1000}) {
        const auto pieces = all_of(file, parts);
        CHECK(std::equal(whole.begin(), whole.end(), pieces.begin(),
                         [](const auto& a, const auto& b) { return same(a.second, b.second); }));
    }
    for (const std::int64_t id : {1, 77, 256}) {
        const auto atom = line_of(kAlloy, "Atoms", std::to_string(id)),
                   velocity = line_of(kAlloy, "Velocities", std::to_string(id));
        CHECK(whole.at(id).kind == std::stoi(atom[1]) - 1);
        for (std::size_t d = 0; d < 3; ++d) {
            CHECK(whole.at(id).x[d] == std::stod(atom[2 + d]));
            CHECK(whole.at(id).v[d] == std::stod(velocity[1 + d]));
        }
    }
}

TEST_CASE("velocities are found in any order, before the atoms too", "[lammps]") {
    const LammpsData file(kAlloy);
    const auto whole = all_of(file, 1);
    std::string atoms = "Atoms # atomic\n\n", velocities = "Velocities\n\n";
    for (const auto& [id, row] : whole)
        atoms += fmt::format("{} {} {} {} {}\n", id, row.kind + 1, row.x[0], row.x[1], row.x[2]);
    for (auto it = whole.rbegin(); it != whole.rend(); ++it)
        velocities +=
            fmt::format("{} {} {} {}\n", it->first, it->second.v[0], it->second.v[1], it->second.v[2]);
    const std::string top = "title\n\n256 atoms\n2 atom types\n0 16 xlo xhi\n0 16 ylo yhi\n0 16 zlo zhi\n\n";
    const TemporaryFolder folder;
    for (const std::string& text : {top + atoms + "\n" + velocities, top + velocities + "\n\n" + atoms}) {
        const LammpsData other(folder.write("other.data", text));
        CHECK(other.has_velocities());
        for (const std::int64_t parts : {1, 5}) {
            const auto pieces = all_of(other, parts);
            for (const auto& [id, row] : whole) REQUIRE(same(pieces.at(id), row));
        }
    }
}

TEST_CASE("sections may be in any order, however long they are", "[lammps]") {
    constexpr int kFew = 5, kMany = 4000;
    const TemporaryFolder folder;
    for (const int count : {kFew, kMany}) {
        std::string atoms = "Atoms # atomic\n\n", velocities = "Velocities\n\n";
        for (int id = 1; id <= count; ++id) {
            atoms += fmt::format("{} {} {} {} 3.5 0 -1 0\n", id, 1 + id % 2, 0.001 * id, 0.5);
            velocities += fmt::format("{} {} 0.25 -1e-3\n", id, 0.5 * id);
        }
        // Lines of the short ones have as many words as one of a velocity, or of an atom.
        std::vector<std::string> sections{"Masses\n\n1 30 # light\n2 50\n",
                                          "PairIJ Coeffs # lj/cut\n\n1 1 1 1 2\n1 2 3 1 2\n2 2 2 2 2\n",
                                          "Pair Coeffs\n\n1 1 1 2\n2 0.5 1.2 2\n", atoms, velocities};
        std::sort(sections.begin(), sections.end());
        do {
            std::string text = fmt::format(
                "title\n\n{} atoms\n2 atom types\n0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\n\n", count);
            for (const std::string& section : sections) text += section + "\n";
            const LammpsData file(folder.write("a.data", text));
            REQUIRE(file.masses() == std::vector<double>{30, 50});
            REQUIRE(file.coefficients().size() == 5);
            REQUIRE(file.has_velocities());
            const auto all = all_of(file, count == kFew ? 2 : 7);
            const AtomRow& last = all.at(count);
            REQUIRE(last.kind == count % 2);
            REQUIRE(last.x == std::array<double, 3>{0.001 * count, 0.5, 3.5});
            REQUIRE(all.at(2).v == std::array<double, 3>{1, 0.25, -1e-3});
            REQUIRE(file.velocity_lines(0, 1) == count);
            CHECK_NOTHROW(file.explain());
        } while (std::next_permutation(sections.begin(), sections.end()));
    }
}

TEST_CASE("boxes that are orthogonal but for rounding are orthogonal", "[lammps]") {
    const TemporaryFolder folder;
    const std::array<double, 3> low{0, -1, 0}, high{4, 4, 5};
    for (const char* tilt :
         {"0 0 0 xy xz yz\n", "0.0 -0.0 0e0 xy xz yz\n", "1e-17 -3e-16 2e-10 xy xz yz\n"}) {
        const LammpsData file(folder.write("a.data", head(kAtoms, tilt)));
        CHECK(file.low() == low);
        CHECK(file.high() == high);
    }
    const std::string top = "title\n\n3 atoms\n2 atom types\n",
                      edges = "4 0 0 avec\n1e-16 5 0 bvec\n0 0 5 cvec\n";
    for (const std::string& box : {edges + "0 -1 0 abc origin\n", "0 -1 0 abc origin\n" + edges}) {
        const LammpsData file(folder.write("b.data", top + box + "\n" + kAtoms));
        CHECK(file.low() == low);
        CHECK(file.high() == high);
    }
    refused(head(kAtoms, "1e-7 0 0 xy xz yz\n"), "not orthogonal", 5);
    refused(top + "4 0 0 avec\n0.1 5 0 bvec\n0 0 5 cvec\n\n" + kAtoms, "not orthogonal", 6);
    const std::string two = "Cu 1 1 1\nCu 2 2 2\n";
    const ExtendedXyz file(folder.write("a.xyz", "2\nLattice=\"9 1e-17 0 -5.5e-16 8 0 4.9e-16 0 7\"\n" + two),
                           {"Cu"});
    CHECK(file.high() == std::array<double, 3>{9, 8, 7});
    CHECK(has(refusal([&] {
                  ExtendedXyz(folder.write("a.xyz", "2\nLattice=\"9 1e-7 0 0 8 0 0 0 7\"\n" + two), {"Cu"});
              }),
              "not orthogonal"));
}

TEST_CASE("a file says its units where LAMMPS does", "[lammps]") {
    const TemporaryFolder folder;
    const auto said = [&](const std::string& text) { return said_units(folder.write("a", text)); };
    CHECK(said_units(kAlloy) == "metal");
    CHECK(said("DATE: 2007-06-11 UNITS: real CONTRIBUTOR: x\n") == "real");
    CHECK(said("Cu\nfrom a book\nunits lj\n29 63\n") == "lj");
    CHECK(said("a table of units\n").empty());
    CHECK(said("1\n2\n3\nunits = metal\n").empty());
    CHECK(said("").empty());
}

TEST_CASE("styles of atoms, pair coefficients and comments", "[lammps]") {
    const TemporaryFolder folder;
    const std::string coefficients =
        "Masses\n\n1 2.5 # light\n2 7\n\nPair Coeffs # lj/cut\n\n1 1 1\n2 0.5 1.2 3\n\n";
    const LammpsData charged(folder.write(
        "a.data", head(coefficients + "Atoms # charge\n\n1 1 -0.5 1 1 1 # x\n\n2 2 0 2 2 2\n3 1 0 3 3 3")));
    CHECK(charged.masses() == std::vector<double>{2.5, 7});
    REQUIRE(charged.coefficients().size() == 2);
    CHECK(charged.coefficients()[1].numbers == std::vector<double>{0.5, 1.2, 3});
    CHECK(charged.low()[1] == -1);
    CHECK(!charged.has_velocities());
    CHECK(all_of(charged, 2).at(3).x[0] == 3);
    const std::string molecules = "Atoms\n\n1 9 1 1 1 1\n2 9 2 2 2 2\n3 9 1 3 3 3\n";
    const LammpsData molecular(folder.write("b.data", head(molecules)), "molecular");
    CHECK(all_of(molecular, 3).at(2).kind == 1);
    CHECK(has(refusal([&] { LammpsData(folder.write("b.data", head(molecules))); }),
              "style of the atoms is not said"));
    const LammpsData plain(folder.write("c.data", head("Atoms\n\n2 1 1 1 1\n1 2 2 2 2\n3 1 3 3 3\n")));
    CHECK(plain.style() == "atomic");
}

TEST_CASE("what is wrong with a data file is said with its line", "[lammps]") {
    refused(head(kAtoms, "0.1 0 0 xy xz yz\n"), "not orthogonal", 5);
    refused(head(kAtoms, "2 bonds\n"), "atoms alone", 5);
    refused(head("Bonds\n\n1 1 1 2\n"), "does not read", 9);
    refused(head(kAtoms + "\nBonds\n\n1 1 1 2\n"), "does not read", 15);
    refused("title\n\n3 atoms\n2 atom types\n0 4 xlo xhi\n0 4 ylo yhi\n\n" + kAtoms, "the box is missing", 8);
    refused("title\n\n2 atom types\n\n" + kAtoms, "number of atoms is missing", 5);
    refused("title\n\n3 atoms\n2 atom types\n4 0 xlo xhi\n", "no width", 5);
    refused(head("Masses\n\n3 1\n"), "1 to 2", 11);
    refused(head("Masses\n\n1 -1\n"), "a positive number", 11);
    refused(head("Atoms # full\n\n1 1 1 0 1 1 1\n"), "does not read", 9);
    refused(head("Atoms # atomic\n\n1 1 1 1 1\n2 3 1 1 1\n3 1 1 1 1\n"), "1 to 2", 12);
    refused(head("Atoms # atomic\n\n1 1 1 1 1\n2 1 1 nan 1\n3 1 1 1 1\n"), "given: nan", 12);
    refused(head("Atoms # atomic\n\n1 1 1 1 1\n2 1 1 1\n3 1 1 1 1\n"), "no line of an atom", 12);
    refused(head("Atoms # atomic\n\n1 1 1 1 1\n2 1 1 1 1\n"), "given: 2", 12);
    refused(head("Atoms # atomic\n\n1 1 1 1 1\n2 1 1 1 1\n2 1 1 1 1\n4 1 1 1 1\n"),
            "two atoms have one number", 13);
    refused(head(kAtoms + "\nVelocities\n\n1 0 0 0\n2 0 0 0\n"), "atom 3 in the section Atoms alone", 16);
    refused(head("Masses\n\n1 1\n2 1\n"), "no section Atoms", 12);
    refused(head("Masses\n\n1 1\n1 2\n\n" + kAtoms), "two masses", 12);
    refused(head(kAtoms + "\n" + kAtoms), "there twice", 15);
    refused(head(kAtoms + "\nVelocities\n\n1 0 0 0\n2 0 0 0\n3 0 0 0\n\nBonds\n\n1 1 1 2\n"), "does not read",
            21);
    refused(head("Atoms\n\n1 1 1 1 1 0.5 0 0\n"), "style of the atoms is not said", 9);
    refused(head("Atoms # atomic\n\n1 1 1 1 1\n2 1 1 1 1 0 0.5 0\n3 1 1 1 1\n"), "images are whole", 12);
    refused("title\n\n0 atoms\n1 atom types\n", "no atoms", 3);
    CHECK(has(refusal([] { LammpsData("/nowhere/a.data"); }), "/nowhere/a.data"));
}

TEST_CASE("velocities that are no atom's, and second ones, are said with their line", "[lammps]") {
    const TemporaryFolder folder;
    const auto why = [&](const std::string& more) {
        const LammpsData file(
            folder.write("a.data", head(kAtoms + "\nVelocities\n\n1 0 0 0\n2 0 0 0\n3 0 0 0\n" + more)));
        CHECK(file.velocity_lines(0, 3) + file.velocity_lines(1, 3) + file.velocity_lines(2, 3) == 4);
        return refusal([&] { file.explain(); });
    };
    CHECK(has(why("2 1 1 1\n"), "two velocities"));
    CHECK(has(why("7 1 1 1\n"), "not in the section Atoms"));
    CHECK(has(why("7 1 1 1\n"), "a.data:20"));
}

TEST_CASE("extended XYZ has the same atoms in any number of pieces", "[xyz]") {
    const TemporaryFolder folder;
    const std::string top =
        "40\nProperties=id:I:1:species:S:1:velo:R:3:pos:R:3 Lattice=\"4 0 0 0 5.0 0 0 0 6\" "
        "Origin=\"0 -1 0\" pbc=\"T F T\" note=\"a b = c\"\n";
    std::string text = top;
    for (int k = 0; k < 40; ++k)
        text += fmt::format("{} {} {} 2 3 {} 0.5 1e-3\n", 100 - k, k % 3 == 0 ? "Cu" : "Ni", k * k * 0.5,
                            k * 0.1);
    const ExtendedXyz file(folder.write("a.xyz", text), {"Ni", "Cu"});
    CHECK(file.low() == std::array<double, 3>{0, -1, 0});
    CHECK(file.high() == std::array<double, 3>{4, 4, 6});
    CHECK(file.open() == std::array<bool, 3>{false, true, false});
    for (const std::int64_t parts : {1, 3, 17, 99}) {
        const auto all = all_of(file, parts);
        CHECK(all.at(97).kind == 1);
        CHECK(all.at(96).v == std::array<double, 3>{8, 2, 3});
        CHECK(all.at(96).x == std::array<double, 3>{0.4, 0.5, 1e-3});
    }
    // Without numbers: those of the lines, whether they have one length or not.
    for (const bool even : {true, false}) {
        std::string plain = "40\nLattice=\"9 0 0 0 9 0 0 0 9\"\n";
        for (int k = 0; k < 40; ++k)
            plain += even ? fmt::format("Cu {:6.2f} 1 1\n", k * 7.5) : fmt::format("Cu {} 1 1\n", k * 7.5);
        const ExtendedXyz other(folder.write("b.xyz", plain), {"Cu"});
        for (const std::int64_t parts : {1, 6, 23}) {
            const auto all = all_of(other, parts);
            for (int k = 0; k < 40; ++k) REQUIRE(all.at(k + 1).x[0] == k * 7.5);
        }
    }
}

TEST_CASE("what is wrong with an XYZ file is said with its line", "[xyz]") {
    const TemporaryFolder folder;
    const auto wrong = [&](const std::string& text, const std::string& what, int line) {
        const fs::path path = folder.write("a.xyz", text);
        const std::string error = refusal([&] {
            const ExtendedXyz file(path, {"Cu"});
            std::int64_t count = 0;
            for (std::int64_t part = 0; part < 2; ++part) count += std::int64_t(file.piece(part, 2).size());
            if (count != file.atoms()) file.explain();
        });
        INFO(error);
        CHECK(has(error, what));
        CHECK(has(error, fmt::format("{}:{}", path.string(), line)));
    };
    const std::string lattice = "Lattice=\"9 0 0 0 9 0 0 0 9\" ", two = "Cu 1 1 1\nCu 2 2 2\n";
    wrong("two\n", "number of atoms", 1);
    wrong("2\n" + lattice + "\n", "ends before its first atom", 3);
    wrong("2\nnothing\n" + two, "the box is missing", 2);
    wrong("2\nLattice=\"9 1 0 0 9 0 0 0 9\"\n" + two, "not orthogonal", 2);
    wrong("2\n" + lattice + "Properties=species:S:1\n" + two, "with species and pos", 2);
    wrong("2\n" + lattice + "Properties=species:S:1:pos:R:2\n" + two, "R:3", 2);
    wrong("2\n" + lattice + "pbc=\"T X T\"\n" + two, "periodic", 2);
    wrong("2\n" + lattice + "\nCu 1 1 1\nAg 2 2 2\n", "given: Ag", 4);
    wrong("2\n" + lattice + "\nCu 1 1 1\nAg 2 2 2\n", "kinds.names", 4);
    wrong("2\n" + lattice + "\nCu 1 1 1\nCu 2 2\n", "4 words", 4);
    wrong("2\n" + lattice + "\nCu 1 1 1\nCu 2 2 inf\n", "given: inf", 4);
    wrong("3\n" + lattice + "\n" + two, "fewer lines", 4);
    wrong("1\n" + lattice + "\n" + two, "more lines", 4);
    wrong("2\n" + lattice + "Properties=species:S:1:pos:R:3:id:I:1\nCu 1 1 1 1\nCu 1 1 1 1\nCu 1 1 1 1\n",
          "one number", 4);
}

TEST_CASE("numbers of atoms near the largest take no memory for those below") {
    const std::string large = "9223372036854775807";
    refused(head("Atoms # atomic\n\n" + large + " 1 1 1 1\n1 2 2 2 2\n" + large + " 1 3 3 3\n4 1 0 0 0\n"),
            "one number", 13);
    const TemporaryFolder folder;
    const std::string lattice = "\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3:id:I:1\n";
    const ExtendedXyz file(folder.write("a.xyz", "2" + lattice + "Cu 1 1 1 " + large + "\nCu 1 1 1 7\n"),
                           {"Cu"});
    CHECK(all_of(file, 1).at(std::numeric_limits<std::int64_t>::max()).x[0] == 1);
    CHECK_NOTHROW(file.explain());
    // A number of atoms whose lines no file holds.
    const ExtendedXyz few(
        folder.write("b.xyz", large + "\nLattice=\"9 0 0 0 9 0 0 0 9\"\nCu 1 1 1\nCu 2 2 2\n"), {"Cu"});
    CHECK(few.piece(0, 1).at(1).id == 2);
    CHECK(has(refusal([&] { few.explain(); }), "fewer lines"));
}

TEST_CASE("XYZ files of a long comment and of uneven lines are gone through once", "[xyz]") {
    const TemporaryFolder folder;
    std::string comment = "Lattice=\"9 0 0 0 9 0 0 0 9\" ", lines;
    for (int k = 0; k < 1'000'000; ++k) comment += "=\"\"";
    // As many bytes as lines of one length have, and no line but the first begins where one of them would.
    constexpr int kLines = 200'000;
    lines = "Cu 1 1 1\nCu 1 1 10\n";
    for (int k = 3; k < kLines; ++k) lines += "Cu 1 2 3\n";
    lines += "Cu 1 1 1";
    const ExtendedXyz file(folder.write("a.xyz", fmt::format("{}\n{}\n{}", kLines, comment, lines)), {"Cu"});
    CHECK(file.piece(0, 1).back().id == kLines);
}
