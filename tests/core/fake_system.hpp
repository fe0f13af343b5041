// Another system's /proc and /sys as a tree of files below a temporary folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace strata::tests {

class FakeSystem {
  public:
    FakeSystem() {
        std::string pattern = (std::filesystem::temp_directory_path() / "strata-system-XXXXXX").string();
        root_ = std::filesystem::canonical(mkdtemp(pattern.data())).string();
    }
    ~FakeSystem() { std::filesystem::remove_all(root_); }
    FakeSystem(const FakeSystem&) = delete;
    FakeSystem& operator=(const FakeSystem&) = delete;

    FakeSystem& file(const std::string& path, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text << '\n';
        return *this;
    }
    /// A link to another path of the same system.
    FakeSystem& link(const std::string& path, const std::string& target) {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::filesystem::create_directories(root_ + target);
        std::filesystem::create_symlink(root_ + target, root_ + path);
        return *this;
    }
    [[nodiscard]] const std::string& root() const { return root_; }

  private:
    std::string root_;
};

}  // namespace strata::tests
