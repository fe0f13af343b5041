#include "solvers/flow/output/row_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/base/error.hpp"
#include "core/run/checkpoint/all_or_none.hpp"

namespace strata::flow {

namespace {

class Opened {
  public:
    Opened(const std::filesystem::path& path, int how)
        : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC | how, 0666)) {
        if (file_ < 0) throw failed();
    }
    ~Opened() { ::close(file_); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    void put(std::string_view text, std::int64_t at) const {
        while (!text.empty()) {
            const ssize_t done = ::pwrite(file_, text.data(), text.size(), at);
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) throw failed();
            text.remove_prefix(static_cast<std::size_t>(done)), at += done;
        }
    }

  private:
    [[nodiscard]] Error failed() const {
        return Error("a file of rows cannot be written", kFailure)
            .at(path_.string())
            .given(std::strerror(errno));
    }
    std::filesystem::path path_;
    int file_;
};

}  // namespace

void RowFile::write(team::Team& team, const std::filesystem::path& path, std::string_view head,
                    const std::function<void(const Place&)>& put) {
    const auto partial = path.parent_path() / ("." + path.filename().string() + ".partial");
    const auto undo = [&] {
        std::error_code ignored;
        std::filesystem::remove(partial, ignored);
    };
    graph::first_or_none(
        team, [&] { Opened(partial, O_CREAT | O_TRUNC).put(head, 0); }, undo);
    for (int node = 0; node < team.nodes(); ++node)
        graph::all_or_none(
            team,
            [&] {
                if (team.node() != node) return;
                const Opened file(partial, 0);
                put([&](std::string_view text, std::int64_t at) {
                    file.put(text, static_cast<std::int64_t>(head.size()) + at);
                });
            },
            undo);
    graph::first_or_none(
        team, [&] { std::filesystem::rename(partial, path); }, undo);
}

}  // namespace strata::flow
