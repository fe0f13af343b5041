// What tests of files need: a folder of their own, and errors as text.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/base/error.hpp"

namespace strata::md::tests {

namespace fs = std::filesystem;

/// A folder that is removed again.
struct Folder {
    fs::path path = fs::temp_directory_path() / fmt::format("md_files_{}", ::getpid());
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    fs::path write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name, std::ios::binary) << text;
        return path / name;
    }
};

inline std::string bytes_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

template <class Call>
std::string error_of(Call call) {
    try {
        call();
    } catch (const Error& error) {
        return error.text();
    }
    return "";
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace strata::md::tests
