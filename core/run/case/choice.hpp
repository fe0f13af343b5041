// Keys of a case whose values are names of an enum's:
//
//   enum class Law : std::uint8_t { linear, neo_hookean };
//   constexpr Named<Law> kLaws[] = {{"linear", Law::linear}, {"neo-hookean", Law::neo_hookean}};
//   schema.key("law", Choice(&material.law, kLaws), {.required = true});
#pragma once

#include <cstddef>

namespace strata::graph {

/// A name in case files, and the value that it stands for.
template <class E>
struct Named {
    const char* name;
    E value;
};

/// The name of a value in a table; "" where it has none.
template <class E, std::size_t N>
[[nodiscard]] constexpr const char* name_in(const Named<E> (&names)[N], E value) {
    for (const Named<E>& each : names)
        if (each.value == value) return each.name;
    return "";
}

/// A variable of an enum, which a key reads by the names of a table. Both must outlive the schema.
class Choice {
  public:
    template <class E, std::size_t N>
    Choice(E* into, const Named<E> (&names)[N])
        : into_(into),
          names_(names),
          count_(N),
          name_([](const void* of, std::size_t i) { return static_cast<const Named<E>*>(of)[i].name; }),
          holds_([](const void* of, std::size_t i, const void* now) {
              return static_cast<const Named<E>*>(of)[i].value == *static_cast<const E*>(now);
          }),
          set_([](const void* of, std::size_t i, void* now) {
              *static_cast<E*>(now) = static_cast<const Named<E>*>(of)[i].value;
          }) {}

    [[nodiscard]] std::size_t size() const { return count_; }
    /// The i-th name.
    [[nodiscard]] const char* name(std::size_t i) const { return name_(names_, i); }
    /// Of the variable's value.
    [[nodiscard]] const char* name() const {
        for (std::size_t i = 0; i < count_; ++i)
            if (holds_(names_, i, into_)) return name(i);
        return "";
    }
    /// Gives the variable the i-th value.
    void set(std::size_t i) const { set_(names_, i, into_); }

  private:
    void* into_;
    const void* names_;
    std::size_t count_;
    const char* (*name_)(const void*, std::size_t);
    bool (*holds_)(const void*, std::size_t, const void*);
    void (*set_)(const void*, std::size_t, void*);
};

}  // namespace strata::graph
