#include "core/base/named_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata;
namespace fs = std::filesystem;

namespace {

constexpr unsigned kNobody = 65534;

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

fs::file_type kind_of(const std::string& path) { return fs::symlink_status(path).type(); }

/// What stands in a folder, unfinished files included.
size_t entries(const std::string& folder) {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

std::string read_from(int file) {
    std::array<char, 64> bytes{};
    const ssize_t got = read(file, bytes.data(), bytes.size());
    return {bytes.data(), static_cast<size_t>(got > 0 ? got : 0)};
}

/// Both ways to write what a user names.
int put(bool whole, const std::string& path, const std::string& text) {
    if (whole) return write_named(path, text);
    const int file = open_named(path);
    if (file < 0) return errno;
    const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    return close(file) == 0 && written ? 0 : EIO;
}

}  // namespace

TEST_CASE("a file that a user names is replaced, and a link to it stays a link") {
    const bool whole = GENERATE(true, false);
    const TestFolder base;
    fs::create_directory(base.path + "/far");
    const std::string file = base.file("far/file", "a longer text than the new one"),
                      link = base.path + "/link";
    std::string named = file;
    SECTION("the file") {}
    SECTION("a link to it") { fs::create_symlink("far/file", named = link); }
    SECTION("a link to a link to it") {
        fs::create_symlink(file, base.path + "/far/other");
        fs::create_symlink("far/other", named = link);
    }
    SECTION("a link to what is not there yet") {
        fs::remove(file);
        fs::create_symlink("far/file", named = link);
    }
    const size_t before = entries(base.path + "/far") + (fs::exists(file) ? 0 : 1);
    CHECK(put(whole, named, "new") == 0);
    CHECK(kind_of(named) == (named == file ? fs::file_type::regular : fs::file_type::symlink));
    CHECK(kind_of(file) == fs::file_type::regular);
    CHECK(text_of(file) == "new");
    CHECK(entries(base.path + "/far") == before);
}

TEST_CASE("into a FIFO, a device and a descriptor of this process the text is written, and they stay") {
    const bool whole = GENERATE(true, false);
    const TestFolder base;
    std::array<int, 2> pipe_ends{};
    REQUIRE(pipe(pipe_ends.data()) == 0);
    const std::string fifo = base.path + "/fifo", link = base.path + "/link";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    CHECK(why_not_named(fifo) == 0);
    CHECK(put(whole, fifo, "to a FIFO") == 0);
    CHECK(read_from(reader) == "to a FIFO");
    fs::create_symlink("fifo", link);
    CHECK(put(whole, link, "by a link") == 0);
    CHECK(read_from(reader) == "by a link");
    CHECK(kind_of(fifo) == fs::file_type::fifo);
    CHECK(kind_of(link) == fs::file_type::symlink);

    for (const char* folder : {"/proc/self/fd/", "/dev/fd/"}) {
        const std::string descriptor = folder + std::to_string(pipe_ends[1]);
        CHECK(why_not_named(descriptor) == 0);
        CHECK(put(whole, descriptor, "to a pipe") == 0);
        CHECK(read_from(pipe_ends[0]) == "to a pipe");
    }
    for (const int file : {reader, pipe_ends[0], pipe_ends[1]}) close(file);

    // A device of this test's own, where it may make one; the system's would be lost to all.
    const std::string null = base.path + "/null";
    if (mknod(null.c_str(), S_IFCHR | 0600, makedev(1, 3)) != 0) return;
    const int made = put(whole, null, "to a device");
    CHECK((made == 0 || made == EACCES));  // a folder in which devices are none (nodev)
    CHECK(kind_of(null) == fs::file_type::character);
}

TEST_CASE("what cannot be written is known before, and leaves all as it was") {
    const bool whole = GENERATE(true, false);
    const TestFolder base;
    const std::string round = base.path + "/round";
    fs::create_symlink("round", round);
    fs::create_directory(base.path + "/folder");
    const size_t before = entries(base.path);
    for (const auto& [path, why] :
         {std::pair{base.path + "/folder", EISDIR}, {base.path + "/absent/file", ENOENT}, {round, ELOOP}}) {
        CAPTURE(path);
        CHECK(put(whole, path, "new") == why);
        CHECK(why_not_named(path) == why);
    }
    CHECK(entries(base.path) == before);
}

TEST_CASE("through what another user has put there nothing is written") {
    if (geteuid() != 0) return;
    const TestFolder base;
    const std::string own = base.file("own", "own"), trap = base.path + "/open/trap";
    fs::create_directory(base.path + "/open");
    chmod((base.path + "/open").c_str(), 01777);
    SECTION("a link") { fs::create_symlink(own, trap); }
    SECTION("a FIFO") { REQUIRE(mkfifo(trap.c_str(), 0666) == 0); }
    REQUIRE(lchown(trap.c_str(), kNobody, kNobody) == 0);
    CHECK(open_named(trap) == -1);
    CHECK(text_of(own) == "own");
    CHECK(write_named(trap, "new") == 0);
    CHECK(kind_of(trap) == fs::file_type::regular);
    CHECK(text_of(trap) == "new");
    CHECK(text_of(own) == "own");
}

TEST_CASE("one's own link is followed where others may make files, unless they could have made this one") {
    if (geteuid() != 0) return;
    const TestFolder base;
    const std::string folder = base.path + "/open", link = folder + "/link",
                      target = base.file("target", "old");
    fs::create_directory(folder);
    fs::create_symlink(target, link);
    chmod(folder.c_str(), 01777);
    CHECK(write_named(link, "new") == 0);
    CHECK(kind_of(link) == fs::file_type::symlink);
    CHECK(text_of(target) == "new");
    chmod(folder.c_str(), 0777);  // not sticky: anybody may rename what is in it
    CHECK(write_named(link, "other") == 0);
    CHECK(kind_of(link) == fs::file_type::regular);
    CHECK(text_of(target) == "new");
}

TEST_CASE("what a user names is read to its end, and no further than a limit where it may have none") {
    const TestFolder base;
    CHECK(read_named(base.file("file", "a\nb"), "the map", 1) == "a\nb");  // a plain file as far as it goes
    CHECK(read_named(base.file("empty", ""), "the map").empty());
    CHECK(read_named("/proc/self/status", "the map").starts_with("Name:"));  // which has no size
    const auto said = [](const std::string& path) {
        try {
            return read_named(path, "the map", 100'000).substr(0, 1);
        } catch (const Error& error) {
            return error.message() + " | " + error.given();
        }
    };
    CHECK(said("/dev/zero") ==
          "the end of the map was not met | more than 100000 bytes, and it is no plain file");
    CHECK(said(base.path).starts_with("the map cannot be read"));
    CHECK(said(base.path + "/absent").starts_with("the map cannot be read"));
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    CHECK(write(ends[1], "text", 4) == 4);
    close(ends[1]);
    CHECK(read_named("/dev/fd/" + std::to_string(ends[0]), "the map") == "text");
    close(ends[0]);
}
