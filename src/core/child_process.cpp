#include "core/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "core/error.h"
#include "core/interrupt.h"

namespace lano {
namespace {

constexpr int kNotStarted = 127;
constexpr int kPatience = 20;  // milliseconds between two looks at the child

// A list of C strings that ends with null, as exec wants it; the words must outlive it.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> words_of(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

// This process's variables with some set; with two of one name the later has no effect, so the old one is left out.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& set) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    bool replaced = false;
    for (const auto& [name, value] : set) replaced = replaced || text.starts_with(name + "=");
    if (!replaced) all.push_back(text);
  }
  for (const auto& [name, value] : set) all.push_back(name + "=" + value);
  return all;
}

struct Pipe {
  int read = -1, write = -1;
  void open(const std::string& doing) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail(doing, "a pipe to another process", errno_text(errno));
    read = ends[0];
    write = ends[1];
  }
};

// A child with these ends as stdin and stdout, where they are given (>= 0).
pid_t start(const std::string& program, const std::vector<std::string>& arguments,
            const std::vector<std::pair<std::string, std::string>>& environment, int in, int out, bool search) {
  const std::vector<std::string> words = words_of(program, arguments), variables = environment_with(environment);
  const std::vector<char*> argv = pointers(words), envp = pointers(variables);
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) fail(fmt::format("starting '{}'", program), "another process", errno_text(errno));
  if (child > 0) return child;
  // Only what is safe while the parent has threads.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (in >= 0) ::dup2(in, STDIN_FILENO);
  if (out >= 0) ::dup2(out, STDOUT_FILENO);
  if (::getppid() == parent) {
    if (search) {
      ::execvpe(argv[0], argv.data(), envp.data());
    } else {
      ::execve(argv[0], argv.data(), envp.data());
    }
  }
  ::_exit(kNotStarted);
}

// A Ctrl-C reaches both; a signal to this process alone is handed on, once, under the other name, so that it is never a
// second Ctrl-C.
class HandedOn {
 public:
  explicit HandedOn(pid_t child) : child_(child) {}
  void look() {
    if (told_ || !interrupted()) return;
    ::kill(child_, SIGTERM);
    told_ = true;
  }

 private:
  pid_t child_;
  bool told_ = false;
};

// All that comes out of the pipe until its other end is closed.
void drain(int from, std::string& to, HandedOn& wish) {
  std::array<char, 4096> room;
  for (;;) {
    pollfd wait{from, POLLIN, 0};
    ::poll(&wait, 1, kPatience);
    wish.look();
    if (wait.revents == 0) continue;
    const ssize_t count = ::read(from, room.data(), room.size());
    if (count > 0) to.append(room.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return;
  }
}

// Until the child ends, or for a short time; on kernels without handles of processes always that time.
void look_away(int handle) {
  if (handle < 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kPatience));
    return;
  }
  pollfd wait{handle, POLLIN, 0};
  ::poll(&wait, 1, kPatience);
}

int wait_for(pid_t child, const std::string& program, HandedOn& wish) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  struct Closed {
    int handle;
    ~Closed() {
      if (handle >= 0) ::close(handle);
    }
  } const closed{handle};
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) fail(fmt::format("waiting for '{}'", program), "its end", errno_text(errno));
    wish.look();
    look_away(handle);
  }
}

}  // namespace

ChildEnd run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   const ChildOptions& options) {
  const std::string path = program.string(), doing = fmt::format("starting '{}'", path);
  Pipe answer;
  int nowhere = -1;
  if (options.output != nullptr) {
    options.output->clear();
    answer.open(doing);
  } else if (options.quiet) {
    nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  }
  const pid_t child =
      start(path, arguments, options.environment, -1, options.output != nullptr ? answer.write : nowhere, false);
  HandedOn wish(child);
  if (nowhere >= 0) ::close(nowhere);
  if (options.output != nullptr) {
    ::close(answer.write);
    drain(answer.read, *options.output, wish);
    ::close(answer.read);
  }
  const int status = wait_for(child, path, wish);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted)
    fail_plainly("starting a program", fmt::format("'{}' cannot be run", path),
                 "check that the installation is complete");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

TalkingChild::TalkingChild(const std::string& program, const std::vector<std::string>& arguments) {
  const std::string doing = fmt::format("starting '{}'", program);
  Pipe there, back;
  there.open(doing);
  back.open(doing);
  ::signal(SIGPIPE, SIG_IGN);  // a dead child is noticed by its silence
  child_ = start(program, arguments, {}, there.read, back.write, true);
  ::close(there.read);
  ::close(back.write);
  to_ = ::fdopen(there.write, "w");
  from_ = ::fdopen(back.read, "r");
}

TalkingChild::~TalkingChild() {
  std::fclose(to_);
  std::fclose(from_);
  ::waitpid(child_, nullptr, 0);
}

void TalkingChild::tell(const std::string& line) {
  std::fputs((line + "\n").c_str(), to_);
  std::fflush(to_);
}

std::optional<std::string> TalkingChild::line() {
  std::string text;
  int c = std::getc(from_);
  if (c == EOF) return std::nullopt;
  for (; c != EOF && c != '\n'; c = std::getc(from_)) text.push_back(static_cast<char>(c));
  return text;
}

void become(const std::filesystem::path& program, char** argv) {
  std::fflush(nullptr);
  ::execv(program.c_str(), argv);
}

void become(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  const std::vector<std::string> words = words_of(program.string(), arguments);
  become(program, pointers(words).data());
}

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace lano
