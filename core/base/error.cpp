#include "core/base/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <sstream>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/utf8.hpp"

namespace strata {
namespace {

/// Of a character that a terminal would obey instead of showing it, or that changes the order of those around
/// it: its bytes; else 0. They are the controls below U+00A0, and those of the direction of text; and what is
/// no UTF-8.
std::size_t unseen_at(const std::string& text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    if ((byte(0) < 0x20 && byte(0) != '\n' && byte(0) != '\t') || byte(0) == 0x7f) return 1;
    if (byte(0) >= 0x80 && utf8_length(std::string_view(text).substr(at)) == 0) return 1;
    if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;
    if (byte(0) != 0xe2) return 0;
    const unsigned low = byte(2);
    const bool turns = (byte(1) == 0x80 && (low == 0x8e || low == 0x8f || (low >= 0xaa && low <= 0xae))) ||
                       (byte(1) == 0x81 && low >= 0xa6 && low <= 0xa9);
    return turns ? 3 : 0;
}

/// A text as a terminal may have it: a name or a line of somebody's file may contain anything.
std::string shown(const std::string& text) {
    std::string safe;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t unseen = unseen_at(text, at);
        const std::size_t end = at + (unseen == 0 ? utf8_length(std::string_view(text).substr(at)) : unseen);
        for (; at < end; ++at)
            if (unseen == 0)
                safe += text[at];
            else
                safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    }
    return safe;
}

}  // namespace

Error::Error(std::string message, int exit_code) : message_(std::move(message)), exit_code_(exit_code) {}

Error& Error::at(std::string file, int line, std::string key) {
    place_ = std::move(file);
    if (line > 0) place_ += fmt::format(":{}", line);
    if (!key.empty()) place_ += (place_.empty() ? "" : " ") + key;
    return *this;
}

Error& Error::given(std::string value) {
    given_ = std::move(value);
    return *this;
}

Error& Error::allowed(std::string values) {
    allowed_ = std::move(values);
    return *this;
}

Error& Error::remedy(std::string advice) {
    remedy_ = std::move(advice);
    return *this;
}

Error& Error::exit_code(int code) {
    exit_code_ = code;
    return *this;
}

Error& Error::within(const std::string& what) {
    message_ = what + ": " + message_;
    return *this;
}

std::string Error::text() const {
    std::string lines = fmt::format("strata: error: {}\n", shown(message_));
    const auto add = [&lines](const char* name, const std::string& value) {
        if (!value.empty()) lines += fmt::format("  {}: {}\n", name, shown(value));
    };
    add("at", place_);
    add("given", given_);
    add("allowed", allowed_);
    add("try", remedy_);
    return lines;
}

std::string Error::json() const {
    std::ostringstream out;
    Json j(out);
    j.object().member("schema", "strata.error/1").member("message", message_);
    const auto add = [&j](const char* name, const std::string& value) {
        if (!value.empty()) j.member(name, value);
    };
    add("at", place_);
    add("given", given_);
    add("allowed", allowed_);
    add("try", remedy_);
    j.member("code", exit_code_).end();
    return out.str();
}

Error system_error(std::string message, int error_number, int exit_code) {
    return Error(fmt::format("{}: {}", message, std::strerror(error_number)), exit_code);
}

}  // namespace strata
