#include "solvers/md/files/said_units.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>

namespace strata::md {

std::string said_units(const std::filesystem::path& path) {
    std::string text(4096, '\0');
    std::ifstream in(path, std::ios::binary);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
    std::size_t end = 0;
    for (int line = 0; line < 3 && end < text.size(); ++line)
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
    text.resize(end);
    static const std::regex said("\\bunits\\s*[:=]?\\s*(lj|real|metal|si|cgs|electron|micro|nano)\\b",
                                 std::regex::icase);
    std::smatch found;
    if (!std::regex_search(text, found, said)) return "";
    std::string name = found[1];
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

}  // namespace strata::md
