// Trajectories: what is in the files, byte by byte where the form says so; frames are whole or absent; going
// on from a checkpoint gives the same file.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "solvers/md/files/extended_xyz.hpp"
#include "solvers/md/files/frame_file.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::md;
using namespace strata::tests;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kAtoms = 5;

Trajectory about(std::int64_t every = 10) {
    Trajectory t;
    t.atoms = kAtoms;
    t.every = every;
    t.time_step = 2;
    t.femtoseconds = 1;
    t.kinds = {"Ni", "C"};
    t.periodic = {true, false, true};
    return t;
}

std::array<double, 3> place(std::int64_t step, std::int64_t row) {
    const auto s = static_cast<double>(step), r = static_cast<double>(row);
    return {r / 3 + s, -r * 1e-120, 1e5 * s - r};
}

/// As a run does it, with two processes that put every other atom.
void write_frame(const FrameFile& file, const FrameFormat& format, std::int64_t step) {
    Frame frame;
    frame.step = step;
    frame.time = 0.25 * static_cast<double>(step);
    frame.low = {0, -1, 2};
    frame.length = {10, 20, 30.5};
    file.make_room(frame);
    for (const std::int64_t process : {0, 1}) {
        const FrameFile::Room room(file);
        for (std::int64_t row = process; row < kAtoms; row += 2)
            format.atom(room.bytes(), row, row + 7, row % 2 == 0 ? 0 : 1, place(step, row));
    }
    file.commit(step / format.trajectory().every);
}

using Make = std::unique_ptr<FrameFormat> (*)(const Trajectory&);

std::string frames_up_to(const fs::path& path, Make make, std::int64_t last) {
    const auto format = make(about());
    FrameFile file(path, *format);
    CHECK(file.begin(-1) == -1);
    for (std::int64_t step = 0; step <= last; step += 10) write_frame(file, *format, step);
    return text_of(path);
}

template <class T>
T at(const std::string& bytes, std::size_t place) {
    T value{};
    REQUIRE(place + sizeof value <= bytes.size());
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
}

}  // namespace

TEST_CASE("a frame of extended XYZ has every atom in its place", "[frames]") {
    const TemporaryFolder folder;
    const std::string bytes = frames_up_to(folder.path() / "a.xyz", extended_xyz_format, 20);
    REQUIRE(bytes.size() % 3 == 0);
    // Each frame is a file by itself.
    for (std::size_t k = 0; k < 3; ++k) {
        const std::string frame = bytes.substr(k * bytes.size() / 3, bytes.size() / 3);
        CHECK(has(frame, fmt::format(" step={} ", 10 * k)));
        CHECK(has(frame, fmt::format(" time={:.16e} ", 2.5 * double(k))));
        const ExtendedXyz read(folder.write("one.xyz", frame), {"C", "Ni"});
        CHECK(read.low() == std::array<double, 3>{0, -1, 2});
        CHECK(read.high() == std::array<double, 3>{10, 19, 32.5});
        CHECK(read.open() == std::array<bool, 3>{false, true, false});
        const AtomRows rows = read.piece(0, 1);
        REQUIRE(rows.size() == kAtoms);
        for (std::int64_t row = 0; row < kAtoms; ++row) {
            const AtomRow& atom = rows[std::size_t(row)];
            CHECK(atom.id == row + 7);
            CHECK(atom.kind == (row % 2 == 0 ? 1 : 0));
            for (std::size_t d = 0; d < 3; ++d) {
                const double wanted = place(10 * std::int64_t(k), row)[d];
                CHECK(std::abs(atom.x[d] - wanted) <= 5.1e-9 * std::abs(wanted));
            }
        }
    }
    Trajectory exact = about();
    exact.digits = 17;
    const auto format = extended_xyz_format(exact);
    FrameFile file(folder.path() / "exact.xyz", *format);
    write_frame(file, *format, 0);
    const ExtendedXyz read(folder.path() / "exact.xyz", {"Ni", "C"});
    for (const AtomRow& row : read.piece(0, 1)) CHECK(row.x == place(0, row.id - 7));
}

