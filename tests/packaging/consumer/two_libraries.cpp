// Two shared libraries in one program, each with Tandem inside: one op row, one set of thread slots, one allocator.
extern "C" {
const void* row_a();
const void* row_b();
const void* slots_a();
const void* slots_b();
void* make_a();
float take_b(void* made);
}

int main() {
  if (row_a() != row_b()) return 1;
  if (slots_a() != slots_b()) return 2;
  return take_b(make_a()) == 6.f ? 0 : 3;
}
