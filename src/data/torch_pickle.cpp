// A pickle is a program for a stack machine. Of its seventy commands torch.save needs the thirty below for plain
// tensors: constants, containers, the memo, and REDUCE, "call this with those", which here is not a call but a choice
// among three known objects (a tensor, a size, an ordered dict). Values lie in one list and refer to each other by
// index, so that neither depth nor cycles of a hostile pickle lead to recursion before the walk at the end, which
// counts levels. Cost: linear in the bytes.
#include "data/torch_pickle.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <deque>
#include <limits>
#include <unordered_map>

#include "core/error.h"

namespace lano {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 21;  // 150,000 tensors and more
constexpr std::size_t kMostVisits = std::size_t{1} << 18;  // of the walk: lists may contain one another many times
constexpr std::size_t kMostAxes = 32;
constexpr std::size_t kDeepest = 16;
constexpr std::int64_t kMostExpansion = 1024;  // elements that one stored element may stand for (stride 0)

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  number,
  text,
  tuple,
  list,
  dict,
  global,
  storage,
  tensor,
  mark
};

struct Value {
  Kind kind = Kind::none;
  std::int64_t integer = 0;  // of a storage: its elements; of a tensor: its place in the list of tensors
  double number = 0;
  std::string_view text{};  // of a global "module name"; of a storage its key
  TorchType type = TorchType::float32;
  std::vector<std::uint32_t> items{};  // of a dict: key, value, key, value, ...
};

struct StorageClass {
  std::string_view global;
  TorchType type;
};

constexpr StorageClass kStorages[] = {
    {"torch\nDoubleStorage", TorchType::float64}, {"torch\nFloatStorage", TorchType::float32},
    {"torch\nHalfStorage", TorchType::float16},   {"torch\nBFloat16Storage", TorchType::bfloat16},
    {"torch\nLongStorage", TorchType::int64},     {"torch\nIntStorage", TorchType::int32},
    {"torch\nShortStorage", TorchType::int16},    {"torch\nCharStorage", TorchType::int8},
    {"torch\nByteStorage", TorchType::uint8},     {"torch\nBoolStorage", TorchType::boolean}};

constexpr std::string_view kTensor = "torch._utils\n_rebuild_tensor_v2", kOrderedDict = "collections\nOrderedDict",
                           kSize = "torch\nSize";

class Machine {
 public:
  Machine(std::string_view bytes, const std::string& doing) : bytes_(bytes), doing_(doing) {}

  std::vector<TorchTensor> run() {
    for (;;) {
      const unsigned char command = byte();
      if (command == '.') break;
      step(command);
    }
    if (at_ != bytes_.size()) damaged("bytes after the end of the pickle");
    const std::uint32_t root = pop();
    if (!stack_.empty()) damaged("values left over");
    walk(root, "", 0);
    return std::move(found_);
  }

