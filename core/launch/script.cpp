#include "core/launch/script.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string_view>

namespace strata::launch {
namespace {

bool is_file(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// "python", "python3", "python3.11".
bool is_python(std::string_view name) {
    name = name.substr(name.rfind('/') + 1);
    if (!name.starts_with("python")) return false;
    for (const char c : name.substr(6))
        if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.') return false;
    return true;
}

/// "#!/usr/bin/env python3", "#! /usr/bin/python3 -u".
bool begins_with_python(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (in.get() != '#' || in.get() != '!') return false;
    std::string line(256, '\0');
    in.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<std::size_t>(in.gcount()));
    line.resize(std::min(line.find('\n'), line.size()));
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
        if (is_python(std::string_view(line).substr(at, end - at))) return true;
        at = end + 1;
    }
    return false;
}

}  // namespace

std::string python_script(const std::vector<std::string>& command, const std::string& program) {
    if (!command.empty() && is_python(command.front())) {
        for (std::size_t i = 1; i < command.size(); ++i) {
            const std::string& word = command[i];
            if (word == "-W" || word == "-X" || word == "--check-hash-based-pycs")
                ++i;  // an option's value
            else if (word.size() > 1 && word[0] == '-' && (word[1] == 'c' || word[1] == 'm'))
                return "";
            else if (word.empty() || word[0] != '-')
                return is_file(word) ? word : "";
        }
        return "";
    }
    return begins_with_python(program) ? program : "";
}

bool drives_a_team(const std::string& script) {
    constexpr std::size_t most = std::size_t{1} << 20;
    std::ifstream in(script, std::ios::binary);
    std::size_t seen = 0;
    for (std::string line; seen < most && std::getline(in, line); seen += line.size() + 1)
        for (const std::string_view import :
             {"from strata.graph.program import ", "import strata.graph.program"})
            if (line.starts_with(import)) return true;
    return false;
}

}  // namespace strata::launch
