#include "solvers/md/files/checkpoint_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace strata::md {

namespace {

constexpr const char* kId = "atoms.id";  // of Graph::particle_id

}  // namespace

std::vector<std::pair<std::string, std::vector<double>>> facts_of(const graph::Simulation& run,
                                                                  const Settings& s, const Labels& l) {
    const double scale = s.changes_volume() ? run.value(l.scale) : 1;
    std::vector<double> low, length, open, masses;
    for (std::size_t a = 0; a < 3; ++a) {
        low.push_back(scale * s.low[a]), length.push_back(scale * s.length[a]);
        open.push_back(s.outside.periodic(a) ? 0 : 1);
    }
    for (const Species& kind : s.kinds) masses.push_back(kind.mass);
    std::vector<std::pair<std::string, std::vector<double>>> facts{
        {"box low", low}, {"box length", length}, {"box open", open}, {"scale", {scale}}, {"masses", masses}};
    if (!s.minimises()) facts.push_back({"velocities ahead", {s.step / 2}});
    return facts;
}

CheckpointState::CheckpointState(const std::filesystem::path& checkpoint, const std::string& units,
                                 const std::vector<std::string>& names)
    : reader_(checkpoint) {
    const graph::CheckpointHead& head = reader_.head();
    const auto refuse = [&](const char* message, const std::string& given, const std::string& allowed) {
        throw Error(message).at(checkpoint.string()).given(given).allowed(allowed);
    };
    if (head.case_name != "md")
        refuse("this checkpoint is not one of molecular dynamics", head.case_name, "md");
    if (head.fact("box length") == nullptr)
        refuse("this checkpoint does not say how large its box is", "one of an earlier version of Strata",
               "one that this version writes: restart that case and let it write a checkpoint");
    const auto same = [&](const char* key, const std::string& here) {
        const std::string* there = head.key(key);
        if (there == nullptr || *there != here)
            refuse("the checkpoint is of atoms that the case describes otherwise",
                   fmt::format("{} = {}", key, there == nullptr ? "not known" : *there),
                   fmt::format("{} = {}, as the case says", key, here));
    };
    same("system.units", '"' + units + '"');
    same("kinds.names", fmt::format("[\"{}\"]", fmt::join(names, "\", \"")));
    low_ = three("box low"), length_ = three("box length"), scale_ = fact("scale", 1)[0];
    if (!(*std::min_element(length_.begin(), length_.end()) > 0) || !(scale_ > 0))
        refuse("the checkpoint's box has no volume",
               fmt::format("{}, scale {}", fmt::join(length_, " x "), scale_), "lengths and a scale above 0");
    const std::array<double, 3> open = three("box open");
    for (std::size_t a = 0; a < 3; ++a) open_[a] = open[a] != 0, high_[a] = low_[a] + length_[a];
    masses_ = fact("masses", names.size());
    has_velocities_ = head.fact("velocities ahead") != nullptr;
    if (has_velocities_) ahead_ = fact("velocities ahead", 1)[0];
    for (const auto& family : head.families) patches_ = std::max<std::int64_t>(patches_, family.patches);
    for (std::int64_t p = 0; p < patches_; ++p) atoms_ += count(p);
}

const std::vector<double>& CheckpointState::fact(const char* name, std::size_t numbers) const {
    const std::vector<double>* found = reader_.head().fact(name);
    if (found == nullptr || found->size() != numbers)
        throw Error("the checkpoint's head says what cannot be")
            .at((reader_.path() / "checkpoint.json").string(), 0, name)
            .given(found == nullptr ? "none" : fmt::format("{} numbers", found->size()))
            .allowed(fmt::format("{}", numbers));
    return *found;
}

std::array<double, 3> CheckpointState::three(const char* name) const {
    const std::vector<double>& found = fact(name, 3);
    return {found[0], found[1], found[2]};
}

std::int64_t CheckpointState::count(std::int64_t patch) const {
    const auto chunk = reader_.find(reader_.head().label(kId), patch);
    return chunk ? static_cast<std::int64_t>(chunk->bytes / sizeof(std::int64_t)) : 0;
}

template <class T>
void CheckpointState::read(const char* label, std::int64_t patch, std::int64_t values,
                           std::vector<T>& into) const {
    into.resize(static_cast<std::size_t>(values));
    reader_.read(reader_.head().label(label), patch, std::as_writable_bytes(std::span(into)));
}

AtomRows CheckpointState::piece(std::int64_t part, std::int64_t parts) const {
    AtomRows rows;
    std::vector<std::int64_t> id;
    std::vector<double> x, v;
    std::vector<std::int32_t> kind;
    for (std::int64_t p = part * patches_ / parts; p < (part + 1) * patches_ / parts; ++p) {
        const std::int64_t atoms = count(p);
        if (atoms == 0) continue;
        read(kId, p, atoms, id), read("position", p, 3 * atoms, x), read("velocity", p, 3 * atoms, v);
        if (masses_.size() > 1) read("kind", p, atoms, kind);
        for (std::int64_t i = 0; i < atoms; ++i) {
            AtomRow row;
            row.id = id[static_cast<std::size_t>(i)];
            if (!kind.empty()) row.kind = kind[static_cast<std::size_t>(i)];
            if (row.kind < 0 || static_cast<std::size_t>(row.kind) >= masses_.size())
                throw Error("the checkpoint has an atom of no kind", kFailure)
                    .at(reader_.path().string())
                    .given(fmt::format("kind {} of atom {}", row.kind, row.id))
                    .allowed(fmt::format("0 to {}", masses_.size() - 1));
            for (std::size_t a = 0; a < 3; ++a) {
                const std::size_t at = a * static_cast<std::size_t>(atoms) + static_cast<std::size_t>(i);
                row.x[a] = scale_ == 1 ? x[at] : scale_ * x[at];
                row.v[a] = v[at];
            }
            rows.push_back(row);
        }
    }
    return rows;
}

}  // namespace strata::md
