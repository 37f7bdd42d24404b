"""Lets the clients of TensorFlow Serving, Triton and KServe, and those of gRPC's health and reflection services, use model_server.

python tests/readers/serving_clients.py MODEL_SERVER SERVING_MODELS [CLIENT...], where the first is the built example, the second
the built tests/readers/serving_models.cpp, and clients are those of CLIENTS; without one all are tried, each in a process of its
own because tritonclient and kserve have messages of the same names, and those that are not installed left out. Needs pip install tensorflow-serving-api tritonclient[grpc,http] grpcio-health-checking grpcio-reflection, and
kserve, in an environment of its own where they want another protobuf. Not part of ./dev test.
"""

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import grpc
import numpy as np

FAILED = []
X, Y = np.float32([1, 2, 5]), np.float32([2.5, 3, 4.5])


def check(what, holds):
    if not holds:
        FAILED.append(what)
    print("ok  " if holds else "FAIL", what, flush=True)


def raises(code, f):
    """Whether f ends with this gRPC status code."""
    try:
        f()
    except grpc.RpcError as error:
        return error.code() == code
    return False


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A running model_server."""

    def __init__(self, program, folder):
        self.port, self.rest_port = free_port(), free_port()
        models = "".join(f'config {{ name: "{n}" base_path: "{folder}/{n}" }} ' for n in ("half", "texts", "examples"))
        with open(f"{folder}/models.config", "w") as config:
            config.write(f"model_config_list {{ {models}}}")
        self.process = subprocess.Popen([program, "--port", str(self.port), "--rest_api_port", str(self.rest_port), "--drain_seconds", "0",
                                         "--model_config_file", f"{folder}/models.config"], stdout=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.rest_port}/v2/health/ready", timeout=5)
                return self
            except OSError:
                time.sleep(0.05)
        self.process.kill()
        self.process.wait()
        sys.exit("model_server is not ready")

    def __exit__(self, *_):
        self.process.terminate()
        check("SIGTERM ends model_server with 0", self.process.wait(30) == 0)


def tensorflow_serving(address, _rest_address):
    import tensorflow as tf
    from tensorflow_serving.apis import (classification_pb2, get_model_metadata_pb2, get_model_status_pb2, inference_pb2, model_service_pb2_grpc,
                                         predict_pb2, prediction_service_pb2_grpc, regression_pb2)

    channel = grpc.insecure_channel(address)
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)

    def request(kind, name, signature=""):
        r = kind()
        r.model_spec.name, r.model_spec.signature_name = name, signature
        return r

    def predict(x, name="half", **more):
        r = request(predict_pb2.PredictRequest, name)
        r.inputs["x"].CopyFrom(tf.make_tensor_proto(x, **more))
        return r

    answer = stub.Predict(predict(X))
    check("tensorflow-serving-api: Predict", np.array_equal(tf.make_ndarray(answer.outputs["y"]), Y) and answer.model_spec.version.value == 1
          and answer.model_spec.signature_name == "serving_default")
    check("tensorflow-serving-api: answers are tensor_content", len(answer.outputs["y"].tensor_content) == 12)
    filled = predict(2.0, dtype=tf.float32, shape=[3])
    check("tensorflow-serving-api: one value fills the shape",
          np.array_equal(tf.make_ndarray(stub.Predict(filled).outputs["y"]), np.float32([3, 3, 3])))
    filtered = predict(X)
    filtered.output_filter.append("z")
    check("tensorflow-serving-api: output_filter", list(stub.Predict(filtered).outputs) == ["z"])
    texts = tf.make_ndarray(stub.Predict(predict([b"a\0b", b""], "texts")).outputs["y"])
    check("tensorflow-serving-api: texts", list(texts) == [b"a\0b", b""])
    big = np.arange(2_000_000, dtype=np.float32)
    large = prediction_service_pb2_grpc.PredictionServiceStub(grpc.insecure_channel(address, [("grpc.max_receive_message_length", -1)]))
    check("tensorflow-serving-api: 8 MB", np.array_equal(tf.make_ndarray(large.Predict(predict(big)).outputs["y"]), big / 2 + 2))
    check("tensorflow-serving-api: NOT_FOUND", raises(grpc.StatusCode.NOT_FOUND, lambda: stub.Predict(predict(X, "none"))))
    check("tensorflow-serving-api: INVALID_ARGUMENT", raises(grpc.StatusCode.INVALID_ARGUMENT, lambda: stub.Predict(predict(np.int32([1])))))
    labelled = predict(X)
    labelled.model_spec.version_label = "none"
    check("tensorflow-serving-api: unknown label", raises(grpc.StatusCode.INVALID_ARGUMENT, lambda: stub.Predict(labelled)))

    metadata = request(get_model_metadata_pb2.GetModelMetadataRequest, "half")
    metadata.metadata_field.append("signature_def")
    answer = stub.GetModelMetadata(metadata)
    signatures = get_model_metadata_pb2.SignatureDefMap()
    check("tensorflow-serving-api: GetModelMetadata, Any", answer.metadata["signature_def"].Unpack(signatures))
    half = signatures.signature_def["serving_default"]
    check("tensorflow-serving-api: SignatureDef", half.inputs["x"].dtype == tf.float32.as_datatype_enum and set(half.outputs) == {"y", "z"}
          and [d.size for d in half.inputs["x"].tensor_shape.dim] == [-1] and half.method_name == "tensorflow/serving/predict")

    def examples(r, *rows, context=None):
        kind = r.input.example_list_with_context if context else r.input.example_list
        for row in rows:
            e = kind.examples.add()
            if row:
                e.features.feature["a"].float_list.value.extend(row)
        if context:
            kind.context.features.feature["a"].float_list.value.extend(context)
        return r

    answer = stub.Classify(examples(request(classification_pb2.ClassificationRequest, "examples"), (1, 2), (3, 4)))
    check("tensorflow-serving-api: Classify", [[c.score for c in row.classes] for row in answer.result.classifications] == [[2, 4], [6, 8]])
    answer = stub.Regress(examples(request(regression_pb2.RegressionRequest, "examples", "sum"), None, (1, 2), context=(5, 6)))
    check("tensorflow-serving-api: Regress with a context", [r.value for r in answer.result.regressions] == [11, 3])
    both = inference_pb2.MultiInferenceRequest()
    for method, signature in (("classify", ""), ("regress", "sum")):
        task = both.tasks.add()
        task.model_spec.name, task.model_spec.signature_name, task.method_name = "examples", signature, "tensorflow/serving/" + method
    answer = stub.MultiInference(examples(both, (1, 2)))
    check("tensorflow-serving-api: MultiInference", len(answer.results) == 2 and answer.results[1].regression_result.regressions[0].value == 3
          and answer.results[0].classification_result.classifications[0].classes[1].score == 4)

    service = model_service_pb2_grpc.ModelServiceStub(channel)
    states = service.GetModelStatus(request(get_model_status_pb2.GetModelStatusRequest, "examples")).model_version_status
    check("tensorflow-serving-api: GetModelStatus", [(s.version, s.state) for s in states] == [(7, 30)])


def triton(address, rest_address):
    import tritonclient.grpc
    import tritonclient.http

    for kind, module, where in ("gRPC", tritonclient.grpc, address), ("HTTP", tritonclient.http, rest_address):
        client = module.InferenceServerClient(where)
        check(f"tritonclient {kind}: live and ready", client.is_server_live() and client.is_server_ready() and client.is_model_ready("half")
              and not client.is_model_ready("none"))
        as_json = {"as_json": True} if kind == "gRPC" else {}
        metadata = client.get_model_metadata("half", **as_json)
        check(f"tritonclient {kind}: metadata", metadata["inputs"][0]["name"] == "x" and metadata["inputs"][0]["datatype"] == "FP32"
              and client.get_server_metadata(**as_json)["name"] == "tandem")
        x = module.InferInput("x", [3], "FP32")
        x.set_data_from_numpy(X)
        answer = client.infer("half", [x], request_id="42")
        check(f"tritonclient {kind}: infer", np.array_equal(answer.as_numpy("y"), Y) and np.array_equal(answer.as_numpy("z"), Y))
        answer = client.infer("half", [x], outputs=[module.InferRequestedOutput("z")], model_version="1")
        check(f"tritonclient {kind}: one output", answer.as_numpy("y") is None and np.array_equal(answer.as_numpy("z"), Y))
        texts = module.InferInput("x", [2], "BYTES")
        texts.set_data_from_numpy(np.array([b"a\0b", b"c"], dtype=object))
        check(f"tritonclient {kind}: BYTES", list(client.infer("texts", [texts]).as_numpy("y")) == [b"a\0b", b"c"])
        try:
            client.infer("none", [x])
            check(f"tritonclient {kind}: unknown model", False)
        except module.InferenceServerException as error:
            check(f"tritonclient {kind}: unknown model", "Servable not found" in str(error))
    results = []
    client = tritonclient.grpc.InferenceServerClient(address)
    x = tritonclient.grpc.InferInput("x", [3], "FP32")
    x.set_data_from_numpy(X)
    for _ in range(100):
        client.async_infer("half", [x], callback=lambda result, error: results.append(error is None and np.array_equal(result.as_numpy("y"), Y)))
    for _ in range(1000):
        if len(results) == 100:
            break
        time.sleep(0.01)
    check("tritonclient gRPC: 100 at once", results == [True] * 100)


def kserve(address, rest_address):
    from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest, RESTConfig

    async def use():
        grpc_client = InferenceGRPCClient(url=address)
        check("kserve gRPC: live and ready", await grpc_client.is_server_live() and await grpc_client.is_server_ready()
              and await grpc_client.is_model_ready("half"))
        for binary in True, False:
            x = InferInput(name="x", shape=[3], datatype="FP32")
            x.set_data_from_numpy(X, binary_data=binary)
            request = InferRequest(model_name="half", infer_inputs=[x], request_id="42")
            answer = await grpc_client.infer(request)
            how = "raw_input_contents" if binary else "contents"
            check(f"kserve gRPC: infer by {how}", np.array_equal(answer.outputs[0].as_numpy(), Y) and answer.id == "42")
            rest_client = InferenceRESTClient(RESTConfig(protocol="v2", retries=0))
            answer = await rest_client.infer(f"http://{rest_address}", request, model_name="half")
            check(f"kserve REST: infer, binary {binary}", np.array_equal(answer.outputs[0].as_numpy(), Y))
        await grpc_client.close()

    asyncio.run(use())


def health(address, _rest_address):
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    stub = health_pb2_grpc.HealthStub(grpc.insecure_channel(address))
    serving = health_pb2.HealthCheckResponse.SERVING
    for name in "", "half", "tensorflow.serving.PredictionService":
        check(f"grpcio-health-checking: Check '{name}'", stub.Check(health_pb2.HealthCheckRequest(service=name)).status == serving)
    check("grpcio-health-checking: unknown", raises(grpc.StatusCode.NOT_FOUND, lambda: stub.Check(health_pb2.HealthCheckRequest(service="none"))))
    watch = stub.Watch(health_pb2.HealthCheckRequest(service="half"))
    check("grpcio-health-checking: Watch", next(watch).status == serving)
    watch.cancel()


def reflection(address, _rest_address):
    from google.protobuf import descriptor_pool, message_factory
    from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

    channel = grpc.insecure_channel(address)
    database = ProtoReflectionDescriptorDatabase(channel)
    services = set(database.get_services())
    check("grpcio-reflection: services", services == {"tensorflow.serving.PredictionService", "tensorflow.serving.ModelService", "grpc.health.v1.Health",
                                                      "inference.GRPCInferenceService", "grpc.reflection.v1alpha.ServerReflection"})
    pool = descriptor_pool.DescriptorPool(database)
    for service in services:
        check(f"grpcio-reflection: {service}", len(pool.FindServiceByName(service).methods) > 0)
    method = pool.FindServiceByName("tensorflow.serving.PredictionService").FindMethodByName("Predict")
    make = message_factory.GetMessageClass
    request = make(method.input_type)()
    request.model_spec.name = "half"
    request.inputs["x"].dtype = 1
    request.inputs["x"].tensor_shape.dim.add().size = 3
    request.inputs["x"].float_val.extend(X)
    call = channel.unary_unary("/tensorflow.serving.PredictionService/Predict", request_serializer=lambda m: m.SerializeToString(),
                               response_deserializer=make(method.output_type).FromString)
    answer = call(request)
    check("grpcio-reflection: Predict by what the server says of it",
          np.array_equal(np.frombuffer(answer.outputs["y"].tensor_content, np.float32), Y))


# What each needs.
CLIENTS = {"grpc_health": health, "grpc_reflection": reflection, "tritonclient": triton, "kserve": kserve, "tensorflow_serving": tensorflow_serving}


def try_all(programs):
    """Runs every client that is installed, and returns 1 if one fails."""
    failed = []
    for name in CLIENTS:
        if importlib.util.find_spec(name) is None:
            print("left out: there is no module", name, flush=True)
        elif subprocess.run([sys.executable, __file__, *programs, name], check=False).returncode:
            failed.append(name)
    print("failed:", ", ".join(failed) or "none")
    return 1 if failed else 0


def main():
    server_program, models_program, *wanted = sys.argv[1:]
    if not wanted:
        return try_all([server_program, models_program])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([models_program, folder], check=True)
        with Server(server_program, folder) as server:
            address, rest_address = f"127.0.0.1:{server.port}", f"127.0.0.1:{server.rest_port}"
            for name in wanted:
                CLIENTS[name](address, rest_address)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
