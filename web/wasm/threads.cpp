// In a page there is one thread: core/threads.h without a pool.
#include "core/threads.h"

namespace lano {

int thread_count() { return 1; }
void set_thread_count(int) {}
void check_thread_count(int) {}

}  // namespace lano
