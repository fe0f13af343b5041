#include "benchmarks/integrity/events.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

namespace strata::integrity {

bool say(const char* event, const std::function<void(Json&)>& fill) {
    std::ostringstream line;
    Json json(line);
    json.object();
    json.member("event", event);
    fill(json);
    json.end();
    const std::string text = line.str();
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t wrote = write(STDOUT_FILENO, text.data() + at, text.size() - at);
        if (wrote < 0 && errno != EINTR) return false;
        if (wrote > 0) at += static_cast<std::size_t>(wrote);
    }
    return true;
}

std::string hex(std::uint64_t value) { return fmt::format("{:#018x}", value); }

}  // namespace strata::integrity
