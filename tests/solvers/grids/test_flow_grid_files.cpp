// PLOT3D files: round trips in every form, files as other programs write them, and what is wrong with a file.
#include <cstdlib>
#include <limits>

#include "methods/curvilinear/plot3d.hpp"
#include "methods/curvilinear/unpack.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/grids/flow_grids.hpp"

using namespace strata;
using namespace strata::flow;
using namespace strata::flow::tests;

namespace {

/// A value of node n of a zone that tells all of them apart and needs all digits.
double value_of(int zone, int component, std::int64_t n) {
    const double value = std::sqrt(2.0) * static_cast<double>(n + 1) + 1000 * component + 1e5 * zone;
    return n % 3 == 0 ? -value : n % 7 == 0 ? value * 1e-9 : value;
}
std::int32_t blank_of(int zone, std::int64_t n) {
    return n % 5 == 0 ? 0 : n % 11 == 0 ? 2 : n % 13 == 0 && zone == 0 ? -1 : 1;
}

std::vector<Plot3dForm> all_forms(bool blanks_too) {
    std::vector<Plot3dForm> forms;
    for (const auto kind : {Plot3dKind::formatted, Plot3dKind::unformatted, Plot3dKind::stream})
        for (const bool multi : {true, false})
            for (const int dimensions : {2, 3})
                for (const bool blanks : {false, true})
                    for (const bool big : {false, true})
                        for (const bool single : {false, true}) {
                            if (blanks && !blanks_too) continue;
                            if (kind == Plot3dKind::formatted && big) continue;
                            forms.push_back({kind, big, single, multi, blanks, dimensions});
                        }
    return forms;
}

std::vector<Plot3dZone> zones_for(const Plot3dForm& form, int variables) {
    std::vector<Plot3dZone> zones{{{7, 5, form.dimensions == 3 ? 4 : 1}, variables}};
    if (form.multi) zones.push_back({{3, 6, form.dimensions == 3 ? 5 : 1}, variables});
    return zones;
}

Box all_of(const Plot3dZone& zone) { return {{0, 0, 0}, zone.points}; }

/// Writes two halves of each zone, one after the other.
void write(const std::filesystem::path& path, Plot3dContent content, const Plot3dForm& form,
           const std::vector<Plot3dZone>& zones, int components) {
    const Plot3dWriter writer(path, content, form, zones);
    writer.create({{0.5, 2, 3e6, 0}, {0.7, 1, 2e6, 4}});
    for (std::size_t z = 0; z < zones.size(); ++z)
        for (const bool upper : {true, false}) {
            Box half = all_of(zones[z]);
            (upper ? half.lo : half.hi)[0] = 2;
            for (int c = 0; c <= components; ++c) {
                std::vector<double> values;
                std::vector<std::int32_t> blanks;
                graph::for_each(half, [&](int i, int j, int k) {
                    const auto& n = zones[z].points;
                    const std::int64_t node = i + n[0] * (j + std::int64_t{n[1]} * k);
                    values.push_back(value_of(static_cast<int>(z), c, node));
                    blanks.push_back(blank_of(static_cast<int>(z), node));
                });
                if (c < components) writer.values(static_cast<int>(z), c, half, values.data());
                if (c == components && form.blanks) writer.blanks(static_cast<int>(z), half, blanks.data());
            }
        }
}

/// Compares boxes of each zone with what was written.
void compare(const Plot3dFile& file, int components) {
    const Plot3dForm& form = file.form();
    const double most = form.single_precision ? 1e-7 : 0;
    for (std::size_t z = 0; z < file.zones().size(); ++z) {
        const auto& n = file.zones()[z].points;
        const int zone = static_cast<int>(z);
        for (const Box& box : {all_of(file.zones()[z]), Box{{1, 2, n[2] - 1}, {3, 4, n[2]}},
                               Box{{0, 1, 0}, {n[0], 3, n[2]}}}) {
            std::vector<double> values(static_cast<std::size_t>(box.volume()));
            std::vector<std::int32_t> blanks(values.size());
            for (int c = 0; c < components; ++c) {
                file.values(zone, c, box, values.data());
                std::size_t at = 0;
                double worst = 0;
                graph::for_each(box, [&](int i, int j, int k) {
                    const double wanted = value_of(zone, c, i + n[0] * (j + std::int64_t{n[1]} * k));
                    worst = std::max(worst, std::abs(values[at++] / wanted - 1));
                });
                CHECK(worst <= most);
            }
            if (!form.blanks) continue;
            file.blanks(zone, box, blanks.data());
            std::size_t at = 0;
            bool same = true;
            graph::for_each(box, [&](int i, int j, int k) {
                same = same && blanks[at++] == blank_of(zone, i + n[0] * (j + std::int64_t{n[1]} * k));
            });
            CHECK(same);
        }
    }
}

Refused refused(const std::filesystem::path& path, const Plot3dKnown& known = {}) {
    return refused_by([&] { (void)Plot3dFile(path, Plot3dContent::grid, known); });
}

Plot3dKnown without_blanks() {
    Plot3dKnown known;
    known.blanks = false;
    return known;
}

std::vector<double> all_values(const Plot3dFile& file, int zone, int component) {
    const Box box = all_of(file.zones()[static_cast<std::size_t>(zone)]);
    std::vector<double> values(static_cast<std::size_t>(box.volume()));
    file.values(zone, component, box, values.data());
    return values;
}

}  // namespace

