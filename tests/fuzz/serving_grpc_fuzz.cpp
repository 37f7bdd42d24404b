// libFuzzer target: any message of any method is answered or refused by one of the errors that the methods declare. The
// first byte of an input says which method it is; the others are the message. The tensors of an answer, sent as a
// request, come back as the same bytes.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tandem/io.hpp"
#include "tandem/io/wire.hpp"
#include "tandem/serving_grpc.hpp"
#include "tandem/serving_grpc/descriptors.hpp"
#include "tandem/serving_grpc/methods.hpp"
#include "tandem/serving_grpc/reflection.hpp"
#include "tandem/tandem.hpp"

namespace {

using namespace tandem;
using serving::impl::Methods;

// Returns its inputs.
class Echo final : public serving::Core {
 public:
  serving::Response predict(const serving::Request& r) override {
    if (r.method == saved_model::classify_method) return {1, {{"classes", reshape(r.inputs.at("inputs"), {-1, 1})}}};
    if (r.method == saved_model::regress_method)
      return {1, {{"outputs", zeros(Shape{r.inputs.at("inputs").shape().dim(0)})}}};
    return {1, r.inputs};
  }
  std::shared_ptr<const serving::Signatures> signatures(const serving::ModelSpec&, i64& version) override {
    version = 1;
    saved_model::Signature s;
    s.inputs = {{"x", {{none, none}, float32}}}, s.outputs = {{"y", {{}, tandem::string}}};
    return std::make_shared<serving::Signatures>(serving::Signatures{{"serving_default", s}});
  }
  std::vector<serving::VersionStatus> states(const serving::ModelSpec&) override { return {{1}}; }
  std::vector<std::string> models() override { return {"m"}; }
  bool is_ready() override { return true; }
  bool is_ready(const serving::ModelSpec&) override { return true; }
  std::string metrics() override { return {}; }
};

using Call = std::string (Methods::*)(std::string_view, const serving::impl::CallInfo&) const;

std::optional<std::string> attempt(Call call, const std::string& message) {
  static Echo echo;
  static const Methods methods(echo, nullptr, false);
  try {
    return (methods.*call)(message, {});
  } catch (const errors::InvalidArgumentError&) {
  } catch (const errors::UnimplementedError&) {  // dtypes, parameters
  } catch (const errors::NotFoundError&) {       // health
  } catch (const errors::ResourceExhaustedError&) {
  }
  return {};
}
// A request of the tensors in an answer: the fields `from` become the fields `to`.
std::string request_of(const std::string& answer, std::initializer_list<std::pair<unsigned, unsigned>> fields) {
  std::string r;
  io::detail::WireReader in(answer);
  while (in.next())
    for (const auto& field : fields)
      if (in.is(field.first, io::detail::WireType::bytes)) io::detail::append_field(r, field.second, in.bytes());
  if (!in.ok()) __builtin_trap();
  return r;
}
void check_same(Call call, const std::string& message, std::initializer_list<std::pair<unsigned, unsigned>> fields) {
  const std::optional<std::string> answer = attempt(call, message);
  if (!answer) return;
  const std::optional<std::string> first = attempt(call, request_of(*answer, fields));
  if (!first) __builtin_trap();
  const std::optional<std::string> second = attempt(call, request_of(*first, fields));
  if (first != second) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!size) return 0;
  static const serving::impl::Descriptors descriptors;
  const std::string message(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 12) {
    case 0: attempt(&Methods::classify, message); break;
    case 1: attempt(&Methods::regress, message); break;
    case 2: attempt(&Methods::multi_inference, message); break;
    case 3: attempt(&Methods::model_metadata, message); break;
    case 4: attempt(&Methods::model_status, message); break;
    case 5: attempt(&Methods::reload_config, message); break;
    case 6: attempt(&Methods::model_ready, message); break;
    case 7: attempt(&Methods::infer_metadata, message); break;
    case 8: attempt(&Methods::check_health, message); break;
    case 9: try { (void)serving::impl::reflect(descriptors, message);
      } catch (const errors::InvalidArgumentError&) {
      }
      break;
    case 10: check_same(&Methods::infer, message, {{5, 5}, {6, 7}}); break;
    default: check_same(&Methods::predict, message, {{1, 2}});
  }
  return 0;
}
