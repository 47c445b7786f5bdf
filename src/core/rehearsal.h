// Work that a library may not survive, done first in a child process: an untrusted file that makes a C library crash,
// hang or run out of stack only ends the child, and the caller gets an error message. This protects against crashes,
// not against an attacker's code.
#pragma once

#include <functional>
#include <string>

namespace lano {

// Runs `work` in a child and waits for it. Empty where the child returned, with or without an exception, or where no
// child could be made; else how it ended: "segmentation fault", "out of time or memory". The child's changes to memory
// are lost, its output goes nowhere; it must not start threads, and no other thread should be inside the library in
// question.
std::string rehearse(const std::function<void()>& work, unsigned seconds);

}  // namespace lano