TEST_CASE("grids of every form are found out and read back in boxes") {
    const Folder folder;
    for (const Plot3dForm& form : all_forms(true)) {
        INFO(text_of(form));
        const auto zones = zones_for(form, 0);
        write(folder.path / "grid", Plot3dContent::grid, form, zones, form.dimensions);
        const Plot3dFile file(folder.path / "grid", Plot3dContent::grid);
        Plot3dForm wanted = form;
        if (form.kind == Plot3dKind::formatted) wanted.single_precision = false;
        CHECK(text_of(file.form()) == text_of(wanted));
        REQUIRE(file.zones().size() == zones.size());
        CHECK(file.zones().back().points == zones.back().points);
        if (form.kind == Plot3dKind::formatted && form.single_precision) continue;  // nine digits
        compare(file, form.dimensions);
    }
}

TEST_CASE("Q files and function files of every form are found out and read back") {
    const Folder folder;
    for (const Plot3dForm& form : all_forms(false)) {
        INFO(text_of(form));
        if (form.kind == Plot3dKind::formatted && form.single_precision) continue;
        write(folder.path / "q", Plot3dContent::q, form, zones_for(form, 0), form.dimensions + 2);
        const Plot3dFile q(folder.path / "q", Plot3dContent::q);
        CHECK(q.form() == form);
        compare(q, form.dimensions + 2);
        const auto last = q.conditions(static_cast<int>(q.zones().size()) - 1);
        CHECK(last[0] == Approx(form.multi ? 0.7 : 0.5));
        CHECK(last[2] == Approx(form.multi ? 2e6 : 3e6));
        write(folder.path / "f", Plot3dContent::function, form, zones_for(form, 3), 3);
        const Plot3dFile f(folder.path / "f", Plot3dContent::function);
        CHECK(f.form() == form);
        CHECK(f.zones()[0].variables == 3);
        compare(f, 3);
    }
}

TEST_CASE("records in parts are read and written") {
    const Folder folder;
    Plot3dForm form;
    form.blanks = true;
    form.record_part = 100;
    write(folder.path / "grid", Plot3dContent::grid, form, zones_for(form, 0), 3);
    const Plot3dFile file(folder.path / "grid", Plot3dContent::grid);
    CHECK(file.form() == form);
    compare(file, 3);
    // The first part of the first zone: its length is negative before it, and not after.
    const std::string bytes = [&] {
        std::ifstream in(folder.path / "grid", std::ios::binary);
        return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    }();
    std::int32_t before = 0, after = 0, next_after = 0;
    std::memcpy(&before, bytes.data() + 12 + 8 + 24, 4);
    std::memcpy(&after, bytes.data() + 12 + 8 + 24 + 4 + 100, 4);
    std::memcpy(&next_after, bytes.data() + 12 + 8 + 24 + 8 + 100 + 4 + 100, 4);
    CHECK(before == -100);
    CHECK(after == 100);
    CHECK(next_after == -100);
}

