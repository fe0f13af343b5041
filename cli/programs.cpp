#include "cli/programs.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/base/error.hpp"

namespace strata::cli {
namespace {

std::vector<std::string>& words() {
    static std::vector<std::string> list;
    return list;
}

/// Where this front is of a checkout's tree that names its parts: the checkout. Else nothing more can be
/// built.
std::optional<std::string> checkout_with_parts() {
    const char* root = std::getenv("STRATA_ROOT");
    // By access(): a folder that is closed to this user is no error.
    const std::string parts = own_folder() + "/../share/strata/parts";
    if (root == nullptr || access(parts.c_str(), R_OK) != 0) return std::nullopt;
    return root;
}

bool tree_has(const std::string& part) {
    std::ifstream in(own_folder() + "/../share/strata/parts");
    for (std::string line; std::getline(in, line);)
        if (line == part) return true;
    return false;
}

/// The part whose programs, the last column, have this name.
std::optional<std::string> part_of(const std::string& program, const std::string& checkout) {
    std::ifstream in(checkout + "/setup/parts.csv");
    for (std::string line; std::getline(in, line);) {
        std::istringstream programs(line.substr(line.rfind(',') + 1));
        for (std::string name; programs >> name;)
            if (name == program) return line.substr(0, line.find(','));
    }
    return std::nullopt;
}

}  // namespace

void remember_words(int argc, char** argv) { words().assign(argv + 1, argv + argc); }

void need_part(const std::string& part) {
    const auto checkout = checkout_with_parts();
    if (!checkout || tree_has(part)) return;
    std::vector<std::string> command = {"/usr/bin/env", "bash", *checkout + "/setup/part.sh", part};
    command.insert(command.end(), words().begin(), words().end());
    become(std::move(command));
}

std::string own_folder() {
    std::error_code failed;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
    return failed ? std::string() : self.parent_path().string();
}

std::optional<std::string> find_program(const std::string& name) {
    for (const char* folder : {"/../libexec/strata/", "/", "/../benchmarks/", "/../solvers/"})
        if (const std::string file = own_folder() + folder + name; access(file.c_str(), X_OK) == 0)
            return file;
    if (const auto checkout = checkout_with_parts())
        if (const auto part = part_of(name, *checkout)) need_part(*part);
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