 private:
  [[noreturn]] void damaged(const std::string& found) const {
    fail(doing_, "a complete file of torch.save", found, "copy the file again");
  }
  [[noreturn]] void foreign(const std::string& found) const {
    fail(doing_, "plain tensors, numbers, texts, and lists, tuples and dicts of them", found,
         "save the tensors alone: torch.save({'x': x, 'y': y}, FILE)");
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) damaged("a pickle that ends too early");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  unsigned char byte() { return static_cast<unsigned char>(take(1).front()); }
  std::uint64_t unsigned_number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::string_view raw = take(bytes);
    for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{static_cast<unsigned char>(raw[i])} << 8 * i;
    return value;
  }
  std::string_view line() {
    const auto end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) damaged("a pickle that ends too early");
    const std::string_view text = take(end - at_);
    take(1);
    return text;
  }

  std::uint32_t make(Value value) {
    if (values_.size() == kMostValues)
      fail_plainly(doing_, fmt::format("it has more than {} objects", kMostValues), "save fewer tensors in a file");
    values_.push_back(std::move(value));
    return static_cast<std::uint32_t>(values_.size() - 1);
  }
  void push(Value value) { stack_.push_back(make(std::move(value))); }
  std::uint32_t top() const {
    if (stack_.empty() || values_[stack_.back()].kind == Kind::mark) damaged("a pickle that takes from an empty stack");
    return stack_.back();
  }
  std::uint32_t pop() {
    const std::uint32_t value = top();
    stack_.pop_back();
    return value;
  }
  // Everything above the last mark.
  std::vector<std::uint32_t> pop_to_mark() {
    std::size_t at = stack_.size();
    while (at > 0 && values_[stack_[at - 1]].kind != Kind::mark) --at;
    if (at == 0) damaged("a pickle without its mark");
    std::vector<std::uint32_t> items(stack_.begin() + static_cast<std::ptrdiff_t>(at), stack_.end());
    stack_.resize(at - 1);
    return items;
  }
  void push_tuple(std::size_t count) {
    std::vector<std::uint32_t> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push({.kind = Kind::tuple, .items = std::move(items)});
  }
  Value& container(Kind kind) {
    Value& value = values_[top()];
    if (value.kind != kind) foreign("an object that is filled like a list or a dict");
    return value;
  }
  void append(const std::vector<std::uint32_t>& items) {
    Value& list = container(Kind::list);
    list.items.insert(list.items.end(), items.begin(), items.end());
  }
  void set_items(const std::vector<std::uint32_t>& items) {
    Value& dict = container(Kind::dict);
    if (items.size() % 2 != 0) damaged("a dict with a key too many");
    dict.items.insert(dict.items.end(), items.begin(), items.end());
  }
  void memorise(std::uint64_t place) {
    if (memo_.size() >= kMostValues) damaged("a memo without end");
    memo_[place] = top();
  }
  void recall(std::uint64_t place) {
    const auto known = memo_.find(place);
    if (known == memo_.end()) damaged("a reference to nothing");
    stack_.push_back(known->second);
    if (stack_.size() > kMostValues) damaged("a stack without end");
  }

  void step(unsigned char command);
  void push_constant(unsigned char command);
  void push_global(std::string_view module, std::string_view name);
  void push_storage();
  void reduce();
  std::int64_t whole(std::uint32_t value) const {
    if (values_[value].kind != Kind::integer || values_[value].integer < 0)
      damaged("a tensor whose sizes are not whole numbers");
    return values_[value].integer;
  }
  Shape extents(std::uint32_t value) const {
    const Value& tuple = values_[value];
    if (tuple.kind != Kind::tuple || tuple.items.size() > kMostAxes) damaged("a tensor without a shape");
    Shape shape;
    for (const std::uint32_t item : tuple.items) shape.push_back(whole(item));
    return shape;
  }
  void make_tensor(const std::vector<std::uint32_t>& arguments);
  void walk(std::uint32_t value, const std::string& name, std::size_t depth);

  std::string_view bytes_;
  const std::string& doing_;
  std::size_t at_ = 0, visits_ = 0;
  std::deque<Value> values_;
  std::vector<std::uint32_t> stack_;
  std::unordered_map<std::uint64_t, std::uint32_t> memo_;
  std::vector<TorchTensor> tensors_, found_;
  std::deque<std::string> globals_;  // "module\nname", where the pickle has them apart
};

void Machine::step(unsigned char command) {
  switch (command) {
    case 0x80:  // PROTO
      if (const unsigned version = byte(); version < 2 || version > 5)
        foreign(fmt::format("pickle version {}", version));
      return;
    case 0x95:  // FRAME: a length that says nothing new
      take(8);
      return;
    case '(':
      return push({.kind = Kind::mark});
    case ')':
      return push({.kind = Kind::tuple});
    case ']':
      return push({.kind = Kind::list});
    case '}':
      return push({.kind = Kind::dict});
    case 0x85:
    case 0x86:
    case 0x87:  // TUPLE1 to TUPLE3
      return push_tuple(command - 0x84u);
    case 't': {
      std::vector<std::uint32_t> items = pop_to_mark();
      return push({.kind = Kind::tuple, .items = std::move(items)});
    }
    case 'a': {
      const std::uint32_t item = pop();
      return append({item});
    }
    case 'e':
      return append(pop_to_mark());
    case 's': {
      const std::uint32_t value = pop(), key = pop();
      return set_items({key, value});
    }
    case 'u':
      return set_items(pop_to_mark());
    case 'q':
      return memorise(unsigned_number(1));
    case 'r':
      return memorise(unsigned_number(4));
    case 0x94:  // MEMOIZE
      return memorise(memo_.size());
    case 'h':
      return recall(unsigned_number(1));
    case 'j':
      return recall(unsigned_number(4));
    case 'c': {
      const std::string_view module = line(), name = line();
      return push_global(module, name);
    }
    case 0x93: {  // STACK_GLOBAL
      const std::uint32_t name = pop(), module = pop();
      if (values_[name].kind != Kind::text || values_[module].kind != Kind::text) damaged("a class without a name");
      return push_global(values_[module].text, values_[name].text);
    }
    case 'Q':
      return push_storage();
    case 'R':
      return reduce();
    case 'b':  // BUILD: torch puts a note on ordered dicts; anything else that is built is refused where it is named
      pop();
      container(Kind::dict);
      return;
    default:
      return push_constant(command);
  }
}