TEST_CASE("texts are read as Fortran reads lists") {
    const Folder folder;
    const auto path = folder.file("grid",
                                  " 1\n 2, 3\r\n"
                                  "  3*0.5 1.0D+00, 2d0\t1.5-101\n"
                                  "  2*1. +.25 -7E-1 2*1e-320\n");
    const Plot3dFile file(path, Plot3dContent::grid);
    CHECK(file.form().dimensions == 2);
    CHECK(all_values(file, 0, 0) == std::vector<double>{0.5, 0.5, 0.5, 1, 2, 1.5e-101});
    CHECK(all_values(file, 0, 1) == std::vector<double>{1, 1, 0.25, -0.7, 1e-320, 1e-320});
    // A repeat that a mark falls into: 5000 points in a row.
    const auto long_row = folder.file("long", "1\n5000 2\n9999*2.5 7.5\n3000*1 7000*4\n");
    const Plot3dFile rows(long_row, Plot3dContent::grid);
    CHECK(all_values(rows, 0, 0)[9999] == 7.5);
    double near[2];
    rows.values(0, 1, {{2999, 0, 0}, {3001, 1, 1}}, near);
    CHECK(near[0] == 1);
    CHECK(near[1] == 4);
}

TEST_CASE("files as gfortran and C write them are read") {
    const Folder folder;
    for (const bool swap : {false, true}) {
        const auto all = [&](const char* name, const std::string& bytes) {
            const Plot3dFile file(folder.file(name, bytes), Plot3dContent::grid);
            CHECK(file.form().big_endian == swap);
            CHECK(all_values(file, 0, 2) == std::vector<double>{8, 9, 10, 11});
            return file.form();
        };
        // write(1) 2, 2, 1; write(1) x, y, z
        Binary sizes{{}, swap}, values{{}, swap}, whole{{}, swap}, singles{{}, swap};
        sizes.put(2).put(2).put(1);
        for (int n = 0; n < 12; ++n) values.put(static_cast<double>(n)), singles.put(static_cast<float>(n));
        whole.record(sizes).record(values);
        const auto form = all("records", whole.bytes);
        CHECK(form.kind == Plot3dKind::unformatted);
        CHECK(!form.multi);
        CHECK(all("stream", sizes.bytes + singles.bytes).single_precision);
    }
}

TEST_CASE("a text that ends too early or goes on is refused with zone and node") {
    const Folder folder;
    const std::string head = "2\n 2 2 3 2\n", x = "0 1 0 1 0 0 1 1\n", two = "0 1 2 0 1 2  0 0 0 1 ";
    auto found = refused(folder.file("short", head + x + two));
    CHECK(found.message == "the file ends in zone 2, y of node (2, 2)");
    CHECK(found.given == "23 numbers");
    found = refused(folder.file("long", head + x + two + "1 1 9\n"));
    CHECK(found.message.find("ends in") != std::string::npos);  // with an iblank it would be longer
    Plot3dKnown known = without_blanks();
    known.dimensions = 2;
    found = refused(folder.file("long", head + x + two + "1 1 9\n"), known);
    CHECK(found.message == "the file goes on after the last value of zone 2");
    known.multi = true;
    CHECK(refused(folder.file("sizes", "2\n 2 2 3"), known).message.find("no PLOT3D file") !=
          std::string::npos);
    CHECK(refused(folder.file("empty", "")).message.find("no PLOT3D file") != std::string::npos);
    CHECK(refused(folder.file("count", "0\n 2 2\n")).message.find("no PLOT3D file") != std::string::npos);
}

TEST_CASE("a word in a text that is no number is refused with its line") {
    const Folder folder;
    auto found = refused(folder.file("word", "1\n2 2\n0 1 0 1\n0 zero 1 1\n"));
    CHECK(found.message == "a word is no number");
    CHECK(found.given == "zero");
    CHECK(found.text.find("word:4") != std::string::npos);
    found = refused(folder.file("stars", "1\n2 2\n0 1 0 1\n0 ***** 1 1\n"));
    CHECK(found.message == "a word is no number");
    const auto nan = folder.file("nan", "1\n2 2\n0 1 0 1\n0 NaN 1 1\n");
    CHECK(refused_by([&] { all_values(Plot3dFile(nan, Plot3dContent::grid), 0, 1); }).text.find("nan:4") !=
          std::string::npos);
    CHECK(refused(folder.path / "absent").message == "the file cannot be read");
}

