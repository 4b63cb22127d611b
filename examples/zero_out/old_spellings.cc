// [old] The spelling of older releases. It no longer compiles.
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

REGISTER_OP("OldSpelling")
    .Output("answer: int32")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(0, context->Scalar());
      return tensorflow::Status::OK();
    });
