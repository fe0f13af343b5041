// A start of ./strata in one process: what its shell asks of getconf, stat and find is asked here of the
// system. That takes 0.5 ms for launch, and 2 ms for other commands, which look at all sources. This source
// needs nothing but the system: it is also compiled by itself, for the tests of set-up.
#include "cli/recall.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace strata::cli {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) {
        if (!part.empty()) parts.push_back(part);
    }
    return parts;
}

/// strata_processor of setup/key.sh: the first processor in the words that decide which instructions it has.
std::string processor() {
    constexpr std::string_view decisive[] = {"vendor_id",
                                             "cpu family",
                                             "model",
                                             "model name",
                                             "stepping",
                                             "flags",
                                             "CPU implementer",
                                             "CPU architecture",
                                             "CPU variant",
                                             "CPU part",
                                             "CPU revision",
                                             "Features",
                                             "cpu",
                                             "isa",
                                             "uarch"};
    const std::string path = variable("STRATA_CPUINFO");
    std::ifstream file(path.empty() ? "/proc/cpuinfo" : path);
    std::string found;
    for (std::string line; std::getline(file, line) && !line.empty();) {
        const auto colon = line.find(':');
        const auto end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
        const std::string_view name(line.data(), end + 1);
        const auto value = line.find(": ");
        for (const auto& word : decisive) {
            if (name == word)
                found += std::string(name) + "=" +
                         (value == std::string::npos ? line : line.substr(value + 2)) + ";";
        }
    }
    return found;
}

std::string system_name() {
    std::ifstream file("/etc/os-release");
    std::string name, version;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("ID=")) name = line.substr(3);
        if (line.starts_with("VERSION_ID=")) version = line.substr(11);
    }
    return name + " " + version;
}

/// strata_program of setup/key.sh.
std::string program(const std::vector<std::string>& names) {
    struct stat about;
    for (const auto& name : names) {
        if (name.find('/') != std::string::npos) {
            if (access(name.c_str(), X_OK) == 0) return name;
            continue;
        }
        for (const auto& folder : split(variable("PATH"), ':')) {
            const std::string path = folder + "/" + name;
            if (stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && access(path.c_str(), X_OK) == 0)
                return path;
        }
    }
    return {};
}

/// "PATH SIZE SECONDS", as stat prints it; empty for none.
std::string identity(const std::string& path) {
    struct stat about;
    if (path.empty() || stat(path.c_str(), &about) != 0) return {};
    return path + " " + std::to_string(about.st_size) + " " + std::to_string(about.st_mtim.tv_sec);
}

bool newer(const struct stat& a, const timespec& than) {
    return a.st_mtim.tv_sec != than.tv_sec ? a.st_mtim.tv_sec > than.tv_sec
                                           : a.st_mtim.tv_nsec > than.tv_nsec;
}

/// strata_sources of setup/key.sh.
bool is_source(std::string_view name) {
    return name.ends_with(".cpp") || name.ends_with(".hpp") || name.ends_with(".cmake") ||
           name.ends_with(".in") || name == "CMakeLists.txt" || name == "pieces.csv" || name == "parts.csv" ||
           name == "solver.toml";
}

/// Whether a source at `path` or below it changed after `than`.
bool has_newer(const std::string& path, const timespec& than) {
    struct stat about;
    if (stat(path.c_str(), &about) != 0) return false;
    if (!S_ISDIR(about.st_mode)) return is_source(path.substr(path.rfind('/') + 1)) && newer(about, than);
    DIR* folder = opendir(path.c_str());
    if (folder == nullptr) return true;
    bool found = false;
    while (const dirent* entry = readdir(folder)) {
        const std::string_view name = entry->d_name;
        const bool aside = name == "." || name == ".." || (entry->d_type == DT_REG && !is_source(name));
        if (!aside && has_newer(path + "/" + entry->d_name, than)) {
            found = true;
            break;
        }
    }
    closedir(folder);
    return found;
}