TEST_CASE("a binary file that ends too early, goes on or has other records is refused") {
    const Folder folder;
    const Plot3dForm form;
    write(folder.path / "grid", Plot3dContent::grid, form, zones_for(form, 0), 3);
    const auto size = std::filesystem::file_size(folder.path / "grid");
    std::filesystem::resize_file(folder.path / "grid", size - 4 - 8 * 31);
    auto found = refused(folder.path / "grid");
    // The second zone has 90 nodes: the last 31 values are z of node 60 on.
    CHECK(found.message == "the file ends in zone 2, z of node (3, 2, 4)");
    CHECK(found.text.find(std::to_string(size)) != std::string::npos);
    write(folder.path / "grid", Plot3dContent::grid, form, zones_for(form, 0), 3);
    std::filesystem::resize_file(folder.path / "grid", size + 3);
    CHECK(refused(folder.path / "grid", without_blanks()).message ==
          "the file goes on after the last value of zone 2");
    write(folder.path / "grid", Plot3dContent::grid, form, zones_for(form, 0), 3);
    {
        std::fstream change(folder.path / "grid", std::ios::binary | std::ios::in | std::ios::out);
        change.seekp(static_cast<std::streamoff>(size - 4));
        change.write("\1\2\3\4", 4);
    }
    CHECK(refused(folder.path / "grid").message ==
          "the lengths of records are not those that the sizes of zones give");
    Plot3dForm stream;
    stream.kind = Plot3dKind::stream;
    write(folder.path / "stream", Plot3dContent::grid, stream, zones_for(stream, 0), 3);
    std::filesystem::resize_file(folder.path / "stream",
                                 std::filesystem::file_size(folder.path / "stream") - 8);
    Plot3dKnown known = without_blanks();
    known.kind = Plot3dKind::stream, known.big_endian = known.single_precision = false, known.dimensions = 3;
    CHECK(refused(folder.path / "stream", known).message == "the file ends in zone 2, z of node (3, 6, 5)");
}

TEST_CASE("sizes whose product is beyond 64 bits are no sizes") {
    // 2^20 x 2^20 x 2^24 points, which a product of 64 bits takes for none: as C writes them, and as Fortran
    // does with the number of zones.
    const std::int32_t i = 1 << 20, k = 1 << 24;
    Plot3dKnown known = without_blanks();
    known.dimensions = 3, known.big_endian = known.single_precision = false;
    const Folder folder;
    for (const auto& [kind, words] :
         {std::pair{Plot3dKind::stream, std::vector<std::int32_t>{i, i, k}},
          std::pair{Plot3dKind::unformatted, std::vector<std::int32_t>{4, 1, 4, 12, i, i, k, 12, 0, 0}}}) {
        const auto path = folder.path / "large.p3d";
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(words.data()),
                   static_cast<std::streamsize>(4 * words.size()));
        known.kind = kind;
        known.multi = kind == Plot3dKind::unformatted;
        CHECK(refused(path, known).message == "the file is no PLOT3D file of any form that may be");
    }
}

TEST_CASE("a file that can be read in several forms is refused until a key says which") {
    const Folder folder;
    // Two zones of 2 x 4 and 3 x 5 are as many numbers as one of 2 x 2 x 4.
    std::string text = "2\n2 4 3 5\n";
    for (int n = 0; n < 46; ++n) text += " 1.5";
    const auto path = folder.file("two", text);
    const auto found = refused(path);
    CHECK(found.message == "the file can be read in several forms");
    CHECK(found.given.find("2-dimensional, multi-zone") != std::string::npos);
    Plot3dKnown known;
    known.dimensions = 2;
    CHECK(Plot3dFile(path, Plot3dContent::grid, known).zones().size() == 2);
    known.dimensions = 3;
    CHECK(Plot3dFile(path, Plot3dContent::grid, known).zones().size() == 1);
}

TEST_CASE("forms of one size are told apart by their values") {
    const Folder folder;
    // A plane of a three-dimensional grid at z = 0, which could be two coordinates and an iblank of holes
    // alone.
    const Plot3dFile plane(folder.file("plane", "1 2 2\n0 1 0 1\n0 0 1 1\n0 0 0 0\n"), Plot3dContent::grid);
    CHECK(plane.form().dimensions == 3);
    const Plot3dFile blanks(folder.file("blanks", "1 2 2\n0 1 0 1\n0 0 1 1\n1 1 0 1\n"), Plot3dContent::grid);
    CHECK(blanks.form().blanks);
}

