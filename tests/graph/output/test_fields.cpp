// Field files are read back with HDF5's own functions, against the layout that Kitware documents.
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstring>

#include "core/base/json_value.hpp"
#include "core/run/output/fields.hpp"
#include "tests/catch.hpp"
#include "tests/graph/output/field_reading.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::tests;
namespace fs = std::filesystem;

namespace {

/// 5 x 4 x 3 cells from (-1, 0, 2) in patches of 3 x 2 x 3.
GridShape shape() {
    GridShape shape;
    shape.cells = {{-1, 0, 2}, {4, 4, 5}};
    shape.patch_cells = {3, 2, 3};
    shape.origin = {0.5, 0, -1};
    shape.spacing = {0.1, 0.2, 0.4};
    return shape;
}

double value(int i, int j, int k, int c) { return i + 100.0 * j + 10000.0 * k + 0.5 * c; }

/// Writes a box out of arrays with a halo, one for each component, as a patch has them.
template <class T>
void write(FieldFile& file, const std::string& name, int components, const Box& box) {
    const Box halo = box.grown({1, 2, 1});
    const std::ptrdiff_t y = halo.extent(0), z = y * halo.extent(1), apart = halo.volume() + 5;
    std::vector<T> values(static_cast<std::size_t>(components * apart), static_cast<T>(-77));
    const auto at = [&](int i, int j, int k, int c) {
        return (i - halo.lo[0]) + (j - halo.lo[1]) * y + (k - halo.lo[2]) * z + c * apart;
    };
    for (int c = 0; c < components; ++c)
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i)
                    values[static_cast<std::size_t>(at(i, j, k, c))] = static_cast<T>(value(i, j, k, c));
    const FieldFile::Part part{box, values.data() + at(box.lo[0], box.lo[1], box.lo[2], 0), y, z, apart};
    file.write(name, {&part, 1});
}

}  // namespace

TEST_CASE("a grid's fields are an image with the documented attributes and every value at its place") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "heat-000010.vtkhdf";
    const Grid grid("grid", shape());
    FieldFile::create_grid(
        path, shape(),
        {{"temperature", Element::f64, 1, "K", On::cells}, {"velocity", Element::f32, 3, "m/s", On::nodes}},
        0.25);
    FieldFile one(path), other(path);  // two processes at the same time
    for (int patch = 0; patch < grid.patches(); ++patch) {
        FieldFile& file = patch % 2 == 0 ? one : other;
        write<double>(file, "temperature", 1, grid.box(patch));
        write<float>(file, "velocity", 3, grid.owned(patch, On::nodes));
    }
    one.close();
    other.close();
    CHECK_FALSE(fs::exists(path));
    FieldFile::finish(path, "", 0.25);
    const Read read(path);
    CHECK(read.text("/VTKHDF", "Type") == "ImageData");
    CHECK(read.attribute<std::int64_t>("Version", H5T_NATIVE_INT64, 2) == std::vector<std::int64_t>{2, 0});
    CHECK(read.attribute<std::int64_t>("WholeExtent", H5T_NATIVE_INT64, 6) ==
          std::vector<std::int64_t>{-1, 4, 0, 4, 2, 5});
    CHECK(read.attribute<double>("Origin", H5T_NATIVE_DOUBLE, 3) == std::vector<double>{0.5, 0, -1});
    CHECK(read.attribute<double>("Spacing", H5T_NATIVE_DOUBLE, 3) == std::vector<double>{0.1, 0.2, 0.4});
    CHECK(read.attribute<double>("Direction", H5T_NATIVE_DOUBLE, 9) ==
          std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
    CHECK(read.text("/VTKHDF/CellData/temperature", "Unit") == "K");
    CHECK(read.array<double>("FieldData/TimeValue", H5T_NATIVE_DOUBLE, {1}, 8) == std::vector<double>{0.25});
    const auto cells = read.array<double>("CellData/temperature", H5T_NATIVE_DOUBLE, {3, 4, 5}, 8);
    const auto nodes = read.array<float>("PointData/velocity", H5T_NATIVE_FLOAT, {4, 5, 6, 3}, 4);
    std::size_t wrong = 0;
    for (int k = 0; k < 3; ++k)
        for (int j = 0; j < 4; ++j)
            for (int i = 0; i < 5; ++i)
                wrong += cells[static_cast<std::size_t>((k * 4 + j) * 5 + i)] != value(i - 1, j, k + 2, 0);
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 5; ++j)
            for (int i = 0; i < 6; ++i)
                for (int c = 0; c < 3; ++c)
                    wrong += nodes[static_cast<std::size_t>(((k * 5 + j) * 6 + i) * 3 + c)] !=
                             static_cast<float>(value(i - 1, j, k + 2, c));
    CHECK(wrong == 0);
}

