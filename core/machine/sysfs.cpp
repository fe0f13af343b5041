#include "core/machine/sysfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sstream>

#include "core/base/text.hpp"

namespace strata::machine {

std::optional<std::string> read_file(const std::string& path, std::size_t most) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    std::string text;
    char buffer[4096];
    ssize_t got = 0;
    while (text.size() < most && (got = read(fd, buffer, std::min(sizeof buffer, most - text.size()))) > 0)
        text.append(buffer, static_cast<size_t>(got));
    close(fd);
    if (got < 0) return std::nullopt;
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

bool write_file(const std::string& path, std::string_view text) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int why = errno;
    close(fd);
    errno = why;
    return written;
}

template <class T>
std::optional<T> read_number(const std::string& path) {
    const std::string text = read_file(path).value_or("");
    std::string_view number = text;
    return take_number<T>(number);
}
template std::optional<std::int64_t> read_number(const std::string& path);
template std::optional<std::uint64_t> read_number(const std::string& path);

std::optional<std::uint64_t> number_after(const std::string& text, std::string_view key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "Node") words >> word >> word;
        std::uint64_t value = 0;
        if (word == key && words >> value) return value;
    }
    return std::nullopt;
}

std::optional<std::string> read_choice(const std::string& path) {
    const auto text = read_file(path);
    if (!text) return std::nullopt;
    const size_t open = text->find('['), close = text->find(']');
    if (open == std::string::npos || close == std::string::npos || close < open) return *text;
    return text->substr(open + 1, close - open - 1);
}

std::vector<std::string> list_folder(const std::string& path) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), &closedir);
    if (!folder) return names;
    while (const dirent* entry = readdir(folder.get()))
        if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace strata::machine