TEST_CASE("a DCD file has the records that its form says", "[frames]") {
    const TemporaryFolder folder;
    const std::string bytes = frames_up_to(folder.path() / "a.dcd", dcd_format, 20);
    CHECK(at<std::int32_t>(bytes, 0) == 84);
    CHECK(bytes.substr(4, 4) == "CORD");
    CHECK(at<std::int32_t>(bytes, 8) == 3);    // frames
    CHECK(at<std::int32_t>(bytes, 12) == 0);   // first step
    CHECK(at<std::int32_t>(bytes, 16) == 10);  // steps between
    CHECK(std::abs(at<float>(bytes, 44) * 48.88821F - 2) < 1e-6F);
    CHECK(at<std::int32_t>(bytes, 48) == 1);   // a unit cell in each frame
    CHECK(at<std::int32_t>(bytes, 84) == 24);  // CHARMM
    CHECK(at<std::int32_t>(bytes, 88) == 84);
    CHECK(at<std::int32_t>(bytes, 92) == 84);  // titles
    CHECK(at<std::int32_t>(bytes, 180) == 84);
    CHECK(at<std::int32_t>(bytes, 184) == 4);
    CHECK(at<std::int32_t>(bytes, 188) == kAtoms);
    std::size_t here = 196;
    for (const std::int64_t step : {0, 10, 20}) {
        CHECK(at<std::int32_t>(bytes, here) == 48);
        const double cell[] = {10, 90, 20, 90, 90, 30.5};
        for (std::size_t k = 0; k < 6; ++k) CHECK(at<double>(bytes, here + 4 + 8 * k) == cell[k]);
        CHECK(at<std::int32_t>(bytes, here + 52) == 48);
        here += 56;
        for (std::size_t d = 0; d < 3; ++d) {
            CHECK(at<std::int32_t>(bytes, here) == 4 * kAtoms);
            for (std::int64_t row = 0; row < kAtoms; ++row)
                CHECK(at<float>(bytes, here + 4 + 4 * std::size_t(row)) == float(place(step, row)[d]));
            here += 4 + 4 * kAtoms;
            CHECK(at<std::int32_t>(bytes, here) == 4 * kAtoms);
            here += 4;
        }
    }
    CHECK(here == bytes.size());
}

TEST_CASE("a run that goes on gives the same file, whatever was there of later frames", "[frames]") {
    for (const Make make : {Make(extended_xyz_format), Make(dcd_format)}) {
        const TemporaryFolder folder;
        const std::string whole = frames_up_to(folder.path() / "whole", make, 50);
        const auto format = make(about());
        const auto frame = static_cast<std::size_t>(format->frame_bytes());
        // Killed after the frame of step 30, in the middle of the next one, and while its room was filled.
        for (const std::size_t more : {std::size_t{0}, std::size_t{1}, frame / 2, frame - 1, frame}) {
            const fs::path path =
                folder.write("cut", frames_up_to(folder.path() / fmt::format("some{}", more), make, 30) +
                                        whole.substr(whole.size() - frame, more));
            folder.write("cut.part", "left over");
            FrameFile file(path, *format);
            CHECK(file.begin(25) == 0);  // the checkpoint is of step 25
            CHECK(!fs::exists(folder.path() / "cut.part"));
            CHECK(fs::file_size(path) == whole.size() - 3 * frame);
            for (std::int64_t step = 30; step <= 50; step += 10) write_frame(file, *format, step);
            CHECK(text_of(path) == whole);
        }
        // Nothing is left of a file whose frames all come later.
        const fs::path path = folder.write("late", whole.substr(0, whole.size() - 5 * frame - 3));
        FrameFile late(path, *format);
        CHECK(late.begin(0) == -1);
        CHECK(!fs::exists(path));
    }
}

TEST_CASE("files of other runs are refused, and lost frames named", "[frames]") {
    for (const Make make : {Make(extended_xyz_format), Make(dcd_format)}) {
        const TemporaryFolder folder;
        const std::string whole = frames_up_to(folder.path() / "a", make, 30);
        const auto refused = [&](const Trajectory& t, std::int64_t after) {
            const auto format = make(t);
            FrameFile file(folder.path() / "a", *format);
            const std::string error = refusal([&] { (void)file.begin(after); });
            CHECK(text_of(folder.path() / "a") == whole);
            return error;
        };
        CHECK(has(refused(about(), -1), "there is a trajectory already"));
        CHECK(has(refused(about(5), 20), "not one of this run"));
        Trajectory fewer = about();
        fewer.atoms = 4;
        CHECK(has(refused(fewer, 20), "not one of this run"));
        const std::string lost = refused(about(), 47);
        CHECK(has(lost, "fewer frames"));
        CHECK(has(lost, "5 up to step 47"));
    }
}

TEST_CASE("a frame that cannot be written leaves the file as it was", "[frames]") {
    const TemporaryFolder folder;
    const std::string whole = frames_up_to(folder.path() / "a", dcd_format, 20);
    Trajectory huge = about();
    huge.atoms = std::int64_t{1} << 58;  // no disk has room for this
    const auto format = extended_xyz_format(huge);
    FrameFile file(folder.path() / "a", *format);
    const std::string error = refusal([&] { file.make_room({}); });
    CHECK(has(error, "the trajectory cannot be written"));
    file.abandon();
    CHECK(text_of(folder.path() / "a") == whole);
    CHECK(!fs::exists(folder.path() / "a.part"));
}