TEST_CASE("the faces of a direction are an image, a cell around each") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "grid-y-faces.vtkhdf";
    GridShape flat = shape();
    const bool thin = GENERATE(false, true);  // one cell in x
    if (thin) flat.cells.hi[0] = flat.cells.lo[0] + 1;
    const Grid grid("grid", flat);
    FieldFile::create_grid(
        path, flat, {{"flux", Element::f64, 1, "", On::faces_y}, {"two", Element::i32, 2, "", On::faces_y}},
        0.25);
    {
        FieldFile file(path);
        for (int patch = 0; patch < grid.patches(); ++patch) {
            write<double>(file, "flux", 1, grid.owned(patch, On::faces_y));
            write<std::int32_t>(file, "two", 2, grid.owned(patch, On::faces_y));
        }
        file.close();
    }
    FieldFile::finish(path, "", 0.25);
    const Read read(path);
    CHECK(read.text("/VTKHDF", "Type") == "ImageData");
    CHECK(read.attribute<std::int64_t>("WholeExtent", H5T_NATIVE_INT64, 6) ==
          std::vector<std::int64_t>{-1, thin ? 0 : 4, 0, 5, 2, 5});
    CHECK(read.attribute<double>("Origin", H5T_NATIVE_DOUBLE, 3) == std::vector<double>{0.5, -0.1, -1});
    CHECK(read.attribute<double>("Spacing", H5T_NATIVE_DOUBLE, 3) == std::vector<double>{0.1, 0.2, 0.4});
    const hsize_t nx = thin ? 1 : 5;
    const auto flux = read.array<double>("CellData/flux", H5T_NATIVE_DOUBLE, {3, 5, nx}, 8);
    const auto two = read.array<std::int32_t>("CellData/two", H5T_NATIVE_INT32, {3, 5, nx, 2}, 4);
    std::size_t wrong = 0, at = 0;
    for (int k = 0; k < 3; ++k)
        for (int j = 0; j < 5; ++j)
            for (int i = 0; i < static_cast<int>(nx); ++i, ++at) {
                wrong += flux[at] != value(i - 1, j, k + 2, 0);
                for (std::size_t c = 0; c < 2; ++c)
                    wrong += two[2 * at + c] !=
                             static_cast<std::int32_t>(value(i - 1, j, k + 2, static_cast<int>(c)));
            }
    CHECK(wrong == 0);
    for (const On other : {On::faces_x, On::cells, On::nodes})
        CHECK(has(refusal([&] {
                      FieldFile::create_grid(
                          path, flat,
                          {{"a", Element::f64, 1, "", On::faces_y}, {"b", Element::f64, 1, "", other}}, 0);
                  }),
                  "faces of one direction"));
}