void Machine::push_constant(unsigned char command) {
  switch (command) {
    case 'N':
      return push({});
    case 0x88:
    case 0x89:
      return push({.kind = Kind::boolean, .integer = command == 0x88});
    case 'K':
      return push({.kind = Kind::integer, .integer = static_cast<std::int64_t>(unsigned_number(1))});
    case 'M':
      return push({.kind = Kind::integer, .integer = static_cast<std::int64_t>(unsigned_number(2))});
    case 'J':
      return push({.kind = Kind::integer, .integer = static_cast<std::int32_t>(unsigned_number(4))});
    case 0x8a: {  // LONG1: little-endian with a sign
      const std::size_t count = byte();
      if (count > 8) foreign("a whole number of more than 64 bits");
      std::uint64_t value = unsigned_number(count);
      const bool negative = count > 0 && (value >> (8 * count - 1) & 1) != 0;
      if (negative && count < 8) value |= ~std::uint64_t{0} << 8 * count;
      return push({.kind = Kind::integer, .integer = static_cast<std::int64_t>(value)});
    }
    case 'G': {  // BINFLOAT: big-endian
      std::uint64_t bits = 0;
      for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
      return push({.kind = Kind::number, .number = std::bit_cast<double>(bits)});
    }
    case 'X':
    case 0x8c: {
      const std::size_t count = unsigned_number(command == 'X' ? 4 : 1);
      return push({.kind = Kind::text, .text = take(count)});
    }
    default:
      foreign(fmt::format("pickle command 0x{:02x}", command));
  }
}

void Machine::push_global(std::string_view module, std::string_view name) {
  std::string global = fmt::format("{}\n{}", module, name);
  bool known = global == kTensor || global == kOrderedDict || global == kSize;
  for (const StorageClass& storage : kStorages) known = known || storage.global == global;
  if (!known) foreign(fmt::format("an object of '{}.{}'", module, name));
  if (globals_.size() == kMostValues) damaged("classes without end");
  globals_.push_back(std::move(global));
  push({.kind = Kind::global, .text = globals_.back()});
}

// ("storage", class, key, device, elements)
void Machine::push_storage() {
  const Value tuple = values_[pop()];
  const auto text = [&](std::size_t i) {
    return values_[tuple.items[i]].kind == Kind::text ? values_[tuple.items[i]].text : std::string_view();
  };
  if (tuple.kind != Kind::tuple || tuple.items.size() != 5 || text(0) != "storage" || text(2).empty())
    damaged("a storage of an unknown form");
  const Value& type = values_[tuple.items[1]];
  for (const StorageClass& known : kStorages) {
    if (type.kind != Kind::global || type.text != known.global) continue;
    const std::int64_t count = whole(tuple.items[4]);
    return push({.kind = Kind::storage, .integer = count, .text = text(2), .type = known.type});
  }
  damaged("a storage of no number type");
}

void Machine::reduce() {
  const std::uint32_t arguments = pop(), callee = pop();
  if (values_[callee].kind != Kind::global || values_[arguments].kind != Kind::tuple)
    damaged("a call of something that is not a class");
  const std::string_view global = values_[callee].text;
  const std::vector<std::uint32_t> given = values_[arguments].items;
  if (global == kTensor) return make_tensor(given);
  if (global == kOrderedDict && given.empty()) return push({.kind = Kind::dict});
  if (global == kSize && given.size() == 1 && values_[given[0]].kind == Kind::tuple) {
    stack_.push_back(given[0]);
    return;
  }
  foreign("an object that is made in an unknown way");
}

