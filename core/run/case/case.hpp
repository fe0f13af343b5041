// The keys of a solver's case file. One declaration makes the check, the messages and --help:
//
//   struct Settings {
//       double diffusivity = 1;                       // the value before reading is the default
//       std::vector<std::int64_t> cells;
//   } settings;
//   CaseSchema schema("transport", "heat conduction and advection on a structured grid");
//   schema.key("physics.diffusivity", &settings.diffusivity,
//              {.unit = "m2/s", .least = 0, .meaning = "of the heat equation"});
//   schema.key("grid.cells", &settings.cells, {.least = 1, .required = true, .entries = {2, 3}});
//   schema.read("cases/transport/heat.toml");
//
// What a case has several of is an array of tables, each read into a struct of its own:
//
//   schema.arrays("bodies", &settings.bodies, [](const EntryKeys& keys, Body& body) {
//       keys.key("shape", Choice(&body.shape, kShapes), {.required = true});
//       keys.key("radius", &body.radius, {.unit = "m", .least = 0, .meaning = "of a sphere"});
//   });
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/run/case/choice.hpp"

namespace strata::graph {

/// What a restart may do with a key.
enum class Restart : std::uint8_t {
    same,  // nothing: the state of a checkpoint depends on it
    end,   // end the run elsewhere: no step before the end depends on it
    any    // whatever it likes: it says what is written, compared or moved
};

/// The properties of a key besides its name and type.
struct KeyAbout {
    std::string unit = {};  // "" for pure numbers, texts and lists of names
    /// Numbers: the range, both ends allowed. Of a list: of each entry.
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    /// Numbers must be greater than `least`, not equal to it.
    bool above_least = false;
    /// Texts: one of these; empty: any.
    std::vector<std::string> choices = {};
    /// Lists: the fewest and the most entries.
    std::pair<std::size_t, std::size_t> entries = {0, std::numeric_limits<std::size_t>::max()};
    /// The key has no default.
    bool required = false;
    /// Whether the key counts in the hash of the case.
    bool decides = true;
    /// Whether a restart may change it. Without `decides`: Restart::any at least.
    Restart restart = Restart::same;
    /// A key and some of its values, with which a restart may not change this one all the same:
    /// {"advection.flow", {"vortex"}}, where the flow turns round at half of `time.end`.
    std::pair<std::string, std::vector<std::string>> same_with = {};
    std::string meaning = {};
};

/// The properties of an array of tables.
struct ArrayAbout {
    /// The fewest and the most tables.
    std::pair<std::size_t, std::size_t> entries = {0, 1024};
    std::string meaning = {};
};

class EntryKeys;
struct FormerKeys;

/// The keys of one solver's case files. TOML (toml.io, 1.0); "section.key" is key in [section]. The variables
/// must outlive the schema.
class CaseSchema {
  public:
    using Into =
        std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::int64_t>*,
                     std::vector<double>*, std::vector<std::string>*, std::array<double, 3>*, Choice>;

    /// `solver`: the required value of the case file's key `solver`, there also as "PATH/NAME".
    CaseSchema(std::string solver, std::string summary);

    /// Throws Error where the key was declared before.
    CaseSchema& key(std::string name, Into into, KeyAbout about);
    /// The same for a key that all parts of a case have in common (under()), as the time at which it ends: it
    /// has no prefix, and later declarations only add a variable that it is read into.
    CaseSchema& common_key(const std::string& name, Into into, KeyAbout about);

    /// While it lives, names of keys and tables mean those that begin with "PREFIX.": declared, refused and
    /// looked up. For solvers that share a case; with "" nothing changes.
    ///   Example: under("metal"), then key("time.cfl", ...) is [metal.time] cfl.
    class Under {
      public:
        Under(const CaseSchema& schema, std::string prefix)
            : schema_(&schema), outer_(std::exchange(schema.prefix_, std::move(prefix))) {}
        ~Under() { schema_->prefix_ = std::move(outer_); }
        Under(const Under&) = delete;
        Under& operator=(const Under&) = delete;

      private:
        const CaseSchema* schema_;
        std::string outer_;
    };
    [[nodiscard]] Under under(std::string prefix) const { return {*this, std::move(prefix)}; }
    /// Tables that cases name themselves, as [boundary.wall] and [boundary.inlet]: `declare(keys, name)` is
    /// called for each that is read, in the order of names, and declares the keys "section.name.KEY" of one;
    /// for --help once with NAME.
    using DeclareTable = std::function<void(CaseSchema& keys, const std::string& name)>;
    CaseSchema& tables(std::string section, DeclareTable declare);
    /// An array of tables, [[section]]: `declare(keys, entry)` is called for each table that is read, with an
    /// EntryKeys and the T that the table is read into, and declares the keys of one; for --help once. At
    /// least one of them must be required. Keys are named "section[2].KEY", counted from 0. Reading makes
    /// `into` as long as the case's array, so a schema whose case has been read must not outlive a change of
    /// its length.
    template <class T, class Declare>
    CaseSchema& arrays(std::string section, std::vector<T>* into, Declare declare, ArrayAbout about = {});

    /// Keys that cases had once (former.hpp): a case with some of them is refused with what to write instead.
    CaseSchema& former(FormerKeys keys);

    /// Reads a file into the variables; keys that are not in it keep their defaults. Throws Error with file,
    /// line, key, given value and allowed ones: for text that is not TOML, or has more than a MiB or keys of
    /// more than 32 parts, a key that is not declared (with the nearest one that is), a value of another type
    /// or outside its range, a missing required key.
    void read(const std::filesystem::path& file);
    /// The same from a text that was such a file's.
    void read_text(const std::string& text, const std::filesystem::path& file);
    /// The file or folder that a key of the case names: beside the case file, or else in the current
    /// directory. Throws Error with the key's place, and where it was looked for.
    [[nodiscard]] std::filesystem::path path(const std::string& key, const std::string& name) const;

