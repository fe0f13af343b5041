#include "cli/programs.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/base/error.hpp"

namespace strata::cli {

std::string own_folder() {
    std::error_code failed;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
    return failed ? std::string() : self.parent_path().string();
}

std::optional<std::string> find_program(const std::string& name) {
    for (const char* folder : {"/../libexec/strata/", "/", "/../benchmarks/", "/../solvers/"})
        if (const std::string file = own_folder() + folder + name; access(file.c_str(), X_OK) == 0)
            return file;
    return std::nullopt;
}

void become(std::vector<std::string> command) {
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv.front(), argv.data());
    throw system_error("the program cannot be started", errno).given(command.front());
}

}  // namespace strata::cli
