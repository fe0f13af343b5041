#include "core/base/private_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata;
namespace fs = std::filesystem;

namespace {

constexpr unsigned kNobody = 65534;

mode_t mode_of(const std::string& path) {
    struct stat about {};
    return lstat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
}

}  // namespace

TEST_CASE("a private folder has a name of its own, and nobody else may look into it, under any umask") {
    const TestFolder base;
    const mode_t before = umask(0);
    const auto one = make_private_folder(base.path, "mine-"), other = make_private_folder(base.path, "mine-");
    umask(before);
    REQUIRE(one);
    REQUIRE(other);
    CHECK(*one != *other);
    CHECK(one->starts_with(base.path + "/mine-"));
    CHECK(mode_of(*one) == 0700);
    CHECK(why_not_private(*one).empty());
    chmod(one->c_str(), 0770);
    CHECK(why_not_private(*one) == "others may write in it");
    CHECK(why_not_private(*one, true).empty());
    chmod(one->c_str(), 0707);
    CHECK(why_not_private(*one, true) == "others may write in it");
}

TEST_CASE("no private folder is made where everybody could put another one in its place") {
    const TestFolder base;
    chmod(base.path.c_str(), 0777);
    CHECK_FALSE(make_private_folder(base.path, "mine-"));
    chmod(base.path.c_str(), 01777);
    CHECK(make_private_folder(base.path, "mine-"));
    CHECK_FALSE(make_private_folder(base.path + "/absent", "mine-"));
    if (geteuid() != 0) return;
    REQUIRE(chown(base.path.c_str(), kNobody, kNobody) == 0);
    CHECK_FALSE(make_private_folder(base.path, "mine-"));
}

TEST_CASE("a new file is written through no link, and replaces what a killed process has left") {
    const TestFolder base;
    const std::string path = base.path + "/out.tmp", secret = base.file("secret", "secret");
    SECTION("absent") {}
    SECTION("a link") { fs::create_symlink(secret, path); }
    SECTION("a link to nothing") { fs::create_symlink("nothing", path); }
    SECTION("another name of a file") { fs::create_hard_link(secret, path); }
    const int made = open_new_file(path);
    REQUIRE(made >= 0);
    CHECK(write(made, "new", 3) == 3);
    close(made);
    CHECK(fs::symlink_status(path).type() == fs::file_type::regular);
    CHECK(fs::file_size(path) == 3);
    CHECK(fs::file_size(secret) == 6);
    CHECK_FALSE(fs::exists(base.path + "/nothing"));
}

TEST_CASE("where another user's file stands in the way and cannot go, there is no new one") {
    if (geteuid() != 0) return;
    const TestFolder base;
    base.file("out.tmp", "theirs");
    chmod((base.path + "/out.tmp").c_str(), 0666);
    chmod(base.path.c_str(), 01777);
    REQUIRE(seteuid(kNobody) == 0);  // for whom root is another user
    const int made = open_new_file(base.path + "/out.tmp");
    REQUIRE(seteuid(0) == 0);
    CHECK(made == -1);
}

TEST_CASE("of a folder of a fixed name it is known whether it is this user's alone") {
    const TestFolder base;
    const std::string path = base.path + "/fixed";
    std::string why;
    SECTION("absent") { why = "it is not there, or cannot be looked at"; }
    SECTION("this user's") { fs::create_directory(path); }
    SECTION("others may write in it") {
        fs::create_directory(path);
        chmod(path.c_str(), 0757);
        why = "others may write in it";
    }
    SECTION("a link, be it to a folder that is this user's") {
        fs::create_directory(base.path + "/elsewhere");
        fs::create_directory_symlink("elsewhere", path);
        why = "it is a link";
    }
    SECTION("a file") {
        base.file("fixed", "");
        why = "it is no folder";
    }
    SECTION("another user's") {
        if (geteuid() != 0) return;
        fs::create_directory(path);
        REQUIRE(chown(path.c_str(), kNobody, kNobody) == 0);
        why = "it belongs to user 65534";
    }
    CHECK(why_not_private(path) == why);
}