TEST_CASE("particles are points, each a vertex, also where there are none") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "bar.vtkhdf";
    const std::int64_t count = GENERATE(0, 7, 300'000);
    FieldFile::create_particles(
        path, count, {{"Points", Element::f64, 3, "m", On::cells}, {"id", Element::i64, 1, "", On::cells}},
        1);
    std::vector<double> x;
    std::vector<std::int64_t> ids;
    for (int i = 0; i < count; ++i) x.push_back(0.5 * i), ids.push_back((1LL << 53) + 1 + i);
    {
        FieldFile file(path);
        const std::int64_t half = count / 2;
        std::vector<double> all;  // x, y, z one after the other; each 1 more than the one before
        for (int c = 0; c < 3; ++c)
            for (const double value : x) all.push_back(value + c);
        file.write("Points", 0, half, all.data(), count);
        file.write("Points", half, count - half, all.data() + half, count);
        file.write("id", 0, count, ids.data());
        file.close();
    }
    FieldFile::finish(path, "", 1);
    const Read read(path);
    const auto n = static_cast<hsize_t>(count);
    const auto integers = [&](const std::string& name, hsize_t extent) {
        return read.array<std::int64_t>(name, H5T_NATIVE_INT64, {extent}, 8);
    };
    CHECK(read.text("/VTKHDF", "Type") == "PolyData");
    CHECK(integers("NumberOfPoints", 1)[0] == count);
    CHECK(integers("Vertices/NumberOfCells", 1)[0] == count);
    CHECK(integers("Vertices/NumberOfConnectivityIds", 1)[0] == count);
    CHECK(integers("Vertices/Offsets", n + 1).back() == count);
    CHECK(integers("PointData/id", n) == ids);
    CHECK(integers("Strips/Offsets", 1) == std::vector<std::int64_t>{0});
    const auto points = read.array<double>("Points", H5T_NATIVE_DOUBLE, {n, 3}, 8);
    const auto connected = integers("Vertices/Connectivity", n);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
        wrong += connected[i] != static_cast<std::int64_t>(i);
        for (std::size_t c = 0; c < 3; ++c) wrong += points[3 * i + c] != x[i] + static_cast<double>(c);
    }
    CHECK(wrong == 0);
}

TEST_CASE("the list of steps for ParaView forgets later times when a run goes back") {
    const TemporaryFolder folder;
    const fs::path series = folder.path() / "heat.vtkhdf.series";
    for (const int step : {1, 2, 3, 2}) {
        const fs::path path = folder.path() / ("heat-" + std::to_string(step) + ".vtkhdf");
        FieldFile::create_grid(path, shape(), {}, 0.1 * step);
        FieldFile::finish(path, series, 0.1 * step);
    }
    const JsonValue list = JsonValue::parse(text_of(series), "series");
    CHECK(list.member("file-series-version").string() == "1.0");
    REQUIRE(list.member("files").items().size() == 2);
    CHECK(list.member("files").items()[1].member("name").string() == "heat-2.vtkhdf");
    CHECK(list.member("files").items()[1].member("time").number() == 0.2);
    forget_later_fields(series, 0.1);
    CHECK(JsonValue::parse(text_of(series), "series").member("files").items().size() == 1);
    forget_later_fields(folder.path() / "none.vtkhdf.series", 0.1);
    CHECK_FALSE(fs::exists(folder.path() / "none.vtkhdf.series"));
}

