#include "cli/python.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "cli/programs.hpp"
#include "core/base/error.hpp"

namespace strata::cli {

namespace {

/// Whether the environment whose programs lie in this folder has the package, installed or by reference.
/// Looked up among its files: to ask that Python itself would cost more than all that a native command does.
bool has_package(const std::string& programs) {
    namespace fs = std::filesystem;
    std::error_code failed;
    for (const auto& python : fs::directory_iterator(programs + "/../lib", failed)) {
        if (python.path().filename().string().rfind("python3", 0) != 0) continue;
        for (const char* packages : {"site-packages", "dist-packages"})
            for (const auto& entry : fs::directory_iterator(python.path() / packages, failed)) {
                const std::string name = entry.path().filename().string();
                if (name == "strata" ||
                    (name.rfind("strata-", 0) == 0 && name.find(".dist-info") != name.npos))
                    return true;
            }
    }
    return false;
}

}  // namespace

std::optional<std::string> find_python() {
    if (const char* named = std::getenv("STRATA_PYTHON"); named != nullptr && *named != '\0') {
        if (access(named, X_OK) == 0) return named;
        return std::nullopt;
    }
    for (const char* programs : {"", "/../python/bin"}) {  // pip's environment; that of setup --install
        const std::string folder = own_folder() + programs, python = folder + "/python3";
        if (access(python.c_str(), X_OK) == 0 && has_package(folder)) return python;
    }
    return std::nullopt;
}

void forget_modules_here(bool relative) {
    const char* const said = std::getenv("PYTHONPATH");
    if (said == nullptr) return;
    std::istringstream entries(said);
    std::string kept;
    for (std::string each; std::getline(entries, each, ':');)
        if (!each.empty() && (!relative || each.front() == '/')) kept += (kept.empty() ? "" : ":") + each;
    setenv("PYTHONPATH", kept.c_str(), 1);  // an empty one is none
}

void run_python(const std::vector<std::string>& words) {
    const auto python = find_python();
    if (!python) {
        const char* named = std::getenv("STRATA_PYTHON");
        throw Error(fmt::format("`strata {}` needs Strata's Python side, which is not set up",
                                words.empty() ? "" : words.front()),
                    kFailure)
            .given(named == nullptr || *named == '\0'
                       ? "no STRATA_PYTHON, and no python3 with the package strata beside this program"
                       : fmt::format("STRATA_PYTHON={}", named))
            .remedy("run ./strata from the checkout, or pip install . into a virtual environment");
    }
    // -P: `-m` would import from the current folder first, where somebody else may have put a strata.py.
    forget_modules_here(true);
    std::vector<std::string> command = {*python, "-P", "-m", "strata"};
    command.insert(command.end(), words.begin(), words.end());
    // The Python side calls this very program again, wherever it was found.
    setenv("STRATA_BIN", (own_folder() + "/strata").c_str(), 1);
    // Until it listens (strata/cli.py) an interrupt waits: Python's own start would end with a traceback.
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, nullptr);
    become(std::move(command));
}

}  // namespace strata::cli