TEST_CASE("a folder for results is made with those above it, with the mode that the umask leaves") {
    const TestFolder base;
    const std::string path = base.path + "/one/two";
    const mode_t before = umask(027);
    CHECK_FALSE(make_results_folder(path + "/"));
    umask(before);
    CHECK(mode_of(path) == 0750);
    CHECK_FALSE(make_results_folder(path));
    base.file("file", "");
    CHECK(make_results_folder(base.path + "/file/below") == std::errc::not_a_directory);
    fs::create_directory_symlink("one", base.path + "/link");  // of one's own
    CHECK_FALSE(make_results_folder(base.path + "/link/three"));
    CHECK(fs::is_directory(base.path + "/one/three"));
}

TEST_CASE("no results are written where another user was first in a folder that all may write") {
    if (geteuid() != 0) return;
    const TestFolder base;
    chmod(base.path.c_str(), 01777);
    const std::string theirs = base.path + "/theirs", elsewhere = base.path + "/elsewhere";
    std::string kind = "folder", path = theirs;
    fs::create_directory(elsewhere);
    SECTION("the folder") { fs::create_directory(theirs); }
    SECTION("a folder above it") {
        fs::create_directory(theirs);
        path += "/mine";
    }
    SECTION("a link") {
        fs::create_directory_symlink("elsewhere", theirs);
        kind = "link";
    }
    SECTION("a link behind one of this user's") {
        fs::create_directory_symlink("elsewhere", theirs);
        fs::create_directory_symlink("theirs", base.path + "/mine");
        path = base.path + "/mine/below";
        kind = "link";
    }
    REQUIRE(lchown(theirs.c_str(), kNobody, kNobody) == 0);
    try {
        (void)make_results_folder(path);
        FAIL("it was made");
    } catch (const Error& error) {
        CHECK(error.message() == "results are not written where another user has put a " + kind + " first");
        CHECK(error.given() == theirs + " belongs to user 65534, and many may write in " + base.path);
    }
    CHECK(fs::is_empty(elsewhere));
    setenv("STRATA_TRUST", "x,65534", 1);
    CHECK_FALSE(make_results_folder(path));
    unsetenv("STRATA_TRUST");
}

TEST_CASE("whoever owns the folder that many may write is believed") {
    if (geteuid() != 0) return;
    const TestFolder base;  // in which nobody else may write
    const std::string open = base.path + "/open", theirs = open + "/theirs";
    fs::create_directories(theirs);
    chmod(open.c_str(), 01777);
    for (const std::string& each : {open, theirs}) REQUIRE(chown(each.c_str(), kNobody, kNobody) == 0);
    CHECK_FALSE(make_results_folder(theirs + "/mine"));
}

TEST_CASE(
    "a stranger's link at the end of a path leads no results anywhere, also in the stranger's own folder") {
    if (geteuid() != 0) return;
    const TestFolder base;  // in which nobody else may write
    const std::string theirs = base.path + "/theirs", link = theirs + "/out", kept = base.path + "/kept";
    fs::create_directories(theirs);
    fs::create_directory(kept);
    fs::create_directory_symlink("../kept/", link);
    for (const std::string& each : {theirs, link}) REQUIRE(lchown(each.c_str(), kNobody, kNobody) == 0);
    fs::create_directory_symlink("theirs", base.path + "/way");
    fs::create_directory_symlink("theirs/out/", base.path + "/mine");
    for (const std::string& path :
         {link, link + "/", link + "/.", base.path + "/way/out", base.path + "/mine"})
        try {
            (void)make_results_folder(path);
            FAIL("it was followed: " << path);
        } catch (const Error& error) {
            CHECK(error.message() == "results are not written where another user has put a link first");
            CHECK(error.given().find("/theirs/out belongs to user 65534") != std::string::npos);
        }
    setenv("STRATA_TRUST", "65534", 1);
    CHECK_FALSE(make_results_folder(link + "/run"));
    unsetenv("STRATA_TRUST");
    CHECK(fs::is_directory(kept + "/run"));
}
