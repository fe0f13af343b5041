// A full disk and a sudden end while a checkpoint is written.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/base/crc32c.hpp"
#include "core/run/checkpoint/reader.hpp"
#include "core/run/checkpoint/writer.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::tests;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& folder, std::int64_t step, std::size_t bytes) {
    const std::vector<std::byte> values(bytes, static_cast<std::byte>(step));
    CheckpointHead head;
    head.step = step;
    head.families = {{"grid", 8}};
    head.labels = {{"u", "grid", Element::u8, 1, 1, 1}};
    CheckpointWriter::prepare(folder, step);
    CheckpointWriter writer(folder, step, 0);
    for (std::int64_t patch = 0; patch < 8; ++patch)
        writer.add(0, patch, values, static_cast<std::int64_t>(bytes));
    writer.finish();
    CheckpointWriter::commit(folder, head, 1, 2);
}

/// The wait status of a process that runs `body`.
int in_a_process(const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        int status = 99;
        try {
            status = body();
        } catch (const std::exception&) {
        }
        ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

/// Where writing one checkpoint more fails: 0 when the one before is whole and nothing else is left.
int fails_cleanly(const fs::path& folder, std::size_t bytes, const std::string& words) {
    const std::string said = refusal([&] { write(folder, 2, bytes); });
    if (!has(said, "could not be written") || !has(said, words) || !has(said, "part-0000")) return 1;
    CheckpointWriter::abandon(folder, 2);
    if (fs::exists(partial_path(folder, 2)) || checkpoint_steps(folder) != std::vector<std::int64_t>{1})
        return 2;
    const CheckpointReader reader = CheckpointReader::latest(folder).value();
    return reader.head().step == 1 && reader.check() > 0 ? 0 : 3;
}

}  // namespace

TEST_CASE("a limit on the size of files ends a checkpoint with one error; the one before stays whole") {
    const TemporaryFolder folder;
    write(folder.path(), 1, 1000);
    const int status = in_a_process([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100'000, 100'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        return fails_cleanly(folder.path(), 50'000, "File too large");
    });
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a full file system ends a checkpoint with one error; the one before stays whole") {
    const TemporaryFolder folder;
    constexpr int kNoMount = 77;
    const int status = in_a_process([&] {
        const uid_t user = ::getuid();
        const gid_t group = ::getgid();
        // A mount of its own, that is gone with this process; an ordinary user makes one in a user namespace.
        if (::unshare(CLONE_NEWNS) != 0) {
            if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNoMount;
            write_text("/proc/self/setgroups", "deny");
            write_text("/proc/self/uid_map", fmt::format("0 {} 1", user));
            write_text("/proc/self/gid_map", fmt::format("0 {} 1", group));
        }
        if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
            return kNoMount;
        write(folder.path(), 1, 10'000);
        return fails_cleanly(folder.path(), 200'000, "No space left");
    });
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoMount) CANNOT_TRY("no file system can be mounted here");
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a writer that is killed leaves the one before, and nothing after the next") {
    const TemporaryFolder folder;
    write(folder.path(), 1, 100);
    for (int round = 0; round < 6; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            for (std::int64_t step = 2;; ++step) write(folder.path(), step, 300'000);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20 + 7 * round));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        REQUIRE(WIFSIGNALED(status));
        // Whatever has its name is whole.
        for (const std::int64_t step : checkpoint_steps(folder.path())) {
            const CheckpointReader reader(checkpoint_path(folder.path(), step));
            CHECK(reader.head().step == step);
            CHECK(reader.check() >= 800);
        }
        REQUIRE_FALSE(checkpoint_steps(folder.path()).empty());
    }
    write(folder.path(), 1'000'000, 100);
    for (const auto& entry : fs::directory_iterator(folder.path()))
        CHECK(entry.path().filename().string().starts_with("checkpoint-"));
}

namespace {

/// What is said of a checkpoint whose index is this one line, with the checksum that it needs.
std::string said_of_index(const std::string& line) {
    const TemporaryFolder folder;
    write(folder.path(), 1, 100);
    const fs::path at = checkpoint_path(folder.path(), 1);
    const std::uint32_t sum = crc32c(std::as_bytes(std::span(line)));
    write_text(at / "part-0000.index",
               line + fmt::format("{{\"chunks\":1,\"bytes\":{},\"crc32c\":\"{:08x}\"}}\n",
                                  fs::file_size(at / "part-0000.data"), sum));
    return refusal([&] { (void)CheckpointReader(at).check(); });
}

}  // namespace

TEST_CASE("an index that is sealed rightly and says what cannot be is one error, and claims no memory") {
    const auto chunk = [](const std::string& count, const std::string& offset, const std::string& bytes,
                          const std::string& sum) {
        return fmt::format(R"({{"label":0,"patch":0,"generation":0,"count":{},"offset":{},"bytes":{},)"
                           R"("crc32c":"{}"}})"
                           "\n",
                           count, offset, bytes, sum);
    };
    for (const std::string& line :
         {chunk("1", "0", "9000000000000000000", "00000000"), chunk("1", "0", "-1", "00000000"),
          chunk("1", "-8", "8", "00000000"), chunk("1", "1000000", "8", "00000000"),
          chunk("-1", "0", "8", "00000000"), chunk("1", "0", "8", "no sum"), chunk("1", "0", "8", ""),
          chunk("1", "0", "8", "1234567890abcdef01234567890")}) {
        INFO(line);
        const std::string said = said_of_index(line);
        CHECK(has(said, "says what cannot be of label 'u' on patch 0"));
        CHECK(has(said, "part-0000.index"));
    }
}

TEST_CASE("a head that is sealed rightly and has sizes that cannot be is one error") {
    const TemporaryFolder folder;
    for (const bool negative : {true, false}) {
        CheckpointHead head;
        head.families = {{"grid", negative ? -1 : 2}};
        head.labels = {{"u", "grid", Element::u8, negative ? 1 : std::size_t{1} << 40, 1, 1}};
        write_text(folder.path() / "checkpoint.json", head_text(head, 1));
        int parts = 0;
        const std::string said = refusal([&] { (void)read_head(folder.path() / "checkpoint.json", parts); });
        CHECK(has(said, "says what cannot be"));
        CHECK(has(said, negative ? "patches" : "bytes"));
    }
}
