#pragma once

#include <cmath>
#include <concepts>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Writes one JSON document to a stream as it is described; nothing is kept in memory. Numbers are printed
/// with the fewest digits that read back to the same value; infinities and NaN, which JSON does not have,
/// become null.
///   Json j(out); j.object(); j.key("a").value(1.5); j.key("b").array(); j.value("x"); j.end(); j.end();
class Json {
  public:
    explicit Json(std::ostream& out) : out_(out) {}

    Json& object();
    Json& array();
    /// Closes the innermost object or array; after the outermost one a line end is written.
    Json& end();
    Json& key(std::string_view name);

    Json& value(std::string_view text);
    Json& value(const char* text) { return value(std::string_view(text)); }
    Json& value(bool truth);
    Json& value(double number);
    template <std::integral T>
    requires(!std::same_as<T, bool>) Json& value(T number) {
        if constexpr (std::signed_integral<T>) return integer(static_cast<long long>(number));
        return natural(static_cast<unsigned long long>(number));
    }
    Json& null();
    template <class T>
    Json& value(const std::optional<T>& maybe) {
        return maybe ? value(*maybe) : null();
    }
    template <class T>
    Json& values(const std::vector<T>& list) {
        array();
        for (const T& item : list) value(item);
        return end();
    }
    /// key(name).value(v) in one call.
    template <class T>
    Json& member(std::string_view name, const T& v) {
        return key(name).value(v);
    }
    template <class T>
    Json& members(std::string_view name, const std::vector<T>& list) {
        return key(name).values(list);
    }

  private:
    Json& integer(long long number);
    Json& natural(unsigned long long number);
    void open(char bracket, char closing);
    void before_value();
    void quoted(std::string_view text);

    struct Level {
        char closing;
        bool first = true;
    };
    std::ostream& out_;
    std::vector<Level> levels_;
    bool after_key_ = false;
};

}  // namespace strata