bool sources_are_older(const std::string& root, const std::string& build, bool launch) {
    struct stat stamp, project, environment;
    if (stat((build + "/stamp").c_str(), &stamp) != 0 ||
        stat((root + "/pyproject.toml").c_str(), &project) != 0 ||
        stat((build + "/venv/complete").c_str(), &environment) != 0 || newer(project, environment.st_mtim)) {
        return false;
    }
    std::vector<const char*> places = {"CMakeLists.txt", "cli"};
    if (launch) {
        places.insert(places.end(),
                      {"core/base", "core/machine", "core/observe", "core/launch", "core/balance"});
    } else {
        places.insert(places.end(), {"core", "benchmarks", "methods", "solvers", "cmake",
                                     "python/strata/pieces.csv", "setup/parts.csv"});
    }
    for (const char* place : places) {
        if (has_newer(root + "/" + place, stamp.st_mtim)) return false;
    }
    return true;
}

/// The file that setup/key.sh has written, with a line NAME=VALUE for each.
struct SavedStart {
    std::string build, root, rest, libc;
};

SavedStart read_saved_start(const std::string& path) {
    std::ifstream file(path);
    SavedStart saved;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("build=")) {
            saved.build = line.substr(6);
        } else if (line.starts_with("root=")) {
            saved.root = line.substr(5);
        } else if (!line.starts_with("shell=")) {
            saved.rest += line + "\n";
        }
        if (line.starts_with("libc=")) saved.libc = line.substr(5, line.find(' ') - 5);
    }
    return saved;
}

/// The same lines as they would be written now.
std::string lines_of_now(const std::string& libc) {
    const std::string preset = variable("STRATA_PRESET"), compiler = variable("CXX");
    std::string text =
        "processor=" + (preset == "portable" ? "any" : processor()) + "\nsystem=" + system_name() + "\n";
    for (const char* name : {"STRATA_PRESET", "STRATA_WITHOUT", "STRATA_IGNORE_SYSTEM", "STRATA_CMAKE_ARGS",
                             "CXX", "CXXFLAGS"}) {
        text += std::string(name) + "=" + variable(name) + "\n";
    }
    text += "compiler=" +
            identity(program(compiler.empty() ? std::vector<std::string>{"c++", "g++", "clang++"}
                                              : split(compiler, ' '))) +
            "\nmpi=" + identity(program({"mpicxx"})) + "\nlibc=" + identity(libc) + "\n";
    return text;
}

bool same_folder(const std::string& a, const std::string& b) {
    struct stat first, second;
    return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

}  // namespace

void recall(char** words, const char* command) {
    const std::string path = variable("STRATA_MEMORY"), entry = variable("STRATA_ENTRY");
    if (path.empty()) return;
    unsetenv("STRATA_MEMORY");
    unsetenv("STRATA_ENTRY");
    const SavedStart saved = read_saved_start(path);
    const bool launch = command != nullptr && std::strcmp(command, "launch") == 0;
    const bool here =
        same_folder(entry.substr(0, entry.rfind('/')), saved.root);  // not of a checkout that was copied
    if (!here || saved.rest != lines_of_now(saved.libc) ||
        !sources_are_older(saved.root, saved.build, launch)) {
        setenv("STRATA_FORGET", "1", 1);
        execv(entry.c_str(), words);
        std::fprintf(stderr, "strata: error: %s cannot be started: %s\n", entry.c_str(),
                     std::strerror(errno));
        std::exit(1);
    }
    setenv("STRATA_ROOT", saved.root.c_str(), 1);
    setenv("STRATA_PYTHON", (saved.build + "/venv/bin/python").c_str(), 1);
    std::ifstream candidates(saved.build + "/current/share/strata/blas-candidates");
    std::string blas;
    if (variable("STRATA_BLAS_CANDIDATES").empty() && std::getline(candidates, blas)) {
        setenv("STRATA_BLAS_CANDIDATES", blas.c_str(), 1);
    }
}

}  // namespace strata::cli
