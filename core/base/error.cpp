#include "core/base/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <sstream>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/shown.hpp"

namespace strata {

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