    /// The text read last.
    [[nodiscard]] const std::string& text() const { return text_; }
    /// The file read last.
    [[nodiscard]] const std::string& file() const { return file_; }

    /// "KEY  TYPE [unit]  RANGE  (default ...)  meaning", section by section.
    [[nodiscard]] std::string help() const;
    /// "grid.cells = [64, 64]", one line for each key with `decides`: for checkpoints and results.
    [[nodiscard]] std::string decisive_text() const;
    /// The checksum of decisive_text().
    [[nodiscard]] std::string hash() const;

    [[nodiscard]] const std::string& solver() const { return solver_; }
    [[nodiscard]] const std::string& summary() const { return summary_; }
    /// Names and values as text, in the order of declaration.
    using Values = std::vector<std::pair<std::string, std::string>>;
    [[nodiscard]] Values values() const;
    /// Those that a checkpoint keeps: of keys that a restart may not change, or that end the run.
    [[nodiscard]] Values values_for_restart() const;
    /// Throws Error where the case differs from that of a checkpoint, whose values_for_restart() were `then`,
    /// in keys that a restart may not change: with all of them, both values, and what may change.
    void expect_restart(const Values& then, const std::string& checkpoint) const;
    /// The keys by which a run ends; whether all of them are as they were.
    [[nodiscard]] std::vector<std::string> end_keys() const;
    [[nodiscard]] bool same_end(const Values& then) const;
    /// What else to do where a restart is refused, e.g. how a new case begins with the state of another.
    CaseSchema& instead_of_restart(std::string advice);
    /// Throws an error about a key, e.g. where it contradicts others. File and line are those of the key in
    /// the file read last.
    [[noreturn]] void refuse(const std::string& key, const std::string& message,
                             const std::string& allowed) const;
    /// A key as the case file spells it, for messages: the names that a case gives to tables may have to be
    /// in quotes, `boundary."1:j-min".kind`.
    [[nodiscard]] std::string spelled(const std::string& name) const;

  private:
    struct Entry {
        std::string name;
        Into into;
        KeyAbout about;
        std::string default_text;
        int line = 0;                             // in the file read last; 0: not there
        std::size_t place = 0;                    // in the order of sections
        std::string array = {}, array_name = {};  // of an array's entry: "bodies" and "bodies[2]"
        int table_line = 0;                       // where this entry begins
        bool common = false;                      // declared by common_key()
        std::vector<Into> also = {};              // variables of a common key besides `into`
    };
    friend struct CaseReader;
    friend struct ArrayReader;
    friend struct FormerReader;
    [[nodiscard]] const Entry* entry(const std::string& name) const;
    /// The entry that a solver means by a name: under the prefix, or of a common key.
    [[nodiscard]] const Entry* meant(const std::string& name) const;
    [[nodiscard]] std::string full(const std::string& name) const {
        return prefix_.empty() ? name : prefix_ + '.' + name;
    }
    /// What a restart may do to a key in the case that was read.
    [[nodiscard]] Restart restart_of(const Entry& entry) const;
    /// Those of a checkpoint's keys that only cases of former versions had.
    [[nodiscard]] std::vector<std::string> former_keys_in(const Values& then) const;
    [[nodiscard]] std::string restart_words(const Entry& entry) const;
    /// Of a solver of one's own `strata run` knows by the case that it names in STRATA_SOLVER_OF.
    [[nodiscard]] std::string command_for_help() const;
    /// Of a section, before its keys in --help: `entry` is the first of them.
    [[nodiscard]] std::string header(const Entry& entry, const std::string& section) const;

    std::string solver_, summary_;
    std::vector<Entry> entries_;
    std::string file_, text_, instead_of_restart_;
    mutable std::string prefix_;
    struct Tables {
        std::string prefix, section;
        DeclareTable declare;
        std::set<std::string> names;
    };
    std::vector<Tables> tables_;
    /// An array of tables. `declare` declares the keys of entry i, for kSample those of one for --help.
    struct Array {
        std::string section;
        ArrayAbout about;
        std::function<void(std::size_t)> resize;
        std::function<void(const EntryKeys& keys, std::size_t i)> declare;
    };
    static constexpr std::size_t kSample = std::numeric_limits<std::size_t>::max();
    CaseSchema& add(Array array);
    /// Declares the keys of entry i of the n-th array; `line`: where its table begins.
    void declare_entry(std::size_t n, std::size_t i, int line);
    void sort_sections();
    std::vector<Array> arrays_;
    std::size_t place_ = 0;  // of keys that are declared now
    std::shared_ptr<const FormerKeys> former_;
    bool passes_over_unknown_ = false;
};

/// The keys of one table of an array.
class EntryKeys {
  public:
    EntryKeys(CaseSchema& schema, std::string name) : schema_(schema), name_(std::move(name)) {}
    /// As CaseSchema::key(), without the array's name.
    const EntryKeys& key(const std::string& key, CaseSchema::Into into, KeyAbout about) const {
        schema_.key(name_ + '.' + key, into, std::move(about));
        return *this;
    }

  private:
    CaseSchema& schema_;
    std::string name_;
};

template <class T, class Declare>
CaseSchema& CaseSchema::arrays(std::string section, std::vector<T>* into, Declare declare, ArrayAbout about) {
    const auto sample = std::make_shared<T>();
    return add(
        {std::move(section), std::move(about), [into](std::size_t n) { into->assign(n, T{}); },
         [=](const EntryKeys& keys, std::size_t i) { declare(keys, i == kSample ? *sample : (*into)[i]); }});
}

}  // namespace strata::graph
