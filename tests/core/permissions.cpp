#include "core/base/permissions.hpp"

#include <unistd.h>

#include <filesystem>

#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata;
namespace fs = std::filesystem;

TEST_CASE("the way to a path has its links, what they lead to, and \"..\" as the kernel takes it") {
    const TestFolder base;
    const fs::path at = fs::canonical(base.path);
    fs::create_directories(at / "far/deep");
    fs::create_directory_symlink("far/deep", at / "link");
    fs::create_directory_symlink(at / "far/again", at / "far/again");
    const auto after = [&at](const std::string& path) {
        std::string said;
        for (const PathStep& step : path_steps(at / path))
            if (const fs::path below = step.path.lexically_relative(at); below.native().front() != '.')
                said += (S_ISLNK(step.about.st_mode) ? "@" : "") + below.string() + " ";
        return said;
    };
    CHECK(path_steps("/").size() == 1);
    CHECK(path_steps("").empty());
    CHECK(after("far/./deep/") == "far far/deep ");
    CHECK(after("link/../deep") == "@link far far/deep far/deep ");
    CHECK(after("far/absent/deep") == "far ");
    const auto round = path_steps(at / "far/again");
    CHECK(S_ISLNK(round.back().about.st_mode));  // a link to itself has an end
}

TEST_CASE("in a folder that many may write others replace a file, unless it is sticky") {
    struct stat about {};
    about.st_uid = geteuid();
    about.st_mode = S_IFDIR | 0775;
    CHECK_FALSE(may_replace_in(about, S_IWOTH));
    CHECK(may_replace_in(about, S_IWGRP | S_IWOTH));
    CHECK(why_not_own(about) == "others may write in it");
    CHECK(why_not_own(about, S_IWOTH).empty());
    about.st_mode = S_IFDIR | 01777;
    CHECK_FALSE(may_replace_in(about, S_IWGRP | S_IWOTH));
    about.st_uid = geteuid() + 1;
    CHECK(why_not_own(about).starts_with("it belongs to user "));
}
