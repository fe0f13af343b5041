// Starts a program as a user would, and keeps what it said.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace strata::tests {

struct Said {
    int status = -1;
    std::string out, err;
};

/// A folder that is gone with its holder.
class Folder {
  public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "strata-cli-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    /// A shell script in the folder.
    std::string script(const std::string& name, const std::string& body) const {
        const std::string path = *this / name;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream(path) << "#!/bin/sh\n" << body << '\n';
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path;
    }

  private:
    std::string path_;
};

inline std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// `python` becomes STRATA_PYTHON; `out` is where standard output goes when it is not to be kept.
inline Said run(const std::vector<std::string>& words, const std::string& python = "/nonexistent",
                const std::string& out = "") {
    const Folder folder;
    const std::string to = out.empty() ? folder / "out" : out, errors = folder / "err";
    const pid_t child = fork();
    if (child == 0) {
        const auto redirect = [](const std::string& path, int fd) {
            dup2(open(path.c_str(), O_WRONLY | O_CREAT, 0600), fd);
        };
        redirect(to, STDOUT_FILENO);
        redirect(errors, STDERR_FILENO);
        setenv("STRATA_PYTHON", python.c_str(), 1);
        std::vector<char*> argv;
        for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        _exit(126);
    }
    Said said;
    int status = 0;
    waitpid(child, &status, 0);
    said.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (out.empty()) said.out = contents(to);
    said.err = contents(errors);
    return said;
}

}  // namespace strata::tests
