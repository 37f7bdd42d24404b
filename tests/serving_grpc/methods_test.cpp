// What the gRPC server answers, without a network: limits of requests and answers, and versions that change meanwhile.
#include "tandem/serving_grpc/methods.hpp"
#include "tandem/io.hpp"
#include "tests/serving/memory_core.hpp"
#include "tests/serving_grpc/client.hpp"

namespace grpc_methods_test {

using namespace tandem;
using serving::impl::Methods;
using testing::append_field;
using testing::append_integer;
using testing::append_message;
using testing::at;
using testing::error_of;
using testing::MemoryCore;
using testing::model_spec;
using testing::predict_request;
using testing::signature_of;
using Named = serving::NamedTensors;

/// A Core whose models change while a request is answered.
struct ChangingCore final : MemoryCore {
  std::function<void()> after_signatures = {}, before_predict = {};
  int predicted = 0;

  serving::Response predict(const serving::Request& r) override {
    if (before_predict) before_predict();
    ++predicted;
    return MemoryCore::predict(r);
  }
  std::shared_ptr<const serving::Signatures> signatures(const serving::ModelSpec& m, i64& version) override {
    const auto r = MemoryCore::signatures(m, version);
    if (after_signatures) after_signatures();
    return r;
  }
};
/// Adds up its inputs.
testing::Servable adder(const std::vector<saved_model::TensorInfo>& inputs) {
  return {{{"serving_default", signature_of(inputs, {{"y", {{none}, float32}}})}},
          [](const std::string&, const Named& in, const CallOptions&) {
            Tensor sum = constant({0.f});
            for (const auto& [name, t] : in) sum = sum + t;
            return Named{{"y", sum}};
          }};
}
/// Scores that are the version's number.
testing::Servable classifier(float version) {
  saved_model::Signature s = signature_of({{"inputs", {{none}, tandem::string}}});
  s.method = saved_model::classify_method;
  return {{{"serving_default", s}}, [version](const std::string&, const Named& in, const CallOptions&) {
            return Named{{"scores", fill({in.at("inputs").shape().dim(0), 1}, version)}};
          }};
}
/// A ModelInferRequest for the input x [1] of `model` with an InferTensorContents.
std::string infer_request(const std::string& datatype, const std::string& contents,
                          const std::vector<std::string>& outputs = {}) {
  std::string r;
  append_field(r, 1, "model");
  append_message(r, 5, [&] {
    append_field(r, 1, "x");
    append_field(r, 2, datatype);
    append_integer(r, 3, 1);
    append_field(r, 5, contents);
  });
  for (const std::string& name : outputs) append_message(r, 6, [&] { append_field(r, 1, name); });
  return r;
}

TEST_CASE("grpc methods: an answer of ModelInfer has a limit") {
  MemoryCore core;
  core.models_by_name["model"][1] = testing::echo({{"x", {{none}, float32}}});
  core.models_by_name["model"][1].run = [](const std::string&, const Named&, const CallOptions&) {
    return Named{{"x", zeros(Shape{1000})}, {"y", zeros(Shape{1000})}};
  };
  std::string one;
  io::detail::append_fixed(one, 6, 1.f);
  const std::string all = infer_request("FP32", one), x = infer_request("FP32", one, {"x"});
  CHECK(Methods(core, nullptr, false, 10'000).infer(all, {}).size() > 8000);
  CHECK_THROWS_AS(Methods(core, nullptr, false, 6000).infer(all, {}), errors::ResourceExhaustedError);
  CHECK(Methods(core, nullptr, false, 6000).infer(x, {}).size() > 4000);
}

TEST_CASE("grpc methods: the copies of a context take no more than a message may have") {
  MemoryCore core;
  core.models_by_name["model"][1] = classifier(1);
  std::string request = model_spec(1, "model");
  const std::string context = train::Example{{{{"a", train::BytesList{{std::string(1000, 'x')}}}}}}.serialize();
  append_message(request, 2, [&] {
    append_message(request, 2, [&] {
      for (int i = 0; i < 100; ++i) append_field(request, 1, std::string());
      append_field(request, 2, context);
    });
  });
  CHECK(Methods(core, nullptr, false, 110'000).classify(request, {}).size() > 100);
  CHECK_THROWS_AS(Methods(core, nullptr, false, 100'000).classify(request, {}), errors::ResourceExhaustedError);
}

TEST_CASE("grpc methods: surplus inputs are those of the version that answers") {
  ChangingCore core;
  const saved_model::TensorInfo x{"x", {{none}, float32}}, z{"z", {{none}, float32}};
  std::string request = predict_request("model", {1});
  request += predict_request("model", {2}, "z").substr(model_spec(1, "model").size());
  const Methods methods(core, nullptr, true);
  const auto answer = [&] {
    const std::string a = methods.predict(request, {});
    return std::pair(testing::floats(at(a, {1, 2, 4})), at(a, {2, 2, 1}));
  };
  core.models_by_name["model"][1] = adder({x});
  core.after_signatures = [&] { core.models_by_name["model"][2] = adder({x, z}); };
  CHECK(answer() == std::pair(std::vector<float>{1}, std::string("1")));
  core.models_by_name["model"].erase(2);
  core.after_signatures = [&] {
    core.models_by_name["model"].erase(1), core.models_by_name["model"][2] = adder({x, z});
  };
  CHECK(answer() == std::pair(std::vector<float>{3}, std::string("2")));
  // Not for ever.
  i64 next = 3;
  core.after_signatures = [&] { core.models_by_name["model"] = {{next++, adder({x})}}; };
  CHECK_THROWS_AS(methods.predict(request, {}), errors::NotFoundError);
  CHECK(next == 6);
}

TEST_CASE("grpc methods: MultiInference begins again when the version of its first task goes") {
  ChangingCore core;
  core.models_by_name["model"][1] = classifier(1);
  std::string request;
  for (int i = 0; i < 2; ++i)
    append_message(request, 1, [&] {
      request += model_spec(1, "model");
      append_field(request, 2, saved_model::classify_method);
    });
  append_message(request, 2, [&] { append_message(request, 1, [&] { append_field(request, 1, std::string()); }); });
  core.before_predict = [&] {
    if (core.predicted == 1) core.models_by_name["model"] = {{2, classifier(2)}};
  };
  const Methods methods(core, nullptr, false);
  const std::string answer = methods.multi_inference(request, {});
  CHECK(core.predicted == 4);
  std::vector<std::string> versions;
  for (io::detail::WireReader in(answer); in.next();) versions.push_back(at(std::string(in.bytes()), {1, 2, 1}));
  CHECK(versions == std::vector<std::string>{"2", "2"});
  i64 next = 3;
  core.before_predict = [&] {
    if (core.predicted % 2 == 1) core.models_by_name["model"] = {{next, classifier(3)}}, ++next;
  };
  CHECK_THROWS_AS(methods.multi_inference(request, {}), errors::NotFoundError);
  CHECK(next == 6);
}

TEST_CASE("grpc methods: numbers of ModelInfer fit their datatype") {
  MemoryCore core;
  struct Case {
    const char* datatype;
    i64 number;
    bool fits;
  };
  for (const Case& c : {Case{"INT8", -128, true}, Case{"INT8", 128, false}, Case{"INT8", -129, false},
                        Case{"INT16", 32767, true}, Case{"INT16", 40000, false}, Case{"INT32", -5, true},
                        Case{"INT32", i64{1} << 32, false}, Case{"UINT8", 255, true}, Case{"UINT8", 256, false},
                        Case{"UINT16", 65536, false}, Case{"UINT32", i64{1} << 32, false}, Case{"BOOL", 256, true}}) {
    const std::string datatype = c.datatype;
    const std::uint32_t field = datatype == "BOOL" ? 1 : datatype[0] == 'I' ? 2 : 4;
    std::string one, packed, varint;
    append_integer(one, field, c.number);
    io::detail::append_varint(varint, static_cast<u64>(c.number));
    append_field(packed, field, varint);
    core.models_by_name["model"][1] = testing::echo({{"x", {{none}, *serving::dtype_of_infer(datatype)}}});
    for (const std::string& contents : {one, packed}) {
      const std::string request = infer_request(datatype, contents);
      INFO(datatype << " " << c.number);
      if (!c.fits) {
        CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { Methods(core, nullptr, false).infer(request, {}); }),
                   ContainsSubstring("has a number that " + datatype + " cannot hold"));
        continue;
      }
      const std::string raw = at(Methods(core, nullptr, false).infer(request, {}), {6});
      REQUIRE(!raw.empty());
      CHECK(raw[0] == (datatype == "BOOL" ? 1 : static_cast<char>(c.number)));
    }
  }
}

}  // namespace grpc_methods_test