TEST_CASE("what cannot be written is refused and leaves no file") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "heat.vtkhdf";
    CHECK(has(refusal([&] { FieldFile::create_grid(folder.path() / "none" / "x.vtkhdf", shape(), {}, 0); }),
              "No such file"));
    CHECK(has(refusal([&] {
                  FieldFile::create_grid(path, shape(), {{"a.b", Element::f64, 1, "", On::cells}}, 0);
              }),
              "cannot have this name"));
    CHECK(has(refusal([&] {
                  FieldFile::create_grid(path, shape(), {{"a", Element::bytes, 1, "", On::cells}}, 0);
              }),
              "label of bytes"));
    FieldFile::create_grid(path, shape(), {{"a", Element::f64, 1, "", On::cells}}, 0);
    {
        FieldFile file(path);
        CHECK(has(refusal([&] { write<double>(file, "a", 1, {{2, 0, 2}, {5, 1, 3}}); }), "lies outside"));
        CHECK(has(refusal([&] { write<double>(file, "a", 1, {{-2, 0, 2}, {0, 1, 3}}); }), "lies outside"));
        CHECK(has(refusal([&] {
                      write<double>(file, "b", 1, {{0, 0, 2}, {1, 1, 3}});
                  }),
                  "could not be written"));
    }
    FieldFile::abandon(path);
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a file that may not grow further is one error with the system's words") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "heat.vtkhdf";
    FieldFile::create_grid(path, shape(), {{"a", Element::f64, 1, "", On::cells}}, 0);
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{}, small{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    small = {512, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string said = refusal([&] {
        FieldFile file(path);
        write<double>(file, "a", 1, shape().cells);
    });
    const std::string not_laid_out = refusal([&] {
        FieldFile::create_grid(folder.path() / "other.vtkhdf", shape(),
                               {{"a", Element::f64, 1, "", On::cells}}, 0);
    });
    ::setrlimit(RLIMIT_FSIZE, &before);
    CHECK(has(not_laid_out, "other.vtkhdf"));
    CHECK(has(not_laid_out, "File too large"));
    INFO(said);
    CHECK(has(said, "could not be written"));
    CHECK(has(said, "File too large"));
    write_text(folder.path() / ".plate-000500.vtkhdf.partial", "left by a run that was killed");
    FieldFile::sweep(folder.path());
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a field file of a stranger's is compared or refused with one error, whatever HDF5 makes of it") {
    const TemporaryFolder folder;
    const fs::path good = folder.path() / "heat.vtkhdf", bad = folder.path() / "bad.vtkhdf";
    FieldFile::create_grid(good, shape(), {{"a", Element::f64, 1, "", On::cells}}, 0);
    {
        FieldFile file(good);
        write<double>(file, "a", 1, shape().cells);
        file.close();
    }
    FieldFile::finish(good, "", 0);
    CHECK(fields_difference(good, good).empty());
    const auto outcome = [&](const std::string& data) {
        write_text(bad, data);
        std::string found;
        const std::string refused = refusal([&] { found = fields_difference(bad, good); });
        INFO(refused);
        CHECK((refused.empty() || has(refused, "cannot be read\n  at: " + bad.string())));
        return refused.empty() ? found : refused;
    };
    const std::string data = text_of(good);
    CHECK(outcome(data).empty());
    CHECK(has(outcome(""), "cannot be read"));
    std::string other = data;
    const double last = value(3, 3, 4, 0);
    const std::size_t at = other.find(std::string(reinterpret_cast<const char*>(&last), sizeof last));
    REQUIRE(at != std::string::npos);
    other[at] ^= 1;
    CHECK(has(outcome(other), "'a', value 59: "));
    // The extents of the array, 3 x 4 x 5: one that makes a product of 64 bits small again.
    const std::uint64_t extent[] = {3, 4, 5}, huge[] = {std::uint64_t{1} << 62, 4, 5};
    const std::size_t place = data.find(std::string(reinterpret_cast<const char*>(extent), sizeof extent));
    REQUIRE(place != std::string::npos);
    CHECK(has(outcome(std::string(data).replace(place, sizeof huge, reinterpret_cast<const char*>(huge),
                                                sizeof huge)),
              "cannot be read"));
    for (std::size_t k = 0; k < 100; ++k) {
        std::string damaged = data;
        damaged[k * 37 % std::min<std::size_t>(data.size(), 8192)] ^= static_cast<char>(0xff);
        (void)outcome(damaged);
    }
    REQUIRE(::mkfifo((folder.path() / "fifo").c_str(), 0600) == 0);
    CHECK(has(refusal([&] { (void)fields_difference(folder.path() / "fifo", good); }), "cannot be read"));
}