TEST_CASE("an iblank that means nothing is refused with zone and node") {
    const Folder folder;
    const auto grid = [&](const std::string& blanks) { return "1\n2 2\n0 1 0 1 0 0 1 1\n" + blanks; };
    const auto read = [&](const std::string& blanks) {
        const Plot3dFile file(folder.file("grid", grid(blanks)), Plot3dContent::grid);
        std::int32_t found[4];
        file.blanks(0, {{0, 0, 0}, {2, 2, 1}}, found);
        return std::vector<std::int32_t>(found, found + 4);
    };
    CHECK(read("1 0 2 -1") == std::vector<std::int32_t>{1, 0, 2, -1});
    const auto found = refused_by([&] { read("1 0 7 1"); });
    CHECK(found.message == "iblank of node (1, 2, 1) of zone 1 means nothing");
    CHECK(found.given == "7");
    CHECK(refused_by([&] { read("1 0 -2 1"); }).given == "-2");
}

TEST_CASE("what is no number in a binary file is refused with zone and node") {
    const Folder folder;
    Binary sizes, values, whole;
    sizes.put(2).put(2);
    for (int n = 0; n < 8; ++n) values.put(n == 6 ? std::numeric_limits<double>::quiet_NaN() : n);
    whole.record(sizes).record(values);
    const Plot3dFile file(folder.file("grid", whole.bytes), Plot3dContent::grid);
    CHECK(refused_by([&] { all_values(file, 0, 1); }).message ==
          "y of node (1, 2, 1) of zone 1 is no number");
}

TEST_CASE("a box of a binary file is read without the rest") {
    // A stream of 2 GB that is empty but for one value: reading a box of it takes no memory for the others.
    const Folder folder;
    Plot3dForm form;
    form.kind = Plot3dKind::stream;
    const Plot3dWriter writer(folder.path / "grid", Plot3dContent::grid, form, {{{400, 500, 450}, 0}});
    writer.create();
    const double one = 1.5;
    writer.values(0, 2, {{399, 499, 449}, {400, 500, 450}}, &one);
    Plot3dKnown known;
    known.kind = Plot3dKind::stream, known.big_endian = false, known.dimensions = 3;
    const Plot3dFile file(folder.path / "grid", Plot3dContent::grid, known);
    double found[2];
    file.values(0, 2, {{398, 499, 449}, {400, 500, 450}}, found);
    CHECK(found[0] == 0);
    CHECK(found[1] == 1.5);
}

TEST_CASE("words of a case say the form of a file") {
    const Plot3dKnown known = known_form("unformatted big-endian  single no-iblank 3d");
    CHECK(known.kind == Plot3dKind::unformatted);
    CHECK(known.big_endian == true);
    CHECK(known.single_precision == true);
    CHECK(known.blanks == false);
    CHECK(known.dimensions == 3);
    CHECK(!known.multi.has_value());
    CHECK(refused_by([] { (void)known_form("binary"); }).given == "binary");
    // A form that the file is not in.
    const Folder folder;
    write(folder.path / "grid", Plot3dContent::grid, {}, zones_for({}, 0), 3);
    CHECK(refused(folder.path / "grid", known_form("stream")).message != "nothing was refused");
    CHECK(refused(folder.path / "grid", known_form("double")).message == "nothing was refused");
}

TEST_CASE("a repeat in a text takes no more memory than its digits") {
    const Folder folder;
    // As many numbers as a grid of one zone of a million times a million nodes has, in 36 bytes.
    const auto repeated = folder.file("grid", "1\n1000000 1000000\n2000000000000*0.5\n");
    const auto found = refused(repeated, {});
    CHECK(found.message == "the nodes of the grid are repeats of each other");
    CHECK(found.given == "1000000000000 nodes in 36 bytes");
    const auto beyond = refused(folder.file("other", "1\n2 2\n9223372036854775807*1\n2*0.5\n"), {});
    CHECK(beyond.message == "a repeat makes more numbers than any file has");
    const auto zones = refused(folder.file("zones", "100000\n300000*2\n"), {});
    CHECK(zones.message != "nothing was refused");
    // Repeats over the places from which reading begins.
    const Plot3dFile q(folder.file("q", "1\n300 2\n4*1\n2399*2.5 7\n"), Plot3dContent::q);
    double values[3];
    q.values(0, 3, {{297, 1, 0}, {300, 2, 1}}, values);
    CHECK(values[1] == 2.5);
    CHECK(values[2] == 7);
}

TEST_CASE("a packed file that unpacks to all of memory is refused") {
    const Folder folder;
    const std::string file = (folder.path / "grid.xz").string();
    if (!can_unpack() || std::system(("head -c 100000000 /dev/zero | xz -0 >" + file).c_str()) != 0) return;
    CHECK(refused(file, {}).message == "the file unpacks to far more than it is");
}
