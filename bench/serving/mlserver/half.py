"""x / 2 + 2 for MLServer: bench_serving's model as a peer has it."""

from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse


class Half(MLModel):
    async def load(self) -> bool:
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        x = NumpyCodec.decode_input(payload.inputs[0])
        return InferenceResponse(model_name=self.name, model_version="1", outputs=[NumpyCodec.encode_output("y", x / 2 + 2)])
