#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "core/launch/placement.hpp"
#include "core/launch/record.hpp"
#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata;
using namespace strata::launch;

namespace {

Record example() {
    Record r;
    r.command = {"./a \"b\"", "c"};
    r.placement = place(std::vector<Core>{{0}, {1}}, Layout{1, 2, 1, Bind::core});
    r.started = "2026-01-01T00:00:00.000Z";
    r.exit_code = 3;
    r.threads = {{10, 11, 0, "a", {0, 1}, 1, 0.5, 7}, {12, 12, std::nullopt, "b", {1}, 0, 0, std::nullopt}};
    r.pages.method = "numa_maps";
    r.pages.verdict = "nothing promised";
    r.pages.by_memory[1] = 4096;
    r.libraries = {"/x/libgomp.so.1"};
    return r;
}

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// No file of this process can have a byte: as on a full disk, whose error is another one.
struct FullDisk {
    FullDisk() {
        getrlimit(RLIMIT_FSIZE, &before);
        const rlimit nothing{0, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &nothing);
    }
    ~FullDisk() {
        setrlimit(RLIMIT_FSIZE, &before);
        std::signal(SIGXFSZ, handler);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;
    rlimit before{};
    void (*handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

}  // namespace

TEST_CASE("a record holds what is known, and null for what is not") {
    const TestFolder folder;
    const std::string path = folder.path + "/record.json";
    write_record(example(), path);
    const std::string text = text_of(path);
    for (const char* part :
         {R"("schema":"strata.record/1")", R"("command":["./a \"b\"","c"])", R"("layout":"1x2")",
          R"("exit_code":3)", R"("signal":null)", R"("others_share":null)", R"("pressure":null)",
          R"("agrees":null)", R"("by_memory":{"1":4096})", R"("allowed":"0-1")", R"("rank":null)",
          R"("promised":[{"rank":0,"threads":["0","1"],"memory":"as inherited"}])",
          R"(["/x/libgomp.so.1"])"}) {
        INFO(part);
        CHECK(text.find(part) != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST_CASE("a record that cannot be written is one error that names the file, and leaves nothing") {
    CHECK_THROWS_AS(write_record(example(), "/nonexistent/folder/record.json"), Error);
    const TestFolder folder;
    const FullDisk full;
    try {
        write_record(example(), folder.path + "/r.json");
        FAIL("a full disk was not noticed");
    } catch (const Error& error) {
        CHECK(error.text().find("File too large") != std::string::npos);
        CHECK(error.text().find(folder.path + "/r.json") != std::string::npos);
    }
    CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("a record is written where one's own link leads, and into a FIFO, which stay") {
    const TestFolder folder;
    const std::string path = folder.path + "/r.json", file = folder.file("elsewhere", "old");
    std::filesystem::create_symlink("elsewhere", path);
    write_record(example(), path);
    CHECK(std::filesystem::is_symlink(path));
    CHECK(text_of(file).find("strata.record/1") != std::string::npos);

    const std::string fifo = folder.path + "/fifo";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    write_record(example(), fifo);
    char start[16] = "";
    CHECK(read(reader, start, sizeof start - 1) == sizeof start - 1);
    CHECK(std::string(start) == R"({"schema":"stra)");
    close(reader);
    CHECK(std::filesystem::is_fifo(fifo));
}