// (storage, offset, shape, strides, requires_grad, hooks, ...)
void Machine::make_tensor(const std::vector<std::uint32_t>& arguments) {
  if (arguments.size() < 4 || values_[arguments[0]].kind != Kind::storage) damaged("a tensor of an unknown form");
  const Value& storage = values_[arguments[0]];
  TorchTensor tensor;
  tensor.storage = storage.text;
  tensor.type = storage.type;
  tensor.storage_count = storage.integer;
  tensor.offset = whole(arguments[1]);
  tensor.shape = extents(arguments[2]);
  tensor.strides = extents(arguments[3]);
  if (tensor.shape.size() != tensor.strides.size()) damaged("a tensor with a stride too many or too few");
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  std::int64_t count = 1, last = tensor.offset;
  bool empty = false, inside = tensor.offset <= kMost && tensor.storage_count <= kMost;
  for (std::size_t a = 0; a < tensor.shape.size() && inside; ++a) {
    const std::int64_t extent = std::max<std::int64_t>(1, tensor.shape[a]), stride = tensor.strides[a];
    empty = empty || tensor.shape[a] == 0;
    inside = extent <= kMost / count && (stride == 0 || extent - 1 <= (kMost - last) / stride);
    if (!inside) break;
    count *= extent;
    last += (extent - 1) * stride;
  }
  if (!inside || (!empty && last >= tensor.storage_count))
    damaged(fmt::format("a tensor of shape {} beyond its {} numbers", shape_text(tensor.shape), tensor.storage_count));
  if (!empty && count / kMostExpansion > tensor.storage_count)
    foreign(
        fmt::format("a tensor of shape {} expanded from {} numbers", shape_text(tensor.shape), tensor.storage_count));
  tensors_.push_back(std::move(tensor));
  push({.kind = Kind::tensor, .integer = static_cast<std::int64_t>(tensors_.size() - 1)});
}

// Names the tensors and numbers by their place. Texts, None and truth values are passed over: they are no data.
void Machine::walk(std::uint32_t at, const std::string& name, std::size_t depth) {
  if (++visits_ > kMostVisits || depth > kDeepest)
    fail(doing_, fmt::format("lists and dicts at most {} deep", kDeepest), "deeper or endless ones",
         "save the tensors in one dict");
  const Value& value = values_[at];
  const auto inside = [&](const std::string& key) { return name.empty() ? key : name + "/" + key; };
  switch (value.kind) {
    case Kind::tensor:
      found_.push_back(tensors_[static_cast<std::size_t>(value.integer)]);
      found_.back().name = name;
      return;
    case Kind::integer:
    case Kind::number:
      found_.push_back({.name = name, .storage = "", .type = TorchType::float64, .shape = {}, .strides = {}});
      found_.back().is_number = true;
      found_.back().number = value.kind == Kind::integer ? static_cast<double>(value.integer) : value.number;
      return;
    case Kind::tuple:
    case Kind::list:
      for (std::size_t i = 0; i < value.items.size(); ++i) walk(value.items[i], inside(std::to_string(i)), depth + 1);
      return;
    case Kind::dict:
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        const Value& key = values_[value.items[i]];
        if (key.kind != Kind::text && key.kind != Kind::integer) foreign("a dict whose keys are no texts");
        constexpr std::size_t kLongestName = 400;
        walk(value.items[i + 1],
             inside(key.kind == Kind::text ? std::string(key.text.substr(0, kLongestName))
                                           : std::to_string(key.integer)),
             depth + 1);
      }
      return;
    default:
      return;
  }
}

}  // namespace

std::size_t torch_type_bytes(TorchType type) {
  switch (type) {
    case TorchType::float64:
    case TorchType::int64:
      return 8;
    case TorchType::float32:
    case TorchType::int32:
      return 4;
    case TorchType::float16:
    case TorchType::bfloat16:
    case TorchType::int16:
      return 2;
    default:
      return 1;
  }
}

const char* torch_type_name(TorchType type) {
  constexpr const char* kNames[] = {"float64", "float32", "float16", "bfloat16", "int64",
                                    "int32",   "int16",   "int8",    "uint8",    "bool"};
  return kNames[static_cast<std::size_t>(type)];
}

std::vector<TorchTensor> read_torch_pickle(std::string_view bytes, const std::string& doing) {
  return Machine(bytes, doing).run();
}

}  // namespace lano
