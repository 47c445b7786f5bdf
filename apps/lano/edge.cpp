#include "edge.h"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <new>

#include "core/error.h"

namespace lano::cli {

void prepare_process() { std::signal(SIGXFSZ, SIG_IGN); }

void refuse_to_overwrite(const std::string& path, bool force) {
  if (!force && std::filesystem::exists(path)) {
    fail(fmt::format("writing '{}'", path), "a new file", "one that exists", "choose another --out, or add --force");
  }
}

int run_at_edge(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);  // prints help, version or the usage error
    return code == 0 ? 0 : 2;
  } catch (const UsageError& error) {
    fmt::print(stderr, "lano: {}\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "lano: expected enough memory, found none left; use a smaller set or batch\n");
    return 1;
  } catch (const std::exception& error) {
    // One sentence, also where a library adds its call stack.
    const std::string message = error.what();
    fmt::print(stderr, "lano: {}\n", message.substr(0, message.find('\n')));
    return 1;
  }
}

}  // namespace lano::cli
